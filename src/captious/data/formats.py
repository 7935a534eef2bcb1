"""Formats of captions files: decompression, JSON, lines of text, and the parser that reads all of them as rows."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import json
import os
import re
import shlex
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain, dropwhile, starmap
from pathlib import Path
from stat import S_ISFIFO
from types import MappingProxyType
from typing import IO, Any, Literal, TypeAlias

from captious.data.rows import Source
from captious.errors import (
    CaptionFileError,
    CaptiousError,
    EmptyInputError,
    EncodingError,
    ParameterError,
    TruncatedFileError,
    either,
)
from captious.files import RAISE_LIMIT, UnpackedSizeError, help_for_missing, neighbour, plain_content
from captious.native import json_columns, json_outline
from captious.words import counted, shortened

# Reading of files as bytes and text: decompression, decoding, and the position of the first error.

Format: TypeAlias = Literal["json", "jsonl", "csv", "tsv", "parquet", "txt", "lines", "xlsx", "eval"]

#: By the extension of a file.
FORMATS: dict[str, Format] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
}
EXTENSIONS = tuple(FORMATS)

#: By the extension of further files that captions are read from: lines, spreadsheets, and logs of Inspect.
CAPTION_FORMATS: dict[str, Format] = {**FORMATS, ".txt": "txt", ".token": "txt", ".xlsx": "xlsx", ".eval": "eval"}

#: Magic bytes of files of prepared references.
PREPARED_MAGIC = b"CAPTREFS"

_STANDARD_INPUT = ("-", "/dev/stdin")
# Standard input can be read only once: the stream, its content, and its use.
_standard_input: tuple[object, bytes, str] = (None, b"", "")


def is_standard_input(path: str | os.PathLike[str]) -> bool:
    """Return whether a path stands for standard input."""
    return os.fspath(path) in _STANDARD_INPUT


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Return whether a path stands for standard input, or for a pipe, such as that of ``<(command)`` in a shell."""
    try:
        return is_standard_input(path) or S_ISFIFO(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def format_of_name(source: Source, formats: Mapping[str, Format] = MappingProxyType(FORMATS)) -> Format:
    """Return the format of a file by its extension, in upper or lower case, with or without ``.gz``.

    Args:
        source: the file.
        formats: the formats by extension.

    Raises:
        CaptionFileError: an unknown extension, or a directory.
    """
    extension = Path(source.name.lower().removesuffix(".gz")).suffix
    if os.path.isdir(source.name):
        raise _directory(source)
    if extension not in formats:
        near = "" if os.path.exists(source.name) else neighbour(source.name)
        if Path(near.lower().removesuffix(".gz")).suffix in formats:
            raise CaptionFileError("there is no such file", where=source.name, hint=f"did you mean {near}?")
        hint = f"accepted are {', '.join(formats)}, each plain or with .gz"
        if source.role in ("candidates", "references") and not os.path.exists(source.name):
            python = f"text is the path of a file; for one caption, give [{source.name!r}]; "
            command = "for single captions: captious explain METRIC CANDIDATE REFERENCES; " * (" " in source.name)
            hint = either(python=python, command=command) + hint
        raise CaptionFileError(
            f"{extension!r} is not the extension of a caption file"
            if extension
            else "a caption file needs an extension",
            where=source.name,
            hint=hint,
        )
    return formats[extension]


def format_of_content(data: bytes) -> Format:
    """Detect the format of a stream, which has no extension; a table or lines unless it begins like another format."""
    content = data.removeprefix(codecs.BOM_UTF8).strip()
    first, _, following_lines = content.partition(b"\n")
    if data.startswith(b"PAR1"):
        return "parquet"
    if data.startswith(b"PK\x03\x04"):  # a zip archive
        return "xlsx" if b"[Content_Types].xml" in data else "eval"
    if content.startswith(b"["):
        return "json"
    if not content.startswith(b"{"):
        return "csv" if b"," in first and b"\t" not in first else "txt"
    try:
        record = json.loads(first)
    except (ValueError, RecursionError):
        return "json"
    return "jsonl" if following_lines or "image_id" in record or "id" in record else "json"


def is_prepared(path: str | os.PathLike[str]) -> bool:
    """Return whether this is a file of prepared references, whatever its name."""
    try:
        if not os.path.isfile(path):  # reading a pipe would consume its content
            return False
        with open(path, "rb") as file:
            return file.read(len(PREPARED_MAGIC)) == PREPARED_MAGIC
    except (OSError, ValueError):
        return False


def _directory(source: Source) -> CaptionFileError:
    return CaptionFileError(
        "this is a directory, not a file",
        where=source.name,
        hint=f"give the file inside it that holds the {source.role}",
    )


@contextmanager
def reading(source: Source) -> Iterator[None]:
    """Turn errors of reading and decompressing a file into errors that name it.

    Raises:
        CaptionFileError: no such file, not a file, not readable, not gzip despite its name, or too large when
            decompressed.
        TruncatedFileError: gzip data that is truncated.
    """
    if "\0" in source.name:
        raise CaptionFileError(
            "the file cannot be read: its name contains a null character",
            where=source.name,
            hint="check its path and permissions",
        )
    try:
        yield
    except (CaptiousError, MemoryError):
        raise
    except FileNotFoundError:
        help = f"give the path of a file of {source.role}"
        if source.role in ("candidates", "references"):
            help = f"give the path of the {source.role}, or the captions"
        if "://" in source.name:
            help = "nothing is downloaded: download the file, and give its path"
        elif source.name.startswith("~"):
            help = "~ is not replaced by the home folder here: os.path.expanduser does that"
        else:
            help = help_for_missing(source.name, help)
        raise CaptionFileError("there is no such file", where=source.name, hint=help) from None
    except IsADirectoryError:
        raise _directory(source) from None
    except EOFError:
        raise TruncatedFileError(
            "the gzip data is truncated", where=source.name, hint="download or compress the file again"
        ) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise CaptionFileError(
            f"this is not gzip data, or it is damaged: {error}",
            where=source.name,
            hint="download or compress the file again; if it is not compressed, remove .gz from its name",
        ) from None
    except UnpackedSizeError as error:
        raise CaptionFileError(f"the file is too large: {error}", where=source.name, hint=RAISE_LIMIT) from None
    except OSError as error:
        raise CaptionFileError(
            f"the file cannot be read: {error.strerror or error}",
            where=source.name,
            hint="check its path and permissions",
        ) from error


def read_bytes(source: Source) -> bytes:
    """Return the content of a file, decompressed if it is a gzip file.

    Raises:
        CaptionFileError: as ``reading`` does.
        EmptyInputError: only white space.
        ParameterError: standard input has already been read.
    """
    with reading(source):
        data = _read_standard_input(source) if source.is_standard_input else Path(source.name).read_bytes()
        data = plain_content(data, source.name)
    content = data.removeprefix(codecs.BOM_UTF8)
    if not content or content.isspace():
        raise EmptyInputError(
            "the file is empty", where=source.name, hint=f"is this the right file for the {source.role}?"
        )
    return data


def _read_standard_input(source: Source) -> bytes:
    global _standard_input
    stream, content, role = _standard_input
    if stream is not sys.stdin:
        content, role = sys.stdin.buffer.read(), source.role
        _standard_input = sys.stdin, content, role
    if role != source.role:
        raise ParameterError(
            f"standard input cannot hold both {role} and {source.role}", hint="give a file for one of them"
        )
    return content


def decode(data: bytes | bytearray, source: Source) -> str:
    """Decode UTF-8 text, with or without a byte order mark.

    Raises:
        EncodingError: not UTF-8; names the first invalid byte, counted from 0, and its line.
    """
    try:
        return data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _not_utf8(error, source) from None


def conversion_help(beginning: bytes, path: str) -> str:
    """Return how to convert a file to UTF-8, given its first bytes: from UTF-16 if they are its byte order mark."""
    encoding = "utf-16" if beginning.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "latin1"
    files = (
        "" if not os.path.isfile(path) else f" {shlex.quote(path)} > {shlex.quote('utf8-' + os.path.basename(path))}"
    )
    return f"save it as UTF-8, for example: iconv -f {encoding} -t utf-8{files}"


def text_lines(
    file: IO[bytes], source: Source, longest: int | None, *, carriage_returns: bool = False
) -> Iterable[str]:
    """Iterate over lines of UTF-8 text. Only line feeds end them, as captions may contain U+2028 and similar
    characters.

    Args:
        longest: maximum bytes of a line, for a file that need not fit in memory; None if the whole file is read.
        carriage_returns: whether a carriage return alone ends a line, too.

    Raises:
        EncodingError: as ``decode``.
        CaptionFileError: a longer line.
    """
    if longest is None:
        return io.StringIO(decode(file.read(), source), newline="" if carriage_returns else "\n")
    lines = _streamed_lines(file, source, longest)
    if not carriage_returns:
        return lines
    return (part for line in lines for part in re.split(r"(?<=\r)(?!\n)", line) if part)


def _streamed_lines(file: IO[bytes], source: Source, longest: int) -> Iterator[str]:
    number, offset = 0, 0
    while line := file.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise CaptionFileError(
                f"a line has more than {longest:,} bytes",
                where=f"{source.name}: line {number:,}",
                hint="write one row per line",
            )
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise _not_utf8(error, source, line=number, offset=offset) from None
        yield text.removeprefix("\ufeff") if number == 1 else text
        offset += len(line)


def _not_utf8(error: UnicodeDecodeError, source: Source, *, line: int = 1, offset: int = 0) -> EncodingError:
    """Return the error for invalid bytes, given the line and the offset where they start."""
    line += error.object.count(b"\n", 0, error.start)
    beginning = error.object if offset == 0 else b""
    return EncodingError(
        "the file is not UTF-8 text",
        where=f"{source.name}: line {line:,}, byte offset {offset + error.start:,} (0x{error.object[error.start]:02x})",
        hint=conversion_help(beginning, source.name),
    )


# JSON of captions: documents, lines of records, and lists of records that need not fit in memory.
#
# ``JsonRecords`` reads a few fields of long lists of objects without building the objects.

#: The longest line and the longest record that are read where not all rows are in memory, in bytes.
MOST_BYTES = 1 << 26
_PIECE = 1 << 20

DECODER = json.JSONDecoder()

# By the parser's complaint, what is left of a token when the document ends inside it: literal, number, escape.
_CUT_TOKENS = {
    "Expecting value": r"t|tr|tru|f|fa|fal|fals|n|nu|nul|N|Na|-|-?I|-?In|-?Inf|-?Infi|-?Infin|-?Infini|-?Infinit",
    "Expecting ',' delimiter": r"\.|[eE][+-]?",
    "Invalid \\uXXXX escape": r"u[0-9a-fA-F]{0,4}",
}

_BLANK = " \t\r\n"
# What comes before the first record of a list, and between two of them; "end" is what closes the list.
_OPENING = re.compile(r"[ \t\r\n]*\[[ \t\r\n]*(?P<end>\][ \t\r\n]*)?")
_BETWEEN = re.compile(r"[ \t\r\n]*(?:,|(?P<end>\]))[ \t\r\n]*")


def parse_json(text: str, source: Source, *, line: int = 1, may_be_cut: bool = True) -> Any:
    """Parse a JSON document.

    Args:
        text: the document.
        source: the file in errors.
        line: the line of the file that the text starts in.
        may_be_cut: whether the file may end with it.

    Raises:
        CaptionFileError: a text that is not JSON; TruncatedFileError where it ends too early.
    """
    try:
        return DECODER.decode(text)
    except json.JSONDecodeError as error:
        if may_be_cut and _ends_in_the_middle(error):
            lines = text.rstrip().split("\n")
            where = f"line {line + len(lines) - 1:,}, column {len(lines[-1]) + 1:,}"
            raise TruncatedFileError(
                "the JSON is truncated", where=f"{source.name}: {where}", hint="download or write the file again"
            ) from None
        raise CaptionFileError(
            f"this is not JSON: {error.msg.removesuffix(' at')}",
            where=f"{source.name}: line {line + error.lineno - 1:,}, column {error.colno:,}",
            hint="fix the file there; python -m json.tool checks whether it is valid JSON",
        ) from None
    except (ValueError, RecursionError) as error:
        # An integer of thousands of digits, or brackets a thousand deep.
        raise CaptionFileError(
            f"this JSON cannot be read: {error}", where=f"{source.name}: from line {line}", hint="fix the file"
        ) from None


def json_lines(lines: Iterable[str], source: Source) -> Iterator[tuple[int, Any]]:
    """Yield the record of every non-blank line, with its line number."""
    numbered = enumerate(lines, 1)
    for number, line in numbered:
        try:
            record = DECODER.decode(line)
        except (ValueError, RecursionError):
            if not line.strip(_BLANK):
                continue
            is_last = not any(text.strip(_BLANK) for _, text in numbered)  # blank lines behind it or not
            record = parse_json(line.removesuffix("\n"), source, line=number, may_be_cut=is_last)
        yield number, record


def json_list(file: IO[bytes], source: Source) -> Iterator[tuple[int, Any]]:
    """Yield the records of a JSON list with their numbers, each as soon as it has been read."""
    pieces = codecs.getreader("utf-8-sig")(file)
    text, at, number, ended = "", 0, 0, False
    separator = _OPENING
    while not ended:
        try:
            piece = pieces.read(_PIECE)
        except UnicodeDecodeError as error:
            raise EncodingError(
                "the file is not UTF-8 text",
                where=f"{source.name}: after record {number:,}",
                hint=conversion_help(b"" if number else error.object, source.name),
            ) from None
        text, at, ended = text[at:] + piece, 0, not piece
        failure: Exception = ValueError("expected ',' or ']'")
        # What ends with the piece may go on in the next one, except for a record, which ends with its brace.
        while (sign := separator.match(text, at)) and (ended or sign.end() < len(text)):
            if sign["end"]:
                if sign.end() == len(text):
                    return
                failure = ValueError("there is more after the list of records")
                break
            try:
                record, end = DECODER.raw_decode(text, sign.end())
            except (ValueError, RecursionError) as error:
                failure = error
                break
            if end == len(text) and not ended and not isinstance(record, dict):
                break
            at, number, separator = end, number + 1, _BETWEEN
            yield number, record
        tail = text[at:].strip(_BLANK)
        if separator is _OPENING and not sign and tail:
            raise CaptionFileError(
                "a .json shard must be a list of records",
                where=source.name,
                hint="write JSON lines with the extension .jsonl",
            )
        if (ended and (tail or number)) or len(tail) > MOST_BYTES:
            cut = not tail or (isinstance(failure, json.JSONDecodeError) and _ends_in_the_middle(failure))
            kind = TruncatedFileError if ended and cut else CaptionFileError
            where = f"record {number + 1:,}" if sign and not sign["end"] else f"after record {number:,}"
            raise kind(
                f"this is not a JSON list: {failure}", where=f"{source.name}: {where}", hint="fix the file there"
            )


def _ends_in_the_middle(error: json.JSONDecodeError) -> bool:
    """Return whether more text could have completed a document: the parser stopped at its end, or in its last token."""
    text = error.doc.rstrip()
    if error.msg.startswith("Unterminated string") or error.pos >= len(text):
        return True
    return re.fullmatch(_CUT_TOKENS.get(error.msg, "(?!)"), text[error.pos :]) is not None


class JsonRecords(Sequence[Any]):
    """The objects of a list, built when one other than the first is accessed.

    Args:
        data: the document.
        start, end: position of the list.
        first_end: end of its first object.
        size: number of objects, at least one.
    """

    def __init__(self, data: bytes, start: int, end: int, first_end: int, size: int) -> None:
        self._data, self._start, self._end, self._size = data, start, end, size
        self._first = json.loads(data[start + 1 : first_end])

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, place: Any) -> Any:
        return self._first if place == 0 else self._objects[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self._objects)

    @cached_property
    def _objects(self) -> list[Any]:
        objects: list[Any] = json.loads(self._data[self._start : self._end])
        return objects

    def columns(self, names: Sequence[str]) -> list[list[Any]] | None:
        """Return the values of fields for all objects; None if one is missing, or is neither text nor an integer."""
        return json_columns(self._data, self._start, self._end, tuple(names))


