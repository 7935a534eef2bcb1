"""``check_folder``: read the folder of a challenge with every file that it names, and report all problems at once."""

from __future__ import annotations

import hashlib
import re
import stat
import tomllib
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from captious.data import CaptionRows, ImageId, References, read_references, read_rows
from captious.data.ids import numbers_from_text
from captious.data.rows import images, some
from captious.errors import CaptiousError
from captious.server.challenges.definition import ChallengeDefinition, ReferencesDefinition, definition_from, tables
from captious.server.challenges.metrics import FILE_SETTINGS, metric_problems, told
from captious.server.challenges.problems import ChallengeError, at

__all__ = ["FILE_NAME", "CheckedChallenge", "check_folder", "read_reference_set"]

#: What a challenge is described in.
FILE_NAME = "challenge.toml"

_SLUG = re.compile(r"[a-z0-9-]{1,80}")
_SHARED = "the reference sets of one captions file must have images in common"


@dataclass(frozen=True)
class CheckedChallenge:
    """A challenge that can be loaded.

    Args:
        definition: what challenge.toml says.
        folder: where its files are.
        slug: its name in addresses.
        references: (captions file, reference set) -> the references. Ids that are numbers in text are numbers.
        image_ids: captions file -> the images that a submission has to describe: those of all its reference sets, in
            order of first appearance.
        texts: file -> Markdown.
        checksums: sha256 of every file that the challenge uses, by its path in the folder.
        warnings: what is legal but may be a mistake.
    """

    definition: ChallengeDefinition
    folder: Path
    slug: str
    references: Mapping[tuple[str, str], References]
    image_ids: Mapping[str, tuple[ImageId, ...]]
    texts: Mapping[str, str]
    checksums: Mapping[str, str]
    warnings: tuple[str, ...] = ()

    @property
    def n_references(self) -> dict[tuple[str, str], int]:
        """(captions file, reference set) -> number of references."""
        return {key: len(table.texts) for key, table in self.references.items()}

    @property
    def n_images(self) -> dict[str, int]:
        """Captions file -> number of images."""
        return {name: len(ids) for name, ids in self.image_ids.items()}


def check_folder(path: Path) -> CheckedChallenge:
    """Read a challenge folder and check everything that can be checked before submissions come.

    Raises:
        ChallengeError: every problem, each with the key or file that it is about.
    """
    data = _values(path)
    found = _Found(path.resolve())
    definition: ChallengeDefinition | None = None
    try:
        definition = definition_from(data, str(path))
    except ChallengeError as error:
        found.problems += error.problems
    slug = definition.slug if definition is not None and definition.slug is not None else found.folder.name
    if "slug" not in data and _SLUG.fullmatch(slug) is None:
        found.problems.append(
            f"slug: is required, because the folder's name {slug!r} has more than lower-case letters, digits, hyphens"
        )
    found.add(FILE_NAME, found.folder / FILE_NAME)
    _read_files(found, data)
    _check_metrics(found, data)
    image_ids: dict[str, tuple[ImageId, ...]] = {}
    if definition is not None:
        references = {
            (each.captions, each.name): (position, found.references[position])
            for position, each in enumerate(definition.references)
            if position in found.references
        }
        for each in definition.captions:
            tables_ = {name: table for (captions, name), table in references.items() if captions == each.name}
            image_ids[each.name] = _image_ids(found, tables_)
        _check_baselines(found, definition, image_ids)
        _check_addresses(found, definition, image_ids)
    if found.problems or definition is None:
        raise ChallengeError(found.problems, str(path))
    return CheckedChallenge(
        definition=definition,
        folder=path,
        slug=slug,
        references={key: table for key, (_, table) in references.items()},
        image_ids=image_ids,
        texts=found.texts,
        checksums=found.checksums,
        warnings=tuple(found.warnings),
    )


def read_reference_set(folder: Path, each: ReferencesDefinition) -> References:
    """The references of a set, under the name of its file. Ids that are numbers in text are numbers.

    Raises:
        CaptiousError: as ``captious.read_references``.
    """
    return _with_numbers(replace(read_references(folder / each.file), name=each.file))


@dataclass
class _Found:
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
                self.problems.append(f"{place}: {name} is outside of the folder")
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


