"""Accepting a submission: dates, quotas, the check of its captions, and the row with which it counts.

Web pages and the API share these functions, so that neither can bypass a limit. After a failure at any point, either
the submission exists in full, or it does not exist and nothing counts. Until it is accepted, a submission is an unsaved
``Submission``; deadlines refer to ``created``, the time at which its upload began.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet, Sum
from django.db.utils import Error as DatabaseError
from django.http import HttpRequest
from django.utils import timezone

from captious.data.ids import ImageId
from captious.drawing import counted_of
from captious_server.models import Attempt, Challenge, Membership, Phase, RefusedUpload, Submission, Team, User
from captious_server.people.access import visible_challenges
from captious_server.people.accounts import TooManyRequests, record
from captious_server.people.teams import why_not_admitted
from captious_server.settings import local_time, locked
from captious_server.submissions import storage
from captious_server.submissions.probes import why_held
from captious_server.submissions.upload import ExpectedFile, Problem, UploadLimits
from captious_server.submissions.upload_process import read_upload

# Quotas: how many submissions a phase scores per day and in total, how many uploads are tried per day, and how much
# is stored.
#
# What counts toward them: a team's submissions, and those that the user made for any other team. Canceled submissions
# and failures of the server do not count.

#: An unfinished upload older than this was interrupted by the server, and does not count.
READING_MINUTES = 15


@dataclass(frozen=True)
class Quota:
    """The use of the quotas of a phase, and the limits; a limit of 0 means unlimited.

    ``stored`` is in bytes, and includes all challenges.
    """

    phase: Phase
    scored_today: int
    scored: int
    attempts_today: int
    stored: int

    @property
    def scored_left_today(self) -> int | None:
        """The rest of a quota; None, here and below, if it is unlimited."""
        return _remainder(self.phase.scored_per_day, self.scored_today)

    @property
    def scored_left(self) -> int | None:
        return _remainder(self.phase.scored_in_total, self.scored)

    @property
    def attempts_left_today(self) -> int | None:
        return _remainder(self.phase.attempts_per_day, self.attempts_today)

    @property
    def exhausted(self) -> str:
        """The reason why no upload is accepted, in one sentence; empty if one is."""
        return self.scored_exhausted or self.attempts_exhausted or self.stored_exhausted

    @property
    def scored_exhausted(self) -> str:
        """The reason why no more submissions are scored, in one sentence; empty if they are."""
        if self.phase.scored_in_total and self.scored >= self.phase.scored_in_total:
            return f"The quota of this phase is exhausted: {self.phase.scored_in_total:,} scored submissions in total."
        if self.phase.scored_per_day and self.scored_today >= self.phase.scored_per_day:
            return f"Today's quota is exhausted: {self.phase.scored_per_day:,} scored submissions per day."
        return ""

    @property
    def attempts_exhausted(self) -> str:
        """The reason why no more uploads are accepted, in one sentence; empty if they are."""
        if self.phase.attempts_per_day and self.attempts_today >= self.phase.attempts_per_day:
            return f"Today's quota is exhausted: {self.phase.attempts_per_day:,} uploads per day."
        return ""

    @property
    def stored_exhausted(self) -> str:
        """The reason why no more files are stored, in one sentence; empty if they are."""
        mebibytes = settings.CAPTIOUS.stored_mebibytes
        if self.stored >= mebibytes << 20:
            return (
                f"The submissions of your account or team take up {mebibytes:,} MiB, which is the limit. Delete some."
            )
        return ""


def _remainder(limit: int, used: int) -> int | None:
    return max(limit - used, 0) if limit else None


def quota(phase: Phase, team: Team, user: User | None, now: datetime) -> Quota:
    """The quotas that a team and a user have used up."""
    by_party = Q(team=team) | Q(user=user) if user is not None else Q(team=team)
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    scored = Submission.objects.filter(by_party, phase=phase, counts=True)
    reading_since = now - timedelta(minutes=READING_MINUTES)
    attempts = Attempt.objects.filter(by_party, phase=phase, time__gte=today).filter(
        Q(is_complete=True) | Q(time__gte=reading_since)
    )
    submissions = Submission.objects.filter(by_party).exclude(status=Submission.Status.DELETED)
    return Quota(
        phase=phase,
        scored_today=scored.filter(created__gte=today).count(),
        scored=scored.count(),
        attempts_today=attempts.count(),
        stored=submissions.aggregate(stored=Sum("stored"))["stored"] or 0,
    )


# The entry of a team: its choice, and the separation of anonymous teams; see boards/ranking.py for the rule.
#
# In phases that show one entry of each team, either all submissions of a team are anonymous or none are.

_Status = Submission.Status


def of_team(submission: Submission) -> QuerySet[Submission]:
    """The submissions of the same team to the same phase that are not deleted."""
    rows = Submission.objects.filter(phase=submission.phase, team=submission.team, is_baseline=False)
    return rows.exclude(status=_Status.DELETED)


def mixed_names(submission: Submission) -> str:
    """The reason why a new submission cannot be (or must be) anonymous, in one sentence; else empty."""
    if submission.phase.entries == "all" or submission.is_baseline:
        return ""
    if not of_team(submission).filter(anonymous=not submission.anonymous).exists():
        return ""
    form = "named" if submission.anonymous else "anonymous"
    return (
        f"Your other submissions to this phase are {form}. It shows one entry for each team, so either all of a "
        "team's submissions are anonymous or none are: change one of them first."
    )


def why_not_chosen(submission: Submission, *, chosen: bool = True, manages: bool) -> str:
    """The reason why a submission cannot be chosen as the entry of its team now, in one sentence; empty if it can.

    Args:
        chosen: False to let the best submission count again.
        manages: organizers may do it at any time.
    """
    if submission.phase.state != "open" and not manages:
        return f"The phase {submission.phase} is {submission.phase.state}: teams choose their entry while it is open."
    if not chosen:
        return ""
    if submission.is_baseline:
        return "Baselines are always on the leaderboard."
    if submission.status not in {_Status.QUEUED, _Status.RUNNING, _Status.DONE}:
        return "Only scored or queued submissions can be the entry of a team."
    if not submission.public:
        return "Show it on the leaderboard first. A private submission cannot be the entry of a team."
    if submission.is_hidden and not manages:
        return "An organizer has hidden it, so it cannot be the entry of a team."
    if submission.anonymous and submission.phase.entries == "all":
        return "Anonymous submissions are all on the leaderboard. Choosing one would reveal its team."
    return ""


def why_not_deleted(submission: Submission) -> str:
    """The reason why a team cannot delete a submission now, in one sentence; empty if it can.

    After the end of a phase, another one of the team would take the place of its entry. Until scores are shown, each
    that can be the entry stays, as nothing reveals which one is.
    """
    phase = submission.phase
    may_be_entry = submission.is_entry or (submission.public and not phase.has_scores_open)
    if phase.state == "closed" and submission.shown_scores is not None and may_be_entry:
        return f"The phase {phase} is closed, so its leaderboard keeps this submission. Organizers can delete it."
    return ""


def choose(submission: Submission, *, chosen: bool) -> None:
    """Make a submission the entry of its team, or let the best one count again."""
    with transaction.atomic():
        list(Team.objects.select_for_update().filter(pk=submission.team_id))
        rows = Submission.objects.filter(phase=submission.phase, team=submission.team, is_chosen=True)
        rows.exclude(pk=submission.pk if chosen else 0).update(is_chosen=False)
        if chosen:
            Submission.objects.filter(pk=submission.pk).update(is_chosen=True)


# The check of a submission, and its acceptance.


class RefusedError(Exception):
    """A submission that is not accepted.

    Args:
        message: the reason, one sentence.
        problems: all problems of its captions.
    """

    def __init__(self, message: str, problems: Sequence[Problem] = ()) -> None:
        super().__init__(message)
        self.message = message
        self.problems = list(problems)


class AlreadySubmittedError(Exception):
    """The upload is a repetition.

    Args:
        submission: the submission that was made from the first upload.
    """

    def __init__(self, submission: Submission) -> None:
        super().__init__()
        self.submission = submission


class KeyReusedError(Exception):
    """The key names another upload."""


_log = logging.getLogger(__name__)
_SLOW_CHECK = "slow check"  # the fingerprint of an attempt that only checked a file
_MAX_SLOW_CHECKS, _SLOW_CHECK_PERIOD = 3, timedelta(hours=1)
_USUAL_READING_SECONDS = 5  # within which most uploads are read


class Check(NamedTuple):
    """The result of a dry run.

    Attributes:
        problems: all problems of an upload.
        remarks: reasons for a refusal that do not depend on captions, a sentence each.
        warnings: valid content that may be a mistake, a sentence each.
    """

    problems: list[Problem]
    remarks: list[str]
    warnings: list[str]


def check(submission: Submission, upload: Path) -> Check:
    """Check an upload in a dry run. Nothing counts, and nothing is kept.

    Raises:
        TooManyRequests: another upload of the user is being read, or several took too long.
        CaptiousError: the server could not read it, for reasons of its own.
    """
    folder = storage.incoming_folder() / f"check-{os.urandom(8).hex()}"
    try:
        with _turn(submission.user):
            _refuse_slow_files(submission)
            problems = _read_captions(submission, upload, folder / "captions")
            if any(problem.is_slow for problem in problems):
                _count_slow_file(submission)
        warnings = [] if problems else [*_empty_captions(folder)]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    usage = quota(submission.phase, submission.team, submission.user, submission.created)
    reasons = (
        _date_problem(submission),
        why_not_admitted(submission),
        mixed_names(submission),
        usage.scored_exhausted,
        usage.attempts_exhausted,
        usage.stored_exhausted,
    )
    return Check(problems, [reason for reason in reasons if reason], warnings)


def _empty_captions(folder: Path) -> Iterator[str]:
    """A warning for each captions file of an upload that was read in which captions are empty."""
    names = storage.captions_names(folder)
    for name in names:
        captions = storage.candidates_in(folder, name).values()
        if n := sum(not caption.strip() for caption in captions):
            where = f" for {name}" if len(names) > 1 else ""
            verb, pronoun = ("is", "it") if n == 1 else ("are", "them")
            yield f"{counted_of(n, len(captions), 'caption')}{where} {verb} empty. Most metrics score {pronoun} 0."


def _refuse_slow_files(submission: Submission) -> None:
    """Refuse checks for a while if several files of the user took too long to read, as checks are free."""
    since = timezone.now() - _SLOW_CHECK_PERIOD
    attempts = Attempt.objects.filter(user=submission.user, fingerprint=_SLOW_CHECK, time__gte=since)
    if submission.user is not None and attempts.count() >= _MAX_SLOW_CHECKS:
        raise TooManyRequests(int(_SLOW_CHECK_PERIOD.total_seconds()), "Several of your files took too long to read.")


def _count_slow_file(submission: Submission) -> None:
    """Count a check that took too long as an upload."""
    if submission.user is not None:
        Attempt.objects.create(
            phase=submission.phase,
            team=submission.team,
            user=submission.user,
            time=timezone.now(),
            fingerprint=_SLOW_CHECK,
            is_complete=True,
        )


def earlier_submission(user: User, challenge: Challenge, key: str, fingerprint: str) -> Submission | None:
    """The submission that was made from an upload with this key; None if there is none, or the key is empty.

    The user may not be allowed to see it any more.

    Raises:
        KeyReusedError: the upload with this key had another fingerprint.
    """
    if not key:
        return None
    attempts = Attempt.objects.filter(user=user, phase__challenge=challenge, key=key)
    if attempts.exclude(fingerprint=fingerprint).exists():
        raise KeyReusedError
    attempt = attempts.exclude(submission=None).select_related("submission__phase__challenge").first()
    return None if attempt is None else attempt.submission


def submit(
    submission: Submission,
    upload: Path,
    *,
    request: HttpRequest | None = None,
    key: str = "",
    fingerprint: str = "",
) -> None:
    """Take in a submission. The upload is moved; if it is refused, it stays where it is, and the reason is kept.

    Args:
        request: the request of the upload, for the audit log.
        key: idempotency key. Uploads of a user with the same key create one submission.
        fingerprint: checksum of the request, which reveals another upload with the same key.

    Raises:
        KeyReusedError: the upload with this key had another fingerprint.
        AlreadySubmittedError: there is a submission with this key.
        RefusedError: closed, a quota that is used up, or captions that are not valid.
        TooManyRequests: another upload of the user is being read. Nothing counts.
        CaptiousError, OSError: the server could not take it, for reasons of its own. Nothing counts.
    """
    try:
        with _turn(submission.user):
            _submit(submission, upload, request, key, fingerprint)
    except RefusedError as refusal:
        if not submission.is_baseline:
            with suppress(IntegrityError), transaction.atomic():  # the team or the user may have been deleted
                RefusedUpload.keep(submission, upload.stat().st_size, refusal.message, refusal.problems)
        if request is not None:
            challenge = submission.challenge
            record("refused", submission.method, request=request, challenge=challenge, detail=refusal.message)
        raise


@contextmanager
def _turn(user: User | None) -> Iterator[None]:
    """Read one upload of a user at a time, in all processes, so that others get their turn; baselines have no user."""
    if user is None:
        yield
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(storage.reading_lock(user.pk), wait=False))
        except BlockingIOError:
            raise TooManyRequests(_USUAL_READING_SECONDS, "Another upload of your account is being read.") from None
        yield


def _submit(submission: Submission, upload: Path, request: HttpRequest | None, key: str, fingerprint: str) -> None:
    if not submission.is_baseline:
        _refuse(_date_problem(submission) or why_not_admitted(submission) or mixed_names(submission))
    attempt = _begin_attempt(submission, key, fingerprint)
    folder = None
    try:
        folder = storage.new_folder()
        problems = _read_captions(submission, upload, folder / "captions")
        if problems:
            raise RefusedError("The captions are not valid, so they were not submitted.", problems)
        submission.folder_name = folder.name
        submission.reason = why_held(submission, folder)
        submission.status = _Status.HELD if submission.reason else _Status.QUEUED
        submission.filename = submission.filename[:255]
        submission.size = upload.stat().st_size
        submission.stored = submission.size + storage.captions_bytes(folder)
        submission.counts = not submission.is_baseline
        shutil.move(upload, storage.upload_file(folder))
        os.chmod(storage.upload_file(folder), 0o600)
        try:
            _create(submission, attempt, request)
        except RefusedError:
            shutil.move(storage.upload_file(folder), upload)
            raise
    except BaseException as error:
        if folder is not None:
            storage.remove_files(folder)
        _end_attempt(attempt, counts=isinstance(error, RefusedError))
        raise


def _begin_attempt(submission: Submission, key: str, fingerprint: str) -> Attempt | None:
    """Count the attempt before anything is read, so that concurrent uploads do not exceed the quota.

    An unfinished attempt with the same key is continued: its connection or web process was lost.
    """
    if submission.is_baseline:
        return None
    phase, team, user, time = submission.phase, submission.team, _uploader(submission), submission.created
    with transaction.atomic():
        _lock(submission)
        if (submission_before := earlier_submission(user, phase.challenge, key, fingerprint)) is not None:
            raise AlreadySubmittedError(submission_before)
        open_attempt = Attempt.objects.filter(user=user, phase=phase, team=team, key=key, is_complete=False).first()
        if key and open_attempt is not None:
            return open_attempt
        usage = quota(phase, team, user, time)
        _refuse(usage.exhausted)
        return Attempt.objects.create(phase=phase, team=team, user=user, time=time, key=key, fingerprint=fingerprint)


def _create(submission: Submission, attempt: Attempt | None, request: HttpRequest | None) -> None:
    with transaction.atomic():
        if attempt is not None:
            _lock(submission)
            row = Attempt.objects.filter(pk=attempt.pk).first()
            if row is not None and row.submission is not None:  # created while this one was being read
                raise AlreadySubmittedError(row.submission)
            _refuse(_permission_problem(submission) or why_not_admitted(submission))
            _refuse(mixed_names(submission))  # another may have been submitted while this one was being read
            _refuse(quota(submission.phase, submission.team, submission.user, submission.created).scored_exhausted)
        submission.save(force_insert=True)
        if attempt is not None:
            attempt.submission, attempt.is_complete = submission, True
            attempt.save()
        if request is not None:
            record("submit", submission.method, request=request, submission=submission)


def _end_attempt(attempt: Attempt | None, *, counts: bool) -> None:
    """End an attempt without a submission: a refused one counts, one that failed through the server does not."""
    if attempt is None:
        return
    rows = Attempt.objects.filter(pk=attempt.pk, submission=None)
    try:
        rows.update(is_complete=True) if counts else rows.delete()
    except DatabaseError:  # then it is incomplete, and no longer counts
        _log.exception("an attempt cannot be ended", extra={"attempt": attempt.pk})


def _uploader(submission: Submission) -> User:
    """The user who uploads a submission; only baselines have none."""
    assert submission.user is not None
    return submission.user


def _lock(submission: Submission) -> None:
    """Let only one submission of a team or user be counted at a time. On SQLite, transactions do that."""
    list(Team.objects.select_for_update().filter(pk=submission.team_id))
    list(User.objects.select_for_update().filter(pk=_uploader(submission).pk))


def expected_files(phase: Phase) -> list[ExpectedFile]:
    """The captions files that submissions to a phase contain."""
    challenge = phase.challenge
    return [
        ExpectedFile(name=captions.name, pattern=captions.pattern, ids_file=challenge.ids_file(captions.name))
        for captions in challenge.definition.captions
        if not phase.captions or captions.name in phase.captions
    ]


def _read_captions(submission: Submission, upload: Path, output: Path) -> list[Problem]:
    limits: UploadLimits = settings.CAPTIOUS.upload_limits
    if submission.is_baseline:
        limits = limits.of_baselines
    else:
        words, share = submission.challenge.definition.max_words, submission.phase.equal_captions
        limits = replace(limits, caption_words=words, equal_captions=share)
    output.mkdir(parents=True, exist_ok=True)
    return read_upload(upload, submission.filename, expected_files(submission.phase), limits, output)


def _permission_problem(submission: Submission) -> str:
    """The reason why the user can no longer submit for the team, which may change during an upload."""
    user = User.objects.filter(pk=_uploader(submission).pk, is_active=True).first()
    if user is None or not visible_challenges(user).filter(pk=submission.challenge.pk).exists():
        return "You can no longer submit to this challenge."
    is_member = Membership.objects.filter(team=submission.team_id, user=user).exists()
    return "" if is_member else f"You are no longer a member of {submission.team}."


def _date_problem(submission: Submission) -> str:
    """The reason why the phase was not open when the upload began, in one sentence; empty if it was."""
    phase, state = submission.phase, submission.phase.state_at(submission.created)
    if state == "upcoming":
        assert phase.opens is not None
        return f"The phase {phase} opens on {local_time(phase.opens)}."
    if state == "closed":
        return (
            f"The phase {phase} closed on {local_time(phase.closes)}."
            if phase.closes
            else f"The phase {phase} is closed."
        )
    return ""


def _refuse(message: str) -> None:
    if message:
        raise RefusedError(message)


# Templates of submissions: captions files with every image of a phase, to be filled in by teams.

_EXAMPLE_CAPTION = "a dog runs along a beach"


@dataclass(frozen=True)
class NeededCaptions:
    """A captions file that submissions to a phase need.

    Attributes:
        pattern: pattern of its name in an archive.
        name: name of its template, which matches the pattern.
        ids: ids of the images that need a caption.
    """

    pattern: str
    name: str
    ids: tuple[ImageId, ...]

    @property
    def example(self) -> str:
        """The first row of a captions file: '{"image_id": 42, "caption": "..."}'."""
        return next(_rows(self.ids[:1], _EXAMPLE_CAPTION), "")

    @property
    def template(self) -> Iterator[bytes]:
        """A captions file without captions, in parts."""
        yield b"["
        for place, row in enumerate(_rows(self.ids, "")):
            yield f"{',' if place else ''}\n{row}".encode()
        yield b"\n]\n"


def needed_captions(phase: Phase) -> list[NeededCaptions]:
    """The captions files that submissions to a phase need."""
    return [
        NeededCaptions(file.pattern, _template_name(file), tuple(json.loads(file.ids_file.read_bytes())))
        for file in expected_files(phase)
    ]


def _rows(ids: tuple[ImageId, ...], caption: str) -> Iterator[str]:
    return (json.dumps({"image_id": image, "caption": caption}, ensure_ascii=False) for image in ids)


def _template_name(file: ExpectedFile) -> str:
    name = file.pattern.replace("*", "template").replace("?", "x")
    is_json = name.endswith(".json") or not fnmatchcase(f"{name}.json", file.pattern)
    return name if is_json else f"{name}.json"
