"""Networks trained in several ways on features that are computed once, for studies of training.

Each variation of a recipe is trained with several random seeds, and judged on validation captions and benchmarks.
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
from captious.evaluation.checks import few_images_warning
from captious.judgment.judgments import CaptionPairs, HumanJudgments, Protocol, RatedCaptions
from captious.judgment.results import Curve, Curves, Study
from captious.judgment.studies.sources import checksums, judged_captions
from captious.learned.networks import FeatureMetric, FeatureSet, Recipe, as_recipe
from captious.learned.training.networks import check_torch, train_network, training_data
from captious.metrics.contract.settings import Settings
from captious.native import using_threads
from captious.progress import steps
from captious.statistics import Sampling
from captious.words import percentage

#: The columns of ``Trials.records``.
AGREEMENT = (
    *("benchmark", "value", "ci95_low", "ci95_high", "sd_over_seeds"),
    *("difference", "difference_low", "difference_high"),
)
#: Scores of the captions of each benchmark, one array float64[n_items] for each random seed of the training.
Scores = Sequence[Sequence[NDArray[np.float64]]]

_VALIDATION = Protocol("validation", "tau-b", "kendall-tau-b", "given", "captions")


@dataclass(frozen=True)
class Variation:
    """A variation of the recipe.

    Args:
        features: positions of the network's features in the feature set of the recipe; None for all.
        hidden: widths of the hidden layers; None for those of the recipe.
        images: number of training images, drawn at random; None for all.
        trained: False for the mean of the features instead of a network.
    """

    features: tuple[int, ...] | None = None
    hidden: tuple[int, ...] | None = None
    images: int | None = None
    trained: bool = True


@dataclass(frozen=True, eq=False)
class Agreements:
    """Agreement of scores with the judgments of each benchmark.

    Args:
        values: the statistic of the benchmark by training seed, float64[n_seeds].
        resampled: its mean over seeds in each bootstrap resample of images, float64[resamples].
    """

    values: tuple[NDArray[np.float64], ...]
    resampled: tuple[NDArray[np.float64], ...]


class Trials:
    """Examples and benchmarks with the features of all captions, to train and judge networks.

    Args:
        examples, recipe, benchmarks, validation, settings, data, seeds, sampling: see ``feature_ablation``.

    Attributes:
        features: features of the training examples, float64[n, n_features].
        human: whether people wrote them, bool[n].
        units: the image of each training example, numbered from 0, int64[n].
        judgments: judgments of the validation captions, and of the benchmarks.
        judged_features: the features of their captions, float64[n_items, n_features] each.

    Raises:
        MissingExtraError: torch or a resource of a feature is not installed.
        ParameterError: no random seeds, a duplicate benchmark, or unsuitable validation captions.
        Others as ``learn`` and ``judge``, about files, recipes and benchmarks.
    """

    def __init__(
        self,
        examples: str | os.PathLike[str],
        recipe: Recipe | str | os.PathLike[str],
        benchmarks: Iterable[str | os.PathLike[str] | HumanJudgments],
        validation: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        data: str | os.PathLike[str] | None = None,
        seeds: int = 3,
        *,
        sampling: Sampling,
    ) -> None:
        if seeds < 1:
            raise ParameterError(f"{seeds} is not a number of random seeds", hint="train with at least one")
        check_torch()
        settings = Settings() if settings is None else settings
        self.recipe, self.seeds, self.sampling = as_recipe(recipe), seeds, sampling
        training = training_data(examples, validation)
        if (training.target == training.target[0]).all():
            raise ParameterError(
                "the validation captions all have the same label or rating",
                where=str(examples if validation is None else validation),
                hint="give validation captions with different labels or ratings",
            )
        ratings = [np.array([value]) for value in training.target]
        validation_set = RatedCaptions(_VALIDATION, {}, training.captions, ratings, training.units)
        sets = [judged_captions(benchmark, data) for benchmark in benchmarks]
        names = [judgments.protocol.full_name for judgments in sets]
        if repeated := [name for name in names if names.count(name) > 1]:
            raise ParameterError(f"{repeated[0]} is requested twice", hint="name each benchmark once")
        self.human, self.units = training.train.human, training.train.units
        self.judgments: tuple[RatedCaptions | CaptionPairs, ...] = (validation_set, *sets)
        features = FeatureMetric(feature_set=self.recipe.features, settings=settings)
        tables = {"the training examples": training.train.captions, "the validation captions": training.captions}
        tables |= {name: judgments.captions for name, judgments in zip(names, sets, strict=True)}
        with using_threads(settings.threads), steps([*tables], lambda name: f"features of {name}") as steps_of_tables:
            matrices = [_matrix(features, tables[name], settings) for name in steps_of_tables]
        self.features, *self.judged_features = matrices
        self.signatures = {"features": features.signature()}
        self.data = checksums(examples, validation)
        for judgments in sets:
            self.data |= judgments.data

    @property
    def n_images(self) -> int:
        """Number of training images."""
        return int(self.units.max()) + 1

    def scores(self, variation: Variation) -> Scores:
        """Train with several random seeds, starting at the recipe's, and score all judged captions.

        Every seed draws other images; with the same seed, a smaller draw is a subset of a larger one.

        Raises:
            KeyboardInterrupt: training was interrupted.
            ParameterError: the examples of so few images are insufficient.
        """
        columns = [*range(len(self.recipe.features))] if variation.features is None else [*variation.features]
        if not variation.trained:
            return [[matrix[:, columns].mean(axis=1)] for matrix in self.judged_features]
        features = FeatureSet(
            self.recipe.features.name, tuple(self.recipe.features.features[column] for column in columns)
        )
        hidden = self.recipe.hidden if variation.hidden is None else variation.hidden
        validation = self.judgments[0]
        assert isinstance(validation, RatedCaptions)
        networks = []
        for number in range(self.seeds):
            recipe = replace(self.recipe, features=features, hidden=hidden, seed=self.recipe.seed + number)
            rows = self._rows(variation.images, recipe.seed)
            outcome = train_network(
                recipe,
                self.features[rows][:, columns],
                self.human[rows],
                self.judged_features[0][:, columns],
                np.concatenate(validation.ratings),
            )
            if outcome.interrupted:  # training keeps what is best so far, but this study would be of something else
                raise KeyboardInterrupt
            networks.append(outcome.network)
        return [[network.human(matrix[:, columns]) for network in networks] for matrix in self.judged_features]

    def agreements(self, scores: Scores) -> Agreements:
        """Compare scores with the judgments, with the same resamples for all scores."""
        pairs = [*zip(self.judgments, scores, strict=True)]
        return Agreements(
            tuple(np.array([judgments.values(draw).mean() for draw in draws]) for judgments, draws in pairs),
            tuple(judgments.resampled_mean(draws, self.sampling) for judgments, draws in pairs),
        )

    def records(self, agreements: Agreements, first: Agreements | None = None) -> list[dict[str, Any]]:
        """Return one record per benchmark, with the keys ``AGREEMENT`` and, given ``first``, differences from it."""
        rows = []
        for number, judgments in enumerate(self.judgments):
            values, resampled = agreements.values[number], agreements.resampled[number]
            row = {"benchmark": judgments.protocol.full_name, "value": _number(values.mean())}
            row |= self._ends(resampled, "ci95_low", "ci95_high")
            row["sd_over_seeds"] = _number(values.std(ddof=1)) if len(values) > 1 else None
            if first is not None:
                row["difference"] = _number(values.mean() - first.values[number].mean())
                row |= self._ends(resampled - first.resampled[number], "difference_low", "difference_high")
            rows.append({column: row.get(column) for column in AGREEMENT})
        return rows

    def compared(self, variations: Mapping[str, tuple[Mapping[str, Any], Variation]]) -> list[dict[str, Any]]:
        """Return records of networks trained in several ways, with differences from the first.

        Args:
            variations: label for progress -> first columns of the records, and the variation.
        """
        rows = []
        first: Agreements | None = None
        with steps([*variations], str) as names:
            for name in names:
                columns, variation = variations[name]
                agreements = self.agreements(self.scores(variation))
                rows += [{**columns, **record} for record in self.records(agreements, first)]
                first = agreements if first is None else first
        return rows

    def curves(
        self, kind: str, x_label: str, rows: Sequence[Mapping[str, Any]], x: Sequence[int], *, logarithmic: bool = False
    ) -> dict[str, Curves]:
        """Return a picture for each benchmark of the values of records, which are in the order of x."""
        pictures = {}
        for judgments in self.judgments:
            protocol = judgments.protocol
            points = [row for row in rows if row["benchmark"] == protocol.full_name]
            y, low, high = (
                np.array([r[key] for r in points], np.float64) for key in ("value", "ci95_low", "ci95_high")
            )
            lines = {self.recipe.name: Curve(np.array(x, float), y, low, high)}
            pictures[f"{kind}-{protocol.full_name}"] = Curves(
                protocol.full_name, x_label, protocol.statistic, lines, logarithmic
            )
        return pictures

    def study(
        self, name: str, what: str, head: Sequence[str], rows: Sequence[Mapping[str, Any]], note: str = "", **parts: Any
    ) -> Study:
        """Return the study of some variations.

        Args:
            name, rows, parts: of the study; ``settings`` are extended.
            what: continuation of the title after "agreement with human judgments".
            head: the columns before ``AGREEMENT``.
            note: a sentence to append to the notes.
        """
        numbers = (
            f"Value: mean over networks trained with {self.seeds} random seeds; the difference is from the first row. "
            f"{percentage(self.sampling.level)} intervals: percentile bootstrap over the images of the benchmark; "
            "they do not include the variation between seeds. Each network is that of the epoch with the best "
            "validation tau-b, which is therefore optimistic."
        )
        settings = {"recipe": self.recipe.name, **parts.pop("settings", {}), "seeds": self.seeds}
        return Study(
            name,
            f"Agreement with human judgments {what}: recipe {self.recipe.name}",
            (*head, *AGREEMENT),
            rows,
            self.signatures,
            self.data,
            settings | self.sampling.settings,
            notes=[numbers, note] if note else [numbers],
            warnings=[*dict.fromkeys(w for judgments in self.judgments for w in few_images_warning(judgments.n_units))],
            **parts,
        )

    def _rows(self, images: int | None, seed: int) -> NDArray[np.int64]:
        """Return the training examples of a number of images, drawn with a seed."""
        if images is None or images >= self.n_images:
            return np.arange(len(self.human))
        in_sample = np.zeros(self.n_images, bool)
        in_sample[np.random.default_rng(seed).permutation(self.n_images)[:images]] = True
        return np.flatnonzero(in_sample[self.units])

    def _ends(self, values: NDArray[np.float64], *names: str) -> dict[str, float | None]:
        return dict(zip(names, map(_number, self.sampling.interval(values)), strict=True))


def _matrix(features: FeatureMetric, captions: Captions, settings: Settings) -> NDArray[np.float64]:
    captions = captions.with_references_as(settings.references_as)
    return features.matrix(captions, features.fit(captions.references))


def _number(value: float) -> float | None:
    """Return a number, or None if a correlation is undefined."""
    return float(value) if np.isfinite(value) else None
