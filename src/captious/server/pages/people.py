"""Pages of people: sign-up, the account with tokens and teams, and invitations."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from captious.server.models import Invitation, Membership, Team, Token
from captious.server.pages.context import mail_is_printed, site
from captious.server.pages.forms import SignUpForm, TeamForm, TokenForm
from captious.server.people.audit import record
from captious.server.people.rates import limit
from captious.server.people.secrets import invitation_of, make_invitation, make_token
from captious.server.people.teams import found_team, leave_team, personal_team, teams_of

__all__ = [
    "ChangePassword",
    "ResetPassword",
    "ResetSent",
    "SetPassword",
    "SignIn",
    "account",
    "invitation_revoke",
    "sign_up",
    "team",
    "team_invite",
    "team_join",
    "team_leave",
    "team_remove",
    "token_revoke",
]

_SHOWN_ONCE = "captious_shown_once"


class SignIn(views.LoginView):
    """Sign in. Wrong passwords lock the account for an address for a while."""

    template_name = "captious/sign_in.html"

    def get_context_data(self, **values: Any) -> dict[str, Any]:
        context: dict[str, Any] = super().get_context_data(**values)
        return {**context, **site(self.request)}  # Django's own is the host

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        record("sign in", self.request.user.username, request=self.request)
        return response


class ChangePassword(views.PasswordChangeView):
    """Change the password. Other sessions of the account end."""

    template_name = "captious/password_change.html"
    success_url = reverse_lazy("captious:account")

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        record("change password", self.request.user.username, request=self.request)
        messages.success(self.request, "Your password was changed.")
        return response


class ResetPassword(views.PasswordResetView):
    """Send a link that resets the password, to addresses that are known."""

    template_name = "captious/password_reset.html"
    email_template_name = "captious/password_reset_email.txt"
    subject_template_name = "captious/password_reset_subject.txt"
    success_url = reverse_lazy("captious:password_reset_done")
    extra_email_context = {"site_name": settings.CAPTIOUS.site_name}

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        limit(request, "reset")
        response: HttpResponse = super().post(request, *args, **kwargs)
        return response

    def get_context_data(self, **values: Any) -> dict[str, Any]:
        return {**super().get_context_data(**values), "mail_is_printed": mail_is_printed()}


class ResetSent(views.PasswordResetDoneView):
    """What happens next: mail, or a word to the administrator where the server sends none."""

    template_name = "captious/password_reset_done.html"

    def get_context_data(self, **values: Any) -> dict[str, Any]:
        return {**super().get_context_data(**values), "mail_is_printed": mail_is_printed()}


class SetPassword(views.PasswordResetConfirmView):
    """Set a new password through a link."""

    template_name = "captious/password_reset_confirm.html"
    success_url = reverse_lazy("captious:password_reset_complete")

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        record("reset password", self.user.username, request=self.request)
        return response


@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Make an account, unless the settings say that registration is closed."""
    if settings.CAPTIOUS.registration == "closed":
        return render(request, "403.html", {"message": "The administrator of this site creates accounts."}, status=403)
    following = request.POST.get("next", request.GET.get("next", ""))
    form = SignUpForm(request.POST or None)
    if request.method == "POST":
        limit(request, "sign up")
        if form.is_valid():
            user = form.save(commit=False)
            user.is_active = settings.CAPTIOUS.registration == "open"
            user.save()
            personal_team(user)
            record("sign up", user.username, request=request, detail="" if user.is_active else "waits for activation")
            if not user.is_active:
                messages.success(request, "Your account was created. You can sign in as soon as it has been activated.")
                return redirect("captious:home")
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            safe = url_has_allowed_host_and_scheme(following, {request.get_host()}, require_https=request.is_secure())
            return HttpResponseRedirect(following if following and safe else reverse("captious:home"))
    return render(
        request,
        "captious/sign_up.html",
        {"form": form, "next": following},
        status=422 if form.errors else 200,
    )


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """The account: tokens and teams."""
    action = request.POST.get("action")
    token_form = TokenForm(request.POST if action == "token" else None, prefix="token")
    team_form = TeamForm(request.POST if action == "team" else None, prefix="team")
    if action == "token" and token_form.is_valid():
        limit(request, "token")
        name = token_form.cleaned_data["name"]
        secret = make_token(request.user, name)
        record("make token", name, request=request)
        return _redirect_with(secret, reverse("captious:account"))
    if action == "team" and team_form.is_valid():
        limit(request, "team")
        made = found_team(team_form.cleaned_data["name"], request.user)
        record("create team", made.name, request=request)
        return redirect(made.url)
    secret = request.COOKIES.get(_SHOWN_ONCE)
    response = render(
        request,
        "captious/account.html",
        {
            "section": "account",
            "tokens": Token.objects.filter(user=request.user),
            "teams": teams_of(request.user),
            "token_form": token_form,
            "team_form": team_form,
            "new_token": secret,
        },
        status=422 if token_form.errors or team_form.errors else 200,
    )
    if secret is not None:
        response.delete_cookie(_SHOWN_ONCE, path=request.path)
    return response


