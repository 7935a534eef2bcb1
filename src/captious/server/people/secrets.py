"""Secrets that are shown once and of which only a hash is kept: API tokens and invitation links."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from captious.server.models import Challenge, Invitation, Team, Token, User

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
    return bool(Token.objects.filter(user=user, hash=_hash(token)).exists())


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
