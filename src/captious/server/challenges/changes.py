"""Changes of a challenge: by loading its folder again, by settings on the site, and between two versions.

Settings made on the site stay, unless the value in the folder has changed since the last load; then somebody has to
confirm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from captious.server.challenges.challenge_metrics import public_label, public_path
from captious.server.challenges.definition import TABLES, BaselineDefinition, ChallengeDefinition
from captious.server.challenges.folder import FILE_NAME, CheckedChallenge
from captious.server.models import Challenge, ChallengeVersion, Phase, Submission

_Status = Submission.Status
#: List -> the name of one of its tables, and the keys that identify it.
_LABELS = {
    "texts": ("text", ("title",)),
    "downloads": ("download", ("title",)),
    "captions": ("captions file", ("name",)),
    "references": ("reference set", ("captions", "name")),
    "phases": ("phase", ("name",)),
    "baselines": ("baseline", ("method",)),
}


@dataclass(frozen=True)
class FieldChange:
    """A key, a table or a file that has changed.

    Attributes:
        name: such as "phase 'main', scored per day".
        before, after: as text; None where there is no such table or file. Of a file, its sha256.
        is_file: whether it is a file.
    """

    name: str
    before: str | None
    after: str | None
    is_file: bool = False

    @property
    def line(self) -> str:
        """The change in a line."""
        if self.before is None or self.after is None:
            return f"{self.name}: {'new' if self.before is None else 'removed'}"
        if self.is_file:
            return f"{self.name}: changed"
        return f"{self.name}: {_short(self.before)} → {_short(self.after)}"


@dataclass(frozen=True)
class Changes:
    """The changes that loading a folder would make.

    Attributes:
        folder: changes in the folder, a line each.
        reversals: settings of the site that would be undone, because the value in the folder has changed.
        overrides: settings of the site that stay, although they differ from the folder.
        boards: phase -> "public" or "hidden".
        deleted_baselines: (phase, method) of the baselines that were deleted on the site and stay so.
        hidden_baselines: (phase, method) of the baselines that were hidden on the site and stay so, even if they come
            back.
    """

    folder: list[str] = field(default_factory=list)
    reversals: list[str] = field(default_factory=list)
    overrides: list[str] = field(default_factory=list)
    boards: dict[str, str] = field(default_factory=dict)
    deleted_baselines: set[tuple[str, str]] = field(default_factory=set)
    hidden_baselines: set[tuple[str, str]] = field(default_factory=set)


def changes_of(source: CheckedChallenge, predecessor: Challenge | None) -> Changes:
    """The changes that loading a folder would make; ``predecessor`` is the challenge on the server."""
    changes = Changes(boards={phase.name: phase.board for phase in source.definition.phases})
    if predecessor is not None:
        differences = [
            *_definition_changes(_as_on_site(source, predecessor), source.definition.model_dump(mode="json")),
            *_file_changes(predecessor.versions.get(number=predecessor.version).files, source.checksums),
        ]
        changes.folder.extend(change.line for change in differences)
        _add_boards(changes, source, predecessor)
        _add_baselines(changes, source, predecessor)
    return changes


def baseline_filename(source: CheckedChallenge, baseline: BaselineDefinition) -> str:
    """The name of a baseline's upload. It changes with the contents of its file."""
    return f"{source.checksums[Path(baseline.file).as_posix()][:16]}-{Path(baseline.file).name}"


def _as_on_site(source: CheckedChallenge, predecessor: Challenge) -> dict[str, Any]:
    """The previous definition, in which boards that the site already shows as the folder says are not changes."""
    boards, site_boards = {phase.name: phase.board for phase in source.definition.phases}, _boards_on_site(predecessor)
    phases = [
        {**phase, "board": board} if (board := site_boards.get(phase["name"])) == boards.get(phase["name"]) else phase
        for phase in predecessor.definition_values["phases"]
    ]
    return {**predecessor.definition_values, "phases": phases}


def _boards_on_site(challenge: Challenge) -> dict[str, str]:
    return dict(Phase.objects.filter(challenge=challenge).values_list("name", "board"))


def _add_boards(changes: Changes, source: CheckedChallenge, predecessor: Challenge) -> None:
    folder_boards = {phase["name"]: phase["board"] for phase in predecessor.definition_values["phases"]}
    site_boards = _boards_on_site(predecessor)
    for phase in source.definition.phases:
        site = site_boards.get(phase.name, phase.board)
        if site == phase.board:
            continue
        if folder_boards.get(phase.name, phase.board) == phase.board:
            changes.overrides.append(
                f"phase {phase.name}: the leaderboard stays {site}; challenge.toml says {phase.board}"
            )
            changes.boards[phase.name] = site
        else:
            changes.reversals.append(f"phase {phase.name}: the leaderboard is {site} now and becomes {phase.board}")


