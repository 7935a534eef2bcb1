"""``read_rows``: reading of captions in every accepted form, from a path or a Python object.

Python data is never guessed at: text and paths are files, and everything else is what its type says. The format of a
file is given by its extension, except for a stream, which has none; the layout of a JSON file is found by its keys.
``CaptionFile`` says otherwise. Anything ambiguous is refused with a list of the accepted forms.
"""

from __future__ import annotations

import csv
import gzip
import json
import os
import re
import shlex
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator, Mapping, Sequence, ValuesView
from io import BytesIO, IOBase
from itertools import chain
from typing import Any, cast, get_args

import numpy as np

from captious.data.formats import (
    CAPTION_FORMATS,
    LINE,
    Format,
    decode,
    delimiter_of,
    format_of_content,
    format_of_name,
    is_prepared,
    is_standard_input,
    is_stream,
    json_lines,
    line_pattern,
    outlined,
    parse_json,
    parse_rows,
    read_bytes,
    text_lines,
)
from captious.data.harness_logs import inspect_document
from captious.data.ids import IdForm
from captious.data.layouts import LAYOUTS, layout_named, row_layouts
from captious.data.records import (
    Fields,
    choose_fields,
    has_usual_fields,
    log_of,
    rows_of_columns,
    rows_of_document,
    rows_of_mapping,
    rows_of_records,
)
from captious.data.rows import (
    CaptionFile,
    CaptionRows,
    Entries,
    Role,
    Source,
    caption_rows,
    lists_from_cells,
    names_of_files,
    repeated_positions,
)
from captious.data.tables import Captions, CaptionSets
from captious.errors import (
    CaptionFileError,
    CaptiousError,
    DuplicateCandidateError,
    EmptyInputError,
    InputError,
    ParameterError,
    UnknownNameError,
    either,
)
from captious.words import counted_of, listed, sample_of, shortened

# Cells of csv in these columns are lists of captions; other text in them is refused.
_LIST_COLUMNS = ("captions", "candidates", "predictions", "references", "refs", "objects")
_TABLES = ("csv", "tsv", "txt", "lines", "xlsx")


