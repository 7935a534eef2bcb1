"""The files of a challenge folder: located within it, read, and noted with their checksums and problems."""

from __future__ import annotations

import hashlib
import stat
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from captious.data import CaptionRows, References, read_references, read_rows
from captious.data.rows import images
from captious.errors import CaptiousError
from captious.server.challenges.consistency import tables
from captious.server.challenges.definition import ReferencesDefinition
from captious.server.challenges.metrics import told
from captious.server.challenges.problems import ChallengeError, at

__all__ = ["FILE_NAME", "FolderFiles", "read_files", "read_reference_set", "toml_values"]

#: What a challenge is described in.
FILE_NAME = "challenge.toml"


def read_reference_set(folder: Path, each: ReferencesDefinition) -> References:
    """The references of a set, under the name of its file. Ids that are numbers in text are numbers.

    Raises:
        CaptiousError: as ``captious.read_references``.
    """
    return _with_numbers(replace(read_references(folder / each.file), name=each.file))


@dataclass
class FolderFiles:
    """What is known about a folder while it is being read.

    Args:
        folder: without links.
        problems, warnings: so far.
        checksums, texts: of files that could be read, by their path in the folder.
        references, baselines: position in the definition -> captions.
    """

    folder: Path
    problems: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    checksums: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    references: dict[int, References] = field(default_factory=dict)
    baselines: dict[int, CaptionRows] = field(default_factory=dict)

    def add(self, name: str, path: Path) -> None:
        """Note the checksum of a file."""
        with path.open("rb") as file:
            self.checksums[name] = hashlib.file_digest(file, "sha256").hexdigest()

    def file(self, place: str, name: str) -> Path | None:
        """A file of the folder; None, and a problem, if it is not there or cannot be read."""
        try:
            path = self.folder / name
            if Path(name).is_absolute() or not path.resolve().is_relative_to(self.folder):
                self.problems.append(f"{place}: {name} is outside the folder")
                return None
            if ".." in Path(name).parts:  # a copy of the folder need not have the folder in front of it
                self.problems.append(f"{place}: {name} must not contain '..'")
                return None
            if not stat.S_ISREG(path.stat().st_mode):
                self.problems.append(f"{place}: {name} is not a file")
                return None
            self.add(Path(name).as_posix(), path)
        except FileNotFoundError:
            self.problems.append(f"{place}: there is no file {name}")
        except (OSError, ValueError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            self.problems.append(f"{place}: {name!r} cannot be read: {reason}")
        else:
            return path
        return None


def toml_values(path: Path) -> dict[str, Any]:
    """What the challenge.toml of a folder holds.

    Raises:
        ChallengeError: it is not there, or not TOML.
    """
    file = path / FILE_NAME
    try:
        return tomllib.loads(file.read_bytes().decode())
    except FileNotFoundError:
        hint = f"there is no {FILE_NAME} in this folder; captious challenge init FOLDER makes one"
        raise ChallengeError([hint if path.is_dir() else "there is no such folder"], str(path)) from None
    except NotADirectoryError:
        raise ChallengeError(["give the folder, not the file"], str(path)) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ChallengeError([f"{FILE_NAME}: line {line:,} is not UTF-8 text"], str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise ChallengeError([f"{FILE_NAME}: {error}"], str(path)) from None
    except (OSError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ChallengeError([f"{FILE_NAME} cannot be read: {reason}"], str(path)) from None


def _named_files(found: FolderFiles, data: Mapping[str, Any], name: str) -> Iterator[tuple[int, str, str, Path]]:
    """The files of a list of tables: position, place, name and path of those that are there."""
    for position, each in tables(data, name):
        given = each.get("file")
        if isinstance(given, str) and given:
            place = at((name, position, "file"))
            path = found.file(place, given)
            if path is not None:
                yield position, place, given, path


def read_files(found: FolderFiles, data: Mapping[str, Any]) -> None:
    """Read all files that challenge.toml names, also where other keys of it are wrong."""
    for _, place, name, path in _named_files(found, data, "texts"):
        try:
            found.texts[name] = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode()
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            found.problems.append(f"{place}: {name} is not UTF-8 text, in line {line:,}")
    for position, place, name, path in _named_files(found, data, "references"):
        try:
            table = _with_numbers(replace(read_references(path), name=name))
        except CaptiousError as error:
            found.problems.append(f"{place}: {told(error, found.folder)}")
        else:
            found.references[position] = table
            _check_references(found, place, table)
    for position, place, name, path in _named_files(found, data, "baselines"):
        if path.suffix.lower() == ".zip":
            if not zipfile.is_zipfile(path):
                found.problems.append(f"{place}: {name} is not a zip file")
            continue
        try:
            found.baselines[position] = read_rows(path, "candidates")
        except CaptiousError as error:
            found.problems.append(f"{place}: {told(error, found.folder)}")


def _with_numbers(table: References) -> References:
    """The same references; ids that a format can only write as text are numbers if all of them can be."""
    if table.id_form == "text" and all(isinstance(image, int) for image in table.with_numbers_for_ids.ids):
        return table.with_numbers_for_ids
    return table


def _check_references(found: FolderFiles, place: str, table: References) -> None:
    empty = [
        image
        for image, (start, end) in zip(table.ids, pairwise(table.offsets.tolist()), strict=True)
        if not all(map(str.strip, table.texts[start:end]))
    ]
    if empty:
        found.problems.append(
            f"{place}: {len(empty):,} of {len(table):,} images have an empty reference ({images(empty)})"
        )
    if table.without_references:
        n = len(table.without_references)
        found.warnings.append(
            f"{place}: {n:,} images without references are left out ({images(table.without_references)})"
        )
    if len(table.texts) == len(table):
        found.warnings.append(f"{place}: every image has only one reference; are these the references?")
