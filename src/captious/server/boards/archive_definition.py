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

_LEFT_OUT = """
# What follows was left out, as its files are not in this archive: references that are private, captions that
# are not included. Phases that are here again also had captions with private references.
#
"""
_NOT_LOADED = "# This challenge cannot be loaded from the archive, as no references are public.\n"


def archive_definition(archive: ChallengeArchive) -> str:
    """The text, which names no users or folders of this server unless it is for organizers.

    Where no references are public, nothing could be loaded, and the text is complete.
    """
    challenge = archive.challenge
    document: Any = tomlkit.parse((challenge.folder / FILE_NAME).read_text(encoding="utf-8"))
    if archive.is_public or archive.anonymous:
        document.pop("organizers", None)
        metrics, values = document["metrics"], document.get("settings", {})
        _replace(metrics, enumerate([*metrics]), public_label)
        _replace(values, [*values.items()], public_path)
    if not any(captions.public for captions in challenge.definition.captions):
        return _NOT_LOADED + tomlkit.dumps(document)
    if not (left_out := {name: rows for name, rows in _left_out(archive, document) if rows}):
        return tomlkit.dumps(document)
    comments = tidy_tables(left_out).splitlines()
    return tomlkit.dumps(document) + _LEFT_OUT + "".join(f"{f'# {line}'.rstrip()}\n" for line in comments)


def baselines(archive: ChallengeArchive) -> list[str]:
    """The files of baselines all of whose captions are public and in the archive."""
    rows = archive.with_captions().filter(is_baseline=True)
    held = {(row.phase.name, row.method) for row in rows if all(map(archive.challenge.is_public, row.phase.captions))}
    named = archive.challenge.definition.baselines
    return [row.file for row in named if all((phase, row.method) in held for phase in row.phases)]


def _left_out(archive: ChallengeArchive, document: Any) -> Iterator[tuple[str, Any]]:
    """Remove entries without files in the archive; return the removed and changed keys and values."""
    definition = archive.challenge.definition
    public = {captions.name for captions in definition.captions if captions.public}
    files = {*baselines(archive)}
    yield "settings", {} if archive.has_setting_files else _taken_settings(archive, document)
    stay = {
        "captions": [row.public for row in definition.captions],
        "references": [row.captions in public for row in definition.references],
        "phases": [not public.isdisjoint(row.captions) for row in definition.phases],
        "baselines": [row.file in files for row in definition.baselines],
    }
    for name, are_kept in stay.items():
        rows = document.get(name, [])
        changed: list[Any] = []
        for place, is_kept in reversed([*enumerate(are_kept)]):
            row = rows[place]
            if is_kept and (name != "phases" or public.issuperset(row.get("captions", ()))):
                continue
            changed.insert(0, row.unwrap())
            if is_kept:
                row["captions"] = [each for each in row["captions"] if each in public]
            else:
                del rows[place]
        if name in document and not rows:
            del document[name]
        yield name, changed


def _taken_settings(archive: ChallengeArchive, document: Any) -> dict[str, str]:
    """Remove settings that name files of the challenge."""
    folder, settings = archive.challenge.folder, document.get("settings", {})
    names = [name for name in FILE_SETTINGS if name in settings and (folder / settings[name]).exists()]
    return {name: str(settings.pop(name)) for name in names}


def _replace(values: Any, cells: Iterable[tuple[Any, Any]], shown: Callable[[str], str]) -> None:
    """Replace values by their public form where that differs."""
    for key, value in cells:
        if shown(str(value)) != value:
            values[key] = shown(str(value))
