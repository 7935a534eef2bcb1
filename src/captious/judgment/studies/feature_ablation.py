"""Feature ablation of learned metrics: agreement with human judgments when features are left out.

Networks are trained on all features, without each feature, without each group of features, and on each group alone.
Each single feature, untrained, is also compared with the network on all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from captious.errors import ParameterError
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling
from captious.judgment.human_judgments import HumanJudgments
from captious.judgment.studies.shared.network_trials import Trials, Variation
from captious.judgment.study_result import Dot, Dots, Study
from captious.learned.networks.feature_sets import FeatureSet
from captious.learned.networks.network_recipes import Recipe
from captious.metrics.contract import catalogue
from captious.metrics.contract.request import Request
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.random_seed import DEFAULT_SEED

_ALL, _WITHOUT, _ONLY, _ALONE = "all", "without", "only", "alone"


def feature_ablation(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    benchmarks: Iterable[str | os.PathLike[str] | HumanJudgments] = (),
    groups: Mapping[str, Sequence[str]] | None = None,
    *,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    data: str | os.PathLike[str] | None = None,
    seeds: int = 3,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the agreement with human judgments of networks on some of the features, and of each single feature.

    Args:
        examples: a file written by ``captious learn data``.
        recipe: a recipe, its name, or its file.
        benchmarks: benchmarks of captions, as for ``judge``.
        groups: features to leave out, and to use, together, by group name. By default, the features of the same metric.
        validation: a file of captions with ratings, as for ``captious learn train``. By default, the validation
            examples.
        settings: word vectors, parser and other settings of the features.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        seeds: number of networks to train each way, with different random seeds.
        resamples, seed: number of resamples and random seed of the bootstrap over the images of a benchmark.

    Returns:
        One record per set of features and benchmark, the validation captions first: kind is "all", "without" or "only"
        for networks, and "alone" for a single untrained feature; features, the feature or group; benchmark,
        value (mean over seeds), ci95_low, ci95_high, sd_over_seeds; and difference, difference_low and difference_high,
        from the network on all features.

    Raises:
        ParameterError: a single feature, or a group of no, all or unknown features.
        MissingExtraError: torch is not installed.
        Others as ``captious.learned.networks.metric_training.learn`` and ``judge``.
    """
    trials = Trials(
        examples,
        recipe,
        benchmarks,
        validation=validation,
        settings=settings,
        data=data,
        seeds=seeds,
        sampling=Sampling(resamples, seed),
    )
    features = trials.recipe.features
    if len(features) < 2:
        raise ParameterError("nothing can be left out of a single feature", help="give a recipe with several features")
    columns_of = _features_by_metric(features) if groups is None else _checked(groups, features)
    everything = trials.agreements(trials.scores(Variation()))
    rows = [{"kind": _ALL, "features": features.name, **record} for record in trials.records(everything)]
    with steps([*_sets(features, columns_of)], lambda item: f"{item[0]} {item[1]}") as sets:
        for kind, name, columns in sets:
            scores = trials.scores(Variation(columns, trained=kind != _ALONE))
            records = trials.records(trials.agreements(scores), everything)
            rows += [{"kind": kind, "features": name, **record} for record in records]
    return trials.study(
        "ablation",
        "without some features",
        ("kind", "features"),
        rows,
        "Alone: the feature as it is, without training.",
        pictures=_dots(trials, rows),
    )


def _sets(features: FeatureSet, groups: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Return kind, name and columns of the sets of features, except that of all features."""
    indices = range(len(features))
    for column, label in enumerate(features.labels):
        yield _WITHOUT, label, tuple(index for index in indices if index != column)
    for name, columns in groups.items():
        yield _WITHOUT, name, tuple(index for index in indices if index not in columns)
    for name, columns in groups.items():
        yield _ONLY, name, columns
    for column, label in enumerate(features.labels):
        yield _ALONE, label, (column,)


def _features_by_metric(features: FeatureSet) -> dict[str, tuple[int, ...]]:
    """Return metric -> its features, for metrics with several, but not all, features of the set."""
    groups: dict[str, list[int]] = {}
    for column, feature in enumerate(features.features):
        name = Request.from_text(feature.metric).name
        groups.setdefault(catalogue.owner(name) or name, []).append(column)
    return {name: tuple(columns) for name, columns in groups.items() if 1 < len(columns) < len(features)}


def _checked(groups: Mapping[str, Sequence[str]], features: FeatureSet) -> dict[str, tuple[int, ...]]:
    columns_of = {}
    for name, labels in groups.items():
        if unknown := [label for label in labels if label not in features.labels]:
            raise ParameterError(
                f"{unknown[0]} is not a feature of {features.name}",
                where=f"group {name}",
                help=f"its features are {', '.join(features.labels)}",
            )
        columns = tuple(sorted({features.labels.index(label) for label in labels}))
        if not 0 < len(columns) < len(features):
            raise ParameterError(
                f"the group {name} has {'no' if not columns else 'all'} features", help="give some of the features"
            )
        columns_of[name] = columns
    return columns_of


def _dots(trials: Trials, rows: Sequence[Mapping[str, object]]) -> dict[str, Dots]:
    """Return one picture per benchmark."""
    pictures = {}
    for judgments in trials.judgments:
        name = judgments.protocol.full_name
        dots = {}
        for row in rows:
            value, low, high = (row[key] for key in ("value", "ci95_low", "ci95_high"))
            if row["benchmark"] == name and isinstance(value, float):
                ends = (low, high) if isinstance(low, float) and isinstance(high, float) else None
                dots[f"{row['kind']} {row['features']}"] = Dot(value, ends)
        pictures[f"ablation-{name}"] = Dots(f"{name}, recipe {trials.recipe.name}", judgments.protocol.statistic, dots)
    return pictures
