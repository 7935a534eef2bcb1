"""One captions file of an upload: parsed and checked against the images that a challenge expects.

``captious.read_captions`` stops at the first kind of problem; here all of them are reported together, so that nobody
has to upload a file five times. It is also stricter about fields, which have to be called as in COCO's results.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from captious.server.submissions.upload import ImageId, Problem, UploadLimits, printable

__all__ = ["FORMATS", "Format", "read_captions"]

Format: TypeAlias = Literal["json", "lines", "csv", "tsv"]

#: By the extension of a file.
FORMATS: dict[str, Format] = {".json": "json", ".jsonl": "lines", ".ndjson": "lines", ".csv": "csv", ".tsv": "tsv"}

_FIELDS = ("image_id", "caption")
_RECORDS = '[{"image_id": 42, "caption": "a cat"}, ...]'
_BOM = b"\xef\xbb\xbf"
#: No id has more digits: 64 bits have 19. Conversion of long numbers takes time that grows with the square.
_DIGITS = 20


class _NoNumber:
    """Stands for NaN or Infinity, which Python's parser takes and JSON does not allow, and for very long integers."""


class _Repeating(dict[str, Any]):
    """An object that has a key more than once."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


class _Parser:
    """Python's JSON parser, which also notes what JSON does not allow and what Python's objects cannot hold."""

    def __init__(self) -> None:
        self.not_finite: Counter[str] = Counter()
        self._decoder = json.JSONDecoder(
            object_pairs_hook=self._object, parse_constant=self._constant, parse_int=self._integer
        )

    def parse(self, text: str) -> Any:
        """The document. Raises json.JSONDecodeError, RecursionError."""
        return self._decoder.decode(text)

    def _constant(self, name: str) -> _NoNumber:
        self.not_finite[name] += 1
        return _NoNumber()

    @staticmethod
    def _integer(text: str) -> int | _NoNumber:
        return int(text) if len(text) <= _DIGITS else _NoNumber()

    @staticmethod
    def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        return found if len(found) == len(pairs) else _Repeating(pairs)


@dataclass
class _Rows:
    """Ids and captions as they were found, whatever their types, and problems of rows that have neither.

    Args:
        ids_are_text: whether the format has only text for ids, so that "12" may stand for 12.
        unit: what a row is called.
        numbers: which row of the file each is.
    """

    ids: list[Any] = field(default_factory=list)
    captions: list[Any] = field(default_factory=list)
    ids_are_text: bool = False
    unit: str = "record"
    numbers: Sequence[int] = ()
    problems: list[Problem] = field(default_factory=list)


def read_captions(
    data: bytes | bytearray, file: str, format: Format, expected: Sequence[ImageId], limits: UploadLimits
) -> tuple[list[str], list[Problem]]:
    """The captions of the expected images in their order, and everything that is wrong with the file.

    Args:
        data: the file.
        file: what problems call it.
        format: how to read it.
        expected: ids of all images that need a caption.
        limits: gives the length of captions.

    Returns:
        The captions, which mean something only if there are no problems.

    Raises:
        MemoryError: the file takes too much.
    """
    text = _decoded(data, file)
    if isinstance(text, Problem):
        return [], [text]
    if not text or text.isspace():
        return [], [Problem(file, "The file is empty.")]
    if format in ("csv", "tsv"):
        rows = _from_table(text, file, "," if format == "csv" else "\t")
    else:
        parser = _Parser()
        rows = _from_json(text, file, parser) if format == "json" else _from_lines(text, file, parser)
        if parser.not_finite:
            names = " and ".join(f"{name} ({_times(n)})" for name, n in sorted(parser.not_finite.items()))
            rows.problems.append(Problem(file, f"The file contains {names}, which JSON does not allow."))
    return _checked(rows, file, expected, limits)


def _decoded(data: bytes | bytearray, file: str) -> str | Problem:
    body = data.removeprefix(_BOM)
    if body.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or b"\0" in body[:4]:
        return Problem(file, "The file looks like UTF-16 or UTF-32 text, or binary data; save it as UTF-8.")
    try:
        return body.decode()
    except UnicodeDecodeError as error:
        line = body.count(b"\n", 0, error.start) + 1
        offset = error.start + len(data) - len(body)
        place = f"byte 0x{body[error.start]:02x} at offset {offset:,}, in line {line:,}"
        return Problem(file, f"The file is not UTF-8 text ({place}); save it as UTF-8.")


def _from_json(text: str, file: str, parser: _Parser) -> _Rows:
    try:
        document = parser.parse(text)
    except json.JSONDecodeError as error:
        if _is_cut(text, error):
            return _nothing(file, f"The JSON ends too early, in line {error.lineno:,}; the file is truncated.")
        return _nothing(file, f"The file is not JSON: {_complaint(error)}.")
    except RecursionError:
        return _nothing(file, f"The JSON is nested too deeply; give {_RECORDS}.")
    if isinstance(document, list):
        return _from_records(document, file, "record", range(1, len(document) + 1))
    if not isinstance(document, dict):
        return _nothing(file, f"The JSON is neither a list nor an object; give {_RECORDS}.")
    if isinstance(document.get("annotations"), list):
        return _nothing(file, f'The captions are wrapped in an object with "annotations"; give the list: {_RECORDS}.')
    if all(name in document for name in _FIELDS):
        return _nothing(file, f"The JSON is a single record, not a list of records; give {_RECORDS}.")
    pairs = document.pairs if isinstance(document, _Repeating) else list(document.items())
    return _Rows([key for key, _ in pairs], [value for _, value in pairs], True, "entry", range(1, len(pairs) + 1))


def _from_lines(text: str, file: str, parser: _Parser) -> _Rows:
    records: list[Any] = []
    numbers: list[int] = []
    broken: list[int] = []
    first = ""
    # Not splitlines, which also breaks at U+2028 and its like, and those may occur in captions.
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip(" \t\r"):
            continue
        try:
            records.append(parser.parse(line))
            numbers.append(number)
        except json.JSONDecodeError as error:
            first = first or f"{error.msg}, line {number:,}, column {error.colno:,}"
            broken.append(number)
        except RecursionError:
            first = first or f"line {number:,} is nested too deeply"
            broken.append(number)
    rows = _from_records(records, file, "line", numbers)
    if broken:
        rows.problems.insert(0, Problem(file, f"{_places('line', broken)} not JSON: {first}."))
    return rows


def _from_records(records: Sequence[Any], file: str, unit: str, numbers: Sequence[int]) -> _Rows:
    rows = _Rows(unit=unit)
    kept: list[int] = []
    others: list[int] = []
    lacking: dict[str, list[int]] = {name: [] for name in _FIELDS}
    repeating: list[int] = []
    for record, number in zip(records, numbers, strict=True):
        if not isinstance(record, dict):
            others.append(number)
            continue
        if type(record) is _Repeating:
            repeating.append(number)
        missing = [name for name in _FIELDS if name not in record]
        for name in missing:
            lacking[name].append(number)
        if "image_id" not in missing:
            rows.ids.append(record["image_id"])
            rows.captions.append(record.get("caption", ""))
            kept.append(number)
    rows.numbers = kept
    if others:
        message = f'{_places(unit, others)} not an object such as {{"image_id": 42, "caption": "a cat"}}.'
        rows.problems.append(Problem(file, message))
    for name, places in lacking.items():
        if places:
            rows.problems.append(Problem(file, f'{_places(unit, places, verb=("has", "have"))} no "{name}".'))
    if repeating:
        verb = ("has", "have")
        rows.problems.append(Problem(file, f"{_places(unit, repeating, verb=verb)} a key more than once."))
    return rows


def _from_table(text: str, file: str, delimiter: str) -> _Rows:
    # Line breaks inside a quoted caption belong to it: newline="" leaves them as they are.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows = _Rows(ids_are_text=True, unit="row")
    header: list[str] | None = None
    kept: list[int] = []
    uneven: list[int] = []
    columns = (0, 0)
    line = 1
    try:
        for row in reader:
            if row and header is None:
                header = row
                if any(header.count(name) != 1 for name in _FIELDS):
                    found = ", ".join(printable(name) for name in header[:5])
                    return _nothing(
                        file, f"The first row must name the columns image_id and caption, each once; it names {found}."
                    )
                columns = (header.index("image_id"), header.index("caption"))
            elif row and header is not None:
                if len(row) == len(header):
                    rows.ids.append(row[columns[0]])
                    rows.captions.append(row[columns[1]])
                    kept.append(line)
                else:
                    uneven.append(line)
            line = reader.line_num + 1
    except csv.Error as error:
        if "unexpected end of data" in str(error):
            why = "the file ends inside double quotes"
        elif "field larger than" in str(error):
            why = f"a cell has more than {csv.field_size_limit():,} characters"
        else:
            why = str(error)
        message = f"The table cannot be read from the row that starts in line {line:,}: {why}."
        rows.problems.append(Problem(file, message))
    if uneven:
        message = (
            f"{_places('row', uneven, place='line', verb=('has', 'have'))} more or fewer cells than the first row; "
            "put captions that contain the separator in double quotes."
        )
        rows.problems.append(Problem(file, message))
    rows.numbers = kept
    return rows


def _checked(
    rows: _Rows, file: str, expected: Sequence[ImageId], limits: UploadLimits
) -> tuple[list[str], list[Problem]]:
    """Every check of ids and captions in one pass, and the problems in the order in which people solve them."""
    known = set(expected)
    by_text: dict[str, ImageId] = {str(image): image for image in expected if isinstance(image, int)}
    found: dict[ImageId, str] = {}
    wrong_ids: list[int] = []
    as_text: list[ImageId] = []
    as_numbers: list[ImageId] = []
    unknown: dict[ImageId, None] = {}
    repeated: dict[ImageId, None] = {}
    wrong: dict[Callable[[str], bool] | None, list[ImageId]] = {None: []}
    longest = limits.caption_characters

    def is_long(caption: str) -> bool:
        return len(caption) > longest

    checks = (is_long, _has_nul, _has_surrogates)
    for number, image, caption in zip(rows.numbers, rows.ids, rows.captions, strict=True):
        if type(image) is not int and type(image) is not str:
            wrong_ids.append(number)
            continue
        if image not in known:
            same = by_text.get(image) if isinstance(image, str) else str(image)
            if same is None or same not in known:
                unknown[image] = None
            elif isinstance(image, int):
                as_numbers.append(image)
                image = same
            else:
                if not rows.ids_are_text:
                    as_text.append(image)
                image = same
        if image in found:
            repeated[image] = None
        if type(caption) is not str:
            wrong[None].append(image)
            found.setdefault(image, "")
            continue
        if not (caption.isascii() and len(caption) <= longest and "\0" not in caption):
            for check in checks:
                if check(caption):
                    wrong.setdefault(check, []).append(image)
        found[image] = caption

    problems = rows.problems
    if wrong_ids:
        rows_have = _places(rows.unit, wrong_ids, verb=("has", "have"))
        message = f"{rows_have} an image id that is neither text nor an integer of at most {_DIGITS} digits."
        problems.append(Problem(file, message))

    def report(images: Collection[ImageId], one: str, many: str) -> None:
        if images:
            message = one if len(images) == 1 else many
            problems.append(Problem.about(file, f"{len(images):,} {message}", images))

    report(
        as_text,
        'image id is text where the challenge has numbers: write 42, not "42".',
        'image ids are text where the challenge has numbers: write 42, not "42".',
    )
    report(
        as_numbers,
        'image id is a number where the challenge has text: write "42", not 42.',
        'image ids are numbers where the challenge has text: write "42", not 42.',
    )
    report(repeated, "image has more than one caption.", "images have more than one caption.")
    report(unknown, "image id is not in the challenge.", "image ids are not in the challenge.")
    report(wrong[None], "caption is not text.", "captions are not text.")
    long = f"longer than {longest:,} characters."
    report(wrong.get(is_long, ()), f"caption is {long}", f"captions are {long}")
    nul = "NUL characters (U+0000)."
    report(wrong.get(_has_nul, ()), f"caption contains {nul}", f"captions contain {nul}")
    half = "lone surrogates, which are halves of characters: write the whole character."
    report(wrong.get(_has_surrogates, ()), f"caption contains {half}", f"captions contain {half}")
    missing = [image for image in expected if image not in found]
    # If no row could be read, every image would be listed as missing, which says nothing new.
    if found or not problems:
        report(missing, "image has no caption.", "images have no caption.")
    if expected and not problems and not any(found[image].strip() for image in expected):
        problems.append(Problem(file, "Every caption is empty."))
    return [] if problems else [found[image] for image in expected], problems


def _has_nul(caption: str) -> bool:
    return "\0" in caption


def _has_surrogates(caption: str) -> bool:
    try:
        caption.encode()
    except UnicodeEncodeError:
        return True
    return False


def _nothing(file: str, message: str) -> _Rows:
    return _Rows(problems=[Problem(file, message)])


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether more text could have completed the document."""
    return error.msg.startswith("Unterminated string") or error.pos >= len(text.rstrip())


def _complaint(error: json.JSONDecodeError) -> str:
    return f"{error.msg}, line {error.lineno:,}, column {error.colno:,}"


def _times(n: int) -> str:
    return "once" if n == 1 else f"{n:,} times"


def _places(unit: str, numbers: Sequence[int], *, place: str = "", verb: tuple[str, str] = ("is", "are")) -> str:
    """ "Record 3 is", or "17 records (3, 4, 5, ...) are"; with a place, "17 rows (lines 3, 4, 5, ...) are"."""
    if len(numbers) == 1:
        where = f"The {unit} in {place} {numbers[0]:,}" if place else f"{unit.capitalize()} {numbers[0]:,}"
        return f"{where} {verb[0]}"
    plural = "entries" if unit == "entry" else f"{unit}s"
    places = f"{place}s " if place else ""
    return f"{len(numbers):,} {plural} ({places}{_some(numbers)}) {verb[1]}"


def _some(numbers: Iterable[int]) -> str:
    shown = [f"{number:,}" for number, _ in zip(numbers, range(4), strict=False)]
    return ", ".join(shown[:3]) + (", ..." if len(shown) > 3 else "")
