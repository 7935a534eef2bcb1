"""The queue of submissions: their order, cancellations, and submissions that are scored again."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.core.cache import cache
from django.db.models import F, Q
from django.utils import timezone

from captious.server.models import QueueTurn, Submission
from captious.server.scoring.turns import QueueEntry, in_turn
from captious.version import __version__

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
    rows = Submission.objects.filter(pk=submission.pk, status=_Status.QUEUED, finished=None)
    return bool(rows.update(status=_Status.CANCELED, counts=False, finished=timezone.now()) == 1)


def queue_again(submissions: Any) -> int:
    """Queue the submissions of a queryset to be scored again with changed references or metrics.

    Quotas are not affected: submissions that did not count after a failure of the server do not count later.
    """
    rows = submissions.filter(status__in=[_Status.DONE, _Status.FAILED, _Status.RUNNING])
    return int(rows.update(**CLEAN_VALUES | {"status": _Status.QUEUED, "lease": F("lease") + 1, "tries": 0}))
