"""Calls of the API about the approval of teams."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from captious.server.actions.forms import AskForm
from captious.server.actions.team_approvals import ask_for, decide_on
from captious.server.api.calls import Failure, Operation, Parameter, call, is_true
from captious.server.api.team_answers import ApprovalAnswer, approval_answer
from captious.server.api.uploads import team_of
from captious.server.models import Challenge
from captious.server.people.access import challenge_for, may_manage
from captious.server.people.approval import approvals_of
from captious.server.people.rate_limits import limit
from captious.server.people.teams import teams_of


@call(
    GET=Operation(
        "Teams that requested approval: yours, or all of them for organizers.", list[ApprovalAnswer], needs_user=True
    ),
    POST=Operation(
        "Ask the organizers to approve a team.",
        ApprovalAnswer,
        parameters=[
            Parameter("team", "Defaults to your only team."),
            Parameter("message", "A message about the team for the organizers, up to 500 characters."),
        ],
        errors=[400],
    ),
)
def approvals(request: HttpRequest, slug: str) -> HttpResponse:
    """Teams that asked for approval, and the decisions."""
    challenge = _challenge(request, slug)
    if request.method == "GET":
        teams = None if may_manage(request.user, challenge) else teams_of(request.user)
        return JsonResponse([approval_answer(row) for row in approvals_of(challenge, teams)], safe=False)
    limit(request, "change")
    form = AskForm(request.GET)
    if not form.is_valid():
        raise Failure(400, "The message may have up to 500 characters.")
    row = ask_for(request, challenge, team_of(request), form.cleaned_data["message"])
    return JsonResponse(approval_answer(row))


@call(
    POST=Operation(
        "Approve or refuse a team; organizers and administrators only.",
        ApprovalAnswer,
        parameters=[
            Parameter("approved", "false to refuse it.", "boolean", is_required=True),
            Parameter("reason", "The reason for a refusal, which is shown to the team."),
        ],
        scope="organize",
        errors=[400],
    )
)
def decide(request: HttpRequest, slug: str, team: str) -> HttpResponse:
    """Approve or refuse a team."""
    challenge = _challenge(request, slug)
    if not may_manage(request.user, challenge):
        raise Http404
    limit(request, "change")
    if "approved" not in request.GET:
        raise Failure(400, "Set approved to true or false.")
    approved = is_true(request, "approved", default=False)
    if reason := decide_on(request, challenge, team, approved=approved, reason=request.GET.get("reason", "")):
        raise Failure(400, reason)
    return JsonResponse(approval_answer(approvals_of(challenge).get(team__slug=team)))


def _challenge(request: HttpRequest, slug: str) -> Challenge:
    challenge = challenge_for(request.user, slug)
    if not challenge.definition.team_approval:
        raise Http404
    return challenge
