"""What members do with their teams and invitations."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone

from captious.server.actions.explained_errors import ExplainedError
from captious.server.actions.forms import one_line
from captious.server.models import Invitation, Membership, Team
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.people.secrets import invitation_of, make_invitation
from captious.server.people.teams import MAX_TEAMS, create_team, join_team, leave_team, lock_team, teams_of


class TeamError(Exception):
    """An action on a team that is not possible; the message gives the reason in one sentence."""


class InvitationError(ExplainedError):
    """An invitation that cannot be used."""

    def __init__(self) -> None:
        super().__init__("This invitation does not exist, has expired or was revoked. Ask the team for a new one.")


def new_team(request: HttpRequest, name: str) -> Team:
    """Create a team with the user as its captain.

    Raises:
        TeamError: the user is in too many teams, or the name has just been taken.
    """
    limit(request, "team")
    if len(teams_of(request.user)) >= MAX_TEAMS:
        raise TeamError(f"You are in {MAX_TEAMS} teams, which is the limit. Leave one first.")
    try:
        team = create_team(name, request.user)
    except IntegrityError:
        raise TeamError("This name is taken.") from None
    record("create team", team.name, request=request)
    return team


@contextmanager
def own_team(request: HttpRequest, slug: str) -> Iterator[Team]:
    """A team of the user, locked within the block.

    Raises:
        Http404: there is none, or the user is not in it.
    """
    with transaction.atomic():
        team = lock_team(slug)
        if team is None or not team.memberships.filter(user=request.user).exists():
            raise Http404
        yield team


def invite(request: HttpRequest, team: Team, label: str = "") -> str:
    """The secret of a new invitation link.

    Args:
        label: a label for members to distinguish invitations.

    Raises:
        TeamError: it is a personal team.
    """
    limit(request, "invite")
    if team.is_personal:
        raise TeamError("This is your personal team, which nobody else can join.")
    secret = make_invitation(team, request.user, one_line(label)[:80])
    record("invite", team.name, request=request)
    return secret


def invitation_address(request: HttpRequest, secret: str) -> str:
    """The link of an invitation."""
    return str(request.build_absolute_uri(reverse("captious:team_join", args=[secret])))


def revoke(request: HttpRequest, team: Team, pk: int) -> None:
    """Revoke an invitation link, which every member can do.

    Raises:
        Http404: the team has no such invitation.
    """
    limit(request, "change")
    get_object_or_404(Invitation, pk=pk, team=team).delete()
    record("revoke invitation", team.name, request=request)


def join(request: HttpRequest, secret: str) -> Team:
    """Join a team with an invitation.

    Raises:
        InvitationError: the invitation does not exist, has expired or was revoked.
    """
    invitation = invitation_of(secret)
    if invitation is None or not join_team(secret, request.user):
        raise InvitationError
    team: Team = invitation.team
    record("join team", team.name, request=request)
    return team


def leave(request: HttpRequest, team: Team) -> bool:
    """Leave a team, whose submissions stay; return whether it was deleted, see ``leave_team``.

    Raises:
        TeamError: it is a personal team.
    """
    limit(request, "change")
    if team.is_personal:
        raise TeamError("This is your personal team, which cannot be left.")
    is_deleted = leave_team(team, request.user)
    record("leave team", team.name, request=request, detail="the team was deleted" if is_deleted else "")
    return is_deleted


def remove(request: HttpRequest, team: Team, **user: Any) -> str:
    """Remove a member, and revoke the invitation links that the member may know; return the name.

    Args:
        user: a query for the member, such as ``username``.

    Raises:
        Http404: the user is not captain, or there is no such member.
        TeamError: it is the user.
    """
    limit(request, "change")
    captain, member = _captain_and_member(request, team, user)
    if member.pk == captain.pk:
        raise TeamError("To remove yourself, leave the team.")
    leave_team(team, member.user)
    Invitation.objects.filter(team=team).delete()
    record("remove member", team.name, request=request, detail=member.user.username)
    return str(member.user.username)


def make_captain(request: HttpRequest, team: Team, **user: Any) -> str:
    """Transfer the captaincy to another member; return the name.

    Args:
        user: a query for the member, such as ``username``.

    Raises:
        Http404: the user is not captain, or there is no such member.
    """
    limit(request, "change")
    captain, member = _captain_and_member(request, team, user)
    if member.pk != captain.pk:
        Membership.objects.filter(pk=captain.pk).update(is_captain=False)
        Membership.objects.filter(pk=member.pk).update(is_captain=True)
        record("make captain", team.name, request=request, detail=member.user.username)
    return str(member.user.username)


def _captain_and_member(request: HttpRequest, team: Team, user: dict[str, Any]) -> tuple[Membership, Membership]:
    captain = get_object_or_404(Membership, team=team, user=request.user, is_captain=True)
    conditions = {f"user__{name}": value for name, value in user.items()}
    return captain, get_object_or_404(Membership.objects.select_related("user"), team=team, **conditions)


def open_invitations(team: Team) -> Any:
    """The invitations of a team that have not expired, the first to expire first."""
    return team.invitations.filter(expires__gt=timezone.now()).select_related("created_by").order_by("expires")
