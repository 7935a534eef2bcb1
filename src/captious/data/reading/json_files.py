"""JSON of captions: documents, lines of records, and lists of records that need not fit in memory.

``JsonRecords`` reads a few fields of long lists of objects without building the objects.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import IO, Any

from captious.data.reading.file_contents import conversion_help
from captious.data.reading.source import Refuse, RowProblem, Source
from captious.errors import CaptionFileError, EncodingError, TruncatedFileError
from captious.native import json_columns, json_outline

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


class RepeatedKeys(dict[str, Any]):
    """A JSON object with a repeated key; an ``object_pairs_hook`` can create these.

    Args:
        pairs: all keys and values.
    """

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs

    @classmethod
    def hook(cls, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """Build an object from pairs, as ``RepeatedKeys`` if a key is repeated."""
        unique = dict(pairs)
        return unique if len(unique) == len(pairs) else cls(pairs)


def parse_json(text: str, source: Source, decoder: json.JSONDecoder = DECODER) -> Any:
    """Parse a JSON document, and return it or the ``RowProblem`` with it."""
    return _parsed(text, source, decoder, line=1, may_be_cut=True)


def json_lines(
    lines: Iterable[str], source: Source, refuse: Refuse, decoder: json.JSONDecoder
) -> Iterator[tuple[int, Any]]:
    """Yield the record of every non-blank line, with its line number."""
    decode = decoder.decode
    numbered: Iterator[tuple[int, str]] = enumerate(lines, 1)
    remaining_lines = numbered
    while True:
        for number, line in remaining_lines:
            try:
                record = decode(line)
            except (ValueError, RecursionError):
                if line.strip(_BLANK):
                    break
            else:
                yield number, record
        else:
            return
        # The last line may be cut off, blank lines behind it or not.
        following = next(((n, text) for n, text in remaining_lines if text.strip(_BLANK)), None)
        refuse(_parsed(line.removesuffix("\n"), source, decoder, line=number, may_be_cut=following is None))
        remaining_lines = numbered if following is None else chain([following], numbered)


def json_list(file: IO[bytes], source: Source, decoder: json.JSONDecoder) -> Iterator[tuple[int, Any]]:
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
                help=conversion_help(b"" if number else error.object),
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
                record, end = decoder.raw_decode(text, sign.end())
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
                help="write JSON lines with the extension .jsonl",
            )
        if (ended and (tail or number)) or len(tail) > MOST_BYTES:
            cut = not tail or (isinstance(failure, json.JSONDecodeError) and _ends_in_the_middle(failure))
            kind = TruncatedFileError if ended and cut else CaptionFileError
            where = f"record {number + 1:,}" if sign and not sign["end"] else f"after record {number:,}"
            raise kind(
                f"this is not a JSON list: {failure}", where=f"{source.name}: {where}", help="fix the file there"
            )


def _parsed(text: str, source: Source, decoder: json.JSONDecoder, *, line: int, may_be_cut: bool) -> Any:
    """Parse a text, and return the document or the problem.

    ``line`` is the line of the file that the text starts in; ``may_be_cut`` says whether it may be the last one.
    """
    try:
        return decoder.decode(text)
    except json.JSONDecodeError as error:
        number = line + error.lineno - 1
        detail = f"{error.msg}, line {number:,}, column {error.colno:,}"
        if may_be_cut and _ends_in_the_middle(error):
            lines = text.rstrip().split("\n")
            where = f"line {line + len(lines) - 1:,}, column {len(lines[-1]) + 1:,}"
            truncated = TruncatedFileError(
                "the JSON is truncated", where=f"{source.name}: {where}", help="download or write the file again"
            )
            return RowProblem("truncated", number, truncated, detail)
        malformed = CaptionFileError(
            f"this is not JSON: {error.msg}",
            where=f"{source.name}: line {number:,}, column {error.colno:,}",
            help="fix the file there; python -m json.tool checks whether it is valid JSON",
        )
        return RowProblem("json", number, malformed, detail)
    except (ValueError, RecursionError) as error:
        # An integer of thousands of digits, or brackets a thousand deep.
        unreadable = CaptionFileError(
            f"this JSON cannot be read: {error}", where=f"{source.name}: from line {line}", help="fix the file"
        )
        return RowProblem("nested", line, unreadable, f"line {line:,} is nested too deeply")


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
