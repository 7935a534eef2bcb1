"""Reading an upload: its captions files, found, parsed and checked against the images, with all problems together."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from os.path import splitext
from typing import Any

from captious.data.ids import ImageId
from captious_server.submissions.upload import (
    ExpectedFile,
    Problem,
    UploadLimits,
    amount,
    assign,
    is_archive,
    printable,
    read_entries,
    unpack,
    unpack_gzip,
)

# Submissions with one caption for many images, or empty ones: mistakes, or the simplest probe of references.

#: As many equal captions are allowed in any submission: on few images, good systems repeat themselves, too.
ALWAYS_ALLOWED = 10
_QUOTE_LENGTH = 60


def equal_captions(captions: Mapping[ImageId, str], file: str, share: float) -> Iterator[Problem]:
    """The problem that too many images have the same caption.

    Captions are equal if their words are, whatever their case, spaces and punctuation. Those without words are equal.

    Args:
        captions: image id -> caption.
        file: name of the file in the problem.
        share: the largest share of images that may have the same caption.
    """
    limit = max(int(share * len(captions)), ALWAYS_ALLOWED)
    if share >= 1 or len(captions) <= limit:
        return
    words = {image: " ".join(re.findall(r"[^\W_]+", caption.casefold())) for image, caption in captions.items()}
    text, n = Counter(words.values()).most_common(1)[0]
    if n > limit:
        images = [image for image, caption in words.items() if caption == text]
        description = f'the caption "{printable(text[:_QUOTE_LENGTH])}"' if text else "a caption without words"
        message = f"{n:,} of {len(captions):,} images have {description}. At most {limit:,} may have the same caption."
        yield Problem.about(file, message, images)


# The words of captions, as limits count them.

#: Japanese syllables and Han characters, which are written without spaces between words.
_UNSPACED_LETTERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: A word, or a punctuation mark.
WORD = re.compile(rf"[{_UNSPACED_LETTERS}]|[^\W{_UNSPACED_LETTERS}]+|[^\w\s]")


def count_words(caption: str) -> int:
    """The number of words and punctuation marks, about as many as tokens of a parser.

    Each Han character and each Japanese syllable counts as a word.
    """
    return sum(1 for _ in WORD.finditer(caption))


def words_of(caption: str) -> tuple[str, ...]:
    """The words of a caption in lower case, without punctuation."""
    return tuple(word for word in WORD.findall(caption.lower()) if word[0].isalnum())


# One captions file of an upload: parsed and checked against the images of the challenge.
#
# ``captious.read_captions`` stops at the first kind of problem; here all of them are reported together, to save
# repeated uploads. It is also stricter about fields, which have to be called as in COCO's results.

_FIELDS = ("image_id", "caption")
#: By the ending of a file's name.
_FORMATS = {".json": "json", ".jsonl": "jsonl", ".ndjson": "jsonl", ".csv": "csv", ".tsv": "tsv"}
#: What may separate the cells of a table; the first that occurs in its header does.
_DELIMITERS = "\t,;|"
_BLANK = " \t\r\n"
#: Halves of characters, which UTF-8 cannot encode.
_SURROGATE = re.compile("[\ud800-\udfff]")
_RECORD = '{"image_id": 42, "caption": "a cat"}'
_RECORDS = f"[{_RECORD}, ...]"
#: The maximum number of digits of an id: 64 bits have 19. Conversion of long numbers takes quadratic time.
_ID_DIGITS = 20
#: Number of unreadable rows after which reading stops.
_MAX_PROBLEMS = 1000
#: Number of example ids of the challenge in messages.
_N_EXAMPLE_IDS = 2


class _NoNumber:
    """Stands for NaN or Infinity, which Python's parser takes and JSON does not allow, and for very long integers."""


