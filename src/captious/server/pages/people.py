"""Pages of people: sign-up, the account with tokens and teams, and invitations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.views import redirect_to_login
from django.contrib.messages.views import SuccessMessageMixin
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from captious.server.models import Challenge, Identity, Invitation, Membership, Submission, Team, Token, User
from captious.server.pages.forms import SignUpForm, TeamForm, TokenForm
from captious.server.pages.mail import send_link
from captious.server.pages.sign_in import BACKEND, next_page, purpose_of
from captious.server.people.access import visible_challenges
from captious.server.people.audit import record
from captious.server.people.passwords import ChangeForm, LinkForm, ResetForm
from captious.server.people.rates import limit
from captious.server.people.secrets import invitation_of, is_token_of, make_invitation, make_token
from captious.server.people.teams import (
    MOST_TEAMS,
    create_team,
    join_team,
    leave_team,
    lock_team,
    personal_team,
    teams_of,
)

_SHOWN_ONCE = "captious_shown_once"


class _Recorded(views.FormView):
    """A view of Django whose success is in the audit log."""

    action = ""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        user = getattr(self, "user", self.request.user)  # a link that sets a password names the user
        n = getattr(form, "n_ended", 0)
        record(self.action, user.username, request=self.request, detail=f"{n:,} tokens and sites removed" if n else "")
        return response


class _Limited(views.FormView):
    """A view of Django about passwords, for each account and address a few times a minute."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        limit(request, "password", by_address=True)
        response: HttpResponse = super().post(request, *args, **kwargs)
        return response


class ChangePassword(_Limited, SuccessMessageMixin, _Recorded, views.PasswordChangeView):
    """Change the password. Other sessions end, and so do tokens and connected sites unless the user keeps them."""

    action = "change password"
    form_class = ChangeForm
    template_name = "captious/password_change.html"
    extra_context = {"heading": "Change password"}
    success_url = reverse_lazy("captious:account")

    def get_success_message(self, cleaned_data: dict[str, Any]) -> str:
        done = "kept" if cleaned_data["keep_tokens"] else "removed"
        return f"Your password was changed. Your tokens and connected sites were {done}."


class ResetPassword(_Limited, views.PasswordResetView):
    """Send a link that resets the password, to addresses of accounts."""

    form_class = LinkForm
    template_name = "captious/password_reset.html"
    extra_context = {"heading": "Reset password", "button": "Send the link"}
    email_template_name = "captious/password_reset_email.txt"
    subject_template_name = "captious/password_reset_subject.txt"
    success_url = reverse_lazy("captious:password_reset_done")
    extra_email_context = {"site_name": settings.CAPTIOUS.site_name}


class SetPassword(_Limited, _Recorded, views.PasswordResetConfirmView):
    """Set a new password through a link. Sessions end, and tokens and connected sites unless the user keeps them."""

    action = "reset password"
    form_class = ResetForm
    template_name = "captious/password_reset_confirm.html"
    extra_context = {"heading": "Set a new password", "button": "Set password"}
    success_url = reverse_lazy("captious:password_reset_complete")


