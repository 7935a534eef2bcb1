"""``read_rows``: reading of captions in every accepted form, from a path or a Python object.

Anything other than the forms listed in the errors of ``Source``, and anything ambiguous, is refused with that list. The
format of a file is given by its extension, never guessed from its content, except for standard input, which has no
name.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence, ValuesView
from io import BytesIO, IOBase
from itertools import chain
from typing import Any, Literal

import numpy as np

from captious.data.formats import (
    DECODER,
    LINE_FORMATS,
    JsonRecords,
    RepeatedKeys,
    decode,
    format_of_content,
    format_of_name,
    is_prepared,
    is_standard_input,
    outlined,
    parse_json,
    parse_rows,
    read_bytes,
)
from captious.data.ids import IdForm
from captious.data.records import (
    Fields,
    choose_fields,
    is_document,
    rows_of_columns,
    rows_of_document,
    rows_of_mapping,
    rows_of_records,
)
from captious.data.rows import (
    CaptionFile,
    CaptionRows,
    ReadOptions,
    Role,
    RowProblem,
    Source,
    caption_rows,
    repeated_positions,
)
from captious.data.tables import Captions, CaptionSets
from captious.errors import CaptionFileError, DuplicateCandidateError, EmptyInputError, InputError, ParameterError
from captious.words import counted_of, sample_of, shortened

# A cell of csv is one string: what a column named for lists holds (JSON? a separator?) would be a guess.
_LIST_COLUMNS = ("captions", "candidates", "predictions", "references", "refs", "objects")


def read_rows(
    source: object,
    role: Role,
    *,
    several: bool = False,
    column: str | None = None,
    read_options: ReadOptions | None = None,
) -> CaptionRows:
    """Read captions from a file or a Python object.

    Args:
        source: one of
            a path to .json, .jsonl, .ndjson, .csv, .tsv, .parquet, .txt or .token, plain or with .gz; "-" is standard
            input; a ``CaptionFile``;
            a mapping from image to caption, to a list of captions or to a list of ``{"caption": ...}``;
            COCO's annotation dictionary, or another one of ``captious.data.layouts``;
            a sequence of records with the usual fields;
            a sequence of captions or of lists of captions, image i at position i;
            an iterator of these, which is read to its end;
            a pandas or polars data frame, or a series, with images from its index, if it has one;
            ``Captions`` or ``CaptionSets``, whose candidates are read; ``CaptionRows``, which are returned.
        role: whether these are "candidates" or "references"; or "groups", for ``read_groups``.
        several: an image may have several candidates; otherwise it has exactly one.
        column: the field or column of groups.
        read_options: columns and splits to read; those of a ``CaptionFile`` take precedence.

    Returns:
        One row per caption, in the order of the source.

    Raises:
        InputError: what is wrong with the source, as a specific subclass; see ``captious.errors``.
        MissingExtraError: a parquet file without pyarrow.
    """
    if isinstance(source, CaptionRows):
        if source.role == role:
            return source
        raise ParameterError(
            f"these rows were read as {source.role}", where=source.name, hint=f'read them with the role "{role}"'
        )
    if isinstance(source, CaptionFile):
        read_options = source.read_options or read_options
    if read_options is None:
        return _rows(source, role, several, column, None)
    rows = _rows(source, role, several, column, read_options)
    if role != "groups":
        read_options.finish(rows.name, role)
    return rows


def _rows(
    source: object, role: Role, several: bool, column: str | None, read_options: ReadOptions | None
) -> CaptionRows:
    if isinstance(source, str | os.PathLike):
        is_input = is_standard_input(source)
        name = "standard input" if is_input else os.fspath(source)
        return _rows_of_file(Source(name, role, True, is_input, several, column, read_options))
    origin = Source(role, role, several=several, column=column, read_options=read_options)
    if isinstance(source, Captions | CaptionSets) and role == "candidates":
        texts = source.texts if isinstance(source, CaptionSets) else source.candidates
        form = source.references.id_form
        return caption_rows(origin, source.ids, texts, unit="index", numbers=range(len(source)), id_form=form)
    if _is_of_tables(source, "DataFrame"):
        return _rows_of_data_frame(origin, source)
    if _is_of_tables(source, "Series"):
        source = _items_of_series(source)
    elif isinstance(source, np.ndarray):
        source = source.tolist()
    elif isinstance(source, Iterator | ValuesView) and not isinstance(source, IOBase):
        source = [*source]
    if isinstance(source, Mapping):
        if is_document(source, role):
            return rows_of_document(origin, source)
        return rows_of_mapping(origin, source, id_form="typed")
    if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray | memoryview):
        return _rows_of_sequence(origin, source)
    what = "groups" if role == "groups" else "captions"
    raise origin.error(f"{what} cannot be read from this", where=shortened(source))


def _rows_of_file(source: Source) -> CaptionRows:
    """Read rows of a file according to its extension."""
    if is_prepared(source.name):
        raise CaptionFileError(
            f"this is a file of prepared references, which cannot be read as {source.role}",
            where=source.name,
            hint="give it as the references, which come after the candidates",
        )
    format = None if source.is_standard_input else format_of_name(source, LINE_FORMATS)
    data = read_bytes(source)
    format = format or format_of_content(data)
    if format == "json":
        return _rows_of_json(data, source)
    is_table = format in ("csv", "tsv", "txt")
    fields: list[Fields] = []

    def choose(names: list[str], where: str) -> Sequence[str]:
        fields.append(choose_fields(source, names, where))
        wrong = [name for name in fields[0].texts if name in _LIST_COLUMNS]
        if is_table and wrong and source.role != "groups" and not _is_named(source, wrong[0]):
            raise source.error(
                f"{wrong[0]!r} is a column of lists, but a cell of this format holds only one caption", where=where
            )
        return fields[0].names

    batches = [*parse_rows(BytesIO(data), format, source, choose)]
    id_form: IdForm = "text" if is_table else "typed"
    if not batches:
        return caption_rows(source, (), (), unit="", numbers=(), id_form=id_form)
    columns = [[*chain.from_iterable(parts)] for parts in zip(*(batch.columns for batch in batches), strict=True)]
    numbers = [*chain.from_iterable(batch.numbers for batch in batches)]
    return rows_of_columns(source, fields[0], columns, unit=batches[0].unit, numbers=numbers, id_form=id_form)


def _is_named(source: Source, column: str) -> bool:
    """Return whether the user names a column, and thereby says what it holds."""
    return source.read_options is not None and column in source.read_options.columns.names


def _rows_of_json(data: bytes, source: Source) -> CaptionRows:
    """Read rows of a JSON document of one of the three accepted shapes."""
    if not data.isascii():
        decode(data, source)  # refuses what is not UTF-8
    document = outlined(data)
    if isinstance(document, JsonRecords):
        return rows_of_records(source, document, unit="record", numbers=range(1, len(document) + 1))
    if document is not None and is_document(document, source.role):
        return rows_of_document(source, document)
    return _rows_of_text(decode(data, source), source)


def _rows_of_text(text: str, source: Source) -> CaptionRows:
    """Read rows of JSON with Python's parser, which also reports the place of errors."""
    # A hook on every object would slow the large COCO files by half, and those have no images as keys.
    hook = json.JSONDecoder(object_pairs_hook=RepeatedKeys.hook)
    is_flat = text.count("{") == 1
    document = parse_json(text, source, hook if is_flat else DECODER)
    if isinstance(document, RowProblem):
        raise document.error
    if isinstance(document, list):
        return rows_of_records(source, document, unit="record", numbers=range(1, len(document) + 1))
    if not isinstance(document, dict):
        raise source.error("this JSON is neither an object nor a list")
    if is_document(document, source.role):
        return rows_of_document(source, document)
    document = document if is_flat else hook.decode(text)
    if isinstance(document, RepeatedKeys):
        raise _repeated_keys(document, source)
    return rows_of_mapping(source, document, id_form="text")


