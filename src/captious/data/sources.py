"""``read_rows`` reads captions of every accepted form, from a path or a Python object.

The forms are listed in the errors of ``rows.Source``; anything that is none of them, or could be two, is refused with
that list. Nothing is guessed from contents: a file is read by its extension.
"""

from __future__ import annotations

import os
import reprlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from captious.data.caption_sets import CaptionSets
from captious.data.captions import Captions
from captious.data.file_contents import decode, extension, read_bytes
from captious.data.json_files import read_json, read_json_lines
from captious.data.prepared import is_prepared
from captious.data.rows import CaptionRows, Role, Source, caption_rows
from captious.data.shapes import is_coco, rows_of_coco, rows_of_mapping, rows_of_records
from captious.data.tabular import is_data_frame, read_delimited, read_parquet, rows_of_data_frame
from captious.errors import CaptionFileError, EmptyInputError

__all__ = ["read_rows"]


def read_rows(source: object, role: Role, *, several: bool = False, column: str | None = None) -> CaptionRows:
    """Read captions from a file or a Python object.

    Args:
        source: one of
            a path to .json, .jsonl, .ndjson, .csv, .tsv or .parquet, plain or with .gz;
            a mapping from image to caption, to a list of captions or to a list of ``{"caption": ...}``;
            COCO's annotation dictionary, or a sequence of records with its fields;
            a sequence of captions or of lists of captions, image i at position i;
            a pandas or polars data frame;
            ``Captions`` or ``CaptionSets``, whose candidates are read.
        role: whether these are "candidates" or "references"; or "groups", for ``read_groups``.
        several: an image may have several candidates; otherwise it has exactly one.
        column: the field or column that holds groups.

    Returns:
        One row per caption, in the order of the source.

    Raises:
        InputError: what is wrong with the source, as a specific subclass; see ``captious.errors``.
        MissingExtraError: a parquet file without pyarrow.
    """
    if isinstance(source, str | os.PathLike):
        return _rows_of_file(Source(os.fspath(source), role, is_file=True, several=several, column=column))
    given = Source(role, role, several=several, column=column)
    if isinstance(source, Captions | CaptionSets) and role == "candidates":
        texts = source.texts if isinstance(source, CaptionSets) else source.candidates
        form = source.references.id_form
        return caption_rows(given, source.ids, texts, unit="index", numbers=range(len(source)), id_form=form)
    if is_data_frame(source):
        return rows_of_data_frame(given, source)
    if isinstance(source, np.ndarray):
        source = source.tolist()
    if isinstance(source, Mapping):
        return rows_of_coco(given, source) if is_coco(source, role) else rows_of_mapping(given, source, id_form="typed")
    if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray | memoryview):
        return _rows_of_sequence(given, source)
    what = "groups" if role == "groups" else "captions"
    raise given.error(f"{what} cannot be read from this", where=reprlib.repr(source))


def _rows_of_file(source: Source) -> CaptionRows:
    """Rows of a file, by its extension."""
    if is_prepared(source.name):
        raise CaptionFileError(
            f"this is a file of prepared references, which cannot be read as {source.role}",
            where=source.name,
            help="give it as the references; candidates come first on the command line",
        )
    form = extension(source)
    data = read_bytes(source)
    if form == ".parquet":
        return read_parquet(data, source)
    text = decode(data, source)
    match form:
        case ".json":
            return read_json(text, source)
        case ".csv":
            return read_delimited(text, source, delimiter=",")
        case ".tsv":
            return read_delimited(text, source, delimiter="\t")
        case _:
            return read_json_lines(text, source)


def _rows_of_sequence(source: Source, entries: Sequence[Any]) -> CaptionRows:
    """Rows of a sequence: records if it starts with one, else captions by position."""
    if len(entries) == 0:
        raise EmptyInputError("there are no captions", where=source.name, help=f"give the {source.role}")
    numbers = range(len(entries))
    if isinstance(entries[0], Mapping):
        return rows_of_records(source, entries, unit="index", numbers=numbers)
    return caption_rows(source, numbers, entries, unit="index", numbers=numbers, id_form="position")
