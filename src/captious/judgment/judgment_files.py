"""Location and reading of judgment data. Every file that is read is recorded with its checksum."""

from __future__ import annotations

import csv
import io
import json
import os
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from captious.data.row_parser import parse_rows
from captious.data.source import Source
from captious.errors import CaptionFileError, ResourceError
from captious.resources.pickles import PickleError, read_pickle
from captious.unpacking import RAISE_LIMIT, UnpackedSizeError, plain_content

__all__ = ["DataFolder", "data_folder", "known", "number_within", "own_json"]

_VARIABLE = "CAPTIOUS_DATA"
T = TypeVar("T")


def data_folder(given: str | os.PathLike[str] | None = None) -> DataFolder:
    """The folder of judgment data: the one given, or the one that ``CAPTIOUS_DATA`` names.

    Raises:
        ResourceError: no folder is set, or it does not exist.
    """
    chosen = given if given is not None else os.environ.get(_VARIABLE, "")
    if chosen == "":
        raise ResourceError(
            "no folder of judgment data is set",
            help=f"give --data DIR or set {_VARIABLE}; captious data list shows what it can contain",
        )
    folder = Path(chosen).expanduser()
    if not folder.is_dir():
        raise ResourceError("judgment data folder not found", where=str(folder), help="check --data or CAPTIOUS_DATA")
    return DataFolder(folder)


