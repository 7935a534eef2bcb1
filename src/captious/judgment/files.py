"""The folder of judgment data, and readers of its files: captions, published triplets, and your own judgments."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

from captious.data.formats import parse_rows
from captious.data.rows import Source
from captious.errors import CaptionFileError, EmptyInputError, ParameterError, ResourceError, UnknownNameError, option
from captious.files import checksum, decoded, user_bytes
from captious.judgment.correlation import STATISTICS
from captious.judgment.items import CaptionPair, RatedCaption, Unknown, judgments_of
from captious.judgment.judgments import SYSTEM_FACT, SYSTEM_STATISTICS, HumanJudgments, Protocol, Rule
from captious.resources.cache import text_as_json
from captious.resources.pickles import PickleError, read_pickle
from captious.words import counted, shortened

# The folder of judgment data, and readers of its file formats, which record each file they read.
#
# Captions of COCO and Flickr8k are read for benchmarks whose own files lack captions or references.

_VARIABLE = "CAPTIOUS_DATA"
_AGAIN = "download the file again"
T = TypeVar("T")


def data_folder(path: str | os.PathLike[str] | None = None) -> DataFolder:
    """Return the folder of judgment data; by default ``CAPTIOUS_DATA``.

    Raises:
        ResourceError: no folder is set, or it does not exist.
    """
    path = os.environ.get(_VARIABLE, "") if path is None else path
    if path == "":
        raise ResourceError(
            "no folder of judgment data is set",
            hint=f"give {option('data', 'DIR')} or set {_VARIABLE}; captious data list shows what it can contain",
        )
    folder = Path(path).expanduser()
    if not folder.is_dir():
        help = f"check {option('data', 'DIR')} or {_VARIABLE}"
        raise ResourceError("judgment data folder not found", where=str(folder), hint=help)
    return DataFolder(folder)


class DataFolder:
    """A folder of judgment data. Files may be compressed with gzip.

    Each method that reads a file raises ResourceError if it does not exist or cannot be opened, and CaptionFileError if
    it is damaged or does not have the expected form.

    Attributes:
        read: files read so far: name -> CRC-32 of the content on disk, eight hex digits.
        remedy: what to do about a damaged file.
    """

    remedy = _AGAIN

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read: dict[str, str] = {}

    def has(self, *names: str) -> bool:
        """Return whether all of these files exist."""
        return all(self._path(name) is not None for name in names)

    def path(self, name: str) -> Path:
        """Return the path of a file.

        Raises:
            ResourceError: it does not exist.
        """
        path = self._path(name)
        if path is None:
            raise ResourceError(
                "file not found", where=str(self.folder / name), hint="captious data list names sources"
            )
        return path

    def json(self, name: str) -> Any:
        """Return the content of a JSON file."""
        return text_as_json(self._text(name), self.place(name), self.remedy, CaptionFileError)

    def records(self, name: str) -> list[dict[str, Any]]:
        """Return the records of a file with one JSON object per line."""
        return [record for _, record in self.numbered_records(name)]

    def numbered_records(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the records of a file with one JSON object per line, each with its line number."""
        for number, line in self._lines(name):
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("not an object")
            except (ValueError, RecursionError) as error:
                raise self.error(f"not a JSON object: {error}", name, number) from error
            yield number, record

    def placed_records(self, name: str, columns: Sequence[str]) -> Iterator[tuple[int, str, dict[str, Any]]]:
        """Yield the records of a file with their numbers and places: lines of .jsonl, members of a list or
        an object in .json, rows of .csv, numbered by line, or of .parquet.

        Args:
            name: name of the file; of parquet, * matches anything.
            columns: required columns of .csv and keys of members of an object, and those to read of .parquet.
        """
        kind, where = Path(name).suffix, self.place(name)
        placed: Iterable[tuple[int, str, dict[str, Any]]]
        if kind == ".parquet":
            rows = (dict(zip(columns, row, strict=True)) for row in self.parquet(name, columns))
            placed = ((number, f"row {number}", row) for number, row in enumerate(rows, 1))
        elif kind == ".json" and isinstance(content := self.json(name), dict):
            entries = enumerate(self.entries(name, columns), 1)
            placed = ((number, f"entry {key!r}", entry) for number, (key, entry) in entries)
        elif kind == ".json":
            placed = ((number, f"record {number}", record) for number, record in enumerate(content, 1))
        else:
            of_lines = self.csv_rows(name, columns) if kind == ".csv" else self.numbered_records(name)
            placed = ((number, f"line {number}", record) for number, record in of_lines)
        yield from ((number, f"{where}, {spot}", record) for number, spot, record in placed)

    def pickle(self, name: str) -> Any:
        """Return the content of a pickle: numbers, text, lists, dicts and numpy arrays of these; no callable in it is
        called.
        """
        try:
            return read_pickle(self._content(name), text=True)
        except PickleError as error:
            raise self.error(f"this pickle cannot be read: {error}", name) from error

    def matlab(self, name: str) -> dict[str, Any]:
        """Return the variables in a MATLAB file (version 4 to 7.2): numpy arrays by name."""
        from scipy.io import loadmat

        content = io.BytesIO(self._content(name))
        try:
            return dict(loadmat(content))
        except Exception as error:  # a damaged file may break anything in it
            raise self.error(f"not a file of MATLAB that can be read: {error}", name) from error

    def parquet(self, pattern: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Yield rows of some columns of parquet files, sorted by file name.

        Args:
            pattern: a file name in which * matches anything.
            columns: columns to read; there may be others.

        Raises:
            MissingExtraError: pyarrow is not installed.
        """
        names = self._matching(pattern) or [pattern]
        return [row for name in names for row in self._parquet_rows(name, columns)]

    def _parquet_rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        def choose(names: Sequence[str], where: str) -> Sequence[str]:
            if missing := [column for column in columns if column not in names]:
                raise self.error(f"no column {missing[0]}", name, hint=f"columns are {', '.join(columns)}")
            return columns

        source = Source(self.place(name), "candidates", is_file=True)
        for batch in parse_rows(io.BytesIO(self._content(name)), "parquet", source, choose):
            yield from zip(*batch.columns, strict=True)

    def rows(self, name: str, n: int) -> Iterator[tuple[int, list[str]]]:
        """Yield the lines of a text file with n tab-separated columns, each with its number."""
        for number, line in self._lines(name):
            fields = line.rstrip("\r").split("\t")
            if len(fields) != n:
                raise self.error(
                    f"{counted(len(fields), 'column')} where there should be {n}",
                    name,
                    number,
                    hint=f"columns are separated by tabs; {self.remedy}",
                )
            yield number, fields

    def csv_rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
        """Yield the rows of a csv file whose first line names its columns, each with the number of its last line.

        Args:
            name: name of the file.
            columns: required columns; there may be others.
        """
        reader = csv.DictReader(io.StringIO(self._text(name), newline=""))
        try:
            if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
                raise self.error(f"no column {missing[0]}", name, 1, hint=f"columns are {', '.join(columns)}")
            for row in reader:
                if None in row or None in row.values():
                    number = "many" if None in row else "few"
                    raise self.error(
                        f"too {number} cells", name, reader.line_num, hint="quote cells that contain commas"
                    )
                yield reader.line_num, row
        except csv.Error as error:
            raise self.error(f"not csv: {error}", name, reader.line_num + 1) from error

    def entries(self, name: str, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the entries of a JSON object of objects, each of which must have these keys."""
        content = self.json(name)
        if not isinstance(content, dict):
            raise self.error("not a JSON object", name)
        for label, entry in content.items():
            if missing := [key for key in keys if not isinstance(entry, dict) or key not in entry]:
                raise self.error(f"no {missing[0]}", name, f"entry {label!r}")
            yield label, entry

    def place(self, name: str, spot: int | str | None = None) -> str:
        """Return a place for messages: the file, and the line or other details."""
        path = self._path(name) or self.folder / name
        if spot is None:
            return str(path)
        return f"{path}, line {spot}" if isinstance(spot, int) else f"{path}, {spot}"

    def error(self, message: str, name: str, spot: int | str | None = None, hint: str = "") -> CaptionFileError:
        """Return an error in a file, at a spot as in ``place``."""
        return CaptionFileError(message, where=self.place(name, spot), hint=hint or self.remedy)

    def _matching(self, pattern: str) -> list[str]:
        """Return the names of the files that match a pattern, in order."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob(pattern) if path.is_file())

    def _path(self, name: str) -> Path | None:
        if "*" in name:
            names = self._matching(name)
            return self.folder / names[0] if names else None
        paths = (self.folder / name, self.folder / f"{name}.gz")
        return next((path for path in paths if os.path.isfile(path)), None)

    def _lines(self, name: str) -> Iterator[tuple[int, str]]:
        """Yield the non-blank lines, with their numbers."""
        lines = enumerate(self._text(name).split("\n"), start=1)
        return ((number, line) for number, line in lines if line.strip())

    def _text(self, name: str) -> str:
        return decoded(self._content(name), self.place(name), "the file", self.remedy, CaptionFileError)

    def _content(self, name: str) -> bytes:
        """Return the content of a file, decompressed."""
        path = self._path(name)
        if path is None:
            raise ResourceError(
                f"{name} was not found",
                where=f"{self.folder} contains neither {name} nor {name}.gz",
                hint="captious data list names its source",
            )
        return user_bytes(path, "the file", self.remedy, CaptionFileError, self._bytes)

    def _bytes(self, path: Path) -> bytes:
        raw = path.read_bytes()
        self.read[path.name] = checksum(raw)
        return raw


def entry_of(table: Mapping[Any, T], key: object, where: str) -> T:
    """Return the entry of a table of captions for a key.

    Raises:
        CaptionFileError: there is none.
    """
    if key not in table:
        raise CaptionFileError(f"{key} has no caption", where=where, hint="get files of the same release")
    return table[key]


def number_within(value: object, low: float, high: float | None, where: str) -> float:
    """Return a number after a check that it is within bounds; the upper one may be None.

    Raises:
        CaptionFileError: not a number, or out of bounds.
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not number >= low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise CaptionFileError(f"{shortened(value)} is not a number {bounds}", where=where, hint=_AGAIN)
    return number


#: COCO's captions; val2014 has all images of val2017.
COCO_CAPTIONS = ("coco/captions_val2017.json", "coco/captions_val2014.json")


def coco_captions_file(folder: DataFolder) -> str:
    """Return the name of COCO's captions in a folder, of val2017 or of val2014."""
    return next(filter(folder.has, COCO_CAPTIONS), COCO_CAPTIONS[0])


def read_coco_captions(folder: DataFolder, name: str) -> dict[int, list[str]]:
    """Read the captions of every image, in the order of the file, without surrounding white space."""
    content = folder.json(name)
    captions: dict[int, list[str]] = defaultdict(list)
    try:
        for annotation in content["annotations"]:
            captions[annotation["image_id"]].append(annotation["caption"].strip())
    except (KeyError, TypeError, AttributeError) as error:
        message = f"not a COCO caption file: {type(error).__name__} {error}"
        help = 'it holds {"annotations": [{"image_id": 1, "caption": "..."}]}'
        raise folder.error(message, name, hint=help) from error
    return dict(captions)


def read_flickr8k_captions(folder: DataFolder, name: str) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Read captions by id, and by image, from lines such as ``1000268201_693b08cb0e.jpg#0  A child ...``."""
    text_of: dict[str, str] = {}
    references_of: dict[str, list[str]] = defaultdict(list)
    for number, (caption, text) in folder.rows(name, 2):
        image, mark, _ = caption.partition("#")
        if not mark or caption in text_of:
            message = f"duplicate caption id {caption!r}" if mark else f"{caption!r} is not a caption id"
            raise folder.error(message, name, number, hint="an id consists of the image, # and the caption number")
        text_of[caption] = text.strip()
        references_of[image].append(text.strip())
    return text_of, dict(references_of)


# Your own judgments: one JSON object per line, ratings or pairs. docs/judgment.md shows the format.

#: Before statistics that compare mean scores of systems with their mean ratings.
_SYSTEM = "system-"
#: The statistics for a file of ratings, or of pairs; the first is the default.
_STATISTICS = {
    "ratings": (
        "kendall-tau-c",
        *(name for name in STATISTICS if name != "kendall-tau-c"),
        *(_SYSTEM + name for name in SYSTEM_STATISTICS),
    ),
    "pairs": ("accuracy",),
}
#: Name of the protocol when no statistic is requested.
_DEFAULT = "own"
_PARTS = Rule("as given in the file", attrgetter("part"))
_LARGEST_RATING = sys.float_info.max
_FORM = (
    'write {"candidate": "...", "references": ["..."], "rating": 3}'
    ' or {"better": "...", "worse": "...", "references": ["..."]} on every line'
)
_FORM_WITH_SYSTEM = 'write {"candidate": "...", "references": ["..."], "rating": 3, "system": "..."} on every line'


def as_own(benchmark: str) -> tuple[Path, str] | None:
    """Split ``mine.jsonl`` or ``mine.jsonl@spearman`` into file and statistic; None for the name of a benchmark.

    The file may be compressed, ``mine.jsonl.gz``, and can be named without .gz. The statistic is "own" if none is
    named.

    Raises:
        ParameterError: a file with another extension.
    """
    match = re.fullmatch(r"(.*\.jsonl)(?:\.gz)?(?:@([^@]*))?", benchmark, re.DOTALL)
    if match is None:
        file = Path(benchmark.partition("@")[0])
        if file.suffix and file.is_file():
            raise ParameterError("judgments of your own are read from .jsonl files", where=str(file), hint=_FORM)
        return None
    return Path(match[1]), _DEFAULT if match[2] is None else match[2]


def load_own(path: Path, statistic: str = _DEFAULT) -> HumanJudgments:
    """Load your own judgments, one JSON object per line: ratings or pairs.

    Ratings: ``{"candidate": ..., "references": [...], "rating": 3}``, or ``"ratings": [3, 4, 3]``, each of which is a
    point. Pairs: ``{"better": ..., "worse": ..., "references": [...]}``. With ``"image"``, the captions of an image are
    resampled together; with ``"part"``, the statistic is computed for each part and averaged; with ``"system"``, mean
    scores of systems can be compared with their mean ratings. References may be empty on every line, for metrics that
    need none.

    Pairs can represent any forced choice: the distractors of Hodosh and Hockenmaier 2016 (a part per kind of change)
    and FOIL (better: the caption with ``"foil": false``; worse: the one with ``"foil": true`` made from it).

    Args:
        path: the file; its name may have the suffix .gz.
        statistic: for ratings kendall-tau-b, kendall-tau-c, spearman or pearson; system-pearson, system-spearman,
            system-kendall-tau-b or system-pairwise-accuracy; for pairs accuracy. "own" for the default: kendall-tau-c
            for ratings.

    Raises:
        ResourceError: the file does not exist.
        UnknownNameError: an unknown statistic, or one for other forms of judgments.
        CaptionFileError: a line has another form.
        EmptyInputError: no lines.
    """
    folder = DataFolder(path.parent)
    folder.remedy = _FORM
    if not folder.has(path.name):
        raise ResourceError("judgment file not found", where=str(path), hint="check the path")
    lines = list(folder.numbered_records(path.name))
    if not lines:
        raise EmptyInputError("there are no judgments", where=str(path), hint=_FORM)
    pairs = "better" in lines[0][1]
    form = "pairs" if pairs else "ratings"
    measure = _STATISTICS[form][0] if statistic == _DEFAULT else statistic
    if measure not in _STATISTICS[form]:
        raise UnknownNameError(
            f"there is no statistic {measure!r} for {form}",
            where=str(path),
            hint=f"statistics for {form}: {', '.join(_STATISTICS[form])}",
        )
    of_systems = measure.startswith(_SYSTEM)
    without_references = all(record.get("references") == [] for _, record in lines)
    for number, record in lines:
        if problem := _problem(record, pairs, without_references) or (
            "no system" if of_systems and record.get("system") is None else ""
        ):
            help = _FORM_WITH_SYSTEM if problem == "no system" else _FORM
            found = f": found {', '.join(map(repr, record))}" if problem.startswith("no ") else ""
            raise CaptionFileError(problem, where=f"{path}, line {number}{found}", hint=help)
    without_part = [number for number, record in lines if record.get("part") is None]
    if 0 < len(without_part) < len(lines):
        raise CaptionFileError(
            "no part, but other lines have one",
            where=f"{path}, line {without_part[0]}",
            hint="give every line a part, or none",
        )
    parts = None if without_part else _PARTS
    protocol = Protocol(
        path.stem, statistic, measure.removeprefix(_SYSTEM), "each", "captions", parts=parts, ids="line"
    )
    if of_systems:
        if (n := len({str(record["system"]) for _, record in lines})) < 3:
            raise CaptionFileError(
                f"{counted(n, 'system', 'are')} too few for a correlation",
                where=str(path),
                hint="give captions of three or more",
            )
        protocol = replace(protocol, parts=None, systems=SYSTEM_FACT)
    if pairs:
        protocol = replace(protocol, ratings="majority", of="pairs", ids="item")
    return judgments_of(protocol, [_item(number, record, pairs) for number, record in lines], folder.read)


def _item(number: int, record: Mapping[str, Any], pairs: bool) -> CaptionPair | RatedCaption:
    # As text, so "7" and 7 are equal; a line without an image is an image of its own.
    image = Unknown(number) if record.get("image") is None else str(record["image"])
    references, part = record["references"], str("all" if record.get("part") is None else record["part"])
    if pairs:
        return CaptionPair(image, (record["better"], record["worse"]), 0, references, part)
    facts = {"system": str(record.get("system"))}
    return RatedCaption(str(number), image, record["candidate"], references, _ratings(record), part, facts)


def _ratings(record: Mapping[str, Any]) -> Any:
    return record["ratings"] if "ratings" in record else [record["rating"]]


def _problem(record: Mapping[str, Any], pairs: bool, without_references: bool) -> str:
    """Return the problem of a record; empty if it is valid. References are empty on every line, or on none."""
    keys = ("better", "worse") if pairs else ("candidate",)
    for key in keys:
        if key not in record:
            return f"no {key}"
        if not isinstance(record[key], str):
            return f"{key} is not a string"
    if "references" not in record:
        return "no references"
    references = record["references"]
    is_list = isinstance(references, list) and all(isinstance(text, str) for text in references)
    if not (is_list and (references or without_references)):
        return "references must be a non-empty list of strings"
    if "image_id" in record:
        return "image_id is called image in judgments"
    for key in ("image", "part", "system"):
        if not isinstance(record.get(key), str | int | float | None):
            return f"{key} is neither a string nor a number"
    texts = [*(record[key] for key in keys), *references, str(record.get("part")), str(record.get("system"))]
    if re.search("[\ud800-\udfff]", "".join(texts)):
        return "a lone surrogate (half of a character), which is not text"
    return "" if pairs else _wrong_rating(record)


def _wrong_rating(record: Mapping[str, Any]) -> str:
    if ("rating" in record) == ("ratings" in record):
        return "rating and ratings cannot both be given" if "rating" in record else "no rating"
    ratings = _ratings(record)
    if not isinstance(ratings, list) or not ratings:
        return "ratings must be a non-empty list of numbers"
    for rating in ratings:
        if isinstance(rating, bool) or not isinstance(rating, int | float) or not abs(rating) <= _LARGEST_RATING:
            return f"a rating is not a number: {shortened(rating)}"
    return ""
