"""Teams that ask to be approved, and decisions of organizers."""

from __future__ import annotations

from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from captious.server.actions.forms import one_line
from captious.server.models import Challenge, Team, TeamApproval
from captious.server.notices.events import team_asked
from captious.server.people.approval import ask, decide
from captious.server.people.audit import record

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
