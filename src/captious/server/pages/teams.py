"""Pages of teams and invitations, with the functions of their actions, which the API shares."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from captious.server.models import Challenge, Invitation, Membership, Submission, Team, TeamBan, User
from captious.server.pages.error_pages import ExplainedError
from captious.server.pages.forms import one_line
from captious.server.pages.shown_once import redirect_with, secret_in, without_secret
from captious.server.people.access import visible_challenges
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.people.secrets import invitation_of, make_invitation
from captious.server.people.teams import MOST_TEAMS, create_team, join_team, leave_team, lock_team, teams_of


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
    if len(teams_of(request.user)) >= MOST_TEAMS:
        raise TeamError(f"You are in {MOST_TEAMS} teams, which is the limit. Leave one first.")
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
        InvitationError: it is none, has expired or was revoked.
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
    own, member = _captain_and_member(request, team, user)
    if member.pk == own.pk:
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
    own, member = _captain_and_member(request, team, user)
    if member.pk != own.pk:
        Membership.objects.filter(pk=own.pk).update(is_captain=False)
        Membership.objects.filter(pk=member.pk).update(is_captain=True)
        record("make captain", team.name, request=request, detail=member.user.username)
    return str(member.user.username)


def _captain_and_member(request: HttpRequest, team: Team, user: dict[str, Any]) -> tuple[Membership, Membership]:
    own = get_object_or_404(Membership, team=team, user=request.user, is_captain=True)
    found = {f"user__{name}": value for name, value in user.items()}
    return own, get_object_or_404(Membership.objects.select_related("user"), team=team, **found)


def _changing(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A view that changes a team for a member and returns to its page, with the reason if it was not possible."""

    @login_required
    @require_http_methods(["POST"])
    def of_member(request: HttpRequest, slug: str, **values: Any) -> HttpResponse:
        with own_team(request, slug) as team:
            try:
                return view(request, team, **values)
            except TeamError as error:
                messages.error(request, str(error))
                return redirect(team.url)

    return of_member


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
    rows = [(each, counts[each.pk], bans.get(each.pk)) for each in challenges if each.pk in counts or each.is_open]
    return sorted(rows, key=lambda row: not row[1])


def open_invitations(team: Team) -> Any:
    """The invitations of a team that have not expired, the first to expire first."""
    return team.invitations.filter(expires__gt=timezone.now()).select_related("created_by").order_by("expires")


@_changing
def team_invite(request: HttpRequest, team: Team) -> HttpResponse:
    """Create an invitation link."""
    return redirect_with(invite(request, team, request.POST.get("label", "")), team.url)


@_changing
def invitation_revoke(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Revoke an invitation link."""
    revoke(request, team, pk)
    messages.success(request, "The invitation link was revoked.")
    return redirect(team.url)


@_changing
def team_leave(request: HttpRequest, team: Team) -> HttpResponse:
    """Leave a team."""
    is_deleted = leave(request, team)
    messages.success(request, f"You left {team.name}." + (" The team was deleted." if is_deleted else ""))
    return redirect("captious:account")


@_changing
def team_remove(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Remove a member, which captains can do."""
    name = remove(request, team, pk=pk)
    messages.success(request, f"{name} was removed, and all invitation links were revoked.")
    return redirect(team.url)


@_changing
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
