"""Features of captions: the scores of a feature set, every annotation layer computed once."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.learned.feature_sets import FeatureSet, as_feature_set
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import Resource
from captious.metrics.contract.request import select
from captious.metrics.contract.settings import Settings

__all__ = ["Features"]

#: Parameters whose values are written in the set, or are the defaults of its metrics.
_OF_THE_SET = {"variant", "chains", "combine", "modules"}


class Features(Combined):
    """The metrics of a feature set, ready to run. Its scores are the features, each times its scale.

    Raises:
        MissingExtraError: a resource that a feature needs is not installed.
        ParameterError: a setting that no feature uses.
        UnknownNameError: a variant or parameter that a metric does not have.
    """

    name = "features"
    without_parameters = frozenset({"tokenizer"})
    feature_set: Resource[FeatureSet | str | os.PathLike[str], FeatureSet] = Resource(
        default="lceval", read=as_feature_set, summary="what to compute"
    )
    settings: Resource[Settings | None, Settings] = Resource(
        default=None, read=lambda settings: settings or Settings(), summary="word vectors, parser and other settings"
    )

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        features = self.feature_set.features
        self._scales = np.array([feature.scale for feature in features])
        outputs: dict[str, tuple[Metric, str]] = {}
        for item in select([feature.metric for feature in features], self.settings):
            assert isinstance(item.metric, Metric)
            outputs |= {label: (item.metric, item.metric.outputs[column]) for label, column in item.columns.items()}
        return [outputs[label] for label in self.feature_set.labels]

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """A feature that a caption has no score of, as SPICE's categories may be, is 0."""
        return np.asarray(np.nan_to_num(scores, nan=0.0) * self._scales)

    def matrix(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Features of captions, float64[n_captions, n_features]."""
        return Features.combine(self, self.part_scores(captions, state))

    @property
    def resources(self) -> Mapping[str, object]:
        """The resources that the features depend on: tokenizer, vectors, parser, tables, models.

        Numbers follow from the set, so they are left out. Where metrics have different values of one parameter, these
        are joined by "+".
        """
        united: dict[str, dict[str, None]] = {}
        for metric in self.metrics:
            for name, value in metric.parameters.items():
                if name not in _OF_THE_SET and not isinstance(value, float | int):
                    united.setdefault(name, {})[str(value)] = None
        return {name: "+".join(values) for name, values in united.items()}

    @property
    def parameters(self) -> Mapping[str, object]:
        return {"features": self.feature_set.label, **self.resources}
