"""Reading an upload: its captions files, found, parsed and checked against the images, with all problems together."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from os.path import splitext
from typing import Any

from captious.data.formats import (
    FORMATS,
    MISSING,
    Batch,
    Format,
    RepeatedKeys,
    decode,
    parse_json,
    parse_rows,
    record_batches,
)
from captious.data.ids import ImageId
from captious.data.rows import RowProblem, Source, is_unicode
from captious.errors import EncodingError
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


# One captions file of an upload: parsed and checked against the images of the challenge.
#
# ``captious.read_captions`` stops at the first kind of problem; here all of them are reported together, to save
# repeated uploads. It is also stricter about fields, which have to be called as in COCO's results.

_FIELDS = ("image_id", "caption")
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


class _TooManyProblems(Exception):
    """Too many rows cannot be read; reading stops."""


class _Unreadable(Exception):
    """A file without rows; the message gives the reason."""


@dataclass
class _Rows:
    """Ids and captions of any type, and the problems of rows that have neither.

    Args:
        ids_are_text: whether the format has only text for ids, so that "12" may stand for 12.
        unit: name of a row.
        numbers: row numbers in the file.
        problems: sentences.
    """

    unit: str
    numbers: Sequence[int]
    ids: Sequence[Any]
    captions: Sequence[Any]
    problems: list[str] = field(default_factory=list)
    ids_are_text: bool = False


def read_captions(
    data: bytes | bytearray, file: str, format: Format, image_ids: Sequence[ImageId], limits: UploadLimits
) -> tuple[list[str], list[Problem]]:
    """The captions of the expected images in their order, and all problems of the file.

    Args:
        data: the file.
        file: name of the file in problems.
        format: format of the file.
        expected: ids of all images that need a caption.
        limits: limits on the length of captions.

    Returns:
        The captions, which are valid only without problems.

    Raises:
        MemoryError: the file needs too much memory.
    """
    source = Source(file, "candidates", is_file=True)
    try:
        rows = _parse(data, source, format)
    except _Unreadable as error:
        return [], [Problem(file, str(error))]
    except EncodingError as error:
        place = error.where.removeprefix(f"{file}: ")
        return [], [Problem(file, f"The file is not UTF-8 text: {place}. Save it as UTF-8.")]
    return _check_rows(rows, file, image_ids, limits)


def _parse(data: bytes | bytearray, source: Source, format: Format) -> _Rows:
    """The rows of a file. Raises _Unreadable, EncodingError."""
    start = data[:7].removeprefix(b"\xef\xbb\xbf")
    if start.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")) or b"\0" in start[:4]:
        raise _Unreadable("The file looks like UTF-16 or UTF-32 text, or binary data; save it as UTF-8.")
    if not start or (start.isspace() and data.removeprefix(b"\xef\xbb\xbf").isspace()):
        raise _Unreadable("The file is empty.")
    not_finite: Counter[str] = Counter()

    def constant(name: str) -> _NoNumber:
        not_finite[name] += 1
        return _NoNumber()

    decoder = json.JSONDecoder(
        object_pairs_hook=RepeatedKeys.hook,
        parse_constant=constant,
        parse_int=lambda digits: int(digits) if len(digits) <= _ID_DIGITS else _NoNumber(),
    )
    problems: list[RowProblem] = []
    is_table = format in ("csv", "tsv")
    unit = "record" if format == "json" else "row" if is_table else "line"

    def refuse(problem: RowProblem) -> None:
        problems.append(problem)
        if len(problems) == _MAX_PROBLEMS:
            raise _TooManyProblems

    try:
        rows = _read_rows(data, source, format, decoder, refuse, unit)
    except _TooManyProblems:
        rows = _Rows(unit, (), (), ())
    rows.problems += _sentences(problems, rows.unit)
    if len(problems) == _MAX_PROBLEMS:
        rows.problems.append("The rest of the file was not read.")
    if not_finite:
        names = " and ".join(
            f"{name} ({'once' if n == 1 else f'{n:,} times'})" for name, n in sorted(not_finite.items())
        )
        rows.problems.append(f"The file contains {names}, which JSON does not allow.")
    return rows


def _read_rows(
    data: bytes | bytearray,
    source: Source,
    format: Format,
    decoder: json.JSONDecoder,
    refuse: Callable[[RowProblem], None],
    unit: str,
) -> _Rows:
    """The rows of a file that can be read; the others are refused."""
    if format == "json":
        document = _document(decode(data, source), source, decoder)
        if isinstance(document, dict):
            pairs = document.pairs if isinstance(document, RepeatedKeys) else [*document.items()]
            ids, captions = [key for key, _ in pairs], [value for _, value in pairs]
            return _Rows("entry", range(1, len(pairs) + 1), ids, captions, ids_are_text=True)
        records = [(range(1, len(document) + 1), document)] if document else []
        return _rows(unit, record_batches(source, records, unit, lambda *_: _FIELDS, refuse))
    is_table = unit == "row"
    choose = _header if is_table else lambda *_: _FIELDS
    rows = _rows(unit, parse_rows(BytesIO(data), format, source, choose, refuse=refuse, decoder=decoder))
    rows.ids_are_text = is_table
    return rows


def _rows(unit: str, batches: Iterable[Batch]) -> _Rows:
    """The rows that have an id; a caption may be missing."""
    rows = [
        (number, image, "" if caption is MISSING else caption)
        for batch in batches
        for number, image, caption in zip(batch.numbers, *batch.columns, strict=True)
        if image is not MISSING
    ]
    numbers, ids, captions = zip(*rows, strict=True) if rows else ((), (), ())
    return _Rows(unit, numbers, ids, captions)


def _document(text: str, source: Source, decoder: json.JSONDecoder) -> list[Any] | dict[str, Any]:
    """A list of records, or an object from image to caption."""
    document = parse_json(text, source, decoder)
    if isinstance(document, RowProblem):
        raise _Unreadable(
            {
                "nested": f"The JSON is nested too deeply; give {_RECORDS}.",
                "truncated": f"The JSON ends unexpectedly on line {document.number:,}; the file is truncated.",
            }.get(document.kind, f"The file is not JSON: {document.detail}.")
        )
    if not isinstance(document, list | dict):
        raise _Unreadable(f"The JSON is neither a list nor an object; give {_RECORDS}.")
    if isinstance(document, dict) and isinstance(document.get("annotations"), list):
        raise _Unreadable(f'The captions are wrapped in an object with "annotations"; give the list: {_RECORDS}.')
    if isinstance(document, dict) and all(name in document for name in _FIELDS):
        raise _Unreadable(f"The JSON is a single record, not a list of records; give {_RECORDS}.")
    return document


def _header(names: list[str], _: str) -> Sequence[str]:
    if any(names.count(name) != 1 for name in _FIELDS):
        columns = ", ".join(printable(name) for name in names[:5])
        raise _Unreadable(f"The first row must name the columns image_id and caption, each once; it names {columns}.")
    return _FIELDS


def _sentences(problems: Sequence[RowProblem], unit: str) -> list[str]:
    """The problems of rows, in the order in which people solve them."""
    by_kind: defaultdict[str, list[int]] = defaultdict(list)
    details: dict[str, str] = {}
    for problem in problems:
        kinds = [f"no {name}" for name in problem.fields] if problem.kind == "fields" else [problem.kind]
        if problem.kind in ("truncated", "nested"):
            kinds = ["json"]
        for kind in kinds:
            by_kind[kind].append(problem.number)
            details.setdefault(kind, problem.detail)
    has = ("has", "have")
    wordings: dict[str, Callable[[Sequence[int]], str]] = {
        "json": lambda lines: f"{_places(unit, lines)} not JSON: {_without_line(details['json'], lines)}.",
        "record": lambda places: f"{_places(unit, places)} not an object such as {_RECORD}.",
        "no image_id": lambda places: f'{_places(unit, places, verb=has)} no "image_id".',
        "no caption": lambda places: f'{_places(unit, places, verb=has)} no "caption".',
        "repeated": lambda places: f"{_places(unit, places, verb=has)} a key more than once.",
        "csv": lambda lines: (
            f"The table cannot be read from the row that starts in line {lines[0]:,}: {details['csv']}."
        ),
        "cells": lambda lines: (
            f"{_places(unit, lines, place='line', verb=has)} more or fewer cells than the first row; "
            "put captions that contain the separator in double quotes."
        ),
    }
    return [sentence(by_kind[kind]) for kind, sentence in wordings.items() if kind in by_kind]


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
    for number, image, caption in zip(rows.numbers, rows.ids, rows.captions, strict=True):
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
        if not caption.isascii() and not is_unicode(caption):
            images_with["surrogate"].append(image)
        captions[image] = caption

    problems = [Problem(file, sentence) for sentence in rows.problems]
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
        name = printable(entry.name)
        content = unpack(data, entry)
        if isinstance(content, Problem):
            problems.append(content)
            continue
        files[captions], file_problems = _read_file(
            content, entry.name.lower(), name, ids[captions], limits, in_archive=True
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
    format = FORMATS.get(splitext(name)[1])
    if format is None or format == "parquet":
        *extensions, last_extension = (extension for extension in FORMATS if extension != ".parquet")
        endings = f"{', '.join(extensions)} or {last_extension}"
        alternatives = "" if in_archive else ", each also with .gz, or in .zip"
        return b"", [Problem(file, f"The name of the file must end in {endings}{alternatives}.")]
    captions, problems = read_captions(content, file, format, ids, limits)
    if problems:
        return b"", problems
    rows = [{"image_id": image, "caption": caption} for image, caption in zip(ids, captions, strict=True)]
    return json.dumps(rows, ensure_ascii=False, separators=(",", ":")).encode(), []
