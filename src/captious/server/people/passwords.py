"""Passwords: limits on attempts, and revocation of tokens and identities with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)
from django.core.cache import cache
from django.http import HttpRequest
from django.utils.html import format_html

from captious.server.models import Identity, Token, User
from captious.server.people.rate_limits import limit

_NAME_LENGTH = 255
_MAIL_SECONDS = 600  # minimum time between two mails to an account, per web process


def attempted_name(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str:
    """The user name of an attempt to sign in, cut to the length of its column, which is longer than any name."""
    return str((credentials or request.POST).get("username", ""))[:_NAME_LENGTH]


class RateLimit(BaseBackend):
    """Counts every attempt to sign in, on the site and on the administration pages, and authenticates nobody."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        if request is not None:
            limit(request, "password", by_address=True)


def end_access(user: User) -> int:
    """Revoke all tokens of a user, and disconnect other sites; return the number of both."""
    rows = (Token.objects.filter(user=user), Identity.objects.filter(user=user))
    return sum(table_rows.delete()[0] for table_rows in rows)


class LinkForm(PasswordResetForm):
    """The email address of an account, to which a link is sent, with a limit per account."""

    def get_users(self, email: str) -> Iterable[User]:
        return [user for user in super().get_users(email) if cache.add(f"reset-mail-{user.pk}", True, _MAIL_SECONDS)]


class _PasswordForm(forms.Form):
    """A form that sets a password. Tokens and connected sites end with the old one unless the user keeps them."""

    keep_tokens = forms.BooleanField(
        required=False,
        label="Keep my tokens and connected sites",
        help_text="Otherwise they are removed. Keep them only if nobody else can have added or seen one.",
    )

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        self.n_ended = 0 if self.cleaned_data["keep_tokens"] else end_access(user)
        return user


class ChangeForm(_PasswordForm, PasswordChangeForm):
    """A new password, for users who know the old one."""

    field_order = ["old_password", "new_password1", "new_password2", "keep_tokens"]


class ResetForm(_PasswordForm, SetPasswordForm):
    """A new password, for users who have a link."""

    field_order = ["new_password1", "new_password2", "keep_tokens"]


class AdministratorsForm(_PasswordForm, AdminPasswordChangeForm):
    """A new password, from an administrator.

    Tokens are always revoked and other sites disconnected: administrators do this for owners who are locked out, or
    whose account somebody else has used, and cannot know who added them. Owners connect their sites again.
    """

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        titles = ", ".join(user.identities.values_list("label", flat=True))
        self.fields["password1"].help_text = format_html(
            "{}<p>Saving ends all sessions of the account, revokes its tokens ({}), and disconnects the other sites "
            "through which it signs in ({}). Its owner can connect them again.</p>",
            self.fields["password1"].help_text,
            user.tokens.count(),
            titles or "none",
        )