def outlined(data: bytes) -> dict[str, Any] | JsonRecords | None:
    """Parse a document, with its lists of objects as ``JsonRecords``.

    None if it has no such list, or if it must be parsed or refused by Python's parser.

    Args:
        data: UTF-8, with or without a byte order mark.
    """
    outline = json_outline(data, len(codecs.BOM_UTF8) if data.startswith(codecs.BOM_UTF8) else 0)
    if outline is None or not any(size for *_, size in outline):
        return None
    document: dict[str, Any] = {}
    for key, start, end, first_end, size in outline:
        value = JsonRecords(data, start, end, first_end, size) if size else json.loads(data[start:end])
        if key is None:
            return value
        document[key] = value
    return document


def columns_of(records: Sequence[Any], names: Sequence[str]) -> list[list[Any]]:
    """Return the values of fields for all records.

    Raises:
        KeyError: a field is missing.
        TypeError: a record is not an object.
    """
    columns = records.columns(names) if isinstance(records, JsonRecords) else None
    return [[record[name] for record in records] for name in names] if columns is None else columns


# Data sets published as lines of text, with one row of captions per line.


@dataclass(frozen=True)
class LinePattern:
    """A pattern of lines that are rows.

    Args:
        example: a line, for messages.
        first: matches the first line of such a file, to recognize it.
        row: matches a line; its groups are the cells, and their names the column names.
        has_header: whether the first line is not a row.
    """

    example: str
    first: re.Pattern[str]
    row: re.Pattern[str]
    has_header: bool = False

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [*self.row.groupindex]

    def rows(self, lines: Iterable[tuple[int, str]], source: Source) -> Iterator[tuple[int, list[str]]]:
        """Return the rows of numbered lines, without blank lines and comments."""
        for number, line in lines:
            match = self.row.match(line)
            if match is not None:
                yield number, [*match.groups()]
            elif line.strip() and not line.startswith("#"):
                raise CaptionFileError(
                    f"this line is not such as {self.example!r}",
                    where=f"{source.name}: line {number:,}",
                    hint="correct or remove the line",
                )


