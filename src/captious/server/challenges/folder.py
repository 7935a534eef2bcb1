"""``check_folder``: read the folder of a challenge with every file that it names, and report all problems at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from captious.data import ImageId, References
from captious.data.ids import numbers_from_text
from captious.data.rows import images, some
from captious.server.challenges.definition import ChallengeDefinition, definition_from
from captious.server.challenges.files import FILE_NAME, FolderFiles, read_files, read_reference_set, toml_values
from captious.server.challenges.metrics import FILE_SETTINGS, SHARED_SETTINGS, metric_problems
from captious.server.challenges.problems import ChallengeError, at
from captious.server.challenges.values import SETTINGS

__all__ = ["CheckedChallenge", "check_folder", "read_reference_set"]

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
    data = toml_values(path)
    found = FolderFiles(path.resolve())
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
    found.file(FILE_NAME, FILE_NAME)
    read_files(found, data)
    _check_metrics(found, data)
    image_ids: dict[str, tuple[ImageId, ...]] = {}
    if definition is not None:
        references = {
            (each.captions, each.name): (position, found.references[position])
            for position, each in enumerate(definition.references)
            if position in found.references
        }
        for each in definition.captions:
            sets = {name: table for (captions, name), table in references.items() if captions == each.name}
            image_ids[each.name] = _image_ids(found, sets)
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


def _check_metrics(found: FolderFiles, data: Mapping[str, Any]) -> None:
    """Whether the metrics can run here, as far as they and their settings are text."""
    metrics, settings = data.get("metrics"), data.get("settings", {})
    if not isinstance(settings, dict):
        return
    values = {name: text for name, text in settings.items() if name in SETTINGS and isinstance(text, str)}
    for name in FILE_SETTINGS:
        if name in values and not _check_setting(found, name, values[name]):
            del values[name]
    names = [each if isinstance(each, str) else "" for each in metrics] if isinstance(metrics, list) else []
    found.problems += metric_problems(names, found.folder, values)


def _check_setting(found: FolderFiles, name: str, value: str) -> bool:
    """Note the files of the folder that a setting names; whether it may be used."""
    place, path = at(("settings", name)), found.folder / value
    if Path(value).is_absolute():
        if name in SHARED_SETTINGS:
            return True
        found.problems.append(f"{place}: {value} is outside the folder")
        return False
    if path.is_dir():
        inside = sorted(each.relative_to(found.folder) for each in path.rglob("*") if not each.is_dir())
        if not path.resolve().is_relative_to(found.folder):
            found.problems.append(f"{place}: {value} is outside the folder")
            return False
        return all([found.file(place, str(each)) is not None for each in inside])
    if path.is_file() or ".." in Path(value).parts:
        return found.file(place, value) is not None
    if Path(value).exists():  # in the folder in which the command runs, but the server runs elsewhere
        found.problems.append(f"{place}: there is no file {value} in the folder")
        return False
    return True


def _image_ids(found: FolderFiles, sets: Mapping[str, tuple[int, References]]) -> tuple[ImageId, ...]:
    """The images of a captions file, if its reference sets agree on what ids are; they must have images in common."""
    first: tuple[str, References] | None = None
    alike = True
    for name, (position, table) in sets.items():
        place = at(("references", position, "file"))
        kinds = _kinds(table.ids)
        if len(kinds) > 1:
            found.problems.append(f"{place}: some image ids are numbers and others text; give all as one of them")
            alike = False
        elif first is None:
            first = (name, table)
        elif kinds != _kinds(first[1].ids):
            found.problems.append(
                f"{place}: image ids are {_kind(table)}, but those of {first[0]} are {_kind(first[1])}"
            )
            alike = False
        elif set(table.ids).isdisjoint(first[1].ids):
            found.problems.append(f"{place}: no image is also in {first[0]}; {_SHARED}")
    return tuple(dict.fromkeys(image for _, table in sets.values() for image in table.ids)) if alike else ()


def _kinds(ids: tuple[ImageId, ...]) -> set[type]:
    return set(map(type, ids))


def _kind(table: References) -> str:
    return f"{'numbers' if _kinds(table.ids) == {int} else 'text'} ({images(table.ids[:1])})"


def _check_baselines(
    found: FolderFiles, definition: ChallengeDefinition, image_ids: Mapping[str, tuple[ImageId, ...]]
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
    found: FolderFiles, definition: ChallengeDefinition, image_ids: Mapping[str, tuple[ImageId, ...]]
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
