"""Base class of metrics trained on features, which predict the probability that a person wrote the caption."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError
from captious.learned.networks.feature_metrics import FeatureMetric
from captious.learned.networks.network_weights import NetworkWeights, bundled
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.vector_metric import VectorsParameter
from captious.parsing.parsed_captions import ParseSource, as_parse_source

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
                help=f"use {self.trained.metric}:weights=FILE",
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
        return _loaded(os.fspath(bundled(self.name))) if self.weights is None else NetworkWeights.load(self.weights)

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"variant": self.variant, "weights": self.trained.label, **super().parameters}

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        messages = super().warnings(captions, state)
        resources = self.resources
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


@lru_cache(maxsize=4)
def _loaded(path: str) -> NetworkWeights:
    return NetworkWeights.load(path)
