"""``FeatureMetric``: the scores of a feature set as features of captions; and files of features."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, ImageId
from captious.files.atomic_write import whole_file
from captious.files.row_files import check_row_file, write_parquet, write_rows
from captious.learned.networks.feature_sets import FeatureSet, as_feature_set
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.contract.request import Request
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.metrics.contract.signatures import signature

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
        default=None, read=lambda settings: settings or Settings(), summary="word vectors, parser and other settings"
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
    def parameters(self) -> Mapping[str, object]:
        return {"features": self.feature_set.label, **self.resources}

    def signature(self, state: State | None = None) -> str:
        """Return everything that the features depend on besides the captions."""
        references = {} if self.settings.references_as == "each" else {"references": self.settings.references_as}
        return signature(self.feature_set.name, {**self.parameters, **self.fitted_parameters(state), **references})


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
    match check_feature_file(path):
        case ".parquet":
            columns = {"id": [*ids], **dict(zip(labels, features.T, strict=True))}
            write_parquet(path, columns, {"signature": signature})
        case ".csv":
            rows = ([image, *row] for image, row in zip(ids, features.tolist(), strict=True))
            write_rows(path, ["id", *labels], rows, {})
        case _:
            captions = dict(zip(map(str, ids), features.tolist(), strict=True))
            document = {"signature": signature, "features": labels, "captions": captions}
            with whole_file(path) as file:
                json.dump(document, file, ensure_ascii=False, indent=1)
                file.write("\n")