_TOKEN = re.compile(r"(?P<image>[^\t#]+)#(?P<comment_number>\d+)\t(?P<caption>[^\r\n]*)")
# One line of the published file lacks its second bar.
_BARS = re.compile(r"(?P<image>[^|\r\n]+)\|\s*(?P<comment_number>\d+)\s*\|?\s*(?P<caption>[^\r\n]*)")
_VIDEO = re.compile(r"(?P<video>[\w-]+_\d+_\d+) (?P<description>[^\r\n]*)")

LINE_PATTERNS = (
    LinePattern("1000092795.jpg#0\tTwo young men", _TOKEN, _TOKEN),
    LinePattern(
        "1000092795.jpg| 0| Two young men", re.compile(r"image_name\|\s*comment_number\|\s*comment\s*$"), _BARS, True
    ),
    LinePattern("mv89psg6zh4_33_46 a bird in a sink", _VIDEO, _VIDEO),
)


def line_pattern(first: str) -> LinePattern | None:
    """Return the pattern of a file with this first line; None if its lines are not rows."""
    return next((pattern for pattern in LINE_PATTERNS if pattern.first.match(first)), None)


# The row parser: reads a file of captions in any format as batches of rows. Callers choose the columns and the size
# of a batch.

#: The names of the columns to read, from the names of all and their place in the file, such as "line 1".
Choose: TypeAlias = Callable[[list[str], str], Sequence[str]]


