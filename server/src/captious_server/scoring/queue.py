"""The queue of submissions: turns, leases of workers, cancellations, and versions of scores."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Generic, NamedTuple, TypeVar

from django.conf import settings
from django.core.cache import cache
from django.db import connection, transaction
from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, Subquery, When
from django.db.utils import Error as DatabaseError
from django.utils import timezone

from captious.version import __version__
from captious_server.models import Phase, QueueTurn, Scores, Submission, board_changed
from captious_server.people.accounts import record
from captious_server.settings import BackgroundThread

# The outputs and reference sets that a board shows: those of its phase at the time of its scoring version.


class ReferenceSet(NamedTuple):
    """A reference set of a board: the captions file that it judges, its name, and whether its scores are shown at the
    end of a phase.
    """

    captions: str
    name: str
    at_end: bool


@dataclass(frozen=True)
class BoardOutputs:
    """The outputs of a phase in one version of a challenge, for as long as its board shows scores of that version.

    Args:
        directions: output -> whether lower scores are better, in the order of the columns; None if neither are.
        rank_by: the output that ranks.
        sets: key -> reference set, in the order of the challenge's folder.
        counts: key of a reference set -> number of images.
    """

    directions: dict[str, bool | None]
    rank_by: str
    sets: dict[str, ReferenceSet]
    counts: dict[str, int]

    @classmethod
    def of_challenge(cls, phase: Phase) -> BoardOutputs:
        """The outputs of the current version of the challenge."""
        definition, counts = phase.challenge.definition, phase.challenge.counts
        sets = _current_sets(phase)
        return cls(definition.directions, definition.rank_by, sets, {key: counts[key] for key in sets})

    @classmethod
    def of_board(cls, phase: Phase) -> BoardOutputs:
        """The outputs on the board of a phase."""
        values = phase.board_values
        sets = {key: ReferenceSet(*row) for key, *row in values["sets"]}
        return cls(dict(values["directions"]), values["rank_by"], sets, values["counts"])

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.directions)

    @property
    def lower_is_better(self) -> tuple[str, ...]:
        """The outputs where lower scores are better."""
        return tuple(name for name, lower in self.directions.items() if lower)

    @property
    def main_set(self) -> str:
        """The key of the set on which the best submission of a team is its entry: the first of the last captions file.

        The last captions file is usually the one that counts: val2014 before test2014. Empty if there are no sets.
        """
        captions = [row.captions for row in self.sets.values()]
        return next((key for key, row in self.sets.items() if row.captions == captions[-1]), "")

    def first_set(self, phase: Phase) -> str:
        """The key of the set that is shown unless another is asked for: what was held back until the end, or the main
        one.
        """
        captions = self.sets[self.main_set].captions if self.sets else ""
        held = [key for key, row in self.sets.items() if row.at_end and row.captions == captions]
        return held[0] if held and phase.shows(at_end=True) else self.main_set

    def to_values(self) -> dict[str, Any]:
        """Plain values, for ``Phase.board_values``. Databases may sort the keys of objects, but no lists."""
        return {
            "directions": [*map(list, self.directions.items())],
            "rank_by": self.rank_by,
            "sets": [[key, *row] for key, row in self.sets.items()],
            "counts": self.counts,
        }


def sets_of(phase: Phase) -> dict[str, ReferenceSet]:
    """The reference sets with which submissions of a phase may have scores: those of its board, then new ones."""
    return BoardOutputs.of_board(phase).sets | _current_sets(phase)


def _current_sets(phase: Phase) -> dict[str, ReferenceSet]:
    return {
        key: ReferenceSet(row.captions, row.name, row.scores_shown == "at-end")
        for key, row in phase.reference_sets.items()
    }


# The order of the queue: parties take turns, so that nobody waits for all submissions of another party.
#
# The parties of a submission are its team and its user, so that neither many members nor many teams give more turns.
# What is scored again belongs to its challenge alone, which has turns like a team. In a round, every party has one
# submission; one that is being scored has had its turn in the first round. Within a round, who waits longest is first:
# since its submission came in or, if that is later, since its last turn ended. A party that has several challenges
# takes turns between them, and otherwise its oldest submission is first.

#: A time: a date in the server, a number in simulations.
_Time = TypeVar("_Time")


@dataclass(frozen=True)
class QueueEntry(Generic[_Time]):
    """A submission that waits to be scored.

    Args:
        id: lower ids came in earlier.
        since: time of its arrival.
        parties: the parties that take turns.
        challenge: the challenge, which takes turns within the parties.
    """

    id: int
    since: _Time
    parties: tuple[str, ...]
    challenge: str


def in_turn(
    waiting: Iterable[QueueEntry[_Time]], running: Iterable[tuple[str, ...]], ended: Mapping[str, _Time]
) -> list[int]:
    """The ids of submissions in the order in which they will be scored if no others come in.

    Args:
        waiting: all waiting submissions.
        running: the parties of each submission that is being scored.
        ended: end of the last turn of parties and challenges, where known.
    """
    n_before: Counter[str] = Counter(party for parties in running for party in parties)
    order = []
    for row in _between_challenges(waiting, ended):
        turn = max(n_before[party] for party in row.parties)
        n_before.update(row.parties)
        since = max([row.since, *(ended[party] for party in row.parties if party in ended)])  # type: ignore[type-var]
        order.append((turn, since, row.id))
    return [id for _, _, id in sorted(order)]


def _between_challenges(waiting: Iterable[QueueEntry[_Time]], ended: Mapping[str, _Time]) -> list[QueueEntry[_Time]]:
    """Submissions, those of the same parties in turn between challenges."""
    n_before: Counter[tuple[tuple[str, ...], str]] = Counter()
    order = []
    for row in sorted(waiting, key=lambda row: row.id):
        since = (1, ended[row.challenge]) if row.challenge in ended else (0, row.since)
        order.append((n_before[row.parties, row.challenge], since, row.id, row))
        n_before[row.parties, row.challenge] += 1
    return [row for _, _, _, row in sorted(order, key=lambda entry: entry[:3])]


# The queue: places, cancellations, and submissions that are scored again.

_Status = Submission.Status
#: The columns of a submission that belong to one try of scoring, with their values when none is going on.
CLEAN_VALUES: dict[str, Any] = {
    **dict.fromkeys(("lease_until", "not_before")),
    **dict.fromkeys(("doing", "reason", "traceback"), ""),
    "progress": 0,
}
_TURN_LIFETIME = timedelta(days=7)  # after this time, the last turn of a party is forgotten
_LONG_QUEUE = 200  # queues longer than this are not ordered for every page
_CACHE_SECONDS = 5  # for which the order of long queues is cached


def waits(now: datetime) -> Q:
    """The submissions that a worker can take: queued ones, and those that another worker lost."""
    # During an upgrade, workers of the old program leave what the new one has to score.
    queued = Q(status=_Status.QUEUED) & (Q(not_before=None) | Q(not_before__lte=now))
    return Q(phase__program=__version__) & (queued | Q(status=_Status.RUNNING, lease_until__lt=now))


def in_order(now: datetime) -> list[int]:
    """Primary keys of submissions that can be taken, in the order of their turns."""
    return _in_order(waits(now), now)


def places() -> dict[int, int]:
    """The place in the queue of every submission that is queued, 1 for the next."""
    place_of: dict[int, int] | None = cache.get("places")
    if place_of is None:
        order = _in_order(Q(status=_Status.QUEUED), timezone.now())
        place_of = {pk: place for place, pk in enumerate(order, start=1)}
        if len(place_of) > _LONG_QUEUE:
            cache.set("places", place_of, _CACHE_SECONDS)
    return place_of


def place(submission: Submission) -> int | None:
    """The place of a submission in the queue; None unless it is queued."""
    return places().get(submission.pk) if submission.status == _Status.QUEUED else None


def _in_order(condition: Q, now: datetime) -> list[int]:
    rows = [
        QueueEntry(pk, created, _parties(team, user, challenge, finished), _challenge(challenge))
        for pk, created, *(team, user, challenge, finished) in _rows(condition, "pk", "created", *_PARTY_COLUMNS)
    ]
    if len(rows) < 2:
        return [row.id for row in rows]
    running = [_parties(*row) for row in _rows(Q(status=_Status.RUNNING, lease_until__gte=now), *_PARTY_COLUMNS)]
    return in_turn(rows, running, dict(QueueTurn.objects.values_list("party", "ended")))


_PARTY_COLUMNS = ("team_id", "user_id", "phase__challenge_id", "finished")


def _rows(condition: Q, *names: str) -> Any:
    return Submission.objects.filter(condition).order_by().values_list(*names)


def _parties(team: int, user: int | None, challenge: int, finished: datetime | None) -> tuple[str, ...]:
    """The parties that take turns. Submissions that are scored again count for the challenge, not for their team."""
    if finished is not None:
        return (f"again:{challenge}",)
    return (f"team:{team}",) if user is None else (f"team:{team}", f"user:{user}")


def _challenge(challenge: int) -> str:
    return f"challenge:{challenge}"


def end_turn(submission: Submission) -> None:
    """End the turn of a submission for the parties that had it."""
    challenge = submission.phase.challenge_id
    parties = _parties(submission.team_id, submission.user_id, challenge, submission.finished)
    for party in sorted((*parties, _challenge(challenge))):  # all workers lock them in this order
        QueueTurn.objects.update_or_create(party=party, defaults={"ended": timezone.now()})


def remove_old_turns() -> None:
    """Delete parties without a recent turn."""
    QueueTurn.objects.filter(ended__lt=timezone.now() - _TURN_LIFETIME).delete()


def cancel(submission: Submission) -> bool:
    """Cancel before scoring has begun; False if it is too late. Submissions that were scored once still count."""
    waiting = [_Status.HELD, _Status.QUEUED]
    rows = Submission.objects.filter(pk=submission.pk, status__in=waiting, finished=None)
    return rows.update(status=_Status.CANCELED, counts=False, finished=timezone.now()) == 1


def release(submission: Submission) -> None:
    """Queue a submission that was held."""
    Submission.objects.filter(pk=submission.pk, status=_Status.HELD).update(
        status=_Status.QUEUED, reason="", is_noticed=False
    )


def queue_again(submissions: QuerySet[Submission]) -> int:
    """Queue the submissions of a queryset to be scored again with changed references or metrics.

    Quotas are not affected: submissions that did not count after a failure of the server do not count later.
    """
    rows = submissions.filter(status__in=[_Status.DONE, _Status.FAILED, _Status.RUNNING])
    return rows.update(**CLEAN_VALUES | {"status": _Status.QUEUED, "lease": F("lease") + 1, "tries": 0})


# Versions of scores: their references, metrics and programs, and the version shown on pages.
#
# A phase has a new version when the references, metrics or settings of one of its reference sets change, or the program
# does. Its submissions are scored again, by reference set and only where something has changed. Meanwhile the board
# shows the old version. It changes to the new one, in one transaction, when nothing that is on it waits to be scored
# any more. Scores of old versions stay.


def change(phase: Phase, set_keys: dict[str, str]) -> int:
    """Begin a new version of a phase if its references, metrics or program changed; return the number of rescorings.

    Args:
        set_keys: key of a reference set -> checksum. A retired phase without reference sets keeps its version.
    """
    if not set_keys or (set_keys, __version__) == (phase.set_keys, phase.program):
        _describe_board(phase)
        return 0
    is_new = not phase.set_keys
    phase.set_keys, phase.program = set_keys, __version__
    phase.scoring_version += not is_new
    phase.save(update_fields=["set_keys", "program", "scoring_version"])
    _describe_board(phase)
    n = queue_again(phase.submissions.all())
    _show_if_complete(phase.pk)
    return n


def change_program() -> int:
    """Begin a new version of all phases that another version of captious has scored; returns the submissions."""
    n = 0
    for pk in Phase.objects.exclude(program__in=["", __version__]).values_list("pk", flat=True):
        with transaction.atomic():
            phase = Phase.objects.select_for_update().get(pk=pk)
            n += change(phase, phase.set_keys)
    return n


def reusable(submission: Submission) -> dict[str, Scores]:
    """Earlier scores by key of the reference set, where nothing has changed for it.

    There are none if an organizer has the current version scored once more.
    """
    phase = submission.phase
    if submission.all_scores.filter(version=phase.scoring_version).exists():
        return {}
    return {
        key: scores
        for scores in submission.all_scores.filter(program=phase.program)
        for key, checksum in scores.set_keys.items()
        if phase.set_keys.get(key) == checksum
    }


def store(submission: Submission, **values: Any) -> None:
    """Store the scores of the current version, in the transaction that has locked the phase.

    Args:
        values: ``outputs``, ``set_warnings`` and ``results_file`` of ``Scores``.
    """
    phase = submission.phase
    values |= {"program": phase.program, "set_keys": phase.set_keys, "finished": timezone.now()}
    scores, _ = Scores.objects.update_or_create(submission=submission, version=phase.scoring_version, defaults=values)
    not_on_board = Submission.objects.filter(pk=submission.pk).exclude(shown_scores__version=F("phase__shown_version"))
    if not not_on_board.update(shown_scores=scores):  # it was scored once more
        board_changed(phase.pk)
    _show_if_complete(phase.pk)


def show_complete() -> None:
    """Show the new versions of phases in which nothing is left to be scored, because it failed or was deleted."""
    for pk in Phase.objects.filter(shown_version__lt=F("scoring_version")).values_list("pk", flat=True):
        _show_if_complete(pk)


def _describe_board(phase: Phase) -> None:
    """Update the columns of the board to those of the challenge, unless it shows older scores."""
    values = BoardOutputs.of_challenge(phase).to_values()
    Phase.objects.filter(pk=phase.pk, shown_version=F("scoring_version")).update(board_values=values)


def _show_if_complete(pk: int) -> None:
    with transaction.atomic():
        phase = Phase.objects.select_for_update(no_key=True).select_related("challenge").get(pk=pk)
        if phase.shown_version == phase.scoring_version:
            return
        # New submissions are not waited for: under load, there is always one.
        pending = Submission.objects.filter(
            phase=phase, status__in=[_Status.QUEUED, _Status.RUNNING], shown_scores__isnull=False
        ).exclude(shown_scores__version=phase.scoring_version)
        if pending.exists():
            return
        current = Scores.objects.filter(submission=OuterRef("pk"), version=phase.scoring_version)
        submissions = Submission.objects.filter(Exists(current), phase=phase)
        if not submissions.update(shown_scores=Subquery(current.values("pk")[:1])):
            board_changed(pk)  # it becomes empty
        Phase.objects.filter(pk=pk).update(shown_version=phase.scoring_version)
        _describe_board(phase)
        record("show scores", phase.name, challenge=phase.challenge, detail=f"version {phase.scoring_version}")


# The lease of a submission: its worker, its end, and the writes that are valid only for that worker.
#
# queued --take--> running --finish--> done | failed          cancel: queued --> canceled
#    ^                |
#    +----give back---+  the server failed, or the worker was not heard from and the lease has run out
#
# Each ``take`` increases the number of the lease. All later writes are conditional on that number, so a worker that was
# considered dead and comes back changes nothing.

#: The message to submitters when scoring failed through no fault of the submission.
OUR_FAULT = "The server could not score this submission. It does not count toward your quota. Please submit it again."
_log = logging.getLogger(__name__)
_RETRY_AFTER = timedelta(seconds=5)
_MIN_CPU_SHARE = 0.1  # share of the limit above which stopped submissions count; real captions need .05


@dataclass(frozen=True)
class Lease:
    """The right to score a submission, valid while it is the latest lease."""

    submission: Submission
    number: int

    @property
    def rows(self) -> QuerySet[Submission]:
        """The row of the submission, or none once the lease is lost."""
        return Submission.objects.filter(pk=self.submission.pk, lease=self.number, status=_Status.RUNNING)


def take(worker: str) -> Lease | None:
    """Take the next submission whose turn it is, queued or lost by a worker; None if there is none.

    One that was lost too often fails, and does not count.
    """
    while True:
        now = timezone.now()
        with transaction.atomic():
            row = next(filter(None, (_lock(pk, now) for pk in in_order(now))), None)
            if row is None:
                return None
            if row.tries >= settings.CAPTIOUS.scoring_tries:
                end_turn(row)  # a submission that ends workers must not always be first
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
    rows = Submission.objects.filter(waits(now), pk=pk)
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
            queue_again(lease.rows)
            return False
        values = {"status": _Status.DONE, "finished": timezone.now(), "progress": 100}
        n_rows = lease.rows.update(**CLEAN_VALUES | values)
        if n_rows == 1:
            end_turn(submission)
            store(submission, outputs=outputs, set_warnings=set_warnings, results_file=results_file)
        return n_rows == 1


def give_back(lease: Lease, traceback: str) -> bool:
    """After a failure of the server, retry a little later, or give up after the last try."""
    row = lease.rows.first()
    if row is None:
        return False
    end_turn(lease.submission)
    if row.tries >= settings.CAPTIOUS.scoring_tries:
        return _fail(lease.rows, traceback)
    not_before = timezone.now() + _RETRY_AFTER * 2**row.tries
    values = {"status": _Status.QUEUED, "not_before": not_before, "traceback": traceback}
    return lease.rows.update(**CLEAN_VALUES | values) == 1


class Heartbeat(BackgroundThread):
    """A thread that keeps a lease while its submission is being scored, and writes the progress. A context manager.

    Args:
        lease: the lease to renew.
        on_timeout: called in the thread when scoring has taken too long; it must end the process.
    """

    def __init__(self, lease: Lease, on_timeout: Callable[[], object]) -> None:
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
            end_turn(self._lease.submission)
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


def _fail(rows: QuerySet[Submission], traceback: str) -> bool:
    """Record a failure of the server. It does not count, unless the submission was scored before and counted."""
    counts = Case(When(shown_scores__isnull=True, then=False), default=F("counts"))
    return rows.update(**_failure_values(OUR_FAULT), counts=counts, traceback=traceback) == 1


def _failure_values(reason: str) -> dict[str, Any]:
    """The columns of a failed submission."""
    return {
        "status": _Status.FAILED,
        "reason": reason,
        "finished": timezone.now(),
        "lease_until": None,
        "doing": "",
    }