def _repeated_keys(document: RepeatedKeys, source: Source) -> InputError:
    """Return the error for a mapping that repeats an image, of which ``json.loads`` would keep the last."""
    twice = repeated_positions(key for key, _ in document.pairs)
    examples = [f"key {key!r} in " + sample_of([f"entry {place + 1}" for place in at]) for key, at in twice.items()]
    kind = DuplicateCandidateError if source.one_each else CaptionFileError
    return kind(
        f"{counted_of(len(twice), len(document), 'image', 'appear')} more than once as a key",
        where=f"{source.name}: {sample_of(examples, separator='; ')}",
        hint=f"keep one {source.role.removesuffix('s')} per image"
        if source.one_each or source.role == "groups"
        else f"put the {source.role} of an image in one list",
    )


def _is_of_tables(captions: object, kind: Literal["DataFrame", "Series"]) -> bool:
    """Return whether this is such an object of pandas or polars. Neither needs to be imported: if it is, its library
    already has been.
    """
    modules = [sys.modules[name] for name in ("pandas", "polars") if name in sys.modules]
    return any(isinstance(captions, getattr(module, kind)) for module in modules)


def _items_of_series(series: Any) -> list[Any] | dict[Any, Any]:
    """Return the values of a series by image, if its index is more than a counter; images may be repeated."""
    values: list[Any] = series.to_list()
    index = getattr(series, "index", None)
    ids = range(len(values)) if index is None else index.tolist()
    if [*ids] == [*range(len(values))]:
        return values
    by_image = dict(zip(ids, values, strict=True))
    if len(by_image) == len(values):
        return by_image
    return [{"image_id": image, "caption": value} for image, value in zip(ids, values, strict=True)]


def _rows_of_data_frame(source: Source, frame: Any) -> CaptionRows:
    """Read rows of a data frame; messages count rows from 0, whatever its index."""
    fields = choose_fields(source, list(frame.columns), "columns")
    columns = [frame[name].to_list() for name in fields.names]
    return rows_of_columns(source, fields, columns, unit="row index", numbers=range(len(columns[0])))


def _rows_of_sequence(source: Source, entries: Sequence[Any]) -> CaptionRows:
    """Read rows of a sequence: records if it starts with one, else captions by position."""
    if len(entries) == 0:
        raise EmptyInputError("there are no captions", where=source.name, hint=f"give the {source.role}")
    numbers = range(len(entries))
    if isinstance(entries[0], Mapping):
        return rows_of_records(source, entries, unit="index", numbers=numbers)
    return caption_rows(source, numbers, entries, unit="index", numbers=numbers, id_form="position")
