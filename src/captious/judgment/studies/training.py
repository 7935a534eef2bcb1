"""Studies of learned metrics: their features, hidden layers, training epochs, and the number of training images.

Networks are trained in several ways on features that are computed once. Each variation of a recipe is trained with
several random seeds, and judged on validation captions and benchmarks.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.evaluation.checks import few_images_warning
from captious.judgment.correlation import correlation
from captious.judgment.judgments import CaptionPairs, HumanJudgments, Protocol, RatedCaptions
from captious.judgment.results import Curve, Curves, Dot, Dots, Study
from captious.judgment.studies.sources import checksums, defined, judged_captions
from captious.learned.networks import FeatureMetric, FeatureSet, Network, Recipe, as_recipe
from captious.learned.training.networks import check_torch, feature_matrices, train_network, training_data
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.words import DEFAULT_SEED, counted, percentage

#: The columns of ``Trials.records``.
AGREEMENT = (
    *("benchmark", "value", "ci95_low", "ci95_high", "sd_over_seeds"),
    *("difference", "difference_low", "difference_high"),
)
#: Scores of the captions of each benchmark, one array float64[n_items] for each random seed of the training.
Scores = Sequence[Sequence[NDArray[np.float64]]]
#: For each benchmark its statistic by training seed, float64[n_seeds], and its mean over seeds in each bootstrap
#: resample of images, float64[resamples].
Agreements = Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]]

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
        self.recipe, self.seeds, self.sampling = as_recipe(recipe), seeds, sampling
        training = training_data(examples, validation)
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
        self.features, *self.judged_features = feature_matrices(features, tables)
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
        return [
            (np.array([judged.values(draw).mean() for draw in draws]), judged.resampled_mean(draws, self.sampling))
            for judged, draws in zip(self.judgments, scores, strict=True)
        ]

    def records(self, agreements: Agreements, first: Agreements | None = None) -> list[dict[str, Any]]:
        """Return one record per benchmark, with the keys ``AGREEMENT`` and, given ``first``, differences from it."""
        rows = []
        for number, (values, resampled) in enumerate(agreements):
            row = {"benchmark": self.judgments[number].protocol.full_name, "value": defined(values.mean())}
            row |= self._ends(resampled, "ci95_low", "ci95_high")
            row["sd_over_seeds"] = defined(values.std(ddof=1)) if len(values) > 1 else None
            if first is not None:
                first_values, first_resampled = first[number]
                row["difference"] = defined(values.mean() - first_values.mean())
                row |= self._ends(resampled - first_resampled, "difference_low", "difference_high")
            rows.append({column: row.get(column) for column in AGREEMENT})
        return rows

    def study(
        self,
        name: str,
        what: str,
        variations: Sequence[tuple[str, Mapping[str, Any], Variation]],
        note: str,
        *,
        axis: tuple[str, str, bool] | None = None,
        settings: Mapping[str, Any] = MappingProxyType({}),
    ) -> Study:
        """Return the study of networks trained in several ways, with differences from the first.

        Args:
            name: of the study.
            what: continuation of the title after "agreement with human judgments".
            variations: label for progress, first columns of the records, and the variation.
            note: a sentence to append to the notes.
            axis: the column of the x axis of pictures, its label, and whether it is logarithmic; by default, pictures
                have a row for each variation.
            settings: more settings.
        """
        rows: list[tuple[str, dict[str, Any]]] = []
        first: Agreements | None = None
        with steps(variations, lambda labeled: labeled[0]) as trained:
            for label, columns, variation in trained:
                agreements = self.agreements(self.scores(variation))
                rows += [(label, {**columns, **record}) for record in self.records(agreements, first)]
                first = agreements if first is None else first
        pictures = {f"{name}-{j.protocol.full_name}": self._picture(j.protocol, rows, axis) for j in self.judgments}
        numbers = (
            f"Value: mean over networks trained with {self.seeds} random seeds; the difference is from the first row. "
            f"{percentage(self.sampling.level)} intervals: percentile bootstrap over the images of the benchmark; "
            "they do not include the variation between seeds. Each network is that of the epoch with the best "
            "validation tau-b, which is therefore optimistic."
        )
        return Study(
            name,
            f"Agreement with human judgments {what}: recipe {self.recipe.name}",
            [*rows[0][1]],
            [row for _, row in rows],
            self.signatures,
            self.data,
            {"recipe": self.recipe.name, **settings, "seeds": self.seeds, **self.sampling.settings},
            pictures,
            notes=[numbers, note],
            warnings=[*dict.fromkeys(w for judgments in self.judgments for w in few_images_warning(judgments.n_units))],
        )

    def _picture(
        self, protocol: Protocol, rows: Sequence[tuple[str, Mapping[str, Any]]], axis: tuple[str, str, bool] | None
    ) -> Curves | Dots:
        """Return the picture of a benchmark."""
        rows = [(label, row) for label, row in rows if row["benchmark"] == protocol.full_name]
        if axis is None:
            dots = {
                label: Dot(row["value"], None if row["ci95_low"] is None else (row["ci95_low"], row["ci95_high"]))
                for label, row in rows
                if row["value"] is not None
            }
            return Dots(f"{protocol.full_name}, recipe {self.recipe.name}", protocol.statistic, dots)
        column, label, logarithmic = axis
        points = [[row[key] for key in (column, "value", "ci95_low", "ci95_high")] for _, row in rows]
        curve = Curve(*np.array([point for point in points if point[0] is not None], np.float64).T)
        return Curves(protocol.full_name, label, protocol.statistic, {self.recipe.name: curve}, logarithmic)

    def _rows(self, images: int | None, seed: int) -> NDArray[np.int64]:
        """Return the training examples of a number of images, drawn with a seed."""
        if images is None or images >= self.n_images:
            return np.arange(len(self.human))
        in_sample = np.zeros(self.n_images, bool)
        in_sample[np.random.default_rng(seed).permutation(self.n_images)[:images]] = True
        return np.flatnonzero(in_sample[self.units])

    def _ends(self, values: NDArray[np.float64], *names: str) -> dict[str, float | None]:
        return dict(zip(names, map(defined, self.sampling.interval(values)), strict=True))


_ALL, _WITHOUT, _ONLY, _ALONE = "all", "without", "only", "alone"


# Feature ablation of learned metrics: agreement with human judgments when features are left out.
#
# Networks are trained on all features, without each feature, without each group of features, and on each group alone.
# Each single feature, untrained, is also compared with the network on all of them.


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
        Others as ``captious.learned.training.networks.learn`` and ``judge``.
    """
    trials = Trials(examples, recipe, benchmarks, validation, settings, data, seeds, sampling=Sampling(resamples, seed))
    features = trials.recipe.features
    if len(features) < 2:
        raise ParameterError("nothing can be left out of a single feature", hint="give a recipe with several features")
    columns_of = _features_by_metric(features) if groups is None else _checked(groups, features)
    variations = [
        (f"{kind} {name}", {"kind": kind, "features": name}, Variation(columns, trained=kind != _ALONE))
        for kind, name, columns in _sets(features, columns_of)
    ]
    note = "Alone: the feature as it is, without training."
    return trials.study("ablation", "without some features", variations, note)


