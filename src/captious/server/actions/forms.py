"""The forms of the site."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from captious.report.numbers import single_line
from captious.server.challenges.markdown_html import as_html
from captious.server.models import Challenge, Phase, Submission, Team, User
from captious.server.people.teams import is_free, mixes_alphabets

_MAX_HTML_LENGTH = 50_000  # characters of news on a page


def one_line(text: str) -> str:
    """Text without control characters, which could make it look like other text."""
    return " ".join(single_line(text).split())


class Line(forms.CharField):
    """A field with one line of text."""

    def to_python(self, value: Any) -> str:
        return one_line(super().to_python(value))


def _printable(text: str) -> str:
    """Text without control characters, which XML cannot have."""
    return "".join(letter for letter in text if letter in "\n\r\t" or unicodedata.category(letter) != "Cc")


def validate_alphabet(name: str) -> str:
    """Return a name that cannot be mistaken for another one.

    Raises:
        ValidationError: it mixes letters of alphabets that look alike.
    """
    if mixes_alphabets(name):
        raise ValidationError("This name mixes letters of alphabets that look alike.")
    return name


class EditForm(forms.ModelForm):
    """The description of a submission, which can be edited later."""

    method = Line(max_length=120, help_text="Name of the method on the leaderboard.")
    link = forms.URLField(
        required=False, max_length=500, assume_scheme="https", help_text="A paper or repository, https://…"
    )
    description = forms.CharField(required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 4}))
    public = forms.BooleanField(required=False, initial=True, label="Show on the leaderboard")
    anonymous = forms.BooleanField(required=False, label="Hide the name of the team")
    may_publish = forms.BooleanField(
        required=False, label="Let the organizers publish the captions in an archive of the challenge"
    )

    class Meta:
        model = Submission
        fields: tuple[str, ...] = ("method", "link", "description", "public", "anonymous", "may_publish")

    def clean_link(self) -> str:
        link: str = self.cleaned_data["link"]
        if link and not link.startswith(("https://", "http://")):
            raise ValidationError("Enter an address that begins with https:// or http://.")
        return link


class SubmitForm(EditForm):
    """A new submission to a challenge, for one of the user's teams."""

    field_order = ["phase", "team", "file"]

    phase = forms.ModelChoiceField(Phase.objects.none(), empty_label=None, to_field_name="name")
    team = forms.ModelChoiceField(Team.objects.none(), empty_label=None, to_field_name="slug")
    file = forms.FileField(
        help_text="A .json, .jsonl, .ndjson, .csv or .tsv file of captions, also with .gz, or a .zip with all files of "
        "the phase."
    )

    class Meta(EditForm.Meta):
        fields = ("phase", "team", *EditForm.Meta.fields)

    def __init__(self, *args: Any, phases: list[Phase], teams: list[Team], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = Phase.objects.filter(pk__in=[phase.pk for phase in phases])
        self.fields["phase"].queryset = chosen.select_related("challenge")
        self.fields["team"].queryset = Team.objects.filter(pk__in=[team.pk for team in teams])
        if len(teams) == 1:
            self.fields["team"].widget = forms.HiddenInput()
            self.fields["team"].initial = teams[0].slug


def open_phases(challenge: Challenge, time: datetime) -> list[Phase]:
    """The phases that take submissions whose upload began at a time."""
    return [phase for phase in challenge.phase_list if phase.state_at(time) == "open"]


class TeamForm(forms.Form):
    """A new team."""

    name = Line(label="Name of the team", max_length=80)

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if not is_free(name):
            raise ValidationError("This name is taken, or has no letters or digits.")
        return validate_alphabet(name)


class AskForm(forms.Form):
    """A request for the approval of a team."""

    message = Line(required=False, max_length=500, label="About the team", help_text="It is shown to the organizers.")


class BanForm(forms.Form):
    """A ban of a team."""

    team = forms.CharField(label="Name of the team", max_length=80)
    reason = Line(max_length=500, help_text="It is shown to the team.")

    def clean_team(self) -> Team:
        team = Team.objects.filter(name=self.cleaned_data["team"].strip(), is_baselines=False).first()
        if team is None:
            raise ValidationError("There is no such team.")
        return team


class NewsForm(forms.Form):
    """News of a challenge."""

    title = Line(max_length=200)
    text = forms.CharField(
        required=False, max_length=5_000, widget=forms.Textarea(attrs={"rows": 5}), help_text="In Markdown."
    )

    def clean_text(self) -> str:
        text = _printable(self.cleaned_data["text"])
        if len(as_html(text, top_heading=4)) > _MAX_HTML_LENGTH:
            raise ValidationError("The formatted text is too large. Shorten it, beginning with its tables.")
        return text


class ParticipantsForm(forms.Form):
    """Users who may see a challenge for participants."""

    names = forms.CharField(
        label="User names",
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text="Separated by spaces, commas or line breaks.",
    )

    def clean_names(self) -> list[User]:
        names = self.cleaned_data["names"].replace(",", " ").split()
        users = {user.username: user for user in User.objects.filter(username__in=names)}
        unknown = [name for name in dict.fromkeys(names) if name not in users]
        if unknown:
            raise ValidationError(f"Unknown users: {', '.join(unknown)[:500]}. Nobody was added.")
        return list(users.values())
