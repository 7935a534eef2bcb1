"""Features of captions: the scores of a feature set, every annotation layer computed once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.learned.feature_sets import FeatureSet
from captious.metrics.contract.combined import Combine, Combined
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings

__all__ = ["Features"]

#: Parameters whose values are written in the set, or are the defaults of its metrics.
_OF_THE_SET = {"variant", "chains", "combine", "modules"}


class Features(Combined):
    """The metrics of a feature set, ready to run.

    Args:
        feature_set: what to compute.
        settings: word vectors, parser and other settings of the run.
        combine: scaled features, float64[..., n_features], to scores, float64[...]; None for the features themselves.
        variant: one of ``variants``.

    Raises:
        MissingExtraError: a resource that a feature needs is not installed.
        ParameterError: a setting that no feature uses.
        UnknownNameError: a variant or parameter that a metric does not have.
    """

    def __init__(
        self,
        feature_set: FeatureSet,
        settings: Settings | None = None,
        *,
        combine: Combine | None = None,
        variant: str | None = None,
    ) -> None:
        self.feature_set = feature_set
        self._scales = np.array([feature.scale for feature in feature_set.features])
        self._of_features = combine
        owners = {
            label: (each.metric, each.metric.outputs[column])
            for each in select([feature.metric for feature in feature_set.features], settings)
            for label, column in each.columns.items()
        }
        parts: list[tuple[Metric, str]] = [owners[label] for label in feature_set.labels]
        super().__init__(parts, self._scaled, level="caption", variant=variant)

    def matrix(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        """Features of captions, float64[n_captions, n_features].

        A feature that a caption has no score of, as SPICE's categories may be, is 0.
        """
        return self._features(self.part_scores(captions, state))

    @property
    def resources(self) -> Mapping[str, object]:
        """What the features depend on besides the set: tokenizer, vectors, parser, tables, models.

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

    def _features(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.nan_to_num(scores, nan=0.0) * self._scales)

    def _scaled(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        features = self._features(scores)
        return features if self._of_features is None else self._of_features(features)