class DataFolder:
    """A folder of judgment data. Files may be compressed with gzip.

    Attributes:
        read: the files that were read so far: name -> CRC-32 of the content as stored on disk, eight hex digits.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.read: dict[str, str] = {}

    def has(self, *names: str) -> bool:
        """Whether all of these files exist."""
        return all(self._path(name) is not None for name in names)

    def json(self, name: str) -> Any:
        """The content of a JSON file.

        Raises:
            ResourceError: it is not there.
            CaptionFileError: it cannot be read.
        """
        text, path = self._text(name)
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            raise CaptionFileError(f"not JSON: {error}", where=str(path), help="download the file again") from error

    def records(self, name: str) -> list[dict[str, Any]]:
        """The records of a file with one JSON object per line; raises as ``json`` does."""
        return [record for _, record in self.numbered_records(name)]

    def numbered_records(self, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The same, each with the number of its line."""
        text, path = self._text(name)
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                if not isinstance(record, dict):
                    raise ValueError("not an object")
            except (ValueError, RecursionError) as error:
                where = f"{path}, line {number}"
                raise CaptionFileError(
                    f"not a JSON object: {error}", where=where, help="download the file again"
                ) from error
            yield number, record

    def pickle(self, name: str) -> Any:
        """What a pickle holds: numbers, text, lists, dicts and numpy arrays of these; nothing it names is called.

        Raises:
            ResourceError: it is not there.
            CaptionFileError: it cannot be read, or asks for more than data.
        """
        data, path = self._content(name)
        try:
            return read_pickle(data, text=True)
        except PickleError as error:
            raise CaptionFileError(
                f"this pickle cannot be read: {error}", where=str(path), help="download the file again"
            ) from error

    def parquet(self, pattern: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """The rows of some columns of parquet files, in the order of the files' names.

        Args:
            pattern: name of a file, in which * stands for anything.
            columns: those that are read; others may be there.

        Raises:
            ResourceError: it is not there.
            MissingExtraError: pyarrow is not installed.
            CaptionFileError: it cannot be read, or a column is missing.
        """
        names = self._matching(pattern) or [pattern]
        return [row for name in names for row in self._parquet_rows(name, columns)]

    def _parquet_rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        data, path = self._content(name)

        def choose(names: Sequence[str], where: str) -> Sequence[str]:
            if missing := [column for column in columns if column not in names]:
                help = f"columns are {', '.join(columns)}"
                raise CaptionFileError(f"no column {missing[0]}", where=str(path), help=help)
            return columns

        source = Source(str(path), "candidates", is_file=True)
        for batch in parse_rows(io.BytesIO(data), "parquet", source, choose):
            yield from zip(*batch.columns, strict=True)

    def rows(self, name: str, n: int) -> Iterator[tuple[int, list[str]]]:
        """The lines of a text file with n columns between tabs, each with its number; raises as ``json`` does."""
        text, _ = self._text(name)
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            fields = line.rstrip("\r").split("\t")
            if len(fields) != n:
                raise CaptionFileError(
                    f"{len(fields)} columns where there should be {n}",
                    where=self.place(name, number),
                    help="columns are separated by tabs; download the file again",
                )
            yield number, fields

    def csv_rows(self, name: str, columns: Sequence[str]) -> Iterator[tuple[int, dict[str, str]]]:
        """The rows of a csv file whose first line names its columns, each with the number of its last line.

        Args:
            name: of the file.
            columns: those that it must have; others may be there.

        Raises:
            ResourceError: it is not there.
            CaptionFileError: it cannot be read, a column is missing, or a row has too few or too many cells.
        """
        text, _ = self._text(name)
        reader = csv.DictReader(io.StringIO(text, newline=""))
        try:
            if missing := [column for column in columns if column not in (reader.fieldnames or ())]:
                where = self.place(name, 1)
                raise CaptionFileError(f"no column {missing[0]}", where=where, help=f"columns are {', '.join(columns)}")
            for row in reader:
                if None in row or None in row.values():
                    where = self.place(name, reader.line_num)
                    raise CaptionFileError(
                        f"too {'many' if None in row else 'few'} cells",
                        where=where,
                        help="quote cells that contain commas",
                    )
                yield reader.line_num, row
        except csv.Error as error:
            where = self.place(name, reader.line_num + 1)
            raise CaptionFileError(f"not csv: {error}", where=where, help="download the file again") from error

    def entries(self, name: str, keys: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """The entries of a JSON object of objects, each of which has these keys; raises as ``json`` does."""
        content = self.json(name)
        if not isinstance(content, dict):
            raise CaptionFileError("not a JSON object", where=self.place(name), help="download the file again")
        for label, entry in content.items():
            lacking = [key for key in keys if not isinstance(entry, dict) or key not in entry]
            if lacking:
                where = self.place(name, f"entry {label!r}")
                raise CaptionFileError(f"no {lacking[0]}", where=where, help="download the file again")
            yield label, entry

    def place(self, name: str, spot: int | str | None = None) -> str:
        """Where something is, for messages: the file, and the line or other details."""
        path = self._path(name) or self.folder / name
        if spot is None:
            return str(path)
        return f"{path}, line {spot}" if isinstance(spot, int) else f"{path}, {spot}"

    def _matching(self, pattern: str) -> list[str]:
        """Names of the files that match a pattern, in order."""
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.glob(pattern) if path.is_file())

    def _path(self, name: str) -> Path | None:
        if "*" in name:
            found = self._matching(name)
            return self.folder / found[0] if found else None
        for candidate in (self.folder / name, self.folder / f"{name}.gz"):
            if os.path.isfile(candidate):
                return candidate
        return None

    def _text(self, name: str) -> tuple[str, Path]:
        content, path = self._content(name)
        try:
            return content.decode("utf-8-sig"), path
        except UnicodeDecodeError as error:
            raise CaptionFileError(
                f"cannot be read: {error}", where=str(path), help="download the file again"
            ) from error

    def _content(self, name: str) -> tuple[bytes, Path]:
        """What a file holds, unpacked, and where it is."""
        path = self._path(name)
        if path is None:
            raise ResourceError(
                f"{name} was not found",
                where=f"{self.folder} contains neither {name} nor {name}.gz",
                help="captious data list names its source",
            )
        try:
            raw = path.read_bytes()
            content = plain_content(raw, path.name)
        except UnpackedSizeError as error:
            raise CaptionFileError(f"the file is too large: {error}", where=str(path), help=RAISE_LIMIT) from error
        except (OSError, EOFError, zlib.error) as error:
            raise CaptionFileError(
                f"cannot be read: {error}", where=str(path), help="download the file again"
            ) from error
        self.read[path.name] = f"{zlib.crc32(raw):08x}"
        return content, path


def own_json(file: str | os.PathLike[str], what: str, help: str) -> Any:
    """The content of a JSON file that users write themselves.

    Args:
        file: its path.
        what: what messages call its content.
        help: how it is written.

    Raises:
        ResourceError: it cannot be read.
        CaptionFileError: it is not JSON.
    """
    try:
        return json.loads(Path(file).read_bytes())
    except OSError as error:
        raise ResourceError(f"cannot read {what}: {error.strerror}", where=str(file), help="check the path") from error
    except (ValueError, RecursionError) as error:
        raise CaptionFileError(f"not JSON: {error}", where=str(file), help=help) from error


def known(table: Mapping[Any, T], key: object, where: str) -> T:
    """The entry of a table of captions for a key.

    Raises:
        CaptionFileError: there is none.
    """
    if key not in table:
        raise CaptionFileError(f"{key} has no caption", where=where, help="get files of the same release")
    return table[key]


def number_within(value: object, low: float, high: float | None, where: str) -> float:
    """A number within bounds, of which the upper may be None.

    Raises:
        CaptionFileError: not a number, or out of bounds.
    """
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = float("nan")
    if not number >= low or (high is not None and number > high):
        bounds = f"at least {low}" if high is None else f"between {low} and {high}"
        raise CaptionFileError(f"{value!r} is not a number {bounds}", where=where, help="download the file again")
    return number
