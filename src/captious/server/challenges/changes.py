"""The changes that loading a challenge again would make, and those of them that undo what was set on the site.

What was set on the site stays, unless the folder's own value has changed since it was loaded last; then somebody has to
agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from captious.server.challenges.definition import BaselineDefinition
from captious.server.challenges.folder import FILE_NAME, CheckedChallenge
from captious.server.models import IDS_FOLDER, Challenge, Phase, Submission

_Status = Submission.Status
#: List -> what one of its tables is called, and the keys that name it.
_LABELS = {
    "texts": ("text", ("title",)),
    "downloads": ("download", ("title",)),
    "captions": ("captions file", ("name",)),
    "references": ("reference set", ("captions", "name")),
    "phases": ("phase", ("name",)),
    "baselines": ("baseline", ("method",)),
}


@dataclass(frozen=True)
class Changes:
    """The changes that loading a folder would make.

    Attributes:
        folder: what has changed in the folder, a line each.
        undone: what was set on the site and would be undone, because the folder's own value has changed.
        kept: what was set on the site and stays, although the folder says otherwise.
        boards: phase -> "public" or "hidden".
        withdrawn: (phase, method) of the baselines that were deleted on the site and stay so.
        hidden: (phase, method) of the baselines that were hidden on the site and stay so, also when they come back.
    """

    folder: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    boards: dict[str, str] = field(default_factory=dict)
    withdrawn: set[tuple[str, str]] = field(default_factory=set)
    hidden: set[tuple[str, str]] = field(default_factory=set)


def changes_of(checked: CheckedChallenge, old: Challenge | None) -> Changes:
    """The changes that loading a folder would make; ``old`` is the challenge on the server."""
    changes = Changes(boards={phase.name: phase.board for phase in checked.definition.phases})
    if old is not None:
        changes.folder.extend(_in_definition(_as_on_site(checked, old), checked.definition.model_dump(mode="json")))
        changes.folder.extend(_in_files(checked, old.folder))
        _add_boards(changes, checked, old)
        _add_baselines(changes, checked, old)
    return changes


def baseline_filename(checked: CheckedChallenge, baseline: BaselineDefinition) -> str:
    """The name of a baseline's upload. It changes with the contents of its file."""
    return f"{checked.checksums[Path(baseline.file).as_posix()][:16]}-{Path(baseline.file).name}"


def _as_on_site(checked: CheckedChallenge, old: Challenge) -> dict[str, Any]:
    """The definition before, with the boards that the site already has as the folder wants them."""
    wanted, on_site = {phase.name: phase.board for phase in checked.definition.phases}, _boards_on_site(old)
    phases = [
        {**phase, "board": board} if (board := on_site.get(phase["name"])) == wanted.get(phase["name"]) else phase
        for phase in old.definition_values["phases"]
    ]
    return {**old.definition_values, "phases": phases}


def _boards_on_site(challenge: Challenge) -> dict[str, str]:
    return dict(Phase.objects.filter(challenge=challenge).values_list("name", "board"))


def _add_boards(changes: Changes, checked: CheckedChallenge, old: Challenge) -> None:
    before = {phase["name"]: phase["board"] for phase in old.definition_values["phases"]}
    on_site = _boards_on_site(old)
    for phase in checked.definition.phases:
        site = on_site.get(phase.name, phase.board)
        if site == phase.board:
            continue
        if before.get(phase.name, phase.board) == phase.board:
            changes.kept.append(f"phase {phase.name}: the leaderboard stays {site}; challenge.toml says {phase.board}")
            changes.boards[phase.name] = site
        else:
            changes.undone.append(f"phase {phase.name}: the leaderboard is {site} now and becomes {phase.board}")


def _add_baselines(changes: Changes, checked: CheckedChallenge, old: Challenge) -> None:
    rows = Submission.objects.filter(phase__challenge=old, is_baseline=True).order_by("pk")
    latest = {(row.phase.name, row.method): row for row in rows.select_related("phase")}
    before = {
        (phase, baseline["method"]) for baseline in old.definition_values["baselines"] for phase in baseline["phases"]
    }
    for baseline in checked.definition.baselines:
        for key in ((phase, baseline.method) for phase in baseline.phases):
            row = latest.get(key)
            if row is None:
                continue
            is_deleted, where = row.status == _Status.DELETED, f"baseline {baseline.method!r} of phase {key[0]}"
            if is_deleted and key in before:  # otherwise, the folder no longer had it
                if row.filename == baseline_filename(checked, baseline):
                    changes.kept.append(f"{where}: was deleted on the site and stays deleted")
                    changes.withdrawn.add(key)
                else:
                    changes.undone.append(f"{where}: was deleted on the site and is submitted with its new file")
            if row.is_hidden:
                changes.hidden.add(key)
                if is_deleted and key not in changes.withdrawn:
                    changes.kept.append(f"{where}: was hidden on the site and stays hidden")


def _in_definition(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[str]:
    """The tables of challenge.toml that are new or gone, and the keys of others that differ, with both values."""
    old, new = _tables(before), _tables(after)
    for name in old | new:
        if name not in old or name not in new:
            yield f"{name}: {'new' if name in new else 'removed'}"
            continue
        for key in old[name] | new[name]:
            values = old[name].get(key), new[name].get(key)
            if values[0] != values[1]:
                yield f"{f'{name}, ' if name else ''}{key.replace('_', ' ')}: {' → '.join(map(_text, values))}"


def _tables(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables of a definition by their names, such as ``phase 'main'``; keys of none are in ``""``."""
    tables: dict[str, dict[str, Any]] = {"": {}}
    for key, value in values.items():
        if key in _LABELS:
            one, names = _LABELS[key]
            for row in value:
                tables[f"{one} {'/'.join(row[name] for name in names)!r}"] = row
        elif isinstance(value, Mapping):
            tables[""] |= {f"{key}.{name}": cell for name, cell in value.items()}
        else:
            tables[""][key] = value
    return tables


def _text(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else "none" if value in (None, "") else str(value)
    return text if len(text) < 80 else f"{text[:77]}..."


def _in_files(checked: CheckedChallenge, folder: Path) -> Iterator[str]:
    """The files that are new, differ from those of the last load, or are gone; ``folder`` has the copies."""
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    before = {name for name in names if not name.startswith(f"{IDS_FOLDER}/")}
    for name in sorted((before | checked.checksums.keys()) - {FILE_NAME}):
        if name not in before:
            yield f"file {name}: new"
        elif name not in checked.checksums:
            yield f"file {name}: removed"
        else:
            with (folder / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != checked.checksums[name]:
                    yield f"file {name}: changed"
