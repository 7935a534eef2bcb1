"""Challenge folders as the site has them: exported, compared with what is there, and loaded.

For ``captious challenge export`` and ``load``, and for drafts.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tomlkit
from django.conf import settings
from django.db import transaction
from django.utils import timezone
from pydantic import BaseModel

from captious.drawing import counted
from captious.errors import ParameterError
from captious_server.challenges.definition import (
    TABLES,
    BaselineDefinition,
    ChallengeDefinition,
    ReferencesDefinition,
    public_label,
    public_path,
)
from captious_server.challenges.drafts import shown_values
from captious_server.challenges.folder import FILE_NAME, CheckedChallenge, Seeds, check_folder
from captious_server.challenges.problems import ChallengeError
from captious_server.challenges.starter import new_folder
from captious_server.models import IDS_FOLDER, Challenge, ChallengeVersion, Phase, Submission, User, board_changed
from captious_server.people.accounts import record
from captious_server.people.teams import baselines_team
from captious_server.scoring import queue
from captious_server.settings import locked
from captious_server.submissions import intake, storage
from captious_server.submissions.reading import words_of

# The folder of a challenge as the site has it, for ``captious challenge export`` and for drafts.


def find_challenge(slug: str) -> Challenge:
    """The challenge with this name in addresses.

    Raises:
        ParameterError: there is no such challenge.
    """
    challenge = Challenge.objects.filter(slug=slug).first()
    if challenge is None:
        slugs = ", ".join(Challenge.objects.order_by("slug").values_list("slug", flat=True)) or "none"
        raise ParameterError(f"there is no challenge {slug!r}", hint=f"challenges of this server: {slugs}")
    return challenge


def export_challenge(challenge: Challenge, folder: Path) -> list[str]:
    """Write the folder of a challenge, references included. Files are those that were loaded, byte for byte.

    So is challenge.toml, except for hidden leaderboards, which are set on the site, seeds that were drawn, and the
    challenge's name in addresses, which is added if the folder has another name.

    Returns:
        The files, by their paths in the folder.

    Raises:
        OutputError: the folder is not empty, or cannot be written.
    """
    source = challenge.folder
    files = [path.relative_to(source) for path in sorted(source.rglob("*")) if path.is_file()]
    files = [file for file in files if file.parts[0] != IDS_FOLDER]
    with new_folder(folder) as target:
        for file in files:
            (target / file).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / file, target / file)
        text = (source / FILE_NAME).read_bytes().decode()
        (target / FILE_NAME).write_bytes(_text_as_on_site(challenge, text, folder.resolve().name).encode())
    return [file.as_posix() for file in files]


def _text_as_on_site(challenge: Challenge, text: str, name: str) -> str:
    document: Any = tomlkit.parse(text)
    is_changed = "slug" not in document and name != challenge.slug
    if is_changed:
        document["slug"] = str(challenge.slug)
    boards = dict(Phase.objects.filter(challenge=challenge).values_list("name", "board"))
    for row in document["phases"]:
        board = boards.get(str(row["name"]), "public")
        if row.get("board", "public") != board:
            row["board"], is_changed = board, True
    for row, references in zip(document["references"], challenge.definition.references, strict=True):
        if row.get("seed") != references.seed:
            row["seed"], is_changed = references.seed, True
    return tomlkit.dumps(document) if is_changed else text


# Changes of a challenge: by loading its folder again, by settings on the site, and between two versions.
#
# Settings made on the site stay, unless the value in the folder has changed since the last load; then somebody has to
# confirm.

_Status = Submission.Status


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
        dangers: what would happen to phases whose final scores were shown, or that have submissions.
        boards: phase -> "public" or "hidden".
        deleted_baselines: (phase, method) of the baselines that were deleted on the site and stay so.
        hidden_baselines: (phase, method) of the baselines that were hidden on the site and stay so, even if they come
            back.
    """

    folder: list[str] = field(default_factory=list)
    reversals: list[str] = field(default_factory=list)
    overrides: list[str] = field(default_factory=list)
    dangers: list[str] = field(default_factory=list)
    boards: dict[str, str] = field(default_factory=dict)
    deleted_baselines: set[tuple[str, str]] = field(default_factory=set)
    hidden_baselines: set[tuple[str, str]] = field(default_factory=set)

    @property
    def to_confirm(self) -> list[str]:
        """The changes that are made only if somebody agrees."""
        return self.reversals + self.dangers


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
        changes.dangers.extend(_dangers(source, predecessor))
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