def _values(path: Path) -> dict[str, Any]:
    """What challenge.toml holds."""
    file = path / FILE_NAME
    try:
        return tomllib.loads(file.read_bytes().decode())
    except FileNotFoundError:
        hint = f"there is no {FILE_NAME} in this folder; captious challenge init FOLDER makes one"
        raise ChallengeError([hint if path.is_dir() else "there is no such folder"], str(path)) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ChallengeError([f"{FILE_NAME}: line {line:,} is not UTF-8 text"], str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise ChallengeError([f"{FILE_NAME}: {error}"], str(path)) from None
    except (OSError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ChallengeError([f"{FILE_NAME} cannot be read: {reason}"], str(path)) from None


def _named_files(found: _Found, data: Mapping[str, Any], name: str) -> Iterator[tuple[int, str, str, Path]]:
    """The files of a list of tables: position, place, name and path of those that are there."""
    for position, each in tables(data, name):
        given = each.get("file")
        if isinstance(given, str) and given:
            place = at((name, position, "file"))
            path = found.file(place, given)
            if path is not None:
                yield position, place, given, path


def _read_files(found: _Found, data: Mapping[str, Any]) -> None:
    """Read what the file names, also where other keys are wrong."""
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


def _check_references(found: _Found, place: str, table: References) -> None:
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


def _check_metrics(found: _Found, data: Mapping[str, Any]) -> None:
    """Whether the metrics can run here, as far as they and their settings are text."""
    metrics, settings = data.get("metrics"), data.get("settings", {})
    values = (
        {name: value for name, value in settings.items() if isinstance(value, str)}
        if isinstance(settings, dict)
        else {}
    )
    values = {name: value for name, value in values.items() if name in {"tokenizer", "references_as", *FILE_SETTINGS}}
    for name in FILE_SETTINGS:
        if name not in values:
            continue
        place, value = at(("settings", name)), values[name]
        path = found.folder / value
        if path.is_dir():
            continue
        if path.is_file():
            found.file(place, value)
        elif name in {"idf", "parser"} and (Path(value).is_absolute() or Path(value).is_file()):
            found.problems.append(f"{place}: {value} is outside of the folder")
            del values[name]
    names = [each if isinstance(each, str) else "" for each in metrics] if isinstance(metrics, list) else []
    if isinstance(settings, dict):
        found.problems += metric_problems(names, found.folder, values)


def _image_ids(found: _Found, sets: Mapping[str, tuple[int, References]]) -> tuple[ImageId, ...]:
    """The images of a captions file; its reference sets must be about the same images."""
    first: tuple[str, References] | None = None
    for name, (position, table) in sets.items():
        place = at(("references", position, "file"))
        kinds = _kinds(table.ids)
        if len(kinds) > 1:
            found.problems.append(f"{place}: some image ids are numbers and others text; give all as one of them")
        if first is None:
            first = (name, table)
        elif kinds != _kinds(first[1].ids):
            found.problems.append(
                f"{place}: image ids are {_kind(table)}, but those of {first[0]} are {_kind(first[1])}"
            )
        elif set(table.ids).isdisjoint(first[1].ids):
            found.problems.append(f"{place}: no image is also in {first[0]}; {_SHARED}")
    return tuple(dict.fromkeys(image for _, table in sets.values() for image in table.ids))


def _kinds(ids: tuple[ImageId, ...]) -> set[type]:
    return set(map(type, ids))


def _kind(table: References) -> str:
    return f"{'numbers' if _kinds(table.ids) == {int} else 'text'} ({images(table.ids[:1])})"


def _check_baselines(
    found: _Found, definition: ChallengeDefinition, image_ids: Mapping[str, tuple[ImageId, ...]]
) -> None:
    """Whether baselines describe the images of their phases. Zip files are checked when they are submitted."""
    for position, rows in found.baselines.items():
        baseline, place = definition.baselines[position], at(("baselines", position, "file"))
        wanted = {definition.phase(phase).captions for phase in baseline.phases}
        several = [", ".join(captions) for captions in wanted if len(captions) > 1]
        if several:
            found.problems.append(f"{place}: must be a zip file with {several[0]}, which its phases take")
            continue
        if len(wanted) > 1:
            found.problems.append(f"{place}: its phases take different captions files; give a baseline for each")
            continue
        expected = image_ids[next(iter(wanted))[0]]
        if not expected:
            continue  # the references are wrong
        ids = numbers_from_text(rows.ids) if rows.ids_are_text and _kinds(expected) == {int} else rows.ids
        known, given = set(expected), set(ids)
        missing = [image for image in expected if image not in given]
        unknown = [image for image in ids if image not in known]
        if missing:
            found.problems.append(
                f"{place}: {len(missing):,} of {len(expected):,} images have no caption ({images(missing)})"
            )
        if unknown:
            found.problems.append(
                f"{place}: {len(unknown):,} captions are for images that have no references ({images(unknown)})"
            )


def _check_addresses(
    found: _Found, definition: ChallengeDefinition, image_ids: Mapping[str, tuple[ImageId, ...]]
) -> None:
    """Whether the template of addresses takes every id."""
    wrong = []
    for image in (image for ids in image_ids.values() for image in ids):
        try:
            if definition.url_of(image).startswith("//"):
                wrong.append(repr(image))
        except ValueError:
            wrong.append(repr(image))
    if wrong:
        found.problems.append(f"image_url: takes no text, but there are image ids such as {some(wrong)}")
