"""Calls of the API about teams: creating, joining, leaving and captaincy."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404

from captious_server import actions
from captious_server.actions import TeamForm
from captious_server.api import Failure
from captious_server.api.schemas import invitation_answer, team_answer
from captious_server.models import Team
from captious_server.people.access import UserCall
from captious_server.people.accounts import invitation_of
from captious_server.people.teams import teams_of


def teams(request: UserCall) -> HttpResponse:
    """The teams of the user, or a new one."""
    if request.method == "GET":
        return JsonResponse([team_answer(request, team) for team in teams_of(request.user)], safe=False)
    form = TeamForm(request.GET)
    if not form.is_valid():
        raise Failure(400, " ".join(f"name: {error}" for error in form.errors["name"]))
    team = actions.new_team(request, form.cleaned_data["name"])
    return JsonResponse(team_answer(request, team), status=201)


def team(request: UserCall, team: str) -> HttpResponse:
    """A team, for its members."""
    return JsonResponse(team_answer(request, get_object_or_404(Team, slug=team, members=request.user)))


def join(request: UserCall) -> HttpResponse:
    """Join a team. The invitation is in the body, because anyone who reads it in a log could join as well."""
    secret = urlsplit(request.POST.get("invitation", "").strip()).path.rpartition("/")[2]
    return JsonResponse(team_answer(request, actions.join(request, secret)))


def invite(request: UserCall, team: str) -> HttpResponse:
    """Create an invitation link."""
    with actions.own_team(request, team) as row:
        secret = actions.invite(request, row, request.GET.get("label", ""))
        invitation = invitation_of(secret)
        assert invitation is not None  # others wait for the team
    answer = {**invitation_answer(invitation), "link": actions.invitation_address(request, secret)}
    return JsonResponse(answer, status=201)


def revoke(request: UserCall, team: str, pk: int) -> HttpResponse:
    """Revoke an invitation, which every member can do."""
    with actions.own_team(request, team) as row:
        actions.revoke(request, row, pk)
        return JsonResponse(team_answer(request, row))


def leave(request: UserCall, team: str) -> HttpResponse:
    """Leave a team, whose submissions stay."""
    with actions.own_team(request, team) as row:
        return JsonResponse({"team": team, "deleted": actions.leave(request, row)})


def remove(request: UserCall, team: str) -> HttpResponse:
    """Remove a member."""
    with actions.own_team(request, team) as row:
        actions.remove(request, row, username=request.GET.get("user", ""))
        return JsonResponse(team_answer(request, row))


def captain(request: UserCall, team: str) -> HttpResponse:
    """Make another member captain."""
    with actions.own_team(request, team) as row:
        actions.make_captain(request, row, username=request.GET.get("user", ""))
        return JsonResponse(team_answer(request, row))
