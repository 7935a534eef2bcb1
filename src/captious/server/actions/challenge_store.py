"""Loading a challenge folder into the server: its files are copied, its phases updated, its baselines submitted.

A challenge can be loaded again after changes. Submissions stay; if what they are scored with has changed, they are
scored again at no cost. Settings made on the site are undone only on confirmation.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tomllib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from captious.errors import ParameterError
from captious.server.challenges.changes import Changes, baseline_filename, changes_of
from captious.server.challenges.folder import FILE_NAME, CheckedChallenge, check_folder
from captious.server.challenges.problems import ChallengeError
from captious.server.challenges.shown_values import shown_values
from captious.server.challenges.starter import new_folder
from captious.server.file_locks import locked
from captious.server.models import IDS_FOLDER, Challenge, ChallengeVersion, Phase, Submission, User
from captious.server.people.audit import record
from captious.server.people.teams import baselines_team
from captious.server.scoring import versions
from captious.server.submissions import intake, storage
from captious.server.submissions.board_changes import board_changed


@dataclass(frozen=True)
class LoadResult:
    """The result of loading a challenge, with the numbers of submissions to score again and of new baselines."""

    challenge: Challenge
    is_new: bool
    n_rescored: int
    n_baselines: int
    warnings: tuple[str, ...]


def _keeps_settings(changes: Changes) -> bool:
    return not changes.reversals


def load_challenge(folder: Path, *, agree: Callable[[Changes], bool] = _keeps_settings) -> LoadResult:
    """Load or update a challenge.

    Args:
        agree: whether to go ahead with these changes. By default, updates that undo settings made on the
            site are refused.

    Raises:
        ChallengeError: every problem of the folder. Nothing was changed.
        ParameterError: the changes were not confirmed. Nothing was changed.
        OutputError: its files cannot be stored.
    """
    source = check_folder(folder, settings.CAPTIOUS.upload_limits)
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
        source = check_folder(folder, settings.CAPTIOUS.upload_limits, problems)
    except ChallengeError as error:
        raise ChallengeError([*error.problems, *_organizer_problems(folder)], str(folder)) from None
    predecessor = Challenge.objects.filter(slug=source.slug).first()
    _check_database(source, predecessor)
    return source, changes_of(source, predecessor)


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
            f"{source.folder} was not loaded, because it would undo settings made on the site",
            where="\n".join(changes.reversals),
            help="to load it anyway, run captious challenge load --yes",
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
    """Check that organizers have accounts and that submissions still cover all images."""
    problems = _without_accounts(source.definition.organizers)
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
    """Copy the files of the challenge, and write the image ids that submissions must have."""
    shutil.rmtree(target, ignore_errors=True)  # left over from a load that was killed
    with new_folder(target) as copy:
        for name in source.checksums:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source.folder / name, copy / name)
        (copy / IDS_FOLDER).mkdir()
        for captions, ids in source.image_ids.items():
            (copy / IDS_FOLDER / f"{captions}.json").write_text(json.dumps(ids))


def _store(source: CheckedChallenge, version: int, changes: Changes) -> tuple[Challenge, int]:
    definition = source.definition
    challenge = Challenge.objects.select_for_update().filter(slug=source.slug).first()
    if challenge is None:
        challenge = Challenge(slug=source.slug)
    for name, value in shown_values(source).items():
        setattr(challenge, name, value)
    challenge.__dict__.pop("definition", None)
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
    checksums = {definition.key(row): _checksum(source, row.file, row.captions) for row in definition.references}
    n_rescored, scoring_versions = 0, {}
    for phase in Phase.objects.select_for_update().filter(challenge=challenge):
        phase.challenge = challenge
        n_rescored += versions.change(phase, {key: checksums[key] for key in phase.reference_sets})
        board_changed(phase.pk)
        scoring_versions[phase.name] = phase.scoring_version
    ChallengeVersion.objects.create(
        challenge=challenge,
        number=version,
        definition_values={**challenge.definition_values, "organizers": []},
        files=dict(source.checksums),
        scoring_versions=scoring_versions,
    )
    return challenge, n_rescored


def _checksum(source: CheckedChallenge, file: str, captions: str) -> str:
    """A checksum of everything that affects the scores on a reference set."""
    definition, checksums = source.definition, source.checksums
    parts = {
        "references": [captions, checksums[Path(file).as_posix()], Path(file).suffixes],
        "metrics": definition.metrics,
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
    for baseline_row in Submission.objects.filter(phase__challenge=challenge, is_baseline=True).exclude(
        pk__in=baseline_ids
    ):
        storage.delete(Submission.objects.filter(pk=baseline_row.pk))
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