def read_rows(
    source: object,
    role: Role,
    *,
    several: bool = False,
    column: str | None = None,
    failures: bool = False,
) -> CaptionRows:
    """Read captions from a file or a Python object.

    Args:
        source: one of
            a path to .json, .jsonl, .ndjson, .csv, .tsv, .parquet, .xlsx, .txt, .token or .eval, plain or with .gz;
            "-" is standard input; a ``CaptionFile``;
            a mapping from image to caption, to a list of captions or to a list of ``{"caption": ...}``;
            a sequence of records with the usual fields;
            a sequence of captions or of lists of captions, image i at position i;
            an iterator of these, which is read to its end;
            a data frame of pandas, polars or pyarrow, or another one with ``__dataframe__``; a series, with images from
            its index, if it has one;
            ``Captions`` or ``CaptionSets``, whose candidates are read; ``CaptionRows``, which are returned.
        role: whether these are "candidates" or "references"; or "groups", for ``read_groups``.
        several: an image may have several candidates; otherwise it has exactly one.
        column: the field or column of groups.
        failures: whether answers of a log that failed are left out, with the error as ``failure``, and candidates that
            are lists written as text are kept, with the error as ``lists``.

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
    if role not in get_args(Role):
        raise ParameterError(
            f"{shortened(role)} is not a role of captions", hint=f"the roles are {listed(get_args(Role))}"
        )
    keeps_lists = failures and role == "candidates"
    if not isinstance(source, str | os.PathLike):
        return _rows_of_object(Source(role, role, several=several, column=column, keeps_lists=keeps_lists), source)
    file = source if isinstance(source, CaptionFile) else CaptionFile(source)
    if file.format is not None and file.format not in get_args(Format):
        hint = f"the formats are {', '.join(get_args(Format))}"
        raise UnknownNameError(f"there is no format {file.format!r}", hint=hint)
    layout = "" if file.layout is None else layout_named(file.layout).option
    is_input = is_standard_input(file)
    name = "standard input" if is_input else file.path
    origin = Source(name, role, True, is_input, several, column, file.read_options, layout, keeps_lists)
    rows = _rows_of_file(origin, cast("Format | None", file.format))
    if rows.failure is not None and not failures:
        raise rows.failure
    if role != "groups":
        file.read_options.finish(name, role)
    return rows


def log_with_references(path: str | os.PathLike[str]) -> str:
    """Return the layout of the log with references that a file is; empty for any other file.

    Only files that begin like one are read.
    """
    try:
        return read_rows(path, "references").log if _begins_like_log(os.fspath(path)) else ""
    except CaptiousError:
        return ""


def _begins_like_log(path: str) -> bool:
    """Return whether the beginning of a file names a field of a log, or the file is an archive."""
    if path.lower().endswith((".xlsx", ".eval")):
        return True
    names = {name for one in LAYOUTS if one.has_references for name in (*one.ids, *one.captions, *one.keys)} - {"id"}
    try:
        with gzip.open(path) if path.endswith(".gz") else open(path, "rb") as file:
            beginning = file.read(1 << 16)
    except (OSError, ValueError, EOFError, zlib.error):
        return False
    if beginning.removeprefix(BOM_UTF8).lstrip()[:1] in (b"{", b"["):
        return any(f'"{name}"'.encode() in beginning for name in names)
    header = beginning.partition(b"\n")[0]
    return any(name.encode() in header for name in names)


def _rows_of_object(origin: Source, source: object) -> CaptionRows:
    """Read rows of a Python object according to its type."""
    if isinstance(source, Mapping):
        if origin.role != "groups":
            _check_no_files(origin, [*source.values()])
        return rows_of_mapping(origin, source, id_form="typed")
    if isinstance(source, Captions | CaptionSets) and origin.role == "candidates":
        texts = source.texts if isinstance(source, CaptionSets) else source.candidates
        entries = Entries(origin, "index", range(len(source)), source.references.id_form)
        return caption_rows(entries, source.ids, texts)
    if hasattr(source, "columns"):
        return _rows_of_data_frame(origin, source)
    if hasattr(source, "to_list") or hasattr(source, "to_pylist"):
        return _rows_of_object(origin, _items_of_series(source))
    if isinstance(source, np.ndarray):
        source = source.tolist()
    elif isinstance(source, Iterator | ValuesView) and not isinstance(source, IOBase):
        source = [*source]
    if isinstance(source, Sequence) and not isinstance(source, bytes | bytearray | memoryview | str):
        return _rows_of_sequence(origin, source)
    what = "groups" if origin.role == "groups" else "captions"
    raise origin.error(f"{what} cannot be read from {type(source).__name__}", where=shortened(source))


def _check_no_files(source: Source, texts: Sequence[Any]) -> None:
    """Refuse names of files, and paths, where captions are expected."""
    if not texts or not isinstance(texts[0], str | os.PathLike) or not names_of_files(texts):
        return
    hint = "are these captions? Images have captions, as in {image_id: caption}"
    if names_of_files(texts, of_captions=True):
        hint = f"give the path of one file, such as {os.fsdecode(texts[0])!r}"
        hint += "; score several systems with captious.score_systems" if source.role == "candidates" else ""
    shown = sample_of(repr(os.fsdecode(text)) for text in texts)
    raise source.error("these are names of files, not captions", where=shown, hint=hint)


def _rows_of_file(source: Source, format: Format | None) -> CaptionRows:
    """Read rows of a file according to its extension, or as a file of a format."""
    if is_prepared(source.name):
        raise CaptionFileError(
            f"this is a file of prepared references, which cannot be read as {source.role}",
            where=source.name,
            hint=either(python="give it as the references", command="give it as the references; candidates come first"),
        )
    if format is None and not source.is_standard_input and not is_stream(source.name):
        format = format_of_name(source, CAPTION_FORMATS)
    data = read_bytes(source)
    found = format or format_of_content(data)
    if found == "json":
        return _rows_of_json(data, source)
    if found == "eval":
        document = inspect_document(data, source.name)
        return rows_of_document(source, document) or rows_of_mapping(source, document, id_form="text")
    if found == "jsonl":
        return _rows_of_json_lines(data, source)
    if found == "lines" or (found == "txt" and not _is_table(data, source)):
        return _rows_of_lines(data, source, are_asked_for=format == "lines")
    return _rows_of_table(data, source, found)


def _rows_of_table(data: bytes, source: Source, format: Format) -> CaptionRows:
    """Read rows of a table: of text, parquet or a spreadsheet."""
    chosen: list[Fields] = []
    names: list[str] = []
    limit = csv.field_size_limit()

    def choose(all_names: list[str], where: str) -> Sequence[str]:
        if log_of(source, all_names) is not None:
            names[:] = [name for name in all_names if name != "image"]  # VLMEvalKit's tables may have images in them
            csv.field_size_limit(1 << 30)
            return names
        if format in ("csv", "tsv", "txt") and source.role != "groups" and not source.read_options.columns.names:
            _check_no_ids(source, [",".join(all_names)], [1])
        chosen.append(choose_fields(source, all_names, where))
        return chosen[0].names

    try:
        batches = [*parse_rows(BytesIO(data), format, source, choose)]
    finally:
        csv.field_size_limit(limit)
    id_form: IdForm = "typed" if format in ("parquet", "xlsx") else "text"
    if not batches:
        return caption_rows(Entries(source), (), ())
    numbers = [*chain.from_iterable(batch.numbers for batch in batches)]
    entries = Entries(source, batches[0].unit, numbers, id_form)
    columns: list[Sequence[Any]] = [
        [*chain.from_iterable(parts)] for parts in zip(*(batch.columns for batch in batches), strict=True)
    ]
    if names:
        return rows_of_records(entries, [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)])
    (fields,) = chosen
    if format != "parquet" and source.role != "groups":
        columns = _with_lists(entries, fields, columns)
    return rows_of_columns(entries, fields, columns)


def _with_lists(entries: Entries, fields: Fields, columns: Sequence[Sequence[Any]]) -> list[Sequence[Any]]:
    """Return the columns of a table, with lists in place of those that were written as text."""
    columns, named = [*columns], entries.source.read_options.columns.names
    for place, name in enumerate(fields.texts, len(fields.ids)):
        cells = columns[place]
        columns[place] = lists_from_cells(entries, cells)
        if columns[place] is cells and name in _LIST_COLUMNS and name not in named:
            raise entries.source.error(
                f"{name!r} is a column of lists, but a cell of this format holds only one caption",
                where=entries.where(0, cells[0]),
            )
    return columns


def _rows_of_json_lines(data: bytes, source: Source) -> CaptionRows:
    lines = [*json_lines(text_lines(BytesIO(data), source, None), source)]
    return rows_of_records(Entries(source, "line", [number for number, _ in lines]), [record for _, record in lines])


# Lines of captions without ids.

_LINE_WITH_ID = re.compile(r"(?:\S+\.[A-Za-z][A-Za-z0-9]{1,4}(?:#\d+)?|\d+)[,;|\t]")


def _is_table(data: bytes, source: Source) -> bool:
    """Return whether a .txt file is a table with a header, or has ids in its lines in another way."""
    if source.role not in ("candidates", "references") or source.layout or source.read_options.columns.names:
        return True
    text = decode(data, source)
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("#")), "").rstrip("\r")
    if line_pattern(first) is not None:
        return True
    names = next(csv.reader([first], delimiter=delimiter_of(first, "txt")), [])
    return has_usual_fields(source.role, names) or bool(row_layouts(names)) or log_of(source, names) is not None


def _rows_of_lines(data: bytes, source: Source, *, are_asked_for: bool) -> CaptionRows:
    """Read a caption per line, or several between tabs; image i is line i."""
    batches = [*parse_rows(BytesIO(data), "lines", source, lambda names, where: [LINE])]
    numbers = [*chain.from_iterable(batch.numbers for batch in batches)]
    values: list[Any] = [*chain.from_iterable(batch.columns[0] for batch in batches)]
    if not are_asked_for:
        _check_no_ids(source, values, numbers)
    return caption_rows(Entries(source, "line", numbers, "position"), range(len(values)), values)


def _check_no_ids(source: Source, values: Sequence[Any], numbers: Sequence[int]) -> None:
    """Refuse lines that begin with ids: they are a table without a header."""
    firsts = [value if isinstance(value, str) else "\t".join(value) for value in values]
    pairs = [value for value in values if not isinstance(value, str)]
    have_tabs = bool(pairs) and all(len(value) == 2 and " " not in value[0] for value in values)
    if have_tabs or (firsts and all(map(_LINE_WITH_ID.match, firsts))):
        name = shlex.quote(source.name)
        raise source.error(
            "these lines seem to begin with image ids, but there is no header",
            where=f"line {numbers[0]}: {shortened(firsts[0])}",
            hint=f"add one, as in a shell: (printf 'image_id\\tcaption\\n'; cat {name}) > {name}.tsv"
            if have_tabs and not is_stream(source.name)
            else "write .csv or .tsv with a header image_id,caption",
        )


# JSON documents.


def _rows_of_json(data: bytes, source: Source) -> CaptionRows:
    """Read rows of a JSON document of one of the accepted shapes, or of JSON lines."""
    if not data.isascii():
        decode(data, source)  # refuses what is not UTF-8
    outline = outlined(data)
    rows = None if outline is None else rows_of_document(source, outline)
    if rows is not None:
        return rows
    text = decode(data, source)
    try:
        document = parse_json(text, source)  # which also reports the place of errors
    except CaptionFileError:
        if _are_json_lines(text):
            return _rows_of_json_lines(data, source)
        raise
    if not isinstance(document, list | dict):
        raise source.error("this JSON is neither an object nor a list")
    rows = rows_of_document(source, document)
    if rows is not None:
        return rows
    assert isinstance(document, dict)  # a list has records
    keys = [key for key, _ in json.loads(text, object_pairs_hook=list)]
    if len(keys) > len(document):
        raise _repeated_keys(keys, source)
    return rows_of_mapping(source, document, id_form="text")


def _are_json_lines(text: str) -> bool:
    """Return whether the first two lines of a text are records, with fields in common."""
    lines = [line for line in text[: 1 << 24].split("\n") if line.strip()][:2]
    try:
        records = [json.loads(line) for line in lines]
        return len(lines) == 2 and all(isinstance(one, dict) for one in records) and bool({*records[0]} & {*records[1]})
    except (ValueError, RecursionError):
        return False


def _repeated_keys(keys: Sequence[str], source: Source) -> InputError:
    """Return the error for a mapping that repeats an image, of which ``json.loads`` would keep the last."""
    twice = repeated_positions(keys)
    examples = [f"key {key!r} in " + sample_of([f"entry {place + 1}" for place in at]) for key, at in twice.items()]
    kind = DuplicateCandidateError if source.one_each else CaptionFileError
    return kind(
        f"{counted_of(len(twice), len({*keys}), 'image', 'appear')} more than once as a key",
        where=f"{source.name}: {sample_of(examples, separator='; ')}",
        hint=f"keep one {source.role.removesuffix('s')} per image"
        if source.one_each or source.role == "groups"
        else f"put the {source.role} of an image in one list",
    )


def _items_of_series(series: Any) -> list[Any] | dict[Any, Any]:
    """Return the values of a series by image, if its index is more than a counter; images may be repeated."""
    values = _values_of(series)
    index: Any = getattr(series, "index", None)
    ids = index.tolist() if hasattr(index, "tolist") else range(len(values))
    if [*ids] == [*range(len(values))]:
        return values
    by_image = dict(zip(ids, values, strict=True))
    if len(by_image) == len(values):
        return by_image
    return [{"image_id": image, "caption": value} for image, value in zip(ids, values, strict=True)]


def _rows_of_data_frame(source: Source, frame: Any) -> CaptionRows:
    """Read rows of a data frame; messages count rows from 0, whatever its index."""
    index = getattr(getattr(frame, "index", None), "name", None)  # of pandas
    if index is not None and index not in frame.columns:
        frame = frame.reset_index()
    names = [*getattr(frame, "column_names", frame.columns)]  # those of pyarrow, and of pandas and polars
    fields = choose_fields(source, names, "columns")
    columns = [_values_of(frame[name]) for name in fields.names]
    return rows_of_columns(Entries(source, "row index", range(len(columns[0]))), fields, columns)


def _values_of(column: Any) -> list[Any]:
    """Return the values of a column or a series of pyarrow, pandas or polars, or of an array."""
    convert = next((name for name in ("to_pylist", "to_list", "tolist") if hasattr(column, name)), "__iter__")
    return [*getattr(column, convert)()]


def _rows_of_sequence(source: Source, entries: Sequence[Any]) -> CaptionRows:
    """Read rows of a sequence: records if it starts with one, else captions by position."""
    if len(entries) == 0:
        raise EmptyInputError("there are no captions", where=source.name, hint=f"give the {source.role}")
    numbers = range(len(entries))
    if isinstance(entries[0], Mapping):
        return rows_of_records(Entries(source, "index", numbers), entries)
    _check_no_files(source, entries)
    if all(isinstance(entry, list | tuple) and len(entry) == 2 and isinstance(entry[0], int) for entry in entries):
        raise source.error(
            "these are pairs of ids and captions",
            where=f"index 0: {shortened(entries[0])}",
            hint="give a mapping {id: caption}, such as dict(pairs), or a data frame itself",
        )
    return caption_rows(Entries(source, "index", numbers, "position"), numbers, entries)
