"""Pages of teams and invitations, with the functions of their actions, which the API shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods

from captious.server.actions.team_changes import (
    InvitationError,
    TeamError,
    invitation_address,
    invite,
    join,
    leave,
    make_captain,
    open_invitations,
    own_team,
    remove,
    revoke,
)
from captious.server.models import Challenge, Submission, Team, TeamBan, User
from captious.server.pages.shown_once import redirect_with, secret_in, without_secret
from captious.server.people.access import visible_challenges
from captious.server.people.rate_limits import limit
from captious.server.people.secrets import invitation_of


def _team_action(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view that changes a team for a member and returns to its page, with the reason if it was not possible."""

    @login_required
    @require_http_methods(["POST"])
    def wrapper(request: HttpRequest, slug: str, **values: Any) -> HttpResponse:
        with own_team(request, slug) as team:
            try:
                return view(request, team, **values)
            except TeamError as error:
                messages.error(request, str(error))
                return redirect(team.url)

    return wrapper


@login_required
@require_http_methods(["GET", "HEAD"])
def team(request: HttpRequest, slug: str) -> HttpResponse:
    """A team, for its members."""
    team = get_object_or_404(Team, slug=slug, members=request.user)
    secret = secret_in(request)
    invitation = invitation_of(secret)
    is_new = invitation is not None and invitation.team == team
    context = {
        "section": "account",
        "team": team,
        "challenges": _challenges(request.user, team),
        "memberships": team.memberships.select_related("user"),
        "invitations": open_invitations(team),
        "is_captain": team.memberships.filter(user=request.user, is_captain=True).exists(),
        "invitation_url": invitation_address(request, secret) if is_new else None,
    }
    return without_secret(request, render(request, "captious/team.html", context))


def _challenges(user: User, team: Team) -> list[tuple[Challenge, int, TeamBan | None]]:
    """The challenges that a team has submitted to or can submit to, with its submissions and its ban.

    Those that it has submitted to come first.
    """
    bans = {row.challenge_id: row for row in TeamBan.objects.filter(team=team)}
    submissions = Submission.objects.filter(team=team).exclude(status=Submission.Status.DELETED)
    counts = Counter(submissions.values_list("phase__challenge_id", flat=True))
    challenges = visible_challenges(user).prefetch_related("phases")
    rows = [
        (challenge, counts[challenge.pk], bans.get(challenge.pk))
        for challenge in challenges
        if challenge.pk in counts or challenge.is_open
    ]
    return sorted(rows, key=lambda row: not row[1])


@_team_action
def team_invite(request: HttpRequest, team: Team) -> HttpResponse:
    """Create an invitation link."""
    return redirect_with(invite(request, team, request.POST.get("label", "")), team.url)


@_team_action
def invitation_revoke(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Revoke an invitation link."""
    revoke(request, team, pk)
    messages.success(request, "The invitation link was revoked.")
    return redirect(team.url)


@_team_action
def team_leave(request: HttpRequest, team: Team) -> HttpResponse:
    """Leave a team."""
    is_deleted = leave(request, team)
    messages.success(request, f"You left {team.name}." + (" The team was deleted." if is_deleted else ""))
    return redirect("captious:account")


@_team_action
def team_remove(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Remove a member, which captains can do."""
    name = remove(request, team, pk=pk)
    messages.success(request, f"{name} was removed, and all invitation links were revoked.")
    return redirect(team.url)


@_team_action
def team_captain(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Make another member captain."""
    messages.success(request, f"{make_captain(request, team, pk=pk)} is now the captain.")
    return redirect(team.url)


@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """Join a team through an invitation link. Visitors see the invitation before they sign in."""
    limit(request, "join")
    invitation = invitation_of(token)
    if invitation is None:
        raise InvitationError
    team: Team = invitation.team
    if request.method == "POST":
        if not request.user.is_authenticated:
            return redirect_to_login(request.path)
        join(request, token)
        messages.success(request, f"You are now a member of {team.name}.")
        return redirect(team.url)
    if request.user.is_authenticated and team.members.contains(request.user):
        messages.info(request, f"You are a member of {team.name}.")
        return redirect(team.url)
    context = {"heading": f"Join {team.name}?", "button": "Join", "invitation": invitation, "next": request.path}
    return render(request, "captious/team_join.html", context)