def _add_baselines(changes: Changes, source: CheckedChallenge, predecessor: Challenge) -> None:
    rows = Submission.objects.filter(phase__challenge=predecessor, is_baseline=True).order_by("pk")
    latest = {(row.phase.name, row.method): row for row in rows.select_related("phase")}
    previous = {
        (phase, baseline["method"])
        for baseline in predecessor.definition_values["baselines"]
        for phase in baseline["phases"]
    }
    for baseline in source.definition.baselines:
        for key in ((phase, baseline.method) for phase in baseline.phases):
            row = latest.get(key)
            if row is None:
                continue
            is_deleted, where = row.status == _Status.DELETED, f"baseline {baseline.method!r} of phase {key[0]}"
            if is_deleted and key in previous:  # otherwise, the folder no longer had it
                if row.filename == baseline_filename(source, baseline):
                    changes.overrides.append(f"{where}: was deleted on the site and stays deleted")
                    changes.deleted_baselines.add(key)
                else:
                    changes.reversals.append(f"{where}: was deleted on the site and is submitted with its new file")
            if row.is_hidden:
                changes.hidden_baselines.add(key)
                if is_deleted and key not in changes.deleted_baselines:
                    changes.overrides.append(f"{where}: was hidden on the site and stays hidden")


def changes_between(phase: Phase, before: int, after: int) -> list[FieldChange]:
    """The changes of a challenge between two versions of the scores of a phase, for organizers.

    A version is the challenge as it was loaded last before there were scores of the next one.
    """
    old, new = (_last_load(phase, number) for number in (before, after))
    if old is None or new is None:
        return []
    values = [_public_values(row.definition_values) for row in (old, new)]
    return [*_definition_changes(*values), *_file_changes(old.files, new.files)]


def _last_load(phase: Phase, number: int) -> ChallengeVersion | None:
    rows = ChallengeVersion.objects.filter(challenge=phase.challenge)
    return next(
        (row for row in rows if phase.name in row.scoring_versions and row.scoring_versions[phase.name] <= number), None
    )


def _public_values(values: Mapping[str, Any]) -> dict[str, Any]:
    """A definition without folders of the server."""
    public = {"metrics": [*map(public_label, values["metrics"])]}
    return {**values, **public, "settings": {name: public_path(value) for name, value in values["settings"].items()}}


def _definition_changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[FieldChange]:
    """Added and removed tables of challenge.toml, and changed keys of others with both values."""
    old, new = _tables(before), _tables(after)
    for name in old | new:
        if name not in old or name not in new:
            yield FieldChange(name, _table_text(old.get(name)), _table_text(new.get(name)))
            continue
        for key in old[name] | new[name]:
            former, current = old[name].get(key), new[name].get(key)
            if former != current:
                yield FieldChange(
                    f"{f'{name}, ' if name else ''}{key.replace('_', ' ')}", _text(former), _text(current)
                )


def _tables(values: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tables of a definition by their names, such as ``phase 'main'``; top-level keys are in ``""``."""
    tables: dict[str, dict[str, Any]] = {"": {}}
    for key, value in _in_order(values, ChallengeDefinition).items():
        if key in _LABELS:
            singular, names = _LABELS[key]
            for row in value:
                tables[f"{singular} {'/'.join(row[name] for name in names)!r}"] = _in_order(row, TABLES[key])
        elif isinstance(value, Mapping):
            tables[""] |= {f"{key}.{name}": cell for name, cell in value.items()}
        else:
            tables[""][key] = value
    return tables


def _in_order(values: Mapping[str, Any], table: type[BaseModel]) -> dict[str, Any]:
    """Values in the order of the format, which databases may not keep."""
    return {name: values[name] for name in dict.fromkeys([*table.model_fields, *values]) if name in values}


def _table_text(row: Mapping[str, Any] | None) -> str | None:
    """A table as text, without its empty values."""
    if row is None:
        return None
    return "; ".join(f"{key.replace('_', ' ')} {_text(value)}" for key, value in row.items() if value)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else "none" if value in (None, "") else str(value)


def _short(text: str) -> str:
    return text if len(text) < 80 else f"{text[:77]}..."


def _file_changes(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[FieldChange]:
    """The files that are new, gone or different, by their checksums."""
    for name in sorted((before.keys() | after.keys()) - {FILE_NAME}):
        if before.get(name) != after.get(name):
            yield FieldChange(f"file {name}", before.get(name), after.get(name), is_file=True)
