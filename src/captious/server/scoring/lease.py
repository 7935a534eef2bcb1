"""The lease of a submission: its worker, its end, and the writes that are valid only for that worker.

queued --take--> running --finish--> done | failed          cancel: queued --> canceled
   ^                |
   +----give back---+  the server failed, or the worker was not heard from and the lease has run out

Each ``take`` increases the number of the lease. All later writes are conditional on that number, so a worker that was
considered dead and comes back changes nothing.
"""

from __future__ import annotations

import logging
import math
import time
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection, transaction
from django.db.models import Case, F, When
from django.db.utils import Error as DatabaseError
from django.utils import timezone

from captious.server.background_thread import BackgroundThread
from captious.server.models import Phase, Submission
from captious.server.scoring import queue, versions

#: The message to submitters when scoring failed through no fault of the submission.
OUR_FAULT = "The server could not score this submission. It does not count toward your quota. Please submit it again."
_log = logging.getLogger(__name__)
_Status = Submission.Status
_RETRY_AFTER = timedelta(seconds=5)
_MIN_CPU_SHARE = 0.1  # share of the limit above which stopped submissions count; real captions need .05


@dataclass(frozen=True)
class Lease:
    """The right to score a submission, valid while it is the latest lease."""

    submission: Submission
    number: int

    @property
    def rows(self) -> Any:
        """The row of the submission, or none once the lease is lost."""
        return Submission.objects.filter(pk=self.submission.pk, lease=self.number, status=_Status.RUNNING)


def take(worker: str) -> Lease | None:
    """Take the next submission whose turn it is, queued or lost by a worker; None if there is none.

    One that was lost too often fails, and does not count.
    """
    while True:
        now = timezone.now()
        with transaction.atomic():
            row = next(filter(None, (_lock(pk, now) for pk in queue.in_order(now))), None)
            if row is None:
                return None
            if row.tries >= settings.CAPTIOUS.scoring_tries:
                queue.end_turn(row)  # a submission that ends workers must not always be first
                _fail(Submission.objects.filter(pk=row.pk, lease=row.lease), "Its workers were lost while scoring.")
                continue
            number = row.lease + 1
            Submission.objects.filter(pk=row.pk).update(
                status=_Status.RUNNING,
                lease=number,
                lease_until=_end_of_lease(now),
                tries=F("tries") + 1,
                worker=worker[:120],
                progress=0,
                doing="",
                started=now,
            )
        return Lease(Submission.objects.select_related("phase__challenge", "team").get(pk=row.pk), number)


def _lock(pk: int, now: datetime) -> Submission | None:
    """The locked row of a queued submission; None if another worker, or its user, was faster."""
    rows = Submission.objects.filter(queue.waits(now), pk=pk)
    if connection.features.has_select_for_update_skip_locked:
        rows = rows.select_for_update(skip_locked=True, of=("self",))  # without its phase
    return rows.first()


def finish(lease: Lease, *, outputs: dict[str, Any], set_warnings: dict[str, Any], results_file: str) -> bool:
    """Write the result; False if nothing was written, because the lease has been lost or the phase has a new version.

    Args:
        outputs, set_warnings, results_file: of ``Scores``.
    """
    submission = lease.submission
    with transaction.atomic():
        # A change of the version locks the phase, too. A submission that was taken in the meantime is scored again.
        phases = Phase.objects.select_for_update(no_key=True).filter(pk=submission.phase_id)
        if phases.values_list("scoring_version", flat=True).get() != submission.phase.scoring_version:
            queue.queue_again(lease.rows)
            return False
        values = {"status": _Status.DONE, "finished": timezone.now(), "progress": 100}
        n_rows: int = lease.rows.update(**queue.CLEAN_VALUES | values)
        if n_rows == 1:
            queue.end_turn(submission)
            versions.store(submission, outputs=outputs, set_warnings=set_warnings, results_file=results_file)
        return n_rows == 1


