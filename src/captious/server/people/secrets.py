"""Secrets that are shown once and of which only a hash is kept: API tokens and invitation links."""

from __future__ import annotations

import hashlib
import secrets
from datetime import timedelta

from django.utils import timezone

from captious.server.models import Invitation, Team, Token, User

__all__ = ["INVITATION_DAYS", "invitation_of", "make_invitation", "make_token", "user_of_token"]

#: How long a link to join a team can be used.
INVITATION_DAYS = 14
_TOKEN_PREFIX = "cap_"


def make_token(user: User, name: str) -> str:
    """A new token of a user. It cannot be shown again: only its SHA-256 is kept, which suffices for random tokens."""
    text = _TOKEN_PREFIX + secrets.token_urlsafe(32)
    Token.objects.create(user=user, name=name, hash=_hash(text), prefix=text[:10])
    return text


def user_of_token(text: str) -> User | None:
    """The active user that a token belongs to."""
    token = Token.objects.select_related("user").filter(hash=_hash(text), user__is_active=True).first()
    if token is None:
        return None
    now = timezone.now()
    if token.last_used is None or now - token.last_used > timedelta(minutes=1):
        Token.objects.filter(pk=token.pk).update(last_used=now)
    user: User = token.user
    return user


def make_invitation(team: Team, user: User) -> str:
    """The secret of a new link with which anyone who has it can join the team for two weeks."""
    text = secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=INVITATION_DAYS)
    Invitation.objects.create(team=team, hash=_hash(text), created_by=user, expires=expires)
    return text


def invitation_of(text: str) -> Invitation | None:
    """The invitation with this secret, if it has not expired."""
    found: Invitation | None = Invitation.objects.filter(hash=_hash(text), expires__gt=timezone.now()).first()
    return found


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
