"""Which features does a learned metric need? Agreement with human judgments when features are left out.

A network is trained on all features, without each feature, and without each group of features and on each group alone.
Each feature by itself, as it is, is compared with the network on all of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from captious.errors import ParameterError
from captious.evaluation.resampling import DEFAULT_SEED, Sampling
from captious.judgment.human_judgments import HumanJudgments
from captious.judgment.network_trials import (
    AGREEMENT,
    Material,
    Scores,
    Way,
    agreements,
    check_seeds,
    prepare,
    records,
    trained_scores,
)
from captious.judgment.study import Dot, Dots, Study
from captious.learned.feature_sets import FeatureSet
from captious.learned.recipes import Recipe
from captious.metrics.contract import registry
from captious.metrics.contract.settings import Settings
from captious.metrics.contract.specification import Specification
from captious.progress import steps

__all__ = ["feature_ablation"]

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
    resamples: int = 1000,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Agreement with human judgments of networks on some of the features, and of each feature by itself.

    Args:
        examples: a file that ``captious learn data`` wrote.
        recipe: how to train: its name, a file, or the recipe itself.
        benchmarks: benchmarks of captions, as ``judge`` takes them.
        groups: features that are left out, and used, together, by the name of their group. By default, the features of
            the same metric.
        validation: a file of captions with ratings, as for ``captious learn train``. By default, the validation
            examples.
        settings: word vectors, parser and other settings of the features.
        data: the folder of judgment data; by default the one that ``CAPTIOUS_DATA`` names.
        seeds: number of networks to train each way, with different random seeds.
        resamples, seed: number of resamples and random seed of the bootstrap over the images of a benchmark.

    Returns:
        One record per set of features and benchmark, the validation captions first: kind is "all", "without" or "only"
        for networks, and "alone" for a feature that nothing is trained on; features, the feature or group; benchmark,
        value (mean over seeds), ci95_low, ci95_high, sd_over_seeds; and difference, difference_low and difference_high,
        from the network on all features.

    Raises:
        ParameterError: a single feature, a group of no features or of all, or of unknown ones.
        MissingExtraError: torch is not installed.
        and what ``captious.learned.learn.learn`` and ``judge`` raise.
    """
    sampling = Sampling(resamples, seed)
    check_seeds(seeds)
    material = prepare(examples, recipe, benchmarks, validation=validation, settings=settings, data=data)
    chosen = material.recipe.features
    if len(chosen) < 2:
        raise ParameterError("nothing can be left out of a single feature", help="give a recipe with several features")
    of_groups = _of_same_metric(chosen) if groups is None else _checked(groups, chosen)
    everything = agreements(material, trained_scores(material, Way(), seeds), sampling)
    rows = [{"kind": _ALL, "features": chosen.name, **record} for record in records(material, everything)]
    with steps([*_sets(chosen, of_groups)], lambda item: f"{item[0]} {item[1]}") as named:
        for kind, name, columns in named:
            scores = _alone(material, columns[0]) if kind == _ALONE else trained_scores(material, Way(columns), seeds)
            found = agreements(material, scores, sampling)
            rows += [{"kind": kind, "features": name, **record} for record in records(material, found, everything)]
    return Study(
        "ablation",
        f"Agreement with human judgments without some features: recipe {material.recipe.name}",
        ("kind", "features", *AGREEMENT),
        rows,
        material.signatures,
        material.data,
        {"recipe": material.recipe.name, "seeds": seeds, **sampling.settings},
        _dots(material, rows),
        notes=[*material.notes(seeds), "Alone: the feature as it is, without training."],
        warnings=material.warnings,
    )


def _sets(chosen: FeatureSet, groups: Mapping[str, tuple[int, ...]]) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Kind, name and columns of the sets of features, besides that of all features."""
    every = range(len(chosen))
    for column, label in enumerate(chosen.labels):
        yield _WITHOUT, label, tuple(other for other in every if other != column)
    for name, columns in groups.items():
        yield _WITHOUT, name, tuple(other for other in every if other not in columns)
    for name, columns in groups.items():
        yield _ONLY, name, columns
    for column, label in enumerate(chosen.labels):
        yield _ALONE, label, (column,)


def _alone(material: Material, column: int) -> Scores:
    return [[each.features[:, column]] for each in material.judged]


def _of_same_metric(chosen: FeatureSet) -> dict[str, tuple[int, ...]]:
    """Metric -> its features, for metrics with several, but not all, features of the set."""
    found: dict[str, list[int]] = {}
    for column, feature in enumerate(chosen.features):
        name = Specification.from_text(feature.metric).name
        found.setdefault(registry.owner(name) or name, []).append(column)
    return {name: tuple(columns) for name, columns in found.items() if 1 < len(columns) < len(chosen)}


def _checked(groups: Mapping[str, Sequence[str]], chosen: FeatureSet) -> dict[str, tuple[int, ...]]:
    found = {}
    for name, labels in groups.items():
        if unknown := [label for label in labels if label not in chosen.labels]:
            raise ParameterError(
                f"{unknown[0]} is not a feature of {chosen.name}",
                where=f"group {name}",
                help=f"its features are {', '.join(chosen.labels)}",
            )
        columns = tuple(sorted({chosen.labels.index(label) for label in labels}))
        if not 0 < len(columns) < len(chosen):
            raise ParameterError(
                f"the group {name} has {'no' if not columns else 'all'} features", help="give some of the features"
            )
        found[name] = columns
    return found


def _dots(material: Material, rows: Sequence[Mapping[str, object]]) -> dict[str, Dots]:
    """One picture per benchmark."""
    found = {}
    for each in material.judged:
        name = each.judgments.protocol.full_name
        dots = {}
        for row in rows:
            value, low, high = (row[key] for key in ("value", "ci95_low", "ci95_high"))
            if row["benchmark"] == name and isinstance(value, float):
                ends = (low, high) if isinstance(low, float) and isinstance(high, float) else None
                dots[f"{row['kind']} {row['features']}"] = Dot(value, ends)
        title = f"{name}, recipe {material.recipe.name}"
        found[f"ablation-{name}"] = Dots(title, each.judgments.protocol.statistic, dots)
    return found
