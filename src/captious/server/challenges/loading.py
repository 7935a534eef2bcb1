"""Loading a challenge folder into the server: its files are copied, its phases updated, its baselines submitted.

A challenge can be loaded again after changes. Submissions stay; if what they are scored with has changed, they are
scored again, which costs nothing.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.text import slugify

from captious.server.challenges.folder import CheckedChallenge, check_folder
from captious.server.challenges.problems import ChallengeError
from captious.server.challenges.starter import new_folder
from captious.server.challenges.texts import as_html
from captious.server.models import Challenge, Phase, Submission, User
from captious.server.models.challenges import IDS_FOLDER, key_of
from captious.server.people.audit import record
from captious.server.people.teams import baselines_team
from captious.server.scoring.lease import queue_again
from captious.server.submissions import intake, storage
from captious.server.submissions.receiving import incoming_folder

__all__ = ["Loaded", "load_challenge"]


@dataclass(frozen=True)
class Loaded:
    """What loading did.

    Args:
        challenge: as it is now.
        is_new: it was not there before.
        n_rescored: submissions that are scored again.
        n_baselines: baselines that were submitted.
        warnings: of the folder.
    """

    challenge: Challenge
    is_new: bool
    n_rescored: int
    n_baselines: int
    warnings: tuple[str, ...]


def load_challenge(folder: Path, *, actor: Any = None) -> Loaded:
    """Load or update a challenge.

    Args:
        folder: as ``captious challenge init`` makes it.
        actor: the user who does it, for the audit log; None for somebody at the server's command line.

    Raises:
        ChallengeError: every problem of the folder. Nothing was changed.
        OutputError: its files cannot be stored.
    """
    checked = check_folder(folder)
    with _alone(checked.slug):
        return _load(checked, actor)


@contextmanager
def _alone(slug: str) -> Iterator[None]:
    """One load of a challenge at a time; versions and folders are numbered."""
    place = settings.CAPTIOUS.data / "challenges" / slug
    place.mkdir(parents=True, exist_ok=True)
    with (place / ".lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        for leftover in place.glob(".captious-*"):  # of a load that was killed
            shutil.rmtree(leftover, ignore_errors=True)
        yield


def _load(checked: CheckedChallenge, actor: Any) -> Loaded:
    old = Challenge.objects.filter(slug=checked.slug).first()
    _check_against(checked, old)
    version = 1 if old is None else old.version + 1
    target = settings.CAPTIOUS.data / "challenges" / checked.slug / str(version)
    _copy(checked, target)
    try:
        with transaction.atomic():
            challenge, n_rescored = _store(checked, version)
            record("load challenge", challenge.slug, actor=actor, challenge=challenge, detail=f"version {version}")
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise
    n_baselines = _submit_baselines(checked, challenge)
    _remove_old_versions(target)
    return Loaded(challenge, old is None, n_rescored, n_baselines, checked.warnings)


def _check_against(checked: CheckedChallenge, old: Challenge | None) -> None:
    """What can only be checked in the server: that organisers have accounts, and submissions still have all images."""
    names = checked.definition.organisers
    known = set(User.objects.filter(username__in=names).values_list("username", flat=True))
    problems = [
        f"organisers[{i}]: there is no user {name!r}; let them sign up first"
        for i, name in enumerate(names, start=1)
        if name not in known
    ]
    if old is not None and Submission.objects.filter(phase__challenge=old, is_baseline=False).exists():
        for name, ids in checked.image_ids.items():
            file = old.ids_file(name)
            if file.exists() and set(json.loads(file.read_text())) != set(ids):
                problems.append(
                    f"captions {name!r}: the images have changed, but there are submissions; use another slug"
                )
        problems += _other_captions(checked, old)
    if problems:
        raise ChallengeError(problems, str(checked.folder))


def _other_captions(checked: CheckedChallenge, old: Challenge) -> Iterator[str]:
    """Phases that would take other captions files than their submissions have."""
    for i, phase in enumerate(checked.definition.phases, start=1):
        before = Phase.objects.filter(challenge=old, name=phase.name).first()
        if before is None or set(before.captions) == set(phase.captions):
            continue
        if Submission.objects.filter(phase=before, is_baseline=False).exists():
            was = ", ".join(before.captions)
            yield f"phases[{i}].captions: there are submissions with {was} only; write that, and add another phase"


def _copy(checked: CheckedChallenge, target: Path) -> None:
    """Copy what the challenge uses, and write the image ids that submissions must have."""
    shutil.rmtree(target, ignore_errors=True)  # of a load that was killed
    with new_folder(target) as new:
        for name in checked.checksums:
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(checked.folder / name, new / name)
        (new / IDS_FOLDER).mkdir()
        for captions, ids in checked.image_ids.items():
            (new / IDS_FOLDER / f"{captions}.json").write_text(json.dumps(ids))


def _store(checked: CheckedChallenge, version: int) -> tuple[Challenge, int]:
    definition = checked.definition
    challenge = Challenge.objects.select_for_update().filter(slug=checked.slug).first()
    key = _scoring_key(checked)
    values: dict[str, Any] = {
        "title": definition.title,
        "summary": definition.summary,
        "access": definition.access,
        "definition_values": definition.model_dump(mode="json"),
        "texts": [
            {"title": each.title, "slug": slugify(each.title) or f"text-{i}", "html": as_html(checked.texts[each.file])}
            for i, each in enumerate(definition.texts, start=1)
        ],
        "version": version,
        "scoring_key": key,
    }
    is_changed = challenge is not None and challenge.scoring_key != key
    if challenge is None:
        challenge = Challenge.objects.create(slug=checked.slug, **values)
    else:
        for name, value in values.items():
            setattr(challenge, name, value)
        challenge.__dict__.pop("definition", None)
        challenge.scoring_version += is_changed
    challenge.counts = {
        key_of(challenge, each): len(checked.references[each.captions, each.name]) for each in definition.references
    }
    challenge.save()
    challenge.organisers.set(User.objects.filter(username__in=definition.organisers))
    for position, phase in enumerate(definition.phases):
        Phase.objects.update_or_create(
            challenge=challenge,
            name=phase.name,
            defaults={
                "title": phase.title,
                "position": position,
                "opens": phase.opens,
                "closes": phase.closes,
                "scored_per_day": phase.scored_per_day,
                "scored_in_total": phase.scored_in_total,
                "attempts_per_day": phase.attempts_per_day,
                "board": phase.board,
                "captions": [*phase.captions],
                "is_retired": False,
            },
        )
    names = [phase.name for phase in definition.phases]
    Phase.objects.filter(challenge=challenge).exclude(name__in=names).update(is_retired=True)
    current = Submission.objects.filter(phase__challenge=challenge, phase__is_retired=False)
    if not is_changed:  # but a phase may be back that was retired when it did
        current = current.filter(status=Submission.Status.DONE).exclude(scoring_version=challenge.scoring_version)
    return challenge, queue_again(current)


def _scoring_key(checked: CheckedChallenge) -> str:
    """A checksum of what scores depend on."""
    definition = checked.definition
    files = {each.file: checked.checksums[Path(each.file).as_posix()] for each in definition.references}
    described = {
        "references": [each.model_dump() for each in definition.references],
        "files": files,
        "metrics": definition.metrics,
        "settings": definition.settings,
        "setting files": {
            name: checked.checksums.get(value, "") for name, value in sorted(definition.settings.items())
        },
    }
    return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


def _submit_baselines(checked: CheckedChallenge, challenge: Challenge) -> int:
    """Submit baselines that are new or changed, and delete those that the folder no longer has."""
    kept: set[int] = set()
    n = 0
    for each in checked.definition.baselines:
        checksum = checked.checksums[Path(each.file).as_posix()]
        for name in each.phases:
            phase = Phase.objects.get(challenge=challenge, name=name)
            filename = f"{checksum[:16]}-{Path(each.file).name}"
            existing = Submission.objects.filter(
                phase=phase, is_baseline=True, method=each.method, filename=filename
            ).exclude(status=Submission.Status.DELETED)
            if existing.update(link=each.link, description=each.description, is_human=each.human):
                kept.update(existing.values_list("pk", flat=True))
                continue
            kept.add(_submit_baseline(checked.folder / each.file, filename, phase, each).pk)
            n += 1
    for old in Submission.objects.filter(phase__challenge=challenge, is_baseline=True).exclude(pk__in=kept):
        Submission.objects.filter(pk=old.pk).update(status=Submission.Status.DELETED, scores={}, results_file="")
        storage.remove_files(old.folder)
    return n


def _submit_baseline(file: Path, filename: str, phase: Phase, each: Any) -> Submission:
    copy = incoming_folder() / f"baseline-{filename}"
    shutil.copyfile(file, copy)
    try:
        return intake.submit(
            intake.Entry(
                phase=phase,
                team=baselines_team(),
                user=None,
                method=each.method,
                filename=filename,
                arrived=timezone.now(),
                link=each.link,
                description=each.description,
                is_baseline=True,
                is_human=each.human,
            ),
            copy,
        )
    except intake.Refused as refused:
        said = [f"baseline {each.method!r}: {problem.message}" for problem in refused.problems]
        raise ChallengeError(said or [f"baseline {each.method!r}: {refused.message}"], each.file) from None
    finally:
        copy.unlink(missing_ok=True)


def _remove_old_versions(current: Path) -> None:
    """Remove the files of versions before the last one, which a worker may still be reading."""
    for path in current.parent.iterdir():
        if path.name.isdecimal() and int(path.name) < int(current.name) - 1:
            shutil.rmtree(path, ignore_errors=True)
