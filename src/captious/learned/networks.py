"""Metrics that are networks over the scores of other metrics: feature sets, networks, recipes, weights, base class."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId
from captious.errors import ParameterError, ResourceError
from captious.files import check_row_file, checksum, whole_file, write_rows
from captious.learned.files import (
    BUILT_IN,
    AnyRecipe,
    Arrays,
    WeightsFile,
    check_name,
    choice,
    errors_in,
    number,
    of_package,
    read_table,
    unknown,
    whole,
)
from captious.metrics.contract import registry
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, State, signature
from captious.metrics.contract.parameters import LARGE, ResourceParameter
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings, as_settings
from captious.metrics.shared.word_vectors import VectorsParameter
from captious.parsing.sources import ParseSource, as_parse_source
from captious.resources.cache import COCO_VAL
from captious.words import counted, shortened

# Feature sets: a name and an ordered list of metric outputs, which a learned metric combines.
#
# Resources such as word vectors are settings of a run, not part of a set.

#: Parameters that are resources. A set may name the document frequencies of the package, which are not a user's file.
_RESOURCES = ({*Settings.__dataclass_fields__} | {"constants", "stop_words", "weights"}) - {"tokenizer"}
_MOST_FEATURES = 1_000
_FEATURES_HELP = 'write {"name": "mine", "features": ["bleu-1", {"metric": "cider-d", "scale": 0.1}]}'


@dataclass(frozen=True)
class Feature:
    """An output of a metric, times a scale.

    Args:
        metric: a specification that names one output: ``bleu-1``, ``hwcm-2:chains=dep``.
        scale: factor of its scores.
    """

    metric: str
    scale: float = 1.0

    @property
    def label(self) -> str:
        """Name of the column: the output with its variant and parameters, as written."""
        return str(Request.from_text(self.metric))


@dataclass(frozen=True)
class FeatureSet:
    """An ordered set of features.

    Args:
        name: name in signatures: letters, digits, dots, - and _.
        features: at least one, each metric once.

    Raises:
        ParameterError: no features, too many, a duplicate, a metric without the name of a single output, a resource
            among the parameters, a scale that is not a finite number, or an invalid name.
        UnknownNameError: an unknown metric or output.
    """

    name: str
    features: tuple[Feature, ...]

    def __post_init__(self) -> None:
        check_name(self.name, "a feature set")
        if not 0 < len(self.features) <= _MOST_FEATURES:
            raise ParameterError(
                f"the feature set {self.name} has {counted(len(self.features), 'feature')}",
                hint=f"give 1 to {_MOST_FEATURES:,}",
            )
        for feature in self.features:
            _check(feature, self.name)
        labels = self.labels
        if duplicates := [label for label in labels if labels.count(label) > 1]:
            raise ParameterError(f"{duplicates[0]} is given twice", where=f"feature set {self.name}", hint="remove one")

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self.features)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(feature.label for feature in self.features)

    @property
    def label(self) -> str:
        """The set in signatures: its name and a checksum of the content."""
        content = json.dumps([[feature.label, feature.scale] for feature in self.features])
        return f"{self.name}-{checksum(content)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain values for files."""
        return {"name": self.name, "features": [{"metric": f.metric, "scale": f.scale} for f in self.features]}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> FeatureSet:
        """Restore from the values of ``to_dict``; a feature may also be just a specification.

        Raises:
            ParameterError, UnknownNameError: as the class, or something of another form.
        """
        entries = content.get("features")
        if {*content} != {"name", "features"} or not isinstance(entries, Sequence) or isinstance(entries, str):
            raise ParameterError(
                "this is not a feature set", where=f"it has {', '.join(map(str, content))}", hint=_FEATURES_HELP
            )
        return cls(content["name"], tuple(map(_feature, entries)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> FeatureSet:
        """Read a set from a JSON or TOML file.

        Raises:
            ResourceError: no such file, or not a feature set.
        """
        content = read_table(path, "a feature set", _FEATURES_HELP)
        with errors_in(path):
            return cls.from_dict(content)


def _feature(entry: Any) -> Feature:
    if isinstance(entry, str):
        return Feature(entry)
    if isinstance(entry, Mapping) and "metric" in entry and {*entry} <= {"metric", "scale"}:
        return Feature(entry["metric"], entry.get("scale", 1.0))
    raise ParameterError(f"{shortened(entry)} is not a feature", hint=_FEATURES_HELP)


def _check(feature: Feature, of: str) -> None:
    where = f"feature set {of}: {feature.metric!s:.60}"
    if not isinstance(feature.metric, str):
        raise ParameterError("a feature must be the name of a metric", where=where, hint=_FEATURES_HELP)
    scale = feature.scale
    if not isinstance(scale, int | float) or isinstance(scale, bool) or not math.isfinite(scale) or abs(scale) > LARGE:
        raise ParameterError(f"invalid scale {shortened(scale)}", where=where, hint=f"give a number up to {LARGE:,}")
    request = Request.from_text(feature.metric)
    owner = registry.owner_of(request.name)
    if owner is None:
        raise registry.unknown(request.name)
    outputs = registry.get(owner).outputs
    if request.name not in outputs:
        raise ParameterError(
            f"{request.name} has several outputs",
            where=where,
            hint=f"give one of {', '.join(outputs)} for each feature",
        )
    for name, value in request.parameters.items():
        if name in _RESOURCES and (name, value) != ("idf", COCO_VAL):
            raise ParameterError(
                f"{name} is a resource, which cannot be a part of a feature set",
                where=where,
                hint=f"remove it, and give it as a setting of the run where there is one: --{name.replace('_', '-')}",
            )


#: The names of the built-in sets.
FEATURE_SETS = tuple(BUILT_IN["features"])


def as_feature_set(source: FeatureSet | str | os.PathLike[str]) -> FeatureSet:
    """Return a feature set by its name, or from a file (.json or .toml).

    Raises:
        UnknownNameError: neither the name of a set nor a file.
        ResourceError: a file that holds no feature set.
    """
    if isinstance(source, FeatureSet):
        return source
    name = os.fspath(source)
    if name in FEATURE_SETS:
        return FeatureSet.from_dict({"name": name, "features": BUILT_IN["features"][name]})
    if Path(name).suffix in (".json", ".toml"):
        return FeatureSet.load(source)
    raise unknown(name, FEATURE_SETS, "feature set")


# ``FeatureMetric``: the scores of a feature set as features of captions; and files of features.

#: Parameters whose values are written in the set, or are the defaults of its metrics.
_SET_SETTINGS = {"variant", "chains", "combine", "modules"}


class FeatureMetric(Combined):
    """The metrics of a feature set. Its scores are the features, each times its scale.

    Raises:
        MissingExtraError: a resource of a feature is not installed.
        ParameterError: a setting that no feature uses.
        UnknownNameError: a variant or parameter that a metric does not have.
    """

    name = "features"
    without_parameters = frozenset({"tokenizer"})
    feature_set: ResourceParameter[FeatureSet | str | os.PathLike[str], FeatureSet] = ResourceParameter(
        default="lceval", read=as_feature_set, summary="what to compute"
    )
    settings: ResourceParameter[Settings | None, Settings] = ResourceParameter(
        default=None, read=as_settings, summary="word vectors, parser and other settings"
    )

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        features = self.feature_set.features
        self._scales = np.array([feature.scale for feature in features])
        outputs: dict[str, tuple[Metric, str]] = {}
        for item in select([feature.metric for feature in features], self.settings):
            assert isinstance(item.metric, Metric)
            outputs |= {
                label: (item.metric, item.metric.outputs[column]) for label, column in item.output_indices.items()
            }
        return [outputs[Request.from_text(feature.metric).label] for feature in features]

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Combine the scores; a missing feature, which SPICE's categories may be, is 0."""
        return np.asarray(np.nan_to_num(scores, nan=0.0) * self._scales)

    def matrix(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Return features of captions, float64[n_captions, n_features]."""
        return FeatureMetric.combine(self, self.part_scores(captions, state))

    @property
    def resources(self) -> Mapping[str, object]:
        """Resources that the features depend on: tokenizer, vectors, parser, tables, models.

        Numbers are omitted, as they follow from the set. If metrics have different values of a parameter, these are
        joined by "+".
        """
        values_of: dict[str, dict[str, None]] = {}
        for metric in self.metrics:
            for name, value in metric.parameters.items():
                if name not in _SET_SETTINGS and not isinstance(value, float | int):
                    values_of.setdefault(name, {})[str(value)] = None
        return {name: "+".join(values) for name, values in values_of.items()}

    @property
    def references_as(self) -> Mapping[str, object]:
        """How references are passed to the metrics, unless each separately."""
        return {} if self.settings.references_as == "each" else {"references": self.settings.references_as}

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"features": self.feature_set.label, **self.resources}

    def signature(self, state: State | None = None) -> str:
        """Return everything that the features depend on besides the captions."""
        parameters = {**self.parameters, **self.fitted_parameters(state), **self.references_as}
        return signature(self.feature_set.name, parameters)


#: Extensions of files of features.
FEATURE_FORMATS = (".parquet", ".csv", ".json")


def check_feature_file(path: str | os.PathLike[str]) -> str:
    """Check that ``write_features`` can write a file, as ``check_row_file`` does, and return its extension."""
    return check_row_file(path, FEATURE_FORMATS, "features")


def write_features(
    path: str | os.PathLike[str],
    ids: tuple[ImageId, ...],
    labels: tuple[str, ...],
    features: NDArray[np.float64],
    signature: str,
) -> None:
    """Write features with full precision.

    Parquet files carry the signature in their metadata, json files under "signature"; csv files have none.

    Args:
        path: a file with one of the extensions of ``FEATURE_FORMATS``.
        ids: the images, n of them.
        labels: names of the columns.
        features: float64[n, n_features].
        signature: what the features depend on.

    Raises:
        ParameterError, MissingExtraError, OutputError: as ``check_feature_file``, or the file cannot be written.
    """
    if check_feature_file(path) != ".json":
        rows = ([image, *row] for image, row in zip(ids, features.tolist(), strict=True))
        write_rows(path, ["id", *labels], rows, {"signature": signature})
        return
    captions = dict(zip(map(str, ids), features.tolist(), strict=True))
    document = {"signature": signature, "features": labels, "captions": captions}
    with whole_file(path) as file:
        json.dump(document, file, ensure_ascii=False, indent=1)
        file.write("\n")


# Dense networks in numpy, used for scoring by trained metrics.

#: The class whose probability is the score: 0 is a machine's caption, 1 a human's.
HUMAN = 1


@dataclass(frozen=True, eq=False)
class Network:
    """Dense layers with ReLU between them and softmax at the end.

    Args:
        weights: float64[n_in, n_out] of each layer.
        biases: float64[n_out] of each layer.

    Raises:
        ParameterError: no layers, shapes that do not fit together, other than two classes, or numbers that are not
            finite.
    """

    weights: tuple[NDArray[np.float64], ...]
    biases: tuple[NDArray[np.float64], ...]

    def __post_init__(self) -> None:
        for name in ("weights", "biases"):
            arrays = [np.array(array, np.float64) for array in getattr(self, name)]
            for array in arrays:
                array.flags.writeable = False
            object.__setattr__(self, name, tuple(arrays))
        if not _fits(self.weights, self.biases):
            shapes = ", ".join(str(array.shape) for array in self.weights)
            raise ParameterError(
                "these layers are not a network of two classes",
                where=f"shapes of weights: {shapes or 'none'}",
                hint="each layer takes what the layer before it gives, and the last one gives 2",
            )
        if not all(np.isfinite(array).all() for array in (*self.weights, *self.biases)):
            raise ParameterError("a weight is not finite", hint="train the network again")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Width of the input and of each layer, such as (8, 72, 72, 2)."""
        return (len(self.weights[0]), *(len(layer) for layer in self.biases))

    def logits(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the input of the softmax: float64[..., n_features] to float64[..., 2].

        Each row is computed separately, so its bits do not depend on other rows, unlike those of a matrix product.
        """
        values = features
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases, strict=True)):
            if layer:
                values = np.maximum(values, 0)
            total = np.broadcast_to(biases, (*values.shape[:-1], len(biases))).copy()
            for column, row in enumerate(weights):
                total += values[..., column, None] * row
            values = total
        return values

    def probabilities(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return probabilities of both classes, float64[..., n_features] to float64[..., 2]."""
        logits = self.logits(features)
        powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))

    def human(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the probability that a person wrote the caption, float64[..., n_features] to float64[...]."""
        return np.asarray(self.probabilities(features)[..., HUMAN])


def _fits(weights: Sequence[NDArray[np.float64]], biases: Sequence[NDArray[np.float64]]) -> bool:
    if not weights or len(weights) != len(biases) or not all(w.ndim == 2 and w.size for w in weights):
        return False
    inner = all(a.shape[1] == b.shape[0] for a, b in pairwise(weights))
    return inner and [b.shape for b in biases] == [w.shape[1:] for w in weights] and weights[-1].shape[1] == 2


# Recipes for training a network over features.

#: Distributions of initial weights, biases being 0: normal with variance 2 / n_in, and uniform with
#: variance 2 / (n_in + n_out).
INITIALIZATIONS = ("he-normal", "glorot-uniform")
#: The metrics that take weights.
METRICS = ("nneval", "lceval")


@dataclass(frozen=True)
class Recipe(AnyRecipe):
    """A training recipe: the network, the loss, and when to stop.

    Args:
        name: name of the recipe.
        features: input of the network.
        hidden: widths of hidden layers, with ReLU.
        metric: the metric to train, one of ``METRICS``.
        initialization: one of ``INITIALIZATIONS``.
        l2: weight of half the sum of squared weights, without biases, which is added to the mean cross-entropy.
        learning_rate: learning rate of Adam.
        batch_size: examples per step; the last batch of an epoch may be smaller.
        epochs: maximum number of epochs.
        patience: number of epochs without a better validation tau after which to stop.
        seed: random seed of weights and batches.

    Raises:
        ParameterError: an invalid value.
    """

    built_in = BUILT_IN["networks"]
    help = 'write {"base": "lceval", "name": "mine", "hidden": [24, 12]}, with any fields of the recipe'

    features: FeatureSet
    hidden: tuple[int, ...]
    metric: str = choice(METRICS, refusal="no metric {value} takes weights")
    initialization: str = choice(INITIALIZATIONS, refusal="there is no initialization {value}")
    l2: float = number(0, 1e6)
    learning_rate: float = number(1e-12, 1e3)
    batch_size: int = whole(1, 1 << 31)
    epochs: int = whole(1, 1_000_000)
    patience: int = whole(1, 1_000_000)
    seed: int = whole(0, (1 << 63) - 1, 123)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(isinstance(n, int) and not isinstance(n, bool) and 0 < n <= 4096 for n in self.hidden):
            raise ParameterError(f"invalid hidden layers {shortened(self.hidden)}", hint="give widths from 1 to 4,096")
        if len(self.hidden) > 16:
            raise ParameterError(f"{len(self.hidden)} hidden layers are too many", hint="give at most 16")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Width of the input and of each layer."""
        return (len(self.features), *self.hidden, 2)

    def spread(self, n_in: int, n_out: int) -> float:
        """Return the standard deviation of normal, or the bound of uniform initial weights of a layer."""
        return math.sqrt(2 / n_in) if self.initialization == "he-normal" else math.sqrt(6 / (n_in + n_out))

    def to_dict(self) -> dict[str, Any]:
        return {**super().to_dict(), "features": self.features.to_dict()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Self:
        features = content["features"]
        features = FeatureSet.from_dict(features) if isinstance(features, dict) else as_feature_set(str(features))
        if not isinstance(content["hidden"], list):
            raise ParameterError("hidden must be a list of widths", hint=cls.help)
        return super().from_dict({**content, "features": features})


#: The names of the built-in recipes.
RECIPES = tuple(Recipe.built_in)
#: Returns a recipe by its name or from a file; see ``Recipe.of``.
as_recipe = Recipe.of


# A trained metric: its network, its features, their provenance, and its safetensors file.

_MOST_LAYERS = 32
#: Fields of weights in their files: texts, and tables.
_TEXTS, _TABLES = ("metric", "name"), ("recipe", "resources", "data", "figures")


@dataclass(frozen=True, eq=False)
class NetworkWeights(WeightsFile):
    """A trained metric.

    Args:
        metric: the metric that the weights are for, "nneval" or "lceval".
        name: name of the weights in signatures.
        features: input of the network.
        network: scores features.
        recipe: the training recipe: the fields of ``Recipe``.
        resources: resources used to compute the features of the training data: vectors, parser, ...
        data: the training data: files with checksums, counts.
        figures: results of training, such as the best epoch and its validation tau.

    Raises:
        ParameterError: the network has another number of inputs.
    """

    help = "give a file that 'captious learn train' wrote"
    largest = 64 << 20

    metric: str
    name: str
    features: FeatureSet
    network: Network
    recipe: Mapping[str, Any] = field(default_factory=dict)
    resources: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, Any] = field(default_factory=dict)
    figures: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.network.sizes[0] != len(self.features):
            raise ResourceError(
                f"the network takes {counted(self.network.sizes[0], 'feature')}, but {self.features.name} has "
                f"{len(self.features):,}",
                hint=self.help,
            )

    @cached_property
    def label(self) -> str:
        """The weights in signatures: the name and a checksum of the numbers."""
        arrays = [array.astype(np.float64) for array in (*self.network.weights, *self.network.biases)]
        return f"{self.name}-{checksum(*arrays)}"

    @property
    def contents(self) -> str:
        """A short description."""
        layers = "-".join(map(str, self.network.sizes))
        return f"{self.metric}, {layers}, features {self.features.name}, weights {self.label}"

    def _to_arrays(self) -> tuple[Arrays, Mapping[str, Any]]:
        config = {key: getattr(self, key) for key in (*_TEXTS, *_TABLES)}
        arrays: dict[str, NDArray[Any]] = {}
        for layer, (weights, biases) in enumerate(zip(self.network.weights, self.network.biases, strict=True)):
            arrays |= {f"layer{layer}.weight": weights, f"layer{layer}.bias": biases}
        return arrays, {**config, "features": self.features.to_dict()}

    @classmethod
    def _from_arrays(cls, arrays: Arrays, config: Any, _: str) -> NetworkWeights:
        n = len(arrays) // 2
        expected = {f"layer{i}.{part}" for i in range(n) for part in ("weight", "bias")}
        if {*arrays} != expected or n > _MOST_LAYERS or any(a.dtype.kind != "f" for a in arrays.values()):
            raise ResourceError("these are not the layers of a network")
        if not all(isinstance(config[key], str) and config[key].isprintable() for key in _TEXTS):
            raise ResourceError("the names in the file are damaged")
        if not all(isinstance(config[key], dict) for key in _TABLES):
            raise ResourceError("the tables in the file are damaged")
        network = Network(
            tuple(np.asarray(arrays[f"layer{i}.weight"], np.float64) for i in range(n)),
            tuple(np.asarray(arrays[f"layer{i}.bias"], np.float64) for i in range(n)),
        )
        features = FeatureSet.from_dict(config["features"])
        return cls(config["metric"], config["name"], features, network, **{key: config[key] for key in _TABLES})


# Base class of metrics trained on features, which predict the probability that a person wrote the caption.

_CHECKSUM = re.compile(r"(?<=-)[0-9a-f]{8}(?:\+subwords)?$")


class LearnedMetric(FeatureMetric):
    """P(human), 0 to 1, predicted by a network over features. The corpus score is the mean.

    Raises:
        ResourceError: a file without weights.
        ParameterError: weights of another metric.
        MissingExtraError: a resource of a feature is not installed.
    """

    without_parameters = frozenset({"tokenizer", "feature_set", "settings"})
    weights: ResourceParameter[
        NetworkWeights | str | os.PathLike[str] | None, NetworkWeights | str | os.PathLike[str] | None
    ] = ResourceParameter(
        default=None, summary="a file that 'captious learn train' wrote; none for the weights of the package"
    )
    vectors: VectorsParameter = VectorsParameter(default=None, optional=True, summary="word vectors of the features")
    parser: ResourceParameter[ParseSource | str | os.PathLike[str] | None, ParseSource | None] = ResourceParameter(
        default=None, read=as_parse_source, keep_none=True, summary="where the parses of the features come from"
    )

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        self.trained = self.load_weights()
        if self.trained.metric != self.name:
            raise ParameterError(
                f"these weights are of {self.trained.metric}, not of {self.name}",
                where=self.trained.contents,
                hint=f"use {self.trained.metric}:weights=FILE",
            )
        self.feature_set = self.trained.features
        self.settings = Settings(vectors=self.vectors, parser=self.parser)
        return super().make_parts()

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.trained.network.human(super().combine(scores))

    def load_weights(self) -> NetworkWeights:
        """Return the weights that were passed, or else those of the variant."""
        if isinstance(self.weights, NetworkWeights):
            return self.weights
        return of_package(NetworkWeights, self.name) if self.weights is None else NetworkWeights.load(self.weights)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"variant": self.variant, "weights": self.trained.label, **super().parameters}

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        messages = [*super().warnings(captions, state)]
        resources = dict(self.resources)
        if len(captions.references.texts) > len(captions.references):
            resources["references"] = "each"  # concatenated ones are one for each image
        differences = {
            name: value
            for name, value in self.trained.resources.items()
            if name in resources and not _same_resource(resources[name], value)
        }
        if differences:
            trained = ", ".join(f"{name} {value}" for name, value in differences.items())
            now = ", ".join(f"{name} {resources[name]}" for name in differences)
            messages.append(
                f"the weights of {self.name} were trained with {trained}, but its features are computed with {now}: "
                "compare its scores only with scores of the same signature, or train it with these resources "
                "(captious learn train)."
            )
        return messages


def _same_resource(label: object, trained_label: object) -> bool:
    """Return whether two labels are of the same resource: equal checksums at their ends, or equal labels."""
    checksums = [_CHECKSUM.search(str(text)) for text in (label, trained_label)]
    first, second = (match and match[0] for match in checksums)
    return first == second if first and second else label == trained_label