def _sets(
    features: FeatureSet, groups: Mapping[str, tuple[int, ...]]
) -> Iterator[tuple[str, str, tuple[int, ...] | None]]:
    """Return kind, name and columns of the sets of features, first that of all features."""
    yield _ALL, features.name, None
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
        groups.setdefault(registry.owner_of(name) or name, []).append(column)
    return {name: tuple(columns) for name, columns in groups.items() if 1 < len(columns) < len(features)}


def _checked(groups: Mapping[str, Sequence[str]], features: FeatureSet) -> dict[str, tuple[int, ...]]:
    columns_of = {}
    for name, labels in groups.items():
        if unknown := [label for label in labels if label not in features.labels]:
            raise ParameterError(
                f"{unknown[0]} is not a feature of {features.name}",
                where=f"group {name}",
                hint=f"its features are {', '.join(features.labels)}",
            )
        columns = tuple(sorted({features.labels.index(label) for label in labels}))
        if not 0 < len(columns) < len(features):
            raise ParameterError(
                f"the group {name} has {'no' if not columns else 'all'} features", hint="give some of the features"
            )
        columns_of[name] = columns
    return columns_of


# Agreement of learned metrics with human judgments by number of hidden layers.
#
# Sharif et al. 2019 (LCEval), the ablation of architectures.

_MOST = 16  # layers of a recipe


