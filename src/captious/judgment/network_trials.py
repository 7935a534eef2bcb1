"""Networks trained in several ways on features that are computed once: what studies of training have in common.

A way of training is a ``Way``: which features, which hidden layers, how many images. Each is trained with several
random seeds and judged on the validation captions and on benchmarks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.evaluation.caption_warnings import few_images
from captious.evaluation.resampling import Sampling
from captious.judgment.human_judgments import CaptionPairs, HumanJudgments, RatedCaptions
from captious.judgment.protocols import Protocol
from captious.judgment.study import Curve, Curves
from captious.judgment.study_sources import checksums, judged_captions
from captious.learned.feature_sets import FeatureSet
from captious.learned.features import Features
from captious.learned.learn import training_data
from captious.learned.recipes import Recipe, as_recipe
from captious.learned.training import check_torch, train_network
from captious.metrics.contract.settings import Settings
from captious.metrics.contract.signature import signature
from captious.native import using_threads
from captious.progress import steps

__all__ = [
    "AGREEMENT",
    "Agreements",
    "Judged",
    "Material",
    "Scores",
    "Way",
    "agreements",
    "check_seeds",
    "compared",
    "curves",
    "prepare",
    "records",
    "trained_scores",
]

#: The columns of ``records``.
AGREEMENT = (
    *("benchmark", "value", "ci95_low", "ci95_high", "sd_over_seeds"),
    *("difference", "difference_low", "difference_high"),
)
#: Scores of the captions of each ``Judged``, one array float64[n_items] for each seed.
Scores = Sequence[Sequence[NDArray[np.float64]]]

_VALIDATION = Protocol("validation", "tau-b", "kendall-tau-b", "given", "captions")


@dataclass(frozen=True)
class Way:
    """One way of training.

    Args:
        features: positions of the features that the network takes, in the feature set of the recipe; None for all.
        hidden: widths of the hidden layers; None for those of the recipe.
        images: number of training images, drawn at random; None for all.
    """

    features: tuple[int, ...] | None = None
    hidden: tuple[int, ...] | None = None
    images: int | None = None


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged captions with their features, float64[n_items, n_features]."""

    judgments: RatedCaptions | CaptionPairs
    features: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Material:
    """Everything that networks are trained and judged with.

    Args:
        recipe: how to train.
        features: of the training examples, float64[n, n_features].
        human: who wrote them, bool[n].
        units: the image of each training example, numbered from 0, int64[n].
        judged: the validation captions, and the benchmarks.
        signatures, data, warnings: as a study has them.
    """

    recipe: Recipe
    features: NDArray[np.float64]
    human: NDArray[np.bool_]
    units: NDArray[np.int64]
    judged: tuple[Judged, ...]
    signatures: Mapping[str, str]
    data: Mapping[str, str]
    warnings: tuple[str, ...]

    @property
    def n_images(self) -> int:
        """Number of training images."""
        return int(self.units.max()) + 1

    def notes(self, seeds: int) -> list[str]:
        """What the numbers are."""
        return [
            f"Value: mean over networks trained with {seeds} random seeds; the difference is from the first row. 95% "
            "intervals: percentile bootstrap over the images of the benchmark; they do not include "
            "the variation between seeds. Each network is that of the epoch with the best validation tau-b, "
            "which is therefore optimistic."
        ]


def check_seeds(seeds: int) -> None:
    """Refuse a number of random seeds that nothing can be trained with.

    Raises:
        ParameterError: less than 1.
    """
    if seeds < 1:
        raise ParameterError(f"{seeds} is not a number of random seeds", help="train with at least one")


def prepare(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    benchmarks: Iterable[str | os.PathLike[str] | HumanJudgments],
    *,
    validation: str | os.PathLike[str] | None,
    settings: Settings | None,
    data: str | os.PathLike[str] | None,
) -> Material:
    """Read examples and benchmarks, and compute the features of all captions.

    Raises:
        MissingExtraError: torch or a resource of a feature is not installed.
        and what ``learn`` and ``judge`` raise about files, recipes and benchmarks.
    """
    check_torch()
    settings = Settings() if settings is None else settings
    recipe = as_recipe(recipe)
    read = training_data(examples, validation)
    if (read.target == read.target[0]).all():
        raise ParameterError(
            "the validation captions all have the same label or rating",
            where=str(examples if validation is None else validation),
            help="give validation captions with different labels or ratings",
        )
    ratings = [np.array([value]) for value in read.target]
    judgments = [RatedCaptions(_VALIDATION, {}, read.captions, ratings, read.units)]
    asked = [judged_captions(each, data) for each in benchmarks]
    names = [each.protocol.full_name for each in asked]
    if repeated := [name for name in names if names.count(name) > 1]:
        raise ParameterError(f"{repeated[0]} is requested twice", help="name each benchmark once")
    features = Features(recipe.features, settings)
    everything = [read.train.captions, *(each.captions for each in (*judgments, *asked))]
    what = iter(["the training examples", "the validation captions", *names])
    with using_threads(settings.threads), steps(everything, lambda _: f"features of {next(what)}") as tables:
        matrices = [_matrix(features, table, settings) for table in tables]
    judged = tuple(Judged(e, matrix) for e, matrix in zip((*judgments, *asked), matrices[1:], strict=True))
    parameters = {**features.parameters, **features.fitted_parameters(None)}
    if settings.references_as == "cat":
        parameters["references"] = "cat"
    return Material(
        recipe,
        matrices[0],
        read.train.human,
        read.train.units,
        judged,
        {"features": signature(recipe.features.name, parameters)},
        {**checksums(examples, validation), **{k: v for each in asked for k, v in each.data.items()}},
        tuple(dict.fromkeys(warning for each in judged for warning in few_images(each.judgments.n_units))),
    )


