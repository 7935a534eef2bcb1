"""Secrets that are shown once and of which only a hash is kept: API tokens and invitation links."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.utils import timezone

from captious.server.models import Invitation, Team, Token, User

__all__ = ["INVITATION_DAYS", "invitation_of", "is_token_of", "make_invitation", "make_token", "user_of_token"]

#: How long a link to join a team can be used.
INVITATION_DAYS = 14


def make_token(user: User, name: str) -> str:
    """A new token of a user. It cannot be shown again: only its SHA-256 is kept, which suffices for random tokens."""
    token = f"cap_{secrets.token_urlsafe(32)}"
    Token.objects.create(user=user, name=name, hash=_hash(token), prefix=token[:10])
    return token


def is_token_of(user: User, token: str) -> bool:
    """Whether a user has this token; it is not used."""
    return bool(Token.objects.filter(user=user, hash=_hash(token)).exists())


def user_of_token(token: str) -> User | None:
    """The active user that a token belongs to."""
    row = Token.objects.select_related("user").filter(hash=_hash(token), user__is_active=True).first()
    if row is None:
        return None
    now = timezone.now()
    if row.last_used is None or now - row.last_used > timedelta(minutes=1):
        Token.objects.filter(pk=row.pk).update(last_used=now)
    user: User = row.user
    return user


def make_invitation(team: Team, user: User) -> str:
    """The secret of a new link with which anyone who has it can join the team for two weeks."""
    secret = secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=INVITATION_DAYS)
    Invitation.objects.create(team=team, hash=_hash(secret), created_by=user, expires=expires)
    return secret


def invitation_of(secret: str) -> Invitation | None:
    """The invitation with this secret, if it has not expired."""
    invitation: Invitation | None = Invitation.objects.filter(hash=_hash(secret), expires__gt=timezone.now()).first()
    return invitation


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
