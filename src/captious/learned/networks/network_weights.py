"""A trained metric: its network, its features, their provenance, and its safetensors file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ResourceError
from captious.files.checksum import checksum
from captious.learned.networks.feature_sets import FeatureSet
from captious.learned.networks.network import Network
from captious.learned.weight_files import read_weights, write_weights
from captious.phrases import counted

_LARGEST = 64 << 20
_MOST_LAYERS = 32
_HELP = "give a file that 'captious learn train' wrote"


@dataclass(frozen=True, eq=False)
class NetworkWeights:
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
                help=_HELP,
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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a safetensors file. The same training gives the same bytes.

        Raises:
            OutputError: the file cannot be written.
        """
        config = {
            **{"metric": self.metric, "name": self.name, "features": self.features.to_dict()},
            **{"recipe": dict(self.recipe), "resources": dict(self.resources)},
            **{"data": dict(self.data), "figures": dict(self.figures)},
        }
        arrays: dict[str, NDArray[Any]] = {}
        for number, (weights, biases) in enumerate(zip(self.network.weights, self.network.biases, strict=True)):
            arrays |= {f"layer{number}.weight": weights, f"layer{number}.bias": biases}
        write_weights(path, arrays, config)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> NetworkWeights:
        """Read a file written by ``save``.

        Raises:
            ResourceError: no such file, or not a complete file of weights.
        """
        return read_weights(path, cls._from_arrays, most=_LARGEST, help=_HELP)

    @classmethod
    def _from_arrays(cls, arrays: dict[str, NDArray[Any]], config: dict[str, Any], _: str) -> NetworkWeights:
        n = len(arrays) // 2
        expected = {f"layer{i}.{part}" for i in range(n) for part in ("weight", "bias")}
        if {*arrays} != expected or n > _MOST_LAYERS or any(a.dtype.kind != "f" for a in arrays.values()):
            raise ResourceError("these are not the layers of a network")
        texts = ("metric", "name")
        tables = ("recipe", "resources", "data", "figures")
        if not all(isinstance(config[key], str) and config[key].isprintable() for key in texts):
            raise ResourceError("the names in the file are damaged")
        if not all(isinstance(config[key], dict) for key in tables):
            raise ResourceError("the tables in the file are damaged")
        network = Network(
            tuple(np.asarray(arrays[f"layer{i}.weight"], np.float64) for i in range(n)),
            tuple(np.asarray(arrays[f"layer{i}.bias"], np.float64) for i in range(n)),
        )
        features = FeatureSet.from_dict(config["features"])
        return cls(config["metric"], config["name"], features, network, **{key: config[key] for key in tables})


def bundled(name: str) -> Path:
    """Return the path of weights of the package."""
    return Path(__file__).parents[1] / "weights" / f"{name}.safetensors"
