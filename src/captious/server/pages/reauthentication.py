"""A form in which users prove their identity again, which protects sensitive actions in an unattended browser."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse

from captious.server.models import User
from captious.server.people.second_step import is_code, know_device, refusal

_DEVICE_COOKIE = "captious_device"
_DEVICE_SECONDS = 365 * 24 * 3600


class ProofForm(forms.Form):
    """The password or, for accounts with a second step, a code. Accounts with neither need no proof.

    Args:
        request: the request, with the user and the browser.
        user: the current user from the database, if it has been read.
    """

    proof = forms.CharField(
        label="Your password", max_length=4096, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, request: HttpRequest, user: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user: Any = user or request.user
        self._device = device_of(request)
        has_password = self._user.has_usable_password()
        if not has_password and not self._user.totp_salt:
            del self.fields["proof"]
        elif self._user.totp_salt:
            self.fields["proof"].label = "Your password, or a code" if has_password else "A code"

    def clean_proof(self) -> str:
        proof: str = self.cleaned_data["proof"]
        if self._user.has_usable_password() and self._user.check_password(proof):
            return proof
        if not self._user.totp_salt or not is_code(proof):  # a mistyped password is not a wrong code
            raise ValidationError(
                "This is not your password." if self._user.has_usable_password() else "This code is invalid."
            )
        if reason := refusal(self._user, proof, self._device):
            raise ValidationError(
                f"This is not your password. {reason}" if self._user.has_usable_password() else reason
            )
        return proof


def device_of(request: HttpRequest) -> str:
    """The secret that a browser has kept since its user entered a right code; empty if it has none."""
    return str(request.COOKIES.get(_DEVICE_COOKIE, ""))[:100]


def keep_device(request: HttpRequest, response: HttpResponse, user: User) -> HttpResponse:
    """Remember the browser in which a user has entered a right code."""
    device = know_device(user, device_of(request))
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(_DEVICE_COOKIE, device, max_age=_DEVICE_SECONDS, secure=secure, httponly=True, samesite="Lax")
    return response