def network_depth(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    benchmarks: Iterable[str | os.PathLike[str] | HumanJudgments] = (),
    depths: Sequence[int] = (0, 1, 2, 3),
    *,
    width: int | None = None,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    data: str | os.PathLike[str] | None = None,
    seeds: int = 3,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the agreement with human judgments of networks with different numbers of hidden layers of one width.

    Args:
        examples: a file written by ``captious learn data``.
        recipe: a recipe, its name, or its file; its hidden layers are ignored.
        benchmarks: benchmarks of captions, as for ``judge``.
        depths: numbers of hidden layers.
        width: width of each hidden layer. By default, that of the recipe's first one.
        validation: a file of captions with ratings, as for ``captious learn train``. By default, the validation
            examples.
        settings: word vectors, parser and other settings of the features.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        seeds: number of networks to train each way, with different random seeds.
        resamples, seed: number of resamples and random seed of the bootstrap over the images of a benchmark.

    Returns:
        One record per depth and benchmark, the validation captions first: layers, such as "16-12-2", hidden_layers,
        benchmark, value (mean over seeds), ci95_low, ci95_high, sd_over_seeds; and difference, difference_low and
        difference_high, from the first depth. In the last records, layers is "none" and hidden_layers None: the mean
        of the features, which needs no training.

    Raises:
        ParameterError: no depths, one out of range, or a recipe without hidden layers and no width.
        Others as ``feature_ablation``.
    """
    sampling = Sampling(resamples, seed)
    depths = [*dict.fromkeys(depths)]
    if not depths or not all(0 <= depth <= _MOST for depth in depths):
        raise ParameterError(f"invalid numbers of hidden layers: {depths}", hint=f"give numbers from 0 to {_MOST}")
    trials = Trials(examples, recipe, benchmarks, validation, settings, data, seeds, sampling=sampling)
    if width is None:
        if not trials.recipe.hidden and any(depths):
            raise ParameterError(
                f"the recipe {trials.recipe.name} has no hidden layers, so their width is unknown",
                hint="give a width",
            )
        width = trials.recipe.hidden[0] if trials.recipe.hidden else 0
    variations: list[tuple[str, Mapping[str, Any], Variation]] = []
    for depth in depths:
        hidden = (width,) * depth
        layers = "-".join(map(str, (len(trials.recipe.features), *hidden, 2)))
        columns = {"layers": layers, "hidden_layers": depth}
        variations.append((f"{depth} hidden layers", columns, Variation(hidden=hidden)))
    variations.append(("no network", {"layers": "none", "hidden_layers": None}, Variation(trained=False)))
    return trials.study(
        "depth",
        "by number of hidden layers",
        variations,
        "Without layers: the mean of the features.",
        axis=("hidden_layers", "hidden layers", False),
        settings={"width": width},
    )


# Agreement and accuracy of a learned metric after each training epoch.
#
# Sharif et al. 2019 (LCEval), figures 7.7 (agreement on the validation captions by epoch) and 7.8 (accuracy of the
# classifier against agreement).


def training_epochs(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    *,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
) -> Study:
    """Return agreement and accuracy on the validation captions, and accuracy on the training examples, by epoch.

    Args:
        examples: a file written by ``captious learn data``.
        recipe: a recipe, its name, or its file.
        validation: a file of captions with ratings, as for ``captious learn train``; a caption counts as good if its
            rating is above the middle of the scale. By default, the validation examples, which count as good if a
            person wrote them.
        settings: word vectors, parser and other settings of the features.

    Returns:
        One record per epoch: epoch, tau_b (agreement with the ratings), accuracy and training_accuracy (shares of
            correctly classified captions). Pictures of each by epoch, and of accuracy against agreement.

    Raises:
        ParameterError: as ``feature_ablation``, which has the others.
    """
    trials = Trials(examples, recipe, (), validation, settings, seeds=1, sampling=Sampling(1, DEFAULT_SEED))
    validated = trials.judgments[0]
    assert isinstance(validated, RatedCaptions)
    ratings = np.concatenate(validated.ratings)
    good = ratings > (ratings.min() + ratings.max()) / 2
    records: list[dict[str, Any]] = []

    def watch(network: Network) -> None:
        scores = network.human(trials.judged_features[0])
        tau = correlation("kendall-tau-b", scores, ratings)
        records.append(
            {
                "epoch": len(records) + 1,
                "tau_b": defined(tau),
                "accuracy": _accuracy(scores, good),
                "training_accuracy": _accuracy(network.human(trials.features), trials.human),
            }
        )

    outcome = train_network(trials.recipe, trials.features, trials.human, trials.judged_features[0], ratings, watch)
    columns = ("epoch", "tau_b", "accuracy", "training_accuracy")
    epochs, taus, *accuracies = (np.array([record[name] for record in records], np.float64) for name in columns)
    r = correlation("pearson", accuracies[0], taus)
    best = int(np.argmax(accuracies[0]))
    kinds = ("validation captions", "training examples")
    lines = {kind: Curve(epochs, values) for kind, values in zip(kinds, accuracies, strict=True)}
    points = {"epochs": Curve(accuracies[0], taus, points=True)}
    return Study(
        "epochs",
        f"Agreement and accuracy by epoch: recipe {trials.recipe.name}, "
        f"{counted(len(trials.human), 'training example')}",
        columns,
        records,
        trials.signatures,
        trials.data,
        {"recipe": trials.recipe.name, "seed": trials.recipe.seed},
        pictures={
            "epochs": Curves(f"Training of {trials.recipe.name}", "epoch", "tau-b", {kinds[0]: Curve(epochs, taus)}),
            "epochs-accuracy": Curves(f"Training of {trials.recipe.name}", "epoch", "accuracy", lines),
            "accuracy": Curves(f"Epochs of {trials.recipe.name}", "accuracy", "tau-b", points),
        },
        notes=[
            f"Best agreement {outcome.best_tau:.4f} after epoch {outcome.best_epoch}; best accuracy "
            f"{accuracies[0].max():.4f} after epoch {best + 1}, where agreement is {taus[best]:.4f}."
            + ("" if np.isnan(r) else f" Over epochs, accuracy and agreement correlate with Pearson's r = {r:.3f}."),
        ],
        warnings=["training was interrupted: there are no later epochs."] if outcome.interrupted else [],
    )


def _accuracy(scores: NDArray[np.float64], good: NDArray[np.bool_]) -> float:
    """Return the share of correctly classified captions."""
    return float(((scores > 0.5) == good).mean())


# Agreement of learned metrics with human judgments by number of training images.

_HALVINGS = 6


def training_size(
    examples: str | os.PathLike[str],
    recipe: Recipe | str | os.PathLike[str],
    benchmarks: Iterable[str | os.PathLike[str] | HumanJudgments] = (),
    sizes: Sequence[int] = (),
    *,
    validation: str | os.PathLike[str] | None = None,
    settings: Settings | None = None,
    data: str | os.PathLike[str] | None = None,
    seeds: int = 3,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Study:
    """Return the agreement with human judgments of networks trained on the examples of fewer images.

    For each size, as many images are drawn from those of the training examples, and drawn again for every random seed;
    a larger draw contains the smaller ones.

    Args:
        examples: a file written by ``captious learn data``.
        recipe: a recipe, its name, or its file.
        benchmarks: benchmarks of captions, as for ``judge``.
        sizes: numbers of training images; by default all, half of them, a quarter and so on, down to 1/64.
        validation: a file of captions with ratings, as for ``captious learn train``. By default, the validation
            examples.
        settings: word vectors, parser and other settings of the features.
        data: the folder of judgment data; by default ``CAPTIOUS_DATA``.
        seeds: number of networks to train each way, with different random seeds.
        resamples, seed: number of resamples and random seed of the bootstrap over the images of a benchmark.

    Returns:
        One record per size and benchmark, the largest size and the validation captions first: images, benchmark, value
        (mean over seeds), ci95_low, ci95_high, sd_over_seeds; and difference, difference_low and difference_high, from
        the largest size.

    Raises:
        ParameterError: a size below 1, or above the number of images.
        Others as ``feature_ablation``.
    """
    trials = Trials(examples, recipe, benchmarks, validation, settings, data, seeds, sampling=Sampling(resamples, seed))
    most = trials.n_images
    sizes = sizes or [size for size in (most >> halvings for halvings in range(_HALVINGS + 1)) if size]
    if wrong := [size for size in sizes if not 1 <= size <= most]:
        raise ParameterError(
            f"{wrong[0]:,} is not a number of training images",
            where=f"there are {most:,}",
            hint=f"give 1 to {most:,}",
        )
    sizes = sorted({*sizes}, reverse=True)
    return trials.study(
        "size",
        "by number of training images",
        [(counted(size, "image"), {"images": size}, Variation(images=size)) for size in sizes],
        "Every seed draws other images, so the standard deviation over seeds includes that of the draw.",
        axis=("images", "training images", True),
    )
