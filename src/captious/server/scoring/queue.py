"""The queue of submissions: what is scored again, and what is cancelled."""

from __future__ import annotations

from typing import Any

from django.db.models import F
from django.utils import timezone

from captious.server.models import Submission

__all__ = ["cancel", "queue_again"]

_Status = Submission.Status


def cancel(submission: Submission) -> bool:
    """Cancel before scoring has begun; False if it is too late. What was scored once is never free again."""
    rows = Submission.objects.filter(pk=submission.pk, status=_Status.QUEUED, finished=None)
    return bool(rows.update(status=_Status.CANCELLED, counts=False, finished=timezone.now()) == 1)


def queue_again(submissions: Any) -> int:
    """Score submissions again, from a queryset, because what they are scored with has changed.

    It costs nothing, and what did not count because the server had failed does not count later either.
    """
    rows = submissions.filter(status__in=[_Status.DONE, _Status.FAILED, _Status.RUNNING])
    return int(
        rows.update(
            status=_Status.QUEUED,
            lease=F("lease") + 1,
            lease_until=None,
            not_before=None,
            tries=0,
            progress=0,
            doing="",
            reason="",
            traceback="",
        )
    )