def give_back(lease: Lease, traceback: str) -> bool:
    """After a failure of the server, retry a little later, or give up after the last try."""
    row = lease.rows.first()
    if row is None:
        return False
    queue.end_turn(lease.submission)
    if row.tries >= settings.CAPTIOUS.scoring_tries:
        return _fail(lease.rows, traceback)
    not_before = timezone.now() + _RETRY_AFTER * 2**row.tries
    values = {"status": _Status.QUEUED, "not_before": not_before, "traceback": traceback}
    n_rows: int = lease.rows.update(**queue.CLEAN_VALUES | values)
    return n_rows == 1


class Heartbeat(BackgroundThread):
    """A thread that keeps a lease while its submission is being scored, and writes the progress. A context manager.

    Args:
        lease: the lease to renew.
        on_timeout: called in the thread when scoring has taken too long; it must end the process.
    """

    def __init__(self, lease: Lease, on_timeout: Any) -> None:
        super().__init__("heartbeat")
        self.progress = 0
        self.doing = ""
        self.is_lost = False
        self._cpu_limit, self._cpu_began, self._n_words = math.inf, 0.0, 0
        self._lease = lease
        self._on_timeout = on_timeout

    def limit_cpu(self, seconds: float, n_words: int) -> None:
        """Limit the processor time of this process, from now on, by the number of words of the submission."""
        self._cpu_limit, self._cpu_began, self._n_words = seconds, time.process_time(), n_words

    def run(self) -> None:
        options = settings.CAPTIOUS
        deadline = timezone.now() + timedelta(seconds=options.scoring_seconds)
        try:
            while not self.stop.wait(min(1.0, options.lease_seconds / 5)):
                now = timezone.now()
                cpu = time.process_time() - self._cpu_began
                if now > deadline or cpu > self._cpu_limit:
                    self._give_up(cpu)
                    return
                if not self.is_lost:
                    self._beat(now)
        finally:
            connection.close()

    def _give_up(self, cpu: float) -> None:
        """End scoring. It counts unless the worker hangs, or the machine was busy with other things all the time."""
        try:
            queue.end_turn(self._lease.submission)
            if cpu > _MIN_CPU_SHARE * self._cpu_limit:
                self._lease.rows.update(**_failure_values(self._why_stopped(cpu)))
            else:
                _fail(self._lease.rows, f"Scoring took longer than {settings.CAPTIOUS.scoring_seconds:,} seconds.")
        except DatabaseError:  # then the lease runs out
            _log.exception("scoring took too long", extra={"submission": self._lease.submission.pk})
        finally:
            self._on_timeout()

    def _why_stopped(self, cpu: float) -> str:
        limit = f"{self._cpu_limit:,.0f} seconds of processor time, the limit for {self._n_words:,} words"
        if cpu <= self._cpu_limit:
            limit = f"{settings.CAPTIOUS.scoring_seconds:,} seconds of wall time, with {cpu:,.0f} of {limit}"
        return (
            f"Scoring was stopped after {limit}. Long captions that are not sentences take longest. "
            "It counts toward your quota."
        )

    def _beat(self, now: datetime) -> None:
        try:
            n_rows = self._lease.rows.update(
                lease_until=_end_of_lease(now), progress=min(self.progress, 99), doing=self.doing[:200]
            )
            self.is_lost = n_rows == 0
        except DatabaseError:  # it is locked or unreachable: the next beat may succeed, or the lease runs out
            connection.close()


def _end_of_lease(now: datetime) -> datetime:
    return now + timedelta(seconds=settings.CAPTIOUS.lease_seconds)


def _fail(rows: Any, traceback: str) -> bool:
    """Record a failure of the server. It does not count, unless the submission was scored before and counted."""
    counts = Case(When(shown_scores__isnull=True, then=False), default=F("counts"))
    n_rows: int = rows.update(**_failure_values(OUR_FAULT), counts=counts, traceback=traceback)
    return n_rows == 1


def _failure_values(reason: str) -> dict[str, Any]:
    """The columns of a failed submission."""
    return {
        "status": _Status.FAILED,
        "reason": reason,
        "finished": timezone.now(),
        "lease_until": None,
        "doing": "",
    }