@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Make an account, unless the settings say that registration is closed."""
    if settings.CAPTIOUS.registration == "closed":
        return render(request, "403.html", {"message": "The administrator of this site creates accounts."}, status=403)
    form = SignUpForm(request.POST or None)
    if request.method == "POST":
        limit(request, "password", by_address=True)
        if form.is_valid():
            user = form.save(commit=False)
            user.is_active = settings.CAPTIOUS.registration == "open"
            user.save()
            personal_team(user)
            record("sign up", user.username, request=request, detail="" if user.is_active else "waits for activation")
            if not user.is_active:
                messages.success(request, "Your account was created. You can sign in as soon as it has been activated.")
                return redirect("captious:home")
            send_link(request, user)
            login(request, user, backend=BACKEND)
            return HttpResponseRedirect(next_page(request))
    next_given = request.POST.get("next", request.GET.get("next", ""))
    context = {"heading": "Sign up", "form": form, "next": next_given, "purpose": purpose_of(next_given)}
    return render(request, "captious/sign_up.html", context, status=422 if form.errors else 200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """The account: tokens and teams."""
    action = request.POST.get("action")
    token_form = TokenForm(request.POST if action == "token" else None, prefix="token", request=request)
    team_form = TeamForm(request.POST if action == "team" else None, prefix="team")
    if action == "token":
        limit(request, "password", by_address=True)
    if action == "token" and token_form.is_valid():
        name = token_form.cleaned_data["name"]
        scope, days = token_form.cleaned_data["scope"] or "submit", token_form.cleaned_data["days"]
        secret = make_token(request.user, name, scope=scope, days=days)
        record("make token", name, request=request)
        return _redirect_with(secret, reverse("captious:account"))
    if action == "team" and team_form.is_valid():
        limit(request, "team")
        if len(teams_of(request.user)) >= MOST_TEAMS:
            messages.error(request, f"You are in {MOST_TEAMS} teams, which is the limit: leave one first.")
            return redirect("captious:account")
        team = create_team(team_form.cleaned_data["name"], request.user)
        record("create team", team.name, request=request)
        return redirect(team.url)
    secret = request.COOKIES.get(_SHOWN_ONCE, "")
    identities = Identity.objects.filter(user=request.user)
    known, providers = {identity.issuer for identity in identities}, settings.CAPTIOUS.sign_in
    context = {
        "section": "account",
        "tokens": Token.objects.filter(user=request.user),
        "teams": teams_of(request.user),
        "token_form": token_form,
        "team_form": team_form,
        "identities": identities,
        "unconnected": {name: each.title for name, each in providers.items() if each.issuer not in known},
        "new_token": secret if is_token_of(request.user, secret) else None,
    }
    status = 422 if token_form.errors or team_form.errors else 200
    return _without_secret(request, render(request, "captious/account.html", context, status=status))


@login_required
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke an own token."""
    token = get_object_or_404(Token, pk=pk, user=request.user)
    token.delete()
    record("revoke token", token.name, request=request)
    messages.success(request, "The token was revoked.")
    return redirect("captious:account")