def trained_scores(material: Material, way: Way, seeds: int) -> Scores:
    """Train with several random seeds, the recipe's and those after it, and score all judged captions.

    Every seed draws other images; with the same seed, a smaller draw is part of a larger one.

    Raises:
        KeyboardInterrupt: training was interrupted.
        ParameterError: nothing can be learned from the examples of so few images.
    """
    recipe = material.recipe
    columns = [*range(len(recipe.features))] if way.features is None else [*way.features]
    chosen = FeatureSet(recipe.features.name, tuple(recipe.features.features[i] for i in columns))
    hidden = recipe.hidden if way.hidden is None else way.hidden
    validation = material.judged[0]
    assert isinstance(validation.judgments, RatedCaptions)
    target = np.concatenate(validation.judgments.ratings)
    networks = []
    for number in range(seeds):
        of_seed = replace(recipe, features=chosen, hidden=hidden, seed=recipe.seed + number)
        rows = _rows(material, way.images, of_seed.seed)
        outcome = train_network(
            of_seed,
            material.features[rows][:, columns],
            material.human[rows],
            validation.features[:, columns],
            target,
        )
        if outcome.interrupted:  # training keeps what is best so far, but this study would be of something else
            raise KeyboardInterrupt
        networks.append(outcome.network)
    return [[network.human(each.features[:, columns]) for network in networks] for each in material.judged]


@dataclass(frozen=True, eq=False)
class Agreements:
    """How well scores agree with the judgments, for each ``Judged``.

    Args:
        values: the statistic of the benchmark by seed of the training, float64[n_seeds].
        resampled: its mean over seeds in each bootstrap resample of images, float64[resamples].
    """

    values: tuple[NDArray[np.float64], ...]
    resampled: tuple[NDArray[np.float64], ...]


def agreements(material: Material, scores: Scores, sampling: Sampling) -> Agreements:
    """Compare scores with the judgments; the same seed draws the same images for all scores."""
    judgments = [each.judgments for each in material.judged]
    pairs = [*zip(judgments, scores, strict=True)]
    values = tuple(np.array([each.values(draw).mean() for draw in draws]) for each, draws in pairs)
    return Agreements(values, tuple(each.resampled_mean(draws, sampling) for each, draws in pairs))


def records(material: Material, found: Agreements, first: Agreements | None = None) -> list[dict[str, Any]]:
    """One record for each ``Judged``, with the keys ``AGREEMENT``; with differences from the first row, if given."""
    rows = []
    for number, each in enumerate(material.judged):
        values, resampled = found.values[number], found.resampled[number]
        row = {"benchmark": each.judgments.protocol.full_name, "value": _number(values.mean())}
        row |= _ends(resampled, "ci95_low", "ci95_high")
        row["sd_over_seeds"] = _number(values.std(ddof=1)) if len(values) > 1 else None
        if first is not None:
            row["difference"] = _number(values.mean() - first.values[number].mean())
            row |= _ends(resampled - first.resampled[number], "difference_low", "difference_high")
        rows.append({column: row.get(column) for column in AGREEMENT})
    return rows


def compared(
    material: Material, ways: Mapping[str, tuple[Mapping[str, Any], Way]], seeds: int, sampling: Sampling
) -> list[dict[str, Any]]:
    """Records of networks trained in several ways, with differences from the first.

    Args:
        material: what they are trained and judged with.
        ways: what progress shows -> columns that come first in the records, and the way.
        seeds: number of random seeds to train with.
        sampling: of the bootstrap intervals.
    """
    rows = []
    first: Agreements | None = None
    with steps([*ways.items()], lambda item: item[0]) as trained:
        for _, (columns, way) in trained:
            found = agreements(material, trained_scores(material, way, seeds), sampling)
            rows += [{**columns, **record} for record in records(material, found, first)]
            first = found if first is None else first
    return rows


def curves(
    material: Material,
    x_label: str,
    rows: Sequence[Mapping[str, Any]],
    x: NDArray[np.float64],
    *,
    logarithmic: bool = False,
) -> dict[str, Curves]:
    """A picture for each ``Judged`` of the values of records, whose order for each of them is that of x."""
    found = {}
    for each in material.judged:
        protocol = each.judgments.protocol
        own = [row for row in rows if row["benchmark"] == protocol.full_name]
        y, low, high = (np.array([r[key] for r in own], np.float64) for key in ("value", "ci95_low", "ci95_high"))
        lines = {material.recipe.name: Curve(x, y, low, high)}
        found[protocol.full_name] = Curves(protocol.full_name, x_label, protocol.statistic, lines, logarithmic)
    return found


def _matrix(features: Features, captions: Captions, settings: Settings) -> NDArray[np.float64]:
    seen = captions.concatenated if settings.references_as == "cat" else captions
    return features.matrix(seen, features.fit(seen.references))


def _rows(material: Material, images: int | None, seed: int) -> NDArray[np.int64]:
    """The training examples of so many images."""
    if images is None or images >= material.n_images:
        return np.arange(len(material.human))
    drawn = np.zeros(material.n_images, bool)
    drawn[np.random.default_rng(seed).permutation(material.n_images)[:images]] = True
    return np.flatnonzero(drawn[material.units])


def _ends(values: NDArray[np.float64], low: str, high: str) -> dict[str, float | None]:
    ends = Sampling().interval(values)
    return {low: _number(ends[0]), high: _number(ends[1])}


def _number(value: float) -> float | None:
    """None where a correlation is undefined."""
    return float(value) if np.isfinite(value) else None
