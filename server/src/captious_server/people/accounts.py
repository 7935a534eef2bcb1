"""Accounts: tokens, rate limits and the audit log. Signing in is in ``sign_in``."""

from __future__ import annotations

import hashlib
import logging
import secrets
import time
from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from django.db.models import F, Q
from django.http import HttpRequest
from django.utils import timezone

from captious_server.models import AuditEvent, Challenge, Invitation, RateCount, Submission, Team, Token, User
from captious_server.settings import client_address, network

_log = logging.getLogger(__name__)

# Rate limits: how often an account or network address may do something within a minute.


class TooManyRequests(Exception):
    """A rate limit was reached.

    Args:
        seconds: time after which to try again.
        message: the limit that was reached, a sentence.
    """

    def __init__(self, seconds: int, message: str = "Too many requests.") -> None:
        super().__init__(message)
        self.seconds = seconds
        self.message = message


def address_of(request: HttpRequest) -> str:
    """The client's address. ``X-Forwarded-For`` counts only if the settings say that a proxy is in front."""
    forwarded_for, peer = (request.META.get(name, "") for name in ("HTTP_X_FORWARDED_FOR", "REMOTE_ADDR"))
    return client_address(peer, forwarded_for, behind_proxy=settings.CAPTIOUS.behind_proxy)


def network_of(request: HttpRequest) -> str:
    """The client's address, for limits."""
    return network(address_of(request))


def limit(request: HttpRequest, action: str, *, by_address: bool = False) -> None:
    """Count a request, by account or, for visitors, by address.

    Args:
        by_address: whether to count by address for signed-in users as well.

    Raises:
        TooManyRequests: there were too many within this minute.
    """
    if request.user.is_authenticated:
        _count(f"{action} user {request.user.pk}")
    if by_address or not request.user.is_authenticated:
        _count(f"{action} {network_of(request)}")


def _count(key: str) -> None:
    key, now = key[:200], time.time()
    minute = int(now // 60)
    one_more = {"count": F("count") + 1}
    row, _ = RateCount.objects.update_or_create(one_more, {"count": 1}, key=key, minute=minute)
    row.refresh_from_db()
    if row.count > settings.CAPTIOUS.requests_per_minute:
        raise TooManyRequests(60 - int(now % 60))


def remove_old_counts() -> None:
    """Forget counts of earlier minutes."""
    RateCount.objects.filter(minute__lt=int(time.time() // 60) - 1).delete()


# Writing the audit log.

_BATCH_EVENTS = 5000  # events removed per transaction


def record(
    action: str,
    target: str,
    *,
    request: HttpRequest | None = None,
    actor: User | None = None,
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


# Secrets that are shown once and of which only a hash is kept: API tokens and invitation links.

#: Scope of a token besides reading -> its description. Reading includes pages of organizers.
SCOPES = {
    "submit": "Submit, edit submissions, accept terms",
    "teams": "Create, join, change and leave teams",
    "organize": "Approve teams, and change webhooks",
}
#: How long a link to join a team can be used.
INVITATION_DAYS = 14


def make_token(
    user: User,
    name: str,
    *,
    scopes: Iterable[str] = ("submit",),
    challenge: Challenge | None = None,
    days: int = 0,
) -> str:
    """A new token of a user. It cannot be shown again: only its SHA-256 is kept, which suffices for random tokens.

    Args:
        scopes: some of ``SCOPES``; a token without any can only read.
        challenge: the only one that it is for.
        days: after which it expires; 0 for never.
    """
    token = f"cap_{secrets.token_urlsafe(32)}"
    expires = timezone.now() + timedelta(days=days) if days else None
    Token.objects.create(
        user=user,
        name=name,
        hash=_hash(token),
        prefix=token[:10],
        scopes=" ".join(scope for scope in SCOPES if scope in {*scopes}),
        challenge=challenge,
        expires=expires,
    )
    return token


def is_token_of(user: User, token: str) -> bool:
    """Return whether a token belongs to a user, which does not count as a use."""
    return Token.objects.filter(user=user, hash=_hash(token)).exists()


def token_of(text: str) -> Token | None:
    """The token with this text, if it has not expired and its user is active."""
    now = timezone.now()
    rows = Token.objects.filter(Q(expires=None) | Q(expires__gt=now), hash=_hash(text), user__is_active=True)
    row: Token | None = rows.select_related("user", "challenge").first()
    if row is None:
        return None
    if row.last_used is None or now - row.last_used > timedelta(minutes=1):
        Token.objects.filter(pk=row.pk).update(last_used=now)
    return row


def make_invitation(team: Team, user: User, label: str = "") -> str:
    """The secret of a new link with which anyone who has it can join the team for two weeks."""
    secret = secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=INVITATION_DAYS)
    Invitation.objects.create(team=team, hash=_hash(secret), created_by=user, expires=expires, label=label)
    return secret


def invitation_of(secret: str) -> Invitation | None:
    """The invitation with this secret, if it has not expired."""
    return Invitation.objects.filter(hash=_hash(secret), expires__gt=timezone.now()).first()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
