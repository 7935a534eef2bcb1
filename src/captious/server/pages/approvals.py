"""The page on which teams ask to be approved, and organizers approve or refuse them."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from captious.server.actions.forms import AskForm, one_line
from captious.server.actions.team_approvals import ask_for, decide_on
from captious.server.models import TeamApproval
from captious.server.pages.challenges import challenge_page, page_of
from captious.server.people.access import challenge_for, may_manage
from captious.server.people.approval import approvals_of, teams_to_approve
from captious.server.people.rate_limits import limit
from captious.server.people.teams import teams_of


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def teams(request: HttpRequest, slug: str) -> HttpResponse:
    """The approval of the user's teams; for organizers, that of all teams."""
    challenge = challenge_for(request.user, slug)
    if not challenge.definition.team_approval:
        raise Http404
    manages = may_manage(request.user, challenge)
    own_teams = teams_of(request.user)
    form = AskForm(request.POST if request.POST.get("action") == "ask" else None)
    if request.method == "POST":
        limit(request, "change")
        if request.POST.get("action") == "ask":
            if form.is_valid():
                team = next((team for team in own_teams if team.slug == request.POST.get("team")), None)
                if team is None:
                    raise Http404
                ask_for(request, challenge, team, form.cleaned_data["message"])
                messages.success(request, f"Approval requested for {team}. The organizers will decide.")
                return redirect("captious:teams", slug)
        elif not manages:
            raise Http404
        else:
            reason = decide_on(
                request,
                challenge,
                one_line(request.POST.get("team", "")),
                approved=request.POST.get("action") == "approve",
                reason=request.POST.get("reason", ""),
            )
            if reason:
                messages.error(request, reason)
            return redirect(request.get_full_path())
    pending_ids = {row.team_id for row in approvals_of(challenge, own_teams).filter(status=TeamApproval.Status.ASKED)}
    return challenge_page(
        request,
        challenge,
        "teams",
        status=422 if form.errors else 200,
        form=form,
        wrong=form,
        own=approvals_of(challenge, own_teams),
        to_ask=[team for team in teams_to_approve(challenge, own_teams) if team.pk not in pending_ids],
        page=page_of(request, approvals_of(challenge)) if manages else None,
    )
