"""Writing the audit log."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone

from captious.server.models import AuditEvent, Challenge, Submission
from captious.server.people.rate_limits import address_of

_BATCH_EVENTS = 5000  # events removed per transaction

_log = logging.getLogger(__name__)


def record(
    action: str,
    target: str,
    *,
    request: HttpRequest | None = None,
    actor: Any = None,
    detail: str = "",
    challenge: Challenge | None = None,
    submission: Submission | None = None,
) -> None:
    """Add an event to the audit log.

    Args:
        action: the action on the target, such as "submit".
        request: the request of the action, for the actor and the address.
        actor: the user, where there is no request; None for the server itself.
    """
    user = request.user if request is not None else actor
    if submission is not None and challenge is None:
        challenge = submission.challenge
    event = AuditEvent.objects.create(
        actor=getattr(user, "username", "") or ("visitor" if request is not None else "server"),
        address=address_of(request) if request is not None else "",
        action=action,
        target=target[:200],
        detail=detail,
        challenge=challenge,
        submission=submission,
    )
    _log.info(action, extra={"actor": event.actor, "target": event.target, "detail": detail})


def remove_old_events() -> int:
    """Remove events that are older than the settings say; returns their number."""
    days, n = settings.CAPTIOUS.audit_days, 0
    if not days:
        return 0
    events = AuditEvent.objects.filter(time__lt=timezone.now() - timedelta(days=days)).order_by("time")
    while pks := [*events.values_list("pk", flat=True)[:_BATCH_EVENTS]]:
        n += AuditEvent.objects.filter(pk__in=pks).delete()[0]
    return n
