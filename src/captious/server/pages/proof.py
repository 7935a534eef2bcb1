"""A form in which users prove who they are once more: before what somebody with their open browser must not do."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from captious.server.models import User
from captious.server.people.second_step import is_code, refusal


class ProofForm(forms.Form):
    """The password or, of accounts with a second step, a code. Accounts with neither have nothing to prove."""

    proof = forms.CharField(
        label="Your password", max_length=4096, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user
        has_password = user.has_usable_password()
        if not has_password and not user.totp_salt:
            del self.fields["proof"]
        elif user.totp_salt:
            self.fields["proof"].label = "Your password, or a code" if has_password else "A code"

    def clean_proof(self) -> str:
        proof: str = self.cleaned_data["proof"]
        if self._user.has_usable_password() and self._user.check_password(proof):
            return proof
        if not self._user.totp_salt or not is_code(proof):  # a mistyped password is no wrong code
            raise ValidationError("This is not your password." if self._user.has_usable_password() else "No such code.")
        if reason := refusal(self._user, proof):
            raise ValidationError(
                f"This is not your password. {reason}" if self._user.has_usable_password() else reason
            )
        return proof
