"""What users do with requests, on pages and through the API: changes with their limits and log, and files to send."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, QueryDict
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from captious.drawing import single_line
from captious_server.boards.fields import DeclaredField, Value, as_text, changed_fields, fields_of_teams, fill_fields
from captious_server.challenges.folder import as_html
from captious_server.models import (
    Challenge,
    Invitation,
    Membership,
    Phase,
    Submission,
    Team,
    TeamApproval,
    TeamBan,
    User,
)
from captious_server.notices.delivery import message, team_asked
from captious_server.people.access import ExplainedError, ImpossibleError, UserRequest, Visitor, may_manage
from captious_server.people.accounts import invitation_of, make_invitation, record
from captious_server.people.teams import (
    MAX_TEAMS,
    ask,
    create_team,
    decide,
    is_free,
    join_team,
    leave_team,
    lock_team,
    mixes_alphabets,
    teams_in,
    teams_of,
)
from captious_server.scoring import queue
from captious_server.submissions import intake, storage

# Bans of teams from a challenge.


def ban(challenge: Challenge, team: Team, reason: str) -> int:
    """Ban a team and its members, cancel its submissions that are queued or held, and hide its others.

    Returns the number of hidden submissions.

    Lifting the ban does not show them again; organizers can.
    """
    row, _ = TeamBan.objects.update_or_create(challenge=challenge, team=team, defaults={"reason": reason})
    row.users.add(*team.members.all())
    submissions = Submission.objects.filter(phase__challenge=challenge, team=team)
    for submission in submissions.filter(finished=None):
        queue.cancel(submission)
    return submissions.filter(is_hidden=False).update(is_hidden=True)


# The forms of the site.

_MAX_HTML_LENGTH = 50_000  # characters of news on a page


def one_line(text: str) -> str:
    """Text without control characters, which could make it look like other text."""
    return " ".join(single_line(text).split())


class Line(forms.CharField):
    """A field with one line of text."""

    def to_python(self, value: Any) -> str:
        return one_line(super().to_python(value) or "")


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


#: Before the name of a field that a challenge declares, in forms.
FIELD = "field-"


class EditForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs alone
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

    def __init__(self, *args: Any, challenge: Challenge, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name, field in fields_of_teams(challenge).items():
            self.fields[f"{FIELD}{name}"] = DeclaredField(field)
            self.initial[f"{FIELD}{name}"] = self.instance.fields.get(name)

    @property
    def declared(self) -> dict[str, Value | None]:
        """The values of the challenge's fields, by name."""
        values = self.cleaned_data.items()
        return {name.removeprefix(FIELD): value for name, value in values if name.startswith(FIELD)}

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        self.instance.fields = changed_fields(self.instance.fields, self.declared)
        return values

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
        offer(self, "phase", chosen.select_related("challenge"))
        offer(self, "team", Team.objects.filter(pk__in=[team.pk for team in teams]))
        if len(teams) == 1:
            self.fields["team"].widget = forms.HiddenInput()
            self.fields["team"].initial = teams[0].slug


def offer(form: forms.BaseForm, name: str, rows: QuerySet[Any]) -> None:
    """Let users choose from some objects in a field of a form."""
    field = form.fields[name]
    assert isinstance(field, forms.ModelChoiceField)
    field.queryset = rows


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


class MailForm(forms.Form):
    """Mail of the organizers to teams of a challenge."""

    team = forms.ModelChoiceField(Team.objects.none(), required=False, to_field_name="slug", empty_label="all teams")
    captains = forms.BooleanField(required=False, label="Only captains")
    subject = Line(max_length=150)
    text = forms.CharField(max_length=5_000, widget=forms.Textarea(attrs={"rows": 5}))

    def __init__(self, data: QueryDict | None, challenge: Challenge) -> None:
        super().__init__(data)
        offer(self, "team", teams_in(challenge))


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