def _dangers(source: CheckedChallenge, predecessor: Challenge) -> Iterator[str]:
    definitions = {phase.name: phase for phase in source.definition.phases}
    for row in Phase.objects.filter(challenge=predecessor, is_retired=False):
        phase, was_final = definitions.get(row.name), row.state == "closed" and row.has_scores_open
        if phase is None:
            submissions = Submission.objects.filter(phase=row, is_baseline=False).exclude(status=_Status.DELETED)
            if n := submissions.count():
                yield f"phase {row.name}: IS REMOVED with {counted(n, 'submission')}"
        elif was_final and Phase(opens=phase.opens, closes=phase.closes).state != "closed":
            yield f"phase {row.name}: IS REOPENED, after its final scores were shown"


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
        if (table := TABLES.get(key)) is not None:
            for row in value:
                tables[f"{table.noun} {'/'.join(row[name] for name in table.identity)!r}"] = _in_order(row, table)
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


# Loading a challenge folder into the server: its files are copied, its phases updated, its baselines submitted.
#
# A challenge can be loaded again after changes. Submissions stay; if what they are scored with has changed, they are
# scored again at no cost. Settings made on the site are undone only on confirmation.


@dataclass(frozen=True)
class LoadResult:
    """The result of loading a challenge, with the numbers of submissions to score again and of new baselines."""

    challenge: Challenge
    is_new: bool
    n_rescored: int
    n_baselines: int
    warnings: tuple[str, ...]


def _is_harmless(changes: Changes) -> bool:
    return not changes.to_confirm


def load_challenge(folder: Path, *, agree: Callable[[Changes], bool] = _is_harmless) -> LoadResult:
    """Load or update a challenge.

    Args:
        agree: whether to go ahead with these changes. By default, updates that undo settings made on the
            site, reopen phases or remove phases with submissions are refused.

    Raises:
        ChallengeError: every problem of the folder. Nothing was changed.
        ParameterError: the changes were not confirmed. Nothing was changed.
        OutputError: its files cannot be stored.
    """
    return load_checked(check_folder(folder, settings.CAPTIOUS.upload_limits, seeds=_known_seeds), agree=agree)


def load_checked(source: CheckedChallenge, *, agree: Callable[[Changes], bool] = _is_harmless) -> LoadResult:
    """Load or update a challenge whose folder was checked and has not changed since, as ``load_challenge`` does."""
    with _loading_lock(source.slug):
        return _load(source, agree)


def check_for_server(folder: Path, problems: Sequence[str] = ()) -> tuple[CheckedChallenge, Changes]:
    """Check a folder as ``load_challenge`` does, and return the changes that loading it would make.

    Args:
        problems: known problems, as for ``check_folder``.

    Raises:
        ChallengeError: every problem.
    """
    try:
        source = check_folder(folder, settings.CAPTIOUS.upload_limits, problems, seeds=_known_seeds)
    except ChallengeError as error:
        raise ChallengeError([*error.problems, *_organizer_problems(folder)], str(folder)) from None
    predecessor = Challenge.objects.filter(slug=source.slug).first()
    _check_database(source, predecessor)
    return source, changes_of(source, predecessor)


def _known_seeds(slug: str) -> Seeds:
    """The last seed of each reference set of a challenge in all its versions: a set may have been left out in some."""
    return {
        (row["captions"], row["name"]): row["seed"]
        for version in ChallengeVersion.objects.filter(challenge__slug=slug).order_by("number")
        for row in version.definition_values["references"]
        if row["seed"] is not None
    }


def _organizer_problems(folder: Path) -> list[str]:
    """One sentence for each organizer without an account, whatever else is wrong with the folder."""
    try:
        names = tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8")).get("organizers", [])
    except (OSError, ValueError):
        return []  # reported as a problem of its own
    return _without_accounts([name for name in names if isinstance(name, str)] if isinstance(names, list) else [])