@dataclass(frozen=True)
class Batch:
    """Rows of a file.

    Args:
        unit: kind of row: "line", "record", "row".
        numbers: the line, record or row that each row starts in, counted from 1.
        columns: the values of each chosen column, one per row.
    """

    unit: str
    numbers: Sequence[int]
    columns: Sequence[Sequence[Any]]


def parse_rows(
    file: IO[bytes],
    format: Format,
    source: Source,
    choose: Choose,
    *,
    size: int | None = None,
) -> Iterator[Batch]:
    """Yield the rows of a file in batches.

    Args:
        file: an uncompressed file.
        format: its format; JSON documents must be lists of records.
        source: the file in errors.
        choose: chooses columns, once.
        size: maximum rows of a batch; None to read the whole file, which must then fit in memory.

    Raises:
        EncodingError: text that is not UTF-8.
        CaptionFileError: a file that is damaged or not of the format; TruncatedFileError where it is truncated.
        MissingExtraError: parquet without pyarrow.
        InputError: what ``choose`` raises.
    """
    if format == "parquet":
        from captious.data.binary_files import parquet_batches

        return starmap(partial(Batch, "row"), parquet_batches(file, source, choose, size))
    if format == "xlsx":
        from captious.data.binary_files import spreadsheet_rows

        return record_batches(source, batches_of_rows(spreadsheet_rows(file, source), size), "row", choose)
    longest = None if size is None else MOST_BYTES
    if format in ("csv", "tsv", "txt", "lines"):
        lines = text_lines(file, source, longest, carriage_returns=True)
        return _line_batches(lines, source, format, choose, size)
    if format == "jsonl":
        unit, records = "line", json_lines(text_lines(file, source, longest), source)
    else:
        unit, records = "record", json_list(file, source)
    return record_batches(source, batches_of_rows(records, size), unit, choose)


