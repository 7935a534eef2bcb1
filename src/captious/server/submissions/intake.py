"""Taking in a submission: dates, quotas, the check of its captions, and the row that makes it count.

Web pages and the API both come here, so no limit can be circumvented through one of them. Whatever happens in the
middle, a submission exists as a whole, or it does not and nothing counts.
"""

from __future__ import annotations

import logging
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from django.conf import settings
from django.db import transaction
from django.db.utils import Error as DatabaseError
from django.utils import timezone

from captious.server.models import Attempt, Phase, Submission, Team, User
from captious.server.submissions import storage
from captious.server.submissions.quotas import quota
from captious.server.submissions.reading import read_upload
from captious.server.submissions.receiving import incoming_folder
from captious.server.submissions.upload import ExpectedFile, Problem, UploadLimits

__all__ = ["Entry", "Refused", "check", "limits", "remarks", "submit", "why_closed"]


class Refused(Exception):
    """A submission that is not taken.

    Args:
        message: why, one sentence.
        problems: everything that is wrong with its captions.
    """

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.problems = list(problems)


@dataclass(frozen=True, kw_only=True)
class Entry:
    """What is said about a submission.

    Args:
        arrived: when the upload began; what counts for deadlines.
        is_baseline, is_human: set by organisers only.
    """

    phase: Phase
    team: Team
    user: User | None
    method: str
    filename: str
    arrived: datetime
    link: str = ""
    description: str = ""
    public: bool = True
    anonymous: bool = False
    is_baseline: bool = False
    is_human: bool = False


_log = logging.getLogger("captious.web")
_reading = threading.BoundedSemaphore(settings.CAPTIOUS.concurrent_reads)


def limits() -> UploadLimits:
    """The limits of uploads, as the settings say."""
    ours = settings.CAPTIOUS
    return UploadLimits(
        upload_bytes=ours.upload_bytes,
        unpacked_bytes=ours.unpacked_mebibytes * 1024 * 1024,
        memory_bytes=ours.reading_memory_mebibytes * 1024 * 1024,
        seconds=ours.reading_seconds,
    )


def why_closed(phase: Phase, time: datetime) -> str:
    """Why a phase takes nothing at a time, one sentence; empty if it does."""
    state = phase.state_at(time)
    if state == "upcoming":
        return f"The phase {phase} opens on {_utc(phase.opens)}."
    if state == "closed":
        return f"The phase {phase} closed on {_utc(phase.closes)}." if phase.closes else f"The phase {phase} is closed."
    return ""


def remarks(phase: Phase, team: Team, user: User | None, time: datetime) -> list[str]:
    """Why a submission would be refused whatever its captions are, a sentence each, for dry runs."""
    used = quota(phase, team, user, time)
    reasons = (why_closed(phase, time), used.scored_exhausted, used.attempts_exhausted)
    return [reason for reason in reasons if reason]


def check(phase: Phase, upload: Path, filename: str) -> list[Problem]:
    """A dry run: everything that is wrong with an upload. Nothing counts, and nothing is kept.

    Raises:
        CaptiousError: the server could not read it, for reasons of its own.
    """
    folder = incoming_folder() / f"check-{os.urandom(8).hex()}"
    try:
        return _read(phase, upload, filename, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def submit(entry: Entry, upload: Path, then: Callable[[Submission], None] | None = None) -> Submission:
    """Take in a submission. The upload is moved; if it is refused, it stays where it is.

    Args:
        then: called in the transaction that makes the submission; if it fails, there is none.

    Raises:
        Refused: closed, a quota that is used up, or captions that are not valid.
        CaptiousError, OSError: the server could not take it, for reasons of its own. Nothing counts.
    """
    if not entry.is_baseline:
        _refuse(why_closed(entry.phase, entry.arrived))
    attempt = _begin(entry)
    folder = None
    try:
        folder = storage.new_folder()
        problems = _read(entry.phase, upload, entry.filename, folder / "captions")
        if problems:
            raise Refused("The captions are not valid, so they were not submitted.", problems)
        size = upload.stat().st_size
        shutil.move(upload, storage.upload_file(folder))
        os.chmod(storage.upload_file(folder), 0o600)
        try:
            return _create(entry, folder, size, attempt, then)
        except Refused:
            shutil.move(storage.upload_file(folder), upload)
            raise
    except BaseException as error:
        if folder is not None:
            storage.remove_files(folder)
        _end(attempt, counts=isinstance(error, Refused))
        raise


def _begin(entry: Entry) -> Attempt | None:
    """Count the attempt before anything is read, so that many at once do not exceed the quota."""
    if entry.is_baseline:
        return None
    with transaction.atomic():
        _lock(entry)
        used = quota(entry.phase, entry.team, entry.user, entry.arrived)
        _refuse(used.scored_exhausted or used.attempts_exhausted)
        attempt: Attempt = Attempt.objects.create(
            phase=entry.phase, team=entry.team, user=entry.user, time=entry.arrived
        )
        return attempt


def _create(
    entry: Entry, folder: Path, size: int, attempt: Attempt | None, then: Callable[[Submission], None] | None
) -> Submission:
    with transaction.atomic():
        if attempt is not None:
            _lock(entry)
            _refuse(quota(entry.phase, entry.team, entry.user, entry.arrived).scored_exhausted)
        submission: Submission = Submission.objects.create(
            phase=entry.phase,
            team=entry.team,
            user=entry.user,
            method=entry.method,
            link=entry.link,
            description=entry.description,
            public=entry.public,
            anonymous=entry.anonymous,
            is_baseline=entry.is_baseline,
            is_human=entry.is_human,
            counts=not entry.is_baseline,
            filename=entry.filename[:255],
            size=size,
            folder_name=folder.name,
            created=entry.arrived,
        )
        if attempt is not None:
            Attempt.objects.filter(pk=attempt.pk).update(submission=submission, is_complete=True)
        if then is not None:
            then(submission)
    return submission


def _end(attempt: Attempt | None, *, counts: bool) -> None:
    """End an attempt without a submission: a refused one counts, one that failed through the server does not."""
    if attempt is None:
        return
    rows = Attempt.objects.filter(pk=attempt.pk)
    try:
        rows.update(is_complete=True) if counts else rows.delete()
    except DatabaseError:  # then it is incomplete, and ceases to count
        _log.exception("an attempt cannot be ended", extra={"attempt": attempt.pk})


def _lock(entry: Entry) -> None:
    """Let only one submission of a team or user be counted at a time. On SQLite, transactions do that."""
    list(Team.objects.select_for_update().filter(pk=entry.team.pk))
    if entry.user is not None:
        list(User.objects.select_for_update().filter(pk=entry.user.pk))


def _read(phase: Phase, upload: Path, filename: str, output: Path) -> list[Problem]:
    challenge = phase.challenge
    names = set(phase.captions)
    expected = [
        ExpectedFile(name=each.name, pattern=each.pattern, ids_file=challenge.ids_file(each.name))
        for each in challenge.definition.captions
        if not names or each.name in names
    ]
    output.mkdir(exist_ok=True)
    with _reading:
        return read_upload(upload, filename, expected, limits(), output)


def _refuse(message: str) -> None:
    if message:
        raise Refused(message)


def _utc(time: datetime) -> str:
    return timezone.localtime(time).strftime("%Y-%m-%d %H:%M %Z")