def _without_accounts(names: Sequence[str]) -> list[str]:
    users = set(User.objects.filter(username__in=names).values_list("username", flat=True))
    return [
        f"organizers[{i}]: there is no user {name!r}; ask them to sign up first"
        for i, name in enumerate(names, start=1)
        if name not in users
    ]


@contextmanager
def _loading_lock(slug: str) -> Iterator[None]:
    """Lock a challenge, so that only one load at a time numbers its versions and folders."""
    folder = settings.CAPTIOUS.data / "challenges" / slug
    with locked(folder / ".lock"):
        for leftover in folder.glob(".captious-*"):  # left over from a load that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def _load(source: CheckedChallenge, agree: Callable[[Changes], bool]) -> LoadResult:
    predecessor = Challenge.objects.filter(slug=source.slug).first()
    _check_database(source, predecessor)
    changes = changes_of(source, predecessor)
    if predecessor is not None and not agree(changes):
        raise ParameterError(
            f"{source.folder} was not loaded, because it would "
            + ("undo settings made on the site" if changes.reversals else "reopen or remove phases"),
            where="\n".join(changes.to_confirm),
            hint="to load it anyway, run captious challenge load --yes",
        )
    version = 1 if predecessor is None else predecessor.version + 1
    target = settings.CAPTIOUS.data / "challenges" / source.slug / str(version)
    _copy(source, target)
    try:
        with transaction.atomic():
            challenge, n_rescored = _store(source, version, changes)
            record("load challenge", challenge.slug, challenge=challenge, detail=f"version {version}")
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    n_baselines = _submit_baselines(source, challenge, changes)
    _remove_old_versions(target)
    return LoadResult(challenge, predecessor is None, n_rescored, n_baselines, source.warnings)


def _check_database(source: CheckedChallenge, predecessor: Challenge | None) -> None:
    """Check that organizers have accounts, addresses can be confirmed, and submissions still cover all images."""
    problems = _without_accounts(source.definition.organizers)
    if source.definition.mail_domains and not settings.CAPTIOUS.email_url:
        problems.append("mail_domains: this server sends no mail, so members cannot confirm addresses; set email_url")
    if predecessor is not None and Submission.objects.filter(phase__challenge=predecessor, is_baseline=False).exists():
        for name, ids in source.image_ids.items():
            file = predecessor.ids_file(name)
            if file.exists() and set(json.loads(file.read_text())) != set(ids):
                problems.append(
                    f"captions {name!r}: the images have changed, but there are submissions; use another slug"
                )
        problems += _caption_problems(source, predecessor)
    if problems:
        raise ChallengeError(problems, str(source.folder))


def _caption_problems(source: CheckedChallenge, predecessor: Challenge) -> Iterator[str]:
    """Problems of phases whose captions files differ from those of their submissions."""
    for i, phase in enumerate(source.definition.phases, start=1):
        row = Phase.objects.filter(challenge=predecessor, name=phase.name).first()
        if row is None or set(row.captions) == set(phase.captions):
            continue
        if Submission.objects.filter(phase=row, is_baseline=False).exists():
            names = ", ".join(row.captions)
            yield f"phases[{i}].captions: there are submissions with {names} only; keep it and add another phase"


def _copy(source: CheckedChallenge, target: Path) -> None:
    """Copy the files of the challenge, and write the ids of submissions and the words of public references."""
    shutil.rmtree(target, ignore_errors=True)  # left over from a load that was killed
    with new_folder(target) as copy:
        for name in source.checksums:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.folder / name, copy / name)
        (copy / IDS_FOLDER).mkdir()
        for captions, ids in source.image_ids.items():
            (copy / IDS_FOLDER / f"{captions}.json").write_text(json.dumps(ids))
        public = {captions.name for captions in source.definition.captions if captions.public}
        texts = (text for (name, _), table in source.references.items() if name in public for text in table.texts)
        words = sorted({word for text in texts for word in words_of(text)})
        (copy / IDS_FOLDER / "words.txt").write_text("\n".join(words), encoding="utf-8")