@login_required
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke an own token."""
    token = get_object_or_404(Token, pk=pk, user=request.user)
    token.delete()
    record("revoke token", token.name, request=request)
    messages.success(request, "The token was revoked.")
    return redirect("captious:account")


@login_required
@require_safe
def team(request: HttpRequest, slug: str) -> HttpResponse:
    """A team, for its members."""
    found = _own_team(request, slug)
    secret = request.COOKIES.get(_SHOWN_ONCE)
    link = request.build_absolute_uri(reverse("captious:team_join", args=[secret])) if secret else None
    response = render(
        request,
        "captious/team.html",
        {
            "section": "account",
            "team": found,
            "memberships": found.memberships.select_related("user"),
            "invitations": found.invitations.filter(expires__gt=timezone.now()).order_by("expires"),
            "is_captain": found.memberships.filter(user=request.user, is_captain=True).exists(),
            "invitation_url": link,
            "is_member": True,
        },
    )
    if secret is not None:
        response.delete_cookie(_SHOWN_ONCE, path=request.path)
    return response


@login_required
@require_POST
def team_invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a link with which others can join."""
    limit(request, "invite")
    found = _own_team(request, slug)
    if found.is_personal:
        messages.error(request, "This is your personal team, which nobody else can join.")
        return redirect(found.url)
    secret = make_invitation(found, request.user)
    record("invite", found.name, request=request)
    return _redirect_with(secret, found.url)


@login_required
@require_POST
def invitation_revoke(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Revoke an invitation link, which every member can do."""
    found = _own_team(request, slug)
    get_object_or_404(Invitation, pk=pk, team=found).delete()
    record("revoke invitation", found.name, request=request)
    messages.success(request, "The invitation link was revoked.")
    return redirect(found.url)


@login_required
@require_POST
def team_leave(request: HttpRequest, slug: str) -> HttpResponse:
    """Leave a team. Its submissions stay."""
    found = _own_team(request, slug)
    if found.is_personal:
        messages.error(request, "This is your personal team, which cannot be left.")
        return redirect(found.url)
    deleted = leave_team(found, request.user)
    record("leave team", found.name, request=request, detail="the team was deleted" if deleted else "")
    messages.success(request, f"You left {found.name}." + (" The team was deleted." if deleted else ""))
    return redirect("captious:account")


@login_required
@require_POST
def team_remove(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Remove a member, which captains can do. Links to join are revoked, because the member may know them."""
    found = _own_team(request, slug)
    get_object_or_404(Membership, team=found, user=request.user, is_captain=True)
    membership = get_object_or_404(Membership.objects.select_related("user"), team=found, user__id=pk)
    name = membership.user.username
    if membership.user == request.user:
        messages.error(request, "To remove yourself, leave the team.")
        return redirect(found.url)
    leave_team(found, membership.user)
    Invitation.objects.filter(team=found).delete()
    record("remove member", found.name, request=request, detail=name)
    messages.success(request, f"{name} was removed, and all invitation links were revoked.")
    return redirect(found.url)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """Join a team through an invitation link."""
    limit(request, "join")
    invitation = invitation_of(token)
    if invitation is None:
        raise Http404
    found: Team = invitation.team
    if request.method == "POST":
        Membership.objects.get_or_create(team=found, user=request.user)
        record("join team", found.name, request=request)
        messages.success(request, f"You are now a member of {found.name}.")
        return redirect(found.url)
    return render(request, "captious/team_join.html", {"team": found})


def _redirect_with(secret: str, address: str) -> HttpResponse:
    """Redirect to a page that shows a new secret once. It travels in a cookie, because sessions are in the database."""
    response = HttpResponseRedirect(address)
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(_SHOWN_ONCE, secret, max_age=60, path=address, secure=secure, httponly=True, samesite="Strict")
    return response


def _own_team(request: HttpRequest, slug: str) -> Team:
    found: Team = get_object_or_404(Team, slug=slug, members=request.user)
    return found
