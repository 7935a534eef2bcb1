"""Calls of the API about teams: creating, joining, leaving and captaincy."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlsplit

from django.http import HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404

from captious_server import actions
from captious_server.actions import TeamForm
from captious_server.api import Failure
from captious_server.api.schemas import invitation_answer, team_answer
from captious_server.models import Team
from captious_server.people.access import UserCall
from captious_server.people.accounts import invitation_of, limit
from captious_server.people.teams import teams_of

_Result = TypeVar("_Result")


def teams(request: UserCall) -> HttpResponse:
    """The teams of the user, or a new one."""
    if request.method == "GET":
        return JsonResponse([team_answer(request, team) for team in teams_of(request.user)], safe=False)
    form = TeamForm(request.GET)
    if not form.is_valid():
        raise Failure(400, " ".join(f"name: {error}" for error in form.errors["name"]))
    try:
        team = actions.new_team(request, form.cleaned_data["name"])
    except actions.TeamError as error:
        raise Failure(409, str(error)) from None
    return JsonResponse(team_answer(request, team), status=201)


def team(request: UserCall, team: str) -> HttpResponse:
    """A team, for its members."""
    return JsonResponse(team_answer(request, get_object_or_404(Team, slug=team, members=request.user)))


def join(request: UserCall) -> HttpResponse:
    """Join a team. The invitation is in the body, because anyone who reads it in a log could join as well."""
    limit(request, "join")
    secret = urlsplit(request.POST.get("invitation", "").strip()).path.rpartition("/")[2]
    return JsonResponse(team_answer(request, actions.join(request, secret)))


def invite(request: UserCall, team: str) -> HttpResponse:
    """Create an invitation link."""
    label = request.GET.get("label", "")
    secret = _change_team(request, team, lambda request, row: actions.invite(request, row, label))
    row = invitation_of(secret)
    if row is None:
        raise Failure(409, "The invitation has been revoked.")
    answer = {**invitation_answer(row), "link": actions.invitation_address(request, secret)}
    return JsonResponse(answer, status=201)


def revoke(request: UserCall, team: str, pk: int) -> HttpResponse:
    """Revoke an invitation, which every member can do."""
    _change_team(request, team, lambda request, row: actions.revoke(request, row, pk))
    return _answer(request, team)


def leave(request: UserCall, team: str) -> HttpResponse:
    """Leave a team, whose submissions stay."""
    return JsonResponse({"team": team, "deleted": _change_team(request, team, actions.leave)})


def remove(request: UserCall, team: str) -> HttpResponse:
    """Remove a member."""
    name = request.GET.get("user", "")
    _change_team(request, team, lambda request, row: actions.remove(request, row, username=name))
    return _answer(request, team)


def captain(request: UserCall, team: str) -> HttpResponse:
    """Make another member captain."""
    name = request.GET.get("user", "")
    _change_team(request, team, lambda request, row: actions.make_captain(request, row, username=name))
    return _answer(request, team)


def _change_team(request: UserCall, slug: str, change: Callable[[UserCall, Team], _Result]) -> _Result:
    """Change one of the user's teams, and return the result."""
    with actions.own_team(request, slug) as row:
        try:
            return change(request, row)
        except actions.TeamError as error:
            reason = str(error)
    raise Failure(409, reason)  # outside the transaction: refused requests count for limits, too


def _answer(request: UserCall, slug: str) -> HttpResponse:
    return JsonResponse(team_answer(request, Team.objects.get(slug=slug)))
