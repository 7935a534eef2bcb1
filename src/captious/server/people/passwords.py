"""Passwords: how often they are tried, how many are hashed at once, and which tokens end with them."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.core.cache import cache
from django.http import HttpRequest

from captious.server.models import Token, User
from captious.server.people.rates import TooManyRequests, limit

__all__ = [
    "AdministratorsForm",
    "ChangeForm",
    "LimitedHasher",
    "LinkForm",
    "RateLimit",
    "ResetForm",
    "end_tokens",
    "name_tried",
]

_at_once = settings.CAPTIOUS.concurrent_passwords
_hashing = threading.BoundedSemaphore(_at_once)
#: Whoever waits holds a thread of the web server, so most threads are left for pages.
_places = threading.BoundedSemaphore(_at_once + max(1, settings.CAPTIOUS.web_threads // 4))
_NAME = 255
_MAIL_SECONDS = 600  # after which an account is sent another mail by one web process
_SECONDS = 5  # after which a place is likely to be free


def name_tried(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str:
    """The user name of an attempt to sign in, as long as the table of attempts has room for it. Users have less."""
    return str((credentials or request.POST).get("username", ""))[:_NAME]


class RateLimit(BaseBackend):
    """Counts every attempt to sign in, on the site and on the administration pages, and authenticates nobody."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        if request is not None:
            limit(request, "sign in", by_address=True)


class LimitedHasher(PBKDF2PasswordHasher):
    """Hashes a fixed number of passwords at once in this process, as each takes a core for a while.

    Raises:
        TooManyRequests: the short queue of those who wait is full.
    """

    def encode(self, password: str, salt: str, iterations: int | None = None) -> str:
        with _turn():
            return str(super().encode(password, salt, iterations))


@contextmanager
def _turn() -> Iterator[None]:
    if not _places.acquire(blocking=False):
        raise TooManyRequests(_SECONDS)
    try:
        with _hashing:
            yield
    finally:
        _places.release()


def end_tokens(user: User) -> int:
    """Revoke all tokens of a user; their number."""
    n, _ = Token.objects.filter(user=user).delete()
    return int(n)


class LinkForm(PasswordResetForm):
    """An email address to which a link is sent. It is the same address for everybody who asks, so it gets few mails."""

    def get_users(self, email: str) -> Iterable[User]:
        return [user for user in super().get_users(email) if cache.add(f"reset-mail-{user.pk}", True, _MAIL_SECONDS)]


class _EndsTokens(forms.Form):
    """A form that sets a password. Tokens end with the old one unless the user keeps them."""

    keep_tokens = forms.BooleanField(
        required=False,
        label="Keep my tokens",
        help_text="Otherwise all tokens of the account are revoked. Keep them only if nobody else can know them.",
    )

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        self.n_ended = 0 if self.cleaned_data["keep_tokens"] else end_tokens(user)
        return user


class ChangeForm(_EndsTokens, PasswordChangeForm):
    """A new password, for whoever knows the old one."""

    field_order = ["old_password", "new_password1", "new_password2", "keep_tokens"]


class ResetForm(_EndsTokens, SetPasswordForm):
    """A new password, for whoever has a link."""

    field_order = ["new_password1", "new_password2", "keep_tokens"]


class AdministratorsForm(_EndsTokens, AdminPasswordChangeForm):
    """A new password, for an administrator. The page does not offer to keep tokens."""