def record_batches(
    source: Source,
    batches: Iterable[tuple[Sequence[Any], Sequence[Any]]],
    unit: str,
    choose: Choose,
) -> Iterator[Batch]:
    """Yield the rows of numbered records, all with the fields chosen from the first one; see ``parse_rows``."""
    fields: Sequence[str] = ()
    first = 0
    for numbers, records in batches:
        if not isinstance(records, JsonRecords) and set(map(type, records)) != {dict}:
            for number, record in zip(numbers, records, strict=True):
                if not isinstance(record, Mapping):
                    raise source.error("this is not an object", where=f"{unit} {number}: {shortened(record)}")
        if not fields:
            first = numbers[0]
            fields = choose([*records[0]], f"{unit} {first}")
        try:
            columns = columns_of(records, fields)
        except KeyError:  # looking before each access would cost more than reading them all
            for number, record in zip(numbers, records, strict=True):
                if lacking := tuple(field for field in fields if field not in record):
                    what = f"missing {' and '.join(map(repr, lacking))}, which {unit} {first} contains"
                    raise source.error(what, where=f"{unit} {number}: {shortened(record)}") from None
            raise
        yield Batch(unit, numbers, columns)


def batches_of_rows(
    records: Iterable[tuple[int, Any]], size: int | None
) -> Iterator[tuple[Sequence[int], Sequence[Any]]]:
    """Yield numbered records, at most ``size`` at a time."""
    numbers: list[int] = []
    values: list[Any] = []
    for number, value in records:
        numbers.append(number)
        values.append(value)
        if len(values) == size:
            yield numbers, values
            numbers, values = [], []
    if values:
        yield numbers, values