class _RepeatedKeys(dict[str, Any]):
    """A JSON object with a repeated key; ``pairs`` are all keys and values."""

    pairs: list[tuple[str, Any]]

    @classmethod
    def hook(cls, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object of these pairs, of this class if a key is repeated."""
        unique = dict(pairs)
        if len(unique) == len(pairs):
            return unique
        repeated = cls(pairs)
        repeated.pairs = pairs
        return repeated


class _TooManyProblems(Exception):
    """Too many rows cannot be read; reading stops."""


class _Unreadable(Exception):
    """A file without rows; the message gives the reason."""


@dataclass
class _Rows:
    """The rows of a file that have an id, with ids and captions of any type, and the problems of all rows.

    Args:
        unit: name of a row.
        ids_are_text: whether the format has only text for ids, so that "12" may stand for 12.
        rows: the number in the file, the id and the caption of each.
        problems: kind -> the numbers of rows that have it.
        detail: the message of the parser about the first row that it cannot read.
        not_finite: NaN or Infinity -> how often it occurs.
    """

    unit: str
    ids_are_text: bool = False
    rows: list[tuple[int, Any, Any]] = field(default_factory=list)
    problems: defaultdict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    detail: str = ""
    not_finite: Counter[str] = field(default_factory=Counter)

    def refuse(self, kind: str, number: int, detail: str = "") -> None:
        """Add a problem.

        Raises:
            _TooManyProblems: there are enough.
        """
        self.problems[kind].append(number)
        self.detail = self.detail or detail
        if sum(map(len, self.problems.values())) >= _MAX_PROBLEMS:
            raise _TooManyProblems

    def add(self, number: int, record: Any) -> None:
        """Add a record of JSON."""
        if not isinstance(record, dict):
            self.refuse("record", number)
            return
        if isinstance(record, _RepeatedKeys):
            self.refuse("repeated", number)
        for name in _FIELDS:
            if name not in record:
                self.refuse(name, number)
        if "image_id" in record:
            self.rows.append((number, record["image_id"], record.get("caption", "")))

    @property
    def decoder(self) -> json.JSONDecoder:
        """A decoder that keeps repeated keys, and counts numbers that JSON does not allow."""

        def constant(name: str) -> _NoNumber:
            self.not_finite[name] += 1
            return _NoNumber()

        return json.JSONDecoder(
            object_pairs_hook=_RepeatedKeys.hook,
            parse_constant=constant,
            parse_int=lambda digits: int(digits) if len(digits) <= _ID_DIGITS else _NoNumber(),
        )

    @property
    def sentences(self) -> Iterator[str]:
        """The problems, in the order in which people solve them."""
        has = ("has", "have")
        wordings: dict[str, Callable[[Sequence[int]], str]] = {
            "json": lambda lines: f"{_places(self.unit, lines)} not JSON: {_without_line(self.detail, lines)}.",
            "record": lambda places: f"{_places(self.unit, places)} not an object such as {_RECORD}.",
            "image_id": lambda places: f'{_places(self.unit, places, verb=has)} no "image_id".',
            "caption": lambda places: f'{_places(self.unit, places, verb=has)} no "caption".',
            "repeated": lambda places: f"{_places(self.unit, places, verb=has)} a key more than once.",
            "csv": lambda lines: (
                f"The table cannot be read from the row that starts in line {lines[0]:,}: {self.detail}."
            ),
            "cells": lambda lines: (
                f"{_places(self.unit, lines, place='line', verb=has)} more or fewer cells than the first row; "
                "put captions that contain the separator in double quotes."
            ),
        }
        yield from (sentence(self.problems[kind]) for kind, sentence in wordings.items() if kind in self.problems)
        if sum(map(len, self.problems.values())) >= _MAX_PROBLEMS:
            yield "The rest of the file was not read."
        if self.not_finite:
            counts = [f"{name} ({'once' if n == 1 else f'{n:,} times'})" for name, n in sorted(self.not_finite.items())]
            yield f"The file contains {' and '.join(counts)}, which JSON does not allow."


def read_captions(
    data: bytes | bytearray, file: str, format: str, image_ids: Sequence[ImageId], limits: UploadLimits
) -> tuple[list[str], list[Problem]]:
    """The captions of the expected images in their order, and all problems of the file.

    Args:
        data: the file.
        file: name of the file in problems.
        format: "json", "jsonl", "csv" or "tsv".
        image_ids: ids of all images that need a caption.
        limits: limits on the length of captions.

    Returns:
        The captions, which are valid only without problems.

    Raises:
        MemoryError: the file needs too much memory.
    """
    rows = _Rows({"json": "record", "jsonl": "line"}.get(format, "row"))
    try:
        {"json": _read_json, "jsonl": _read_lines}.get(format, _read_table)(_text(data), rows)
    except _Unreadable as error:
        return [], [Problem(file, str(error))]
    except _TooManyProblems:
        rows.rows.clear()
    return _check_rows(rows, file, image_ids, limits)


def _text(data: bytes | bytearray) -> str:
    """The text of a file, without a byte order mark."""
    start = data[:7].removeprefix(b"\xef\xbb\xbf")
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or b"\0" in start[:4]:
        raise _Unreadable("The file looks like UTF-16 or UTF-32 text, or binary data; save it as UTF-8.")
    try:
        text = data.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        place = f"line {line:,}, byte offset {error.start:,} (0x{data[error.start]:02x})"
        raise _Unreadable(f"The file is not UTF-8 text: {place}. Save it as UTF-8.") from None
    if not text or text.isspace():
        raise _Unreadable("The file is empty.")
    return text


def _read_json(text: str, rows: _Rows) -> None:
    """Read a list of records, or an object from image to caption."""
    try:
        document = rows.decoder.decode(text)
    except RecursionError:
        raise _Unreadable(f"The JSON is nested too deeply; give {_RECORDS}.") from None
    except json.JSONDecodeError as error:
        end = len(text.rstrip(_BLANK))
        if error.pos >= end or error.msg.startswith("Unterminated string"):
            line = text.count("\n", 0, end) + 1
            raise _Unreadable(f"The JSON ends unexpectedly on line {line:,}; the file is truncated.") from None
        raise _Unreadable(f"The file is not JSON: {_detail(error)}.") from None
    if isinstance(document, list):
        for number, record in enumerate(document, 1):
            rows.add(number, record)
    elif not isinstance(document, dict):
        raise _Unreadable(f"The JSON is neither a list nor an object; give {_RECORDS}.")
    elif isinstance(document.get("annotations"), list):
        raise _Unreadable(f'The captions are wrapped in an object with "annotations"; give the list: {_RECORDS}.')
    elif all(name in document for name in _FIELDS):
        raise _Unreadable(f"The JSON is a single record, not a list of records; give {_RECORDS}.")
    else:
        pairs = document.pairs if isinstance(document, _RepeatedKeys) else document.items()
        rows.unit, rows.ids_are_text = "entry", True
        rows.rows = [(number, image, caption) for number, (image, caption) in enumerate(pairs, 1)]


def _read_lines(text: str, rows: _Rows) -> None:
    """Read a record on each line. Only line feeds end lines, as captions may contain U+2028."""
    decode = rows.decoder.decode
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip(_BLANK):
            continue
        try:
            record = decode(line)
        except RecursionError:
            rows.refuse("json", number, "it is nested too deeply")
        except json.JSONDecodeError as error:
            rows.refuse("json", number, _detail(error))
        else:
            rows.add(number, record)


def _detail(error: json.JSONDecodeError) -> str:
    return f"{error.msg}, line {error.lineno:,}, column {error.colno:,}"


def _read_table(text: str, rows: _Rows) -> None:
    """Read a table with a header, separated by commas, tabs, semicolons as spreadsheets write them, or bars."""
    rows.ids_are_text = True
    header: list[str] = []
    first_line = next(line for line in text.splitlines() if line.strip())
    delimiter = next((mark for mark in _DELIMITERS if mark in first_line), ",")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    number = 1  # of the line in which a row starts
    try:
        for cells in reader:
            if not header:
                header = cells
                if header and any(header.count(name) != 1 for name in _FIELDS):
                    columns = ", ".join(printable(name) for name in header[:5])
                    raise _Unreadable(
                        f"The first row must name the columns image_id and caption, each once; it names {columns}."
                    )
            elif len(cells) == len(header):
                image, caption = (cells[header.index(name)] for name in _FIELDS)
                rows.rows.append((number, image, caption))
            elif cells:
                rows.refuse("cells", number)
            number = reader.line_num + 1
    except csv.Error as error:
        details = {
            "unexpected end of data": "the file ends inside double quotes",
            "field larger than field limit": f"a cell has more than {csv.field_size_limit():,} characters",
        }
        rows.refuse("csv", number, next((text for start, text in details.items() if start in str(error)), str(error)))


def _check_rows(
    rows: _Rows, file: str, image_ids: Sequence[ImageId], limits: UploadLimits
) -> tuple[list[str], list[Problem]]:
    """Check all ids and captions in one pass; problems are in the order in which people solve them.

    Unlike ``read_alike``, ids of another type are problems, each with its remedy, so that stored uploads have the ids
    of the challenge.
    """
    challenge = set(image_ids)
    by_text: dict[str, ImageId] = {str(image): image for image in image_ids if isinstance(image, int)}
    captions: dict[ImageId, str] = {}
    wrong_ids: list[int] = []
    images_with: defaultdict[str, list[ImageId]] = defaultdict(list)  # by the problem with their id or caption
    unknown: dict[ImageId, None] = {}
    repeated: dict[ImageId, int] = {}  # first repetition
    places: dict[ImageId, int] = {}
    max_characters, max_words = limits.caption_characters, limits.caption_words
    for number, image, caption in rows.rows:
        if type(image) is not int and type(image) is not str:
            wrong_ids.append(number)
            continue
        places[image] = number
        if image not in challenge:
            equal_id = by_text.get(image) if isinstance(image, str) else str(image)
            if equal_id is None or equal_id not in challenge:
                unknown[image] = None
            else:
                if isinstance(image, int):
                    images_with["number id"].append(image)
                elif not rows.ids_are_text:
                    images_with["text id"].append(image)
                image = equal_id
                places[image] = number
        if image in captions:
            repeated.setdefault(image, number)
        if type(caption) is not str:
            images_with["not text"].append(image)
            captions.setdefault(image, "")
            continue
        if len(caption) > max_characters:
            images_with["too long"].append(image)
        elif len(caption) > max_words and count_words(caption) > max_words:
            images_with["too wordy"].append(image)
        if "\0" in caption:
            images_with["NUL"].append(image)
        if not caption.isascii() and _SURROGATE.search(caption):
            images_with["surrogate"].append(image)
        captions[image] = caption

    problems = [Problem(file, sentence) for sentence in rows.sentences]
    if wrong_ids:
        rows_have = _places(rows.unit, wrong_ids, verb=("has", "have"))
        message = f"{rows_have} an image id that is neither text nor an integer of at most {_ID_DIGITS} digits."
        problems.append(Problem(file, message))
    ids = ("image id is", "image ids are")
    contain = ("caption contains", "captions contain")
    missing = [image for image in image_ids if image not in captions]
    if not captions and problems:
        missing = []  # if no row can be read, listing every image adds nothing
    wordings: Sequence[tuple[Collection[ImageId], tuple[str, str], str]] = (
        (images_with["text id"], ids, 'text where the challenge has numbers: write 42, not "42".'),
        (
            images_with["number id"],
            ("image id is a number", "image ids are numbers"),
            'where the challenge has text: write "42", not 42.',
        ),
        (repeated, ("image has", "images have"), "more than one caption."),
        (unknown, ids, f"not in the challenge, {_looks_of(image_ids)}."),
        (images_with["not text"], ("caption is", "captions are"), "not text."),
        (images_with["too long"], ("caption is", "captions are"), f"longer than {max_characters:,} characters."),
        (
            images_with["too wordy"],
            ("caption has", "captions have"),
            f"more than {max_words:,} words and punctuation marks.",
        ),
        (images_with["NUL"], contain, "NUL characters (U+0000)."),
        (
            images_with["surrogate"],
            contain,
            "lone surrogates, which are halves of characters: write the whole character.",
        ),
        (missing, ("image has", "images have"), "no caption."),
    )
    for images, (singular, plural), ending in wordings:
        if images:
            subject = singular if len(images) == 1 else plural
            if (
                place := (repeated if images is repeated else places).get(next(iter(images)))
            ) is not None and images is not missing:
                unit = "line" if rows.unit == "row" else rows.unit  # tables are numbered by line
                ending += f" See {unit} {place:,}." if len(images) == 1 else f" The first is in {unit} {place:,}."
            problems.append(Problem.about(file, f"{len(images):,} {subject} {ending}", images))
    if image_ids and not problems and not any(captions[image].strip() for image in image_ids):
        problems.append(Problem(file, "Every caption is empty."))
    if not problems:
        problems += equal_captions(captions, file, limits.equal_captions)
    return [] if problems else [captions[image] for image in image_ids], problems


def _looks_of(ids: Sequence[ImageId]) -> str:
    """A phrase with examples of a challenge's ids: "whose ids are such as 42 and 1207"."""
    examples = [printable(image) if isinstance(image, str) else str(image) for image in ids[:_N_EXAMPLE_IDS]]
    return f"whose ids are such as {' and '.join(examples)}" if len(ids) > 1 else f"whose only id is {examples[0]}"


def _without_line(detail: str, lines: Sequence[int]) -> str:
    """The message of a JSON error without the line number, which has just been stated."""
    return detail if len(lines) > 1 else re.sub(r", line [\d,]+(?=, column)", "", detail)


def _places(unit: str, numbers: Sequence[int], *, place: str = "", verb: tuple[str, str] = ("is", "are")) -> str:
    """ "Record 3 is", or "17 records (3, 4, 5, ...) are"; with a place, "17 rows (lines 3, 4, 5, ...) are"."""
    if len(numbers) == 1:
        where = f"The {unit} in {place} {numbers[0]:,}" if place else f"{unit.capitalize()} {numbers[0]:,}"
        return f"{where} {verb[0]}"
    plural = "entries" if unit == "entry" else f"{unit}s"
    places = f"{place}s " if place else ""
    examples = ", ".join(f"{number:,}" for number in numbers[:3]) + (", ..." if len(numbers) > 3 else "")
    return f"{len(numbers):,} {plural} ({places}{examples}) {verb[1]}"


# The contents of an upload: its captions files, found by name, unpacked and checked, without access to files.


def read_contents(
    data: bytes,
    filename: str,
    expected_files: Sequence[ExpectedFile],
    ids: Mapping[str, Sequence[ImageId]],
    limits: UploadLimits,
) -> tuple[dict[str, bytes], list[Problem]]:
    """Every captions file as COCO results in the order of the expected images, and all problems.

    Args:
        filename: name of the upload, which determines its format.
        ids: name of a captions file -> the ids of its images.

    Returns:
        UTF-8 JSON by name of the captions file, for all of them if there are no problems.

    Raises:
        MemoryError: the upload needs too much memory.
    """
    file = printable(filename)
    if len(data) > limits.upload_bytes:
        return {}, [Problem(file, f"The file is larger than {amount(limits.upload_bytes)}.")]
    if not data:
        return {}, [Problem(file, "The file is empty.")]
    name = filename.lower()
    if name.endswith(".zip"):
        return _from_zip(data, file, expected_files, ids, limits)
    if len(expected_files) > 1:
        files = ", ".join(captions.pattern for captions in expected_files)
        return {}, [
            Problem(file, f"The challenge expects {len(expected_files)} files; upload a zip file with {files}.")
        ]
    content: bytes | bytearray | Problem = data
    if name.endswith(".gz"):
        content = unpack_gzip(data, file, limits)
        name = name.removesuffix(".gz")
    if isinstance(content, Problem):
        return {}, [content]
    rows, problems = _read_file(content, name, file, ids[expected_files[0].name], limits, in_archive=False)
    return {} if problems else {expected_files[0].name: rows}, problems


def _from_zip(
    data: bytes,
    file: str,
    expected_files: Sequence[ExpectedFile],
    ids: Mapping[str, Sequence[ImageId]],
    limits: UploadLimits,
) -> tuple[dict[str, bytes], list[Problem]]:
    entries, faults = read_entries(data, file, limits)
    if faults and not entries:
        return {}, faults
    entry_of, problems = assign(entries, expected_files, file)
    if faults:  # contents of such an archive stay packed
        faulty = {fault.file for fault in faults}
        return {}, faults + [problem for problem in problems if problem.file == file or problem.file not in faulty]
    files: dict[str, bytes] = {}
    for captions, entry in entry_of.items():
        name = printable(entry.orig_filename)
        content = unpack(data, entry)
        if isinstance(content, Problem):
            problems.append(content)
            continue
        files[captions], file_problems = _read_file(
            content, entry.orig_filename.lower(), name, ids[captions], limits, in_archive=True
        )
        problems += file_problems
    return {} if problems else files, problems


def _read_file(
    content: bytes | bytearray, name: str, file: str, ids: Sequence[ImageId], limits: UploadLimits, *, in_archive: bool
) -> tuple[bytes, list[Problem]]:
    """Read one captions file as COCO results; `name` in lower case determines the format, problems call it `file`."""
    if not content:
        return b"", [Problem(file, "The file is empty.")]
    if is_archive(content):
        return b"", [
            Problem(file, "The file is an archive or compressed, despite its name; upload the plain captions file.")
        ]
    format = _FORMATS.get(splitext(name)[1])
    if format is None:
        *extensions, last_extension = _FORMATS
        endings = f"{', '.join(extensions)} or {last_extension}"
        alternatives = "" if in_archive else ", each also with .gz, or in .zip"
        return b"", [Problem(file, f"The name of the file must end in {endings}{alternatives}.")]
    captions, problems = read_captions(content, file, format, ids, limits)
    if problems:
        return b"", problems
    rows = [{"image_id": image, "caption": caption} for image, caption in zip(ids, captions, strict=True)]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode(), []
