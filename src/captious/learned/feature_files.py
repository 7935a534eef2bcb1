"""Files of features: one row per caption, a column for its id and one for each feature."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from captious.atomic_write import check_place, whole_file
from captious.data import ImageId
from captious.errors import MissingExtraError, ParameterError

__all__ = ["FEATURE_FORMATS", "check_feature_file", "write_features"]

#: Extensions of files of features.
FEATURE_FORMATS = (".parquet", ".csv", ".json")


def check_feature_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file name that ``write_features`` would refuse, before any work is done.

    Raises:
        ParameterError: an extension that is not in ``FEATURE_FORMATS``.
        MissingExtraError: parquet without pyarrow.
        OutputError: a place that cannot be written to.
    """
    check_place(path)
    suffix = Path(path).suffix.lower()
    if suffix not in FEATURE_FORMATS:
        raise ParameterError(
            f"features cannot be written as {suffix or 'a file without extension'}",
            where=str(path),
            help=f"use one of these extensions: {', '.join(FEATURE_FORMATS)}",
        )
    if suffix == ".parquet":
        try:
            import pyarrow  # noqa: F401
        except ImportError:
            raise MissingExtraError("parquet needs pyarrow", help="pip install 'captious[parquet]'") from None


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
    check_feature_file(path)
    suffix = Path(path).suffix.lower()
    if suffix == ".parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        same = all(isinstance(i, int) and abs(i) < 2**63 for i in ids) or all(isinstance(i, str) for i in ids)
        columns = {"id": list(ids) if same else [*map(str, ids)], **dict(zip(labels, features.T, strict=True))}
        table = pa.table(columns).replace_schema_metadata({"signature": signature})
        with whole_file(path, "wb") as file:
            pq.write_table(table, file)
        return
    with whole_file(path) as file:
        if suffix == ".csv":
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["id", *labels])
            writer.writerows([image, *row] for image, row in zip(ids, features.tolist(), strict=True))
        else:
            rows = dict(zip(map(str, ids), features.tolist(), strict=True))
            json.dump(
                {"signature": signature, "features": labels, "captions": rows}, file, ensure_ascii=False, indent=1
            )
            file.write("\n")