def _line_batches(
    lines: Iterable[str], source: Source, format: Format, choose: Choose, size: int | None
) -> Iterator[Batch]:
    """Yield rows of lines in one of the ``LINE_PATTERNS``, of a table, or of captions alone."""
    names, where, rows = _rows_of_lines(iter(lines), source, format)
    if names:
        places = [names.index(name) for name in choose(names, where)]
        for numbers, cells in batches_of_rows(rows, size):
            yield Batch("line", numbers, [[row[place] for row in cells] for place in places])


def _rows_of_lines(
    lines: Iterator[str], source: Source, format: Format
) -> tuple[list[str], str, Iterator[tuple[int, list[Any]]]]:
    """Return the names of columns, the place of these names, and the cells of each row with its line."""
    numbered: Iterator[tuple[int, str]] = enumerate(lines, 1)
    if format == "lines":
        return [LINE], "line 1", _plain_lines(numbered)
    if format == "txt":  # which may begin with comments
        numbered = dropwhile(lambda entry: entry[1].startswith("#") or not entry[1].strip(), numbered)
    number, first = next(numbered, (1, ""))
    pattern = line_pattern(first)
    if pattern is not None:
        rows = pattern.rows(numbered if pattern.has_header else chain([(number, first)], numbered), source)
        return pattern.columns, f"line {number}", rows
    delimiter = delimiter_of(first, format)
    rows = _table_rows(csv.reader(chain([first], lines), delimiter=delimiter, strict=True), source, number)
    number, header = next(rows, (0, []))
    return header, f"line {number}", rows