class TableForm(forms.Form):
    """A table of values for fields of submissions."""

    table = forms.FileField(
        label="CSV file", help_text="Columns: submission (its number) or team (for its entry), and names of fields."
    )


def fill(request: HttpRequest | None, challenge: Challenge, table: bytes) -> int:
    """Set the fields that a CSV table has, and keep that in the log; return the number of submissions.

    Raises:
        TableError: every problem. Nothing was changed.
    """
    names, n = fill_fields(challenge, table)
    record("fill fields", ", ".join(names), request=request, challenge=challenge, detail=f"submissions: {n:,}")
    return n


# What teams do with their submissions: edit, choose, delete and download them.


def edit_submission(request: HttpRequest, submission: Submission, form: EditForm) -> None:
    """Save the values of a valid form.

    Raises:
        ImpossibleError: the phase is closed, and a value that decides the entry or its rank was changed by the team.
    """
    if not form.changed_data:
        return
    names = frozen_names(request.user, submission)
    if frozen := [str(form[name].label) for name in form.changed_data if name in names]:
        reason = f"The phase {submission.phase} is closed, so only organizers can change this: {', '.join(frozen)}."
        raise ImpossibleError(reason, submission.url)
    changes = {name: form.cleaned_data[name] for name in form.changed_data if name in form.Meta.fields}
    with transaction.atomic():  # these fields only: a worker may be writing others
        rows = Submission.objects.filter(pk=submission.pk)
        if len(changes) < len(form.changed_data):
            changes["fields"] = changed_fields(rows.select_for_update().get().fields, form.declared)
        rows.update(**changes)
        if "anonymous" in changes and submission.phase.entries == "one":
            intake.of_team(submission).update(anonymous=changes["anonymous"])
    detail = ", ".join(_edit_of(form, name) for name in form.changed_data)
    record("edit", submission.method, request=request, submission=submission, detail=detail)


def frozen_names(user: Visitor, submission: Submission) -> set[str]:
    """The names in the form of what only organizers can change: what decides the entry or its rank in a closed phase.

    Where all submissions of a team are anonymous or none are, the entry stays the same.
    """
    if submission.phase.state != "closed" or may_manage(user, submission.challenge):
        return set()
    names = {"public", *(f"{FIELD}{name}" for name in submission.challenge.definition.tie_breaks)}
    return names | {"anonymous"} if submission.phase.entries == "all" else names


def _edit_of(form: EditForm, name: str) -> str:
    """A changed value for the log: texts by their name, others with what they were and are."""
    before, after, label = form.initial.get(name), form.cleaned_data[name], name.removeprefix(FIELD)
    if isinstance(before, str) or isinstance(after, str):
        return label
    return f"{label}: {as_text(before) or 'none'} → {as_text(after) or 'none'}"


def choose_submission(request: HttpRequest, submission: Submission, *, chosen: bool) -> None:
    """Choose or unchoose the entry of a team.

    Raises:
        ImpossibleError: it cannot be chosen.
    """
    manages = may_manage(request.user, submission.challenge)
    if reason := intake.why_not_chosen(submission, chosen=chosen, manages=manages):
        raise ImpossibleError(reason, submission.url)
    intake.choose(submission, chosen=chosen)
    record("choose" if chosen else "release", submission.method, request=request, submission=submission)


def cancel_submission(request: HttpRequest, submission: Submission) -> None:
    """Cancel a submission that waits in the queue or is held.

    Raises:
        ImpossibleError: it does not wait, or was scored before.
    """
    if not queue.cancel(submission):
        submission.refresh_from_db()
        message = f"Only what waits to be scored for the first time can be canceled. This one is {submission.status}."
        raise ImpossibleError(message, submission.url)
    record("cancel", submission.method, request=request, submission=submission)


