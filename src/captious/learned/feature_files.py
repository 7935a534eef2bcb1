"""Files of features: one row per caption, a column for its id and one for each feature."""

from __future__ import annotations

import json
import os

import numpy as np
from numpy.typing import NDArray

from captious.atomic_write import whole_file
from captious.data import ImageId
from captious.row_files import check_row_file, write_parquet, write_rows

__all__ = ["FEATURE_FORMATS", "check_feature_file", "write_features"]

#: Extensions of files of features.
FEATURE_FORMATS = (".parquet", ".csv", ".json")


def check_feature_file(path: str | os.PathLike[str]) -> str:
    """Refuse a file that ``write_features`` would refuse, as ``check_row_file`` does; the extension of others."""
    return check_row_file(path, FEATURE_FORMATS, "features")


def write_features(
    path: str | os.PathLike[str],
    ids: tuple[ImageId, ...],
    labels: tuple[str, ...],
    features: NDArray[np.float64],
    signature: str,
) -> None:
    """Write features, every number exactly.

    Parquet files carry the signature in their metadata, json files under "signature"; csv has no place for it.

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