def delimiter_of(header: str, format: Format) -> str:
    """Return what separates the columns of a table: the first of those that are usual in its format and in its header.

    Spreadsheets write semicolons in many countries.
    """
    usual = {"tsv": "\t", "csv": ",\t;|"}.get(format, "\t,;|")
    return next((mark for mark in usual if mark in header), usual[0])


#: The only column of lines without ids: the captions of a line, between tabs.
LINE = "line"


def _plain_lines(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, list[Any]]]:
    """Yield lines of captions, one image each. Blank lines are empty captions, except at the end."""
    rows = [(number, line.rstrip("\r\n").split("\t")) for number, line in lines]
    while rows and rows[-1][1] == [""]:
        rows.pop()
    for number, captions in rows:
        yield number, [captions[0] if len(captions) == 1 else captions]


def _table_rows(reader: Any, source: Source, first: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the header and the rows of csv that have content, with the numbers of the lines in which they start.

    Cells that contain the delimiter or line breaks are in double quotes.
    """
    line, width = first, 0
    try:
        for row in reader:
            if any(row):  # spreadsheets write rows without content
                width = width or len(row)
                if len(row) != width:
                    raise CaptionFileError(
                        f"a row has {counted(len(row), 'cell')} where the header has {width}",
                        where=f"{source.name}: line {line}",
                        hint="quote cells that contain the separator, and give every row the same number of cells",
                    )
                yield line, row
            line = reader.line_num + first
    except csv.Error as error:
        kind: type[CaptionFileError] = CaptionFileError
        problem = f"this is not csv: {error}"
        help = 'quote cells that contain quotes, and double the inner quotes: "a ""big"" cat"'
        if "unexpected end of data" in str(error):
            kind, problem = TruncatedFileError, "the file ends inside double quotes"
            help = "close the quotes there, or download the file again if it is truncated"
        elif "field larger than field limit" in str(error):
            problem = f"a cell has more than {csv.field_size_limit():,} characters"
            help = "close the quotes there if they are open; for captions this long, use .jsonl"
        where = f"{source.name}: in the row that starts at line {line}"
        raise kind(problem, where=where, hint=help) from None