def delete_submission(request: HttpRequest, submission: Submission) -> None:
    """Delete a submission and its files.

    Raises:
        ImpossibleError: it is being scored, or the leaderboard of a closed phase keeps it.
    """
    reason = intake.why_not_deleted(submission)
    if reason and not may_manage(request.user, submission.challenge):
        raise ImpossibleError(reason, submission.url)
    queue.cancel(submission)  # one that waits to be scored is free
    rows = Submission.objects.filter(pk=submission.pk).exclude(
        status__in=[Submission.Status.RUNNING, Submission.Status.DELETED]
    )
    if storage.delete(rows) == 0:
        raise ImpossibleError("This submission is being scored. Delete it when scoring has ended.", submission.url)
    queue.show_complete()
    record("delete", submission.method, request=request, submission=submission)


def upload_of(submission: Submission) -> FileResponse:
    """The file of a submission as it was uploaded.

    Raises:
        Http404: it was deleted.
    """
    path = storage.upload_file(submission.folder)
    if not path.exists():
        raise Http404
    name = os.path.basename(submission.filename) or "submission"
    return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="application/octet-stream")


# Mail to teams.


def mail_teams(request: HttpRequest, challenge: Challenge, form: MailForm) -> int:
    """Send the mail of a valid form, and keep it in the log; return the number of members who get it."""
    values, team = form.cleaned_data, form.cleaned_data["team"]
    if team is None:
        memberships = Membership.objects.filter(team__in=teams_in(challenge).values("pk"))
    else:
        memberships = Membership.objects.filter(team=team)
    if values["captains"]:
        memberships = memberships.filter(is_captain=True)
    users = User.objects.filter(pk__in=memberships.values("user"))
    n = message(challenge, users, values["subject"], values["text"])
    whom = "captains" if values["captains"] else "members"
    detail = f"to {n:,} {whom}: {values['subject']}\n\n{values['text']}"
    record("mail", "all teams" if team is None else team.name, request=request, challenge=challenge, detail=detail)
    return n


# Teams that ask to be approved, and decisions of organizers.

_REASON_LENGTH = 500


def ask_for(request: HttpRequest, challenge: Challenge, team: Team, message: str) -> TeamApproval:
    """Ask for a team, and tell webhooks."""
    row = ask(challenge, team, message)
    record("ask for approval", team.name, request=request, challenge=challenge)
    if row.status == TeamApproval.Status.ASKED:
        team_asked(row)
    return row


def decide_on(request: HttpRequest, challenge: Challenge, team: str, *, approved: bool, reason: str) -> str:
    """Approve or refuse a team by its slug; return the reason if that is not possible, else an empty text.

    Raises:
        Http404: the team has not asked.
    """
    row = get_object_or_404(TeamApproval.objects.select_related("team"), challenge=challenge, team__slug=team)
    reason = one_line(reason)[:_REASON_LENGTH]
    if not approved and not reason:
        return "Give a reason; it is shown to the team."
    decide(row, approved=approved, reason=reason)
    action = "approve team" if approved else "refuse team"
    record(action, row.team.name, request=request, challenge=challenge, detail="" if approved else reason)
    return ""


# What members do with their teams and invitations.


class InvitationError(ExplainedError):
    """An invitation that cannot be used."""

    def __init__(self) -> None:
        super().__init__("This invitation does not exist, has expired or was revoked. Ask the team for a new one.")


def new_team(request: UserRequest, name: str) -> Team:
    """Create a team with the user as its captain.

    Raises:
        ImpossibleError: the user is in too many teams, or the name has just been taken.
    """
    account = reverse("captious:account")
    if len(teams_of(request.user)) >= MAX_TEAMS:
        raise ImpossibleError(f"You are in {MAX_TEAMS} teams, which is the limit. Leave one first.", account)
    try:
        team = create_team(name, request.user)
    except IntegrityError:
        raise ImpossibleError("This name is taken.", account) from None
    record("create team", team.name, request=request)
    return team


