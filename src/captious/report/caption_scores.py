"""Files of caption scores: one row per image, with a column for every output."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

from captious.evaluation import Report
from captious.row_files import check_row_file, write_rows
from captious.table import json_value

#: Extensions of files of caption scores.
CAPTION_FORMATS = (".jsonl", ".csv", ".parquet")


def check_caption_file(path: str | os.PathLike[str]) -> None:
    """Refuse a file that ``write_captions`` would refuse, as ``check_row_file`` does."""
    check_row_file(path, CAPTION_FORMATS, "caption scores")


def write_captions(path: str | os.PathLike[str], reports: Sequence[Report]) -> None:
    """Write caption scores, one row per image: id, candidate, one column per output; `system` where there are several.

    Several candidates per image are a list, called `candidates`; in csv, the list as JSON.

    Parquet files carry the signatures in their metadata, under the names of the columns.

    Raises:
        ParameterError, MissingExtraError: as ``check_caption_file`` does.
        OutputError: the file cannot be written.
    """
    check_caption_file(path)
    columns = [*reports[0].columns()]
    signatures = {name: result.signature for name, result in reports[0].items()}
    write_rows(path, ["system", *columns] if len(reports) > 1 else columns, _rows(reports), signatures)


def _rows(reports: Sequence[Report]) -> Iterator[tuple[Any, ...]]:
    """One row per system and image, plain values; None where a caption has no score."""
    for report in reports:
        system = (report.system,) if len(reports) > 1 else ()
        for row in zip(*map(json_value, report.columns().values()), strict=True):
            yield system + row
