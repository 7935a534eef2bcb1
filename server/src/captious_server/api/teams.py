"""Calls of the API about teams: creating, joining, leaving and captaincy."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from django.shortcuts import get_object_or_404

from captious_server import actions
from captious_server.actions import TeamForm
from captious_server.api import Failure
from captious_server.api.schemas import Answer, LeftAnswer, NewInvitationAnswer, answer_from, team_answer
from captious_server.models import Team
from captious_server.people.access import UserCall
from captious_server.people.accounts import invitation_of
from captious_server.people.teams import teams_of


def teams(request: UserCall) -> Answer | Sequence[Answer]:
    """The teams of the user, or a new one."""
    if request.method == "GET":
        return [team_answer(request, team) for team in teams_of(request.user)]
    form = TeamForm(request.GET)
    if not form.is_valid():
        raise Failure(400, " ".join(f"name: {error}" for error in form.errors["name"]))
    return team_answer(request, actions.new_team(request, form.cleaned_data["name"]))


def team(request: UserCall, team: str) -> Answer:
    """A team, for its members."""
    return team_answer(request, get_object_or_404(Team, slug=team, members=request.user))


def join(request: UserCall) -> Answer:
    """Join a team. The invitation is in the body, because anyone who reads it in a log could join as well."""
    secret = urlsplit(request.POST.get("invitation", "").strip()).path.rpartition("/")[2]
    return team_answer(request, actions.join(request, secret))


def invite(request: UserCall, team: str) -> Answer:
    """Create an invitation link."""
    with actions.own_team(request, team) as row:
        secret = actions.invite(request, row, request.GET.get("label", ""))
        invitation = invitation_of(secret)
    return answer_from(NewInvitationAnswer, invitation, link=actions.invitation_address(request, secret))


def revoke(request: UserCall, team: str, pk: int) -> Answer:
    """Revoke an invitation, which every member can do."""
    with actions.own_team(request, team) as row:
        actions.revoke(request, row, pk)
        return team_answer(request, row)


def leave(request: UserCall, team: str) -> Answer:
    """Leave a team, whose submissions stay."""
    with actions.own_team(request, team) as row:
        return LeftAnswer(team=team, deleted=actions.leave(request, row))


def remove(request: UserCall, team: str) -> Answer:
    """Remove a member."""
    with actions.own_team(request, team) as row:
        actions.remove(request, row, username=request.GET.get("user", ""))
        return team_answer(request, row)


def captain(request: UserCall, team: str) -> Answer:
    """Make another member captain."""
    with actions.own_team(request, team) as row:
        actions.make_captain(request, row, username=request.GET.get("user", ""))
        return team_answer(request, row)
