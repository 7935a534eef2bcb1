"""The forms of accounts: names, sign-up and tokens."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from captious.server.actions.forms import Line, validate_alphabet
from captious.server.models import Challenge, User
from captious.server.pages.context import has_no_mail
from captious.server.pages.reauthentication import ProofForm
from captious.server.people.access import visible_challenges
from captious.server.people.secrets import SCOPES


class NameForm(forms.ModelForm):
    """The name of a new account."""

    class Meta:
        model = User
        fields: tuple[str, ...] = ("username",)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise ValidationError("This name is taken.")
        return validate_alphabet(name)


class SignUpForm(NameForm, UserCreationForm):
    """A new account with a password."""

    email = forms.EmailField(required=False)

    class Meta(NameForm.Meta):
        fields = ("username", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].help_text = (
            "If you forget your password, the administrator can create a reset link."
            if has_no_mail()
            else "Reset links for forgotten passwords are sent to this address."
        )


class TokenForm(ProofForm):
    """A new token. It outlives its session, so it needs a proof of identity."""

    name = Line(label="Name of the token", max_length=80, help_text="Its purpose, such as the name of a machine.")
    scopes = forms.MultipleChoiceField(
        choices=[*SCOPES.items()],
        initial=["submit"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Permissions besides reading",
    )
    challenge = forms.ModelChoiceField(
        Challenge.objects.none(),
        required=False,
        to_field_name="slug",
        empty_label="All challenges",
        label="For",
        help_text="A token for one challenge cannot change teams.",
    )
    days = forms.TypedChoiceField(
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("0", "for good")],
        initial="365",
        required=False,
        coerce=int,
        empty_value=365,
        label="Valid for",
    )
    field_order = ["name", "scopes", "challenge", "days", "proof"]

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, request=request, **kwargs)
        self.fields["challenge"].queryset = visible_challenges(request.user).order_by("slug")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean()
        if values.get("challenge") and "teams" in values.get("scopes", []):
            self.add_error("challenge", "A token for one challenge cannot change teams, which take part in many.")
        return values
