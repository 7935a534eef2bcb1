"""Answers of the API about teams: members, invitations and approval by organizers."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from typing_extensions import TypedDict

from captious.server.actions.team_changes import open_invitations
from captious.server.api.answers import answer_from, exact
from captious.server.models import Invitation, Team, TeamApproval


@exact
class MemberAnswer(TypedDict):
    """A member of a team."""

    user: str
    captain: bool
    joined: datetime


@exact
class InvitationAnswer(TypedDict):
    """A valid invitation with its label and author. Its link was shown once, at its creation."""

    id: int
    label: str
    user: str
    created: datetime
    expires: datetime


@exact
class NewInvitationAnswer(InvitationAnswer):
    """A new invitation with its link, which lets anyone join the team until it expires."""

    link: str


@exact
class TeamAnswer(TypedDict):
    """A team of yours. Personal ones have one member, and cannot be joined or left."""

    name: str
    slug: str
    personal: bool
    members: list[MemberAnswer]
    invitations: list[InvitationAnswer]
    url: str


@exact
class LeftAnswer(TypedDict):
    """A team that you have left, and whether it was deleted because it was empty and had no uploads."""

    team: str
    deleted: bool


@exact
class ApprovalAnswer(TypedDict):
    """A team that asked the organizers to be approved: asked, approved, or refused for a reason."""

    team: str
    slug: str
    status: str
    message: str
    reason: str
    asked: datetime
    decided: datetime | None


def team_answer(request: HttpRequest, team: Team) -> TeamAnswer:
    """A team, for its members."""
    return answer_from(
        TeamAnswer,
        team,
        personal=team.is_personal,
        members=[
            {"user": row.user.username, "captain": row.is_captain, "joined": row.joined}
            for row in team.memberships.select_related("user")
        ],
        invitations=[invitation_answer(row) for row in open_invitations(team)],
        url=request.build_absolute_uri(team.url),
    )


def invitation_answer(row: Invitation) -> InvitationAnswer:
    """An invitation, without its secret."""
    return answer_from(InvitationAnswer, row, user=row.created_by.username)


def approval_answer(row: TeamApproval) -> ApprovalAnswer:
    """A team and whether it is approved, for its members and for those who manage the challenge."""
    return answer_from(ApprovalAnswer, row, team=row.team.name, slug=row.team.slug)