def _store(source: CheckedChallenge, version: int, changes: Changes) -> tuple[Challenge, int]:
    definition = source.definition
    challenge = Challenge.objects.select_for_update().filter(slug=source.slug).first()
    if challenge is None:
        challenge = Challenge(slug=source.slug)
    for name, value in shown_values(source).items():
        setattr(challenge, name, value)
    challenge.version = version
    challenge.save()
    challenge.organizers.set(User.objects.filter(username__in=definition.organizers))
    for position, phase in enumerate(definition.phases):
        values = phase.model_dump(exclude={"name"})
        values |= {"captions": [*phase.captions], "position": position, "is_retired": False}
        values["board"] = changes.boards[phase.name]
        Phase.objects.update_or_create(challenge=challenge, name=phase.name, defaults=values)
    names = [phase.name for phase in definition.phases]
    Phase.objects.filter(challenge=challenge).exclude(name__in=names).update(is_retired=True)
    checksums = {definition.key(row): _checksum(source, row) for row in definition.references}
    n_rescored, scoring_versions = 0, {}
    for row in Phase.objects.select_for_update().filter(challenge=challenge):
        row.challenge = challenge
        n_rescored += queue.change(row, {key: checksums[key] for key in row.reference_sets})
        board_changed(row.pk)
        scoring_versions[row.name] = row.scoring_version
    ChallengeVersion.objects.create(
        challenge=challenge,
        number=version,
        definition_values={**challenge.definition_values, "organizers": []},
        files=dict(source.checksums),
        scoring_versions=scoring_versions,
    )
    return challenge, n_rescored


def _checksum(source: CheckedChallenge, row: ReferencesDefinition) -> str:
    """A checksum of everything that affects the scores on a reference set."""
    definition, checksums = source.definition, source.checksums
    parts = {
        "references": [row.captions, checksums[Path(row.file).as_posix()], Path(row.file).suffixes],
        "images": source.references[row.captions, row.name].ids if row.images or row.rest_of else "all",
        "metrics": definition.metrics,
        "formula": None if definition.formula is None else definition.formula.model_dump(),
        "settings": definition.settings,
        "setting files": {name: checksums.get(value, "") for name, value in sorted(definition.settings.items())},
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _submit_baselines(source: CheckedChallenge, challenge: Challenge, changes: Changes) -> int:
    """Submit baselines that are new or changed, and delete those that the folder no longer has."""
    baseline_ids: set[int] = set()
    n = 0
    for baseline in source.definition.baselines:
        filename = baseline_filename(source, baseline)
        values = {"link": baseline.link, "description": baseline.description, "is_human": baseline.human}
        for phase in Phase.objects.filter(challenge=challenge, name__in=baseline.phases):
            key = (phase.name, baseline.method)
            if key in changes.deleted_baselines:
                continue
            key_values = {"phase": phase, "is_baseline": True, "method": baseline.method, "filename": filename}
            rows = Submission.objects.filter(**key_values).exclude(status=Submission.Status.DELETED)
            if rows.update(**values):
                baseline_ids.update(rows.values_list("pk", flat=True))
                continue
            visibility = {"is_hidden": key in changes.hidden_baselines}
            submission = Submission(**key_values, **values, **visibility, team=baselines_team(), created=timezone.now())
            _submit_baseline(source.folder, baseline.file, submission)
            baseline_ids.add(submission.pk)
            n += 1
    baselines = Submission.objects.filter(phase__challenge=challenge, is_baseline=True)
    storage.delete(baselines.exclude(pk__in=baseline_ids))
    return n


def _submit_baseline(folder: Path, file: str, submission: Submission) -> None:
    copy = storage.incoming_folder() / f"baseline-{submission.filename}"
    shutil.copyfile(folder / file, copy)
    try:
        intake.submit(submission, copy)
    except intake.RefusedError as refusal:
        messages = [problem.message for problem in refusal.problems] or [refusal.message]
        raise ChallengeError([f"baseline {submission.method!r}: {message}" for message in messages], file) from None
    finally:
        copy.unlink(missing_ok=True)


def _remove_old_versions(current: Path) -> None:
    """Remove the files of versions before the last one, which a worker may still be reading."""
    for path in current.parent.iterdir():
        if path.name.isdecimal() and int(path.name) < int(current.name) - 1:
            shutil.rmtree(path, ignore_errors=True)
