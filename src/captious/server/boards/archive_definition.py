"""The challenge.toml of an archive, which can be loaded; comments name the parts that the archive does not contain."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import tomlkit

from captious.server.challenges.challenge_metrics import FILE_SETTINGS, public_label, public_path
from captious.server.challenges.folder import FILE_NAME
from captious.server.challenges.tidy_toml import tidy_tables

if TYPE_CHECKING:
    from captious.server.boards.challenge_archive import ChallengeArchive

_OMISSIONS_COMMENT = """
# What follows was left out, as its files are not in this archive: references that are private, captions that
# are not included. Phases that are here again also had captions with private references.
#
"""
_PRIVATE_COMMENT = "# This challenge cannot be loaded from the archive, as no references are public.\n"


def archive_definition(archive: ChallengeArchive) -> str:
    """The text of challenge.toml. Unless it is for organizers, it names no users or folders of this server.

    If no references are public, the archive cannot be loaded anyway, and nothing is left out of the text.
    """
    challenge = archive.challenge
    document: Any = tomlkit.parse((challenge.folder / FILE_NAME).read_text(encoding="utf-8"))
    if archive.is_public or archive.anonymous:
        document.pop("organizers", None)
        metrics, values = document["metrics"], document.get("settings", {})
        _replace(metrics, enumerate([*metrics]), public_label)
        _replace(values, [*values.items()], public_path)
    if not any(captions.public for captions in challenge.definition.captions):
        return _PRIVATE_COMMENT + tomlkit.dumps(document)
    if not (omissions := {name: rows for name, rows in _remove_private_entries(archive, document) if rows}):
        return tomlkit.dumps(document)
    comments = tidy_tables(omissions).splitlines()
    return tomlkit.dumps(document) + _OMISSIONS_COMMENT + "".join(f"{f'# {line}'.rstrip()}\n" for line in comments)


def baselines(archive: ChallengeArchive) -> list[str]:
    """The files of baselines all of whose captions are public and in the archive."""
    rows = archive.with_captions().filter(is_baseline=True)
    complete = {
        (row.phase.name, row.method) for row in rows if all(map(archive.challenge.is_public, row.phase.captions))
    }
    definitions = archive.challenge.definition.baselines
    return [row.file for row in definitions if all((phase, row.method) in complete for phase in row.phases)]


def _remove_private_entries(archive: ChallengeArchive, document: Any) -> Iterator[tuple[str, Any]]:
    """Remove entries without files in the archive; return the removed and changed keys and values."""
    definition = archive.challenge.definition
    public = {captions.name for captions in definition.captions if captions.public}
    files = {*baselines(archive)}
    yield "settings", {} if archive.has_setting_files else _remove_file_settings(archive, document)
    presence = {
        "captions": [row.public for row in definition.captions],
        "references": [row.captions in public for row in definition.references],
        "phases": [not public.isdisjoint(row.captions) for row in definition.phases],
        "baselines": [row.file in files for row in definition.baselines],
    }
    for name, flags in presence.items():
        rows = document.get(name, [])
        changes: list[Any] = []
        for place, stays in reversed([*enumerate(flags)]):
            row = rows[place]
            if stays and (name != "phases" or public.issuperset(row.get("captions", ()))):
                continue
            changes.insert(0, row.unwrap())
            if stays:
                row["captions"] = [captions for captions in row["captions"] if captions in public]
            else:
                del rows[place]
        if name in document and not rows:
            del document[name]
        yield name, changes


def _remove_file_settings(archive: ChallengeArchive, document: Any) -> dict[str, str]:
    """Remove settings that name files of the challenge."""
    folder, settings = archive.challenge.folder, document.get("settings", {})
    names = [name for name in FILE_SETTINGS if name in settings and (folder / settings[name]).exists()]
    return {name: str(settings.pop(name)) for name in names}


def _replace(values: Any, cells: Iterable[tuple[Any, Any]], public_form: Callable[[str], str]) -> None:
    """Replace values by their public form where that differs."""
    for key, value in cells:
        if public_form(str(value)) != value:
            values[key] = public_form(str(value))