def _team_view(*methods: str) -> Callable[[Callable[..., HttpResponse]], Callable[..., HttpResponse]]:
    """A view of a team for its members, for these methods; it is given the team, locked if it may change something."""

    def decorate(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
        @login_required
        @require_http_methods(methods)
        def of_members(request: HttpRequest, slug: str, **values: Any) -> HttpResponse:
            if request.method != "POST":
                return view(request, get_object_or_404(Team, slug=slug, members=request.user), **values)
            with transaction.atomic():
                team = lock_team(slug)
                if team is None or not team.memberships.filter(user=request.user).exists():
                    raise Http404
                return view(request, team, **values)

        return of_members

    return decorate


@_team_view("GET", "HEAD")
def team(request: HttpRequest, team: Team) -> HttpResponse:
    """A team."""
    secret = request.COOKIES.get(_SHOWN_ONCE, "")
    invitation = invitation_of(secret)
    is_new = invitation is not None and invitation.team == team
    context = {
        "section": "account",
        "team": team,
        "challenges": _challenges(request.user, team),
        "memberships": team.memberships.select_related("user"),
        "invitations": team.invitations.filter(expires__gt=timezone.now()).order_by("expires"),
        "is_captain": team.memberships.filter(user=request.user, is_captain=True).exists(),
        "invitation_url": request.build_absolute_uri(reverse("captious:team_join", args=[secret])) if is_new else None,
    }
    return _without_secret(request, render(request, "captious/team.html", context))


def _challenges(user: User, team: Team) -> list[tuple[Challenge, int]]:
    """The challenges that a team has submitted to or can submit to, with its submissions; the former come first."""
    submissions = Submission.objects.filter(team=team).exclude(status=Submission.Status.DELETED)
    counts = Counter(submissions.values_list("phase__challenge_id", flat=True))
    challenges = visible_challenges(user).prefetch_related("phases")
    rows = [(each, counts[each.pk]) for each in challenges if each.pk in counts or each.is_open]
    return sorted(rows, key=lambda row: not row[1])


@_team_view("POST")
def team_invite(request: HttpRequest, team: Team) -> HttpResponse:
    """Make a link with which others can join."""
    limit(request, "invite")
    if team.is_personal:
        messages.error(request, "This is your personal team, which nobody else can join.")
        return redirect(team.url)
    secret = make_invitation(team, request.user)
    record("invite", team.name, request=request)
    return _redirect_with(secret, team.url)


@_team_view("POST")
def invitation_revoke(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Revoke an invitation link, which every member can do."""
    limit(request, "change")
    get_object_or_404(Invitation, pk=pk, team=team).delete()
    record("revoke invitation", team.name, request=request)
    messages.success(request, "The invitation link was revoked.")
    return redirect(team.url)


@_team_view("POST")
def team_leave(request: HttpRequest, team: Team) -> HttpResponse:
    """Leave a team. Its submissions stay."""
    limit(request, "change")
    if team.is_personal:
        messages.error(request, "This is your personal team, which cannot be left.")
        return redirect(team.url)
    is_deleted = leave_team(team, request.user)
    record("leave team", team.name, request=request, detail="the team was deleted" if is_deleted else "")
    messages.success(request, f"You left {team.name}." + (" The team was deleted." if is_deleted else ""))
    return redirect("captious:account")


@_team_view("POST")
def team_remove(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Remove a member, which captains can do. Links to join are revoked, because the member may know them."""
    limit(request, "change")
    get_object_or_404(Membership, team=team, user=request.user, is_captain=True)
    user = get_object_or_404(Membership.objects.select_related("user"), team=team, user__id=pk).user
    if user == request.user:
        messages.error(request, "To remove yourself, leave the team.")
        return redirect(team.url)
    leave_team(team, user)
    Invitation.objects.filter(team=team).delete()
    record("remove member", team.name, request=request, detail=user.username)
    messages.success(request, f"{user.username} was removed, and all invitation links were revoked.")
    return redirect(team.url)


@_team_view("POST")
def team_captain(request: HttpRequest, team: Team, pk: int) -> HttpResponse:
    """Make another member captain in one's own place."""
    own = get_object_or_404(Membership, team=team, user=request.user, is_captain=True)
    other = get_object_or_404(Membership.objects.select_related("user"), team=team, user__id=pk)
    if other.pk != own.pk:
        Membership.objects.filter(pk=own.pk).update(is_captain=False)
        Membership.objects.filter(pk=other.pk).update(is_captain=True)
        record("make captain", team.name, request=request, detail=other.user.username)
        messages.success(request, f"{other.user.username} is now the captain.")
    return redirect(team.url)


@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """Join a team through an invitation link. Who has no account, or is not signed in, reads who invites to what."""
    limit(request, "join")
    invitation = invitation_of(token)
    if invitation is None:
        raise Http404
    team: Team = invitation.team
    if request.method == "POST":
        if not request.user.is_authenticated:
            return redirect_to_login(request.path)
        if not join_team(token, request.user):
            raise Http404
        record("join team", team.name, request=request)
        messages.success(request, f"You are now a member of {team.name}.")
        return redirect(team.url)
    if request.user.is_authenticated and team.members.contains(request.user):
        messages.info(request, f"You are a member of {team.name}.")
        return redirect(team.url)
    context = {"heading": f"Join {team.name}?", "button": "Join", "invitation": invitation, "next": request.path}
    return render(request, "captious/team_join.html", context)


def _redirect_with(secret: str, address: str) -> HttpResponse:
    """Redirect to a page that shows a new secret once. It travels in a cookie, because sessions are in the database.

    Sites of other names below the same domain can set cookies, so the page shows a secret only if it is the reader's.
    """
    response = HttpResponseRedirect(address)
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(_SHOWN_ONCE, secret, max_age=60, path=address, secure=secure, httponly=True, samesite="Strict")
    return response


def _without_secret(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Delete the cookie of a secret that the page shows."""
    if _SHOWN_ONCE in request.COOKIES:
        response.delete_cookie(_SHOWN_ONCE, path=request.path)
    return response