@contextmanager
def own_team(request: UserRequest, slug: str) -> Iterator[Team]:
    """A team of the user, locked within the block.

    Raises:
        Http404: there is none, or the user is not in it.
    """
    with transaction.atomic():
        team = lock_team(slug)
        if team is None or not team.memberships.filter(user=request.user).exists():
            raise Http404
        yield team


def invite(request: UserRequest, team: Team, label: str = "") -> str:
    """The secret of a new invitation link.

    Args:
        label: a label for members to distinguish invitations.

    Raises:
        ImpossibleError: it is a personal team.
    """
    if team.is_personal:
        raise ImpossibleError("This is your personal team, which nobody else can join.", team.url)
    secret = make_invitation(team, request.user, one_line(label)[:80])
    record("invite", team.name, request=request)
    return secret


def invitation_address(request: HttpRequest, secret: str) -> str:
    """The link of an invitation."""
    return request.build_absolute_uri(reverse("captious:team_join", args=[secret]))


def revoke(request: HttpRequest, team: Team, pk: int) -> None:
    """Revoke an invitation link, which every member can do.

    Raises:
        Http404: the team has no such invitation.
    """
    get_object_or_404(Invitation, pk=pk, team=team).delete()
    record("revoke invitation", team.name, request=request)


def join(request: UserRequest, secret: str) -> Team:
    """Join a team with an invitation.

    Raises:
        InvitationError: the invitation does not exist, has expired or was revoked.
    """
    invitation = invitation_of(secret)
    if invitation is None or not join_team(secret, request.user):
        raise InvitationError
    team = invitation.team
    record("join team", team.name, request=request)
    return team


def leave(request: UserRequest, team: Team) -> bool:
    """Leave a team, whose submissions stay; return whether it was deleted, see ``leave_team``.

    Raises:
        ImpossibleError: it is a personal team.
    """
    if team.is_personal:
        raise ImpossibleError("This is your personal team, which cannot be left.", team.url)
    is_deleted = leave_team(team, request.user)
    record("leave team", team.name, request=request, detail="the team was deleted" if is_deleted else "")
    return is_deleted


def remove(request: UserRequest, team: Team, **user: int | str) -> str:
    """Remove a member, and revoke the invitation links that the member may know; return the name.

    Args:
        user: a query for the member, such as ``username``.

    Raises:
        Http404: the user is not captain, or there is no such member.
        ImpossibleError: it is the user.
    """
    captain, member = _captain_and_member(request, team, user)
    if member.pk == captain.pk:
        raise ImpossibleError("To remove yourself, leave the team.", team.url)
    leave_team(team, member.user)
    Invitation.objects.filter(team=team).delete()
    record("remove member", team.name, request=request, detail=member.user.username)
    return member.user.username


def make_captain(request: UserRequest, team: Team, **user: int | str) -> str:
    """Transfer the captaincy to another member; return the name.

    Args:
        user: a query for the member, such as ``username``.

    Raises:
        Http404: the user is not captain, or there is no such member.
    """
    captain, member = _captain_and_member(request, team, user)
    if member.pk != captain.pk:
        Membership.objects.filter(pk=captain.pk).update(is_captain=False)
        Membership.objects.filter(pk=member.pk).update(is_captain=True)
        record("make captain", team.name, request=request, detail=member.user.username)
    return member.user.username


def _captain_and_member(request: UserRequest, team: Team, user: dict[str, Any]) -> tuple[Membership, Membership]:
    captain = get_object_or_404(Membership, team=team, user=request.user, is_captain=True)
    conditions = {f"user__{name}": value for name, value in user.items()}
    return captain, get_object_or_404(Membership.objects.select_related("user"), team=team, **conditions)


def open_invitations(team: Team) -> QuerySet[Invitation]:
    """The invitations of a team that have not expired, the first to expire first."""
    return team.invitations.filter(expires__gt=timezone.now()).select_related("created_by").order_by("expires")
