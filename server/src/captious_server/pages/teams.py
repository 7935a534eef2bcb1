"""Pages of teams and people, beside those of allauth: accounts, tokens, sign-in through other sites, invitations."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import requests
from allauth.account.decorators import reauthentication_required
from allauth.account.mixins import LogoutFunctionalityMixin
from allauth.account.views import ConfirmEmailView, PasswordResetFromKeyView
from allauth.mfa.webauthn.views import LoginWebAuthnView
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView, OAuth2View
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from captious_server import actions
from captious_server.actions.accounts import (
    data_json,
    data_zip,
    delete_account,
    kept_submissions,
    why_not_deleted,
)
from captious_server.models import Challenge, Submission, Team, TeamBan, Token, User
from captious_server.people.access import UserRequest, is_signed_in, signed_in, visible_challenges
from captious_server.people.accounts import (
    SCOPES,
    invitation_of,
    is_token_of,
    limit,
    make_token,
    record,
)
from captious_server.people.sign_in import SignedOpenID, check_address
from captious_server.people.teams import teams_of

_log = logging.getLogger(__name__)

# New tokens, and mail about submissions and phases.


class TokenForm(forms.Form):
    """A new token."""

    name = actions.Line(
        label="Name of the token", max_length=80, help_text="Its purpose, such as the name of a machine."
    )
    scopes = forms.MultipleChoiceField(
        choices=[*SCOPES.items()],
        initial=["submit"],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label="Permissions besides reading",
    )
    challenge = forms.ModelChoiceField(
        Challenge.objects.none(),
        required=False,
        to_field_name="slug",
        empty_label="All challenges",
        label="For",
        help_text="A token for one challenge cannot change teams.",
    )
    days = forms.TypedChoiceField(
        choices=[("30", "30 days"), ("90", "90 days"), ("365", "a year"), ("0", "for good")],
        initial="365",
        required=False,
        coerce=int,
        empty_value=365,  # type: ignore[arg-type]  # already as coerced, where the stubs want text
        label="Valid for",
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        actions.offer(self, "challenge", visible_challenges(request.user).order_by("slug"))

    def clean(self) -> dict[str, Any]:
        super().clean()
        values = self.cleaned_data
        if values.get("challenge") and "teams" in values.get("scopes", []):
            self.add_error("challenge", "A token for one challenge cannot change teams, which take part in many.")
        return values


class NoticesForm(forms.ModelForm):  # type: ignore[type-arg]  # generic in the stubs alone
    """The notices that a user gets by mail."""

    mail_ended = forms.BooleanField(required=False, label="A submission of one of my teams was scored or failed")
    mail_closing = forms.BooleanField(required=False, label="A phase that I take part in closes within a day")

    class Meta:
        model = User
        fields = ("mail_ended", "mail_closing")


@signed_in("GET", "HEAD", "POST")
def mail(request: UserRequest) -> HttpResponse:
    """The notices of the account."""
    user = User.objects.get(pk=request.user.pk)
    form = NoticesForm(request.POST if request.method == "POST" else None, instance=user)
    if form.is_valid():
        form.save()
        record("change mail", user.username, request=request, detail=", ".join(form.changed_data))
        messages.success(request, "Saved.")
        return redirect("captious:account")
    return render(request, "captious/mail.html", {"heading": "Mail", "form": form, "section": "account"})


# Secrets that a page shows once, such as a new token.

_COOKIE = "captious_shown_once"


def redirect_with(secret: str, address: str) -> HttpResponse:
    """Redirect to a page that shows a new secret once. It travels in a cookie, because sessions are in the database.

    Other subdomains of the same domain can set cookies, so the page shows a secret only if it is the reader's.
    """
    response = HttpResponseRedirect(address)
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(_COOKIE, secret, max_age=60, path=address, secure=secure, httponly=True, samesite="Strict")
    return response


def secret_in(request: HttpRequest) -> str:
    """The secret to show; empty if there is none."""
    return request.COOKIES.get(_COOKIE, "")


def without_secret(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """Delete the cookie of a secret that the page shows."""
    if _COOKIE in request.COOKIES:
        response.delete_cookie(_COOKIE, path=request.path)
    return response


# Sign-in through other sites: pages of allauth, which expects that those answer as they should.


@require_POST
def with_provider(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Go to an identity provider to sign in.

    It is a page, not a redirect: browsers apply ``form-action`` of the content security policy to all sites
    to which a form is redirected, and further redirects of the provider are unknown.
    """
    response = _answer(request, provider_id, OAuth2LoginView)
    if not isinstance(response, HttpResponseRedirect):
        return response
    context = {"heading": f"To {settings.CAPTIOUS.sign_in[provider_id].title}", "address": response.url}
    page = render(request, "captious/sign_in_with.html", context)
    page["Refresh"] = f'0;url="{response.url}"'
    return page


@require_safe
def with_provider_return(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Return from an identity provider with the identity of the user."""
    return _answer(request, provider_id, OAuth2CallbackView)


def _answer(request: HttpRequest, name: str, view: type[OAuth2View]) -> HttpResponse:
    limit(request, "sign in with", by_address=True)
    if name not in settings.CAPTIOUS.sign_in:
        raise Http404
    try:
        adapter = GitHubOAuth2Adapter(request) if name == "github" else SignedOpenID(request, name)
        response: HttpResponse = view.adapter_view(adapter)(request)
        if view is OAuth2LoginView and isinstance(response, HttpResponseRedirect):
            check_address(response.url)
    except (requests.RequestException, ValueError, LookupError, TypeError, AttributeError):
        _log.warning("%s cannot be used to sign in", name, exc_info=True)
        return render(request, "socialaccount/authentication_error.html", status=401)
    return response


# Links in mail. Following one ends no session: an image on any page could have its address.


_QUESTION_SECONDS = 600  # within which a passkey answers


class _EndsSessionsByPost(LogoutFunctionalityMixin):
    """A page that signs another user out when its form is sent, where allauth does it when the page is shown."""

    def logout(self) -> None:
        if self.request.method == "POST":
            super().logout()


class ConfirmAddress(_EndsSessionsByPost, ConfirmEmailView):
    """Confirm an address."""


class PasskeySignIn(LoginWebAuthnView):
    """Sign in with a passkey. The question that it answers is in the session of a visitor, which is short."""

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response: HttpResponse = super().get(request, *args, **kwargs)
        if request.session.modified and not request.user.is_authenticated:
            request.session.set_expiry(_QUESTION_SECONDS)
        return response

    def form_valid(self, form: Any) -> HttpResponse:
        self.request.session.set_expiry(settings.SESSION_COOKIE_AGE)
        response: HttpResponse = super().form_valid(form)
        return response


class Reset(_EndsSessionsByPost, PasswordResetFromKeyView):
    """Set a new password."""


# Pages on which users get a copy of their data, and delete their account.


class DeleteForm(forms.Form):
    """The user's name, so that nothing is deleted by mistake."""

    name = forms.CharField(label="Your user name", widget=forms.TextInput(attrs={"autocomplete": "off"}))
    submissions = forms.BooleanField(required=False, label="Also delete my submissions on leaderboards")

    def __init__(self, *args: Any, user: User, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user = user

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self._user.username:
            raise ValidationError("This is not your user name.")
        return name


@signed_in("POST")
def as_json(request: UserRequest) -> HttpResponseBase:
    """Download the user's data as JSON."""
    return _file(HttpResponse(data_json(request.user), "application/json"), request, "json")


@signed_in("POST")
def as_zip(request: UserRequest) -> HttpResponseBase:
    """Download the user's data and uploaded files as a zip file."""
    return _file(StreamingHttpResponse(data_zip(request.user), "application/zip"), request, "zip")


def _file(response: HttpResponseBase, request: UserRequest, ending: str) -> HttpResponseBase:
    response["Content-Disposition"] = f'attachment; filename="account.{ending}"'
    record("export data", request.user.username, request=request)
    return response


@signed_in("GET", "HEAD", "POST")
@reauthentication_required(allow_get=True)
def delete(request: UserRequest) -> HttpResponse:
    """Delete the account. The page explains the consequences."""
    user = User.objects.get(pk=request.user.pk)
    reason = why_not_deleted(user)
    form = DeleteForm(request.POST if request.method == "POST" else None, user=user)
    if request.method == "POST" and not reason and form.is_valid():
        delete_account(user, submissions=form.cleaned_data["submissions"])
        logout(request)
        messages.success(request, "Your account was deleted.")
        return redirect("captious:home")
    context = {"heading": "Delete account", "form": form, "reason": reason, "n_kept": kept_submissions(user).count()}
    is_wrong = request.method == "POST"
    return render(
        request, "captious/account_delete.html", context, status=(409 if reason else 422) if is_wrong else 200
    )


# The account, with tokens.


def _makes_token(request: HttpRequest) -> bool:
    return request.POST.get("action") == "token"


@signed_in("GET", "HEAD", "POST")
@reauthentication_required(allow_get=True, enabled=_makes_token)
def account(request: UserRequest) -> HttpResponse:
    """The account: tokens and teams."""
    action = request.POST.get("action")
    token_form = TokenForm(request.POST if action == "token" else None, prefix="token", request=request)
    team_form = actions.TeamForm(request.POST if action == "team" else None, prefix="team")
    if action == "token" and token_form.is_valid():
        secret = make_token(request.user, **token_form.cleaned_data)
        record("make token", token_form.cleaned_data["name"], request=request)
        return redirect_with(secret, reverse("captious:account"))
    if action == "team" and team_form.is_valid():
        return redirect(actions.new_team(request, team_form.cleaned_data["name"]).url)
    secret = secret_in(request)
    wrong: forms.Form = team_form if team_form.errors else token_form
    context = {
        "section": "account",
        "wrong": wrong,
        "tokens": Token.objects.filter(user=request.user).select_related("challenge"),
        "teams": teams_of(request.user),
        "token_form": token_form,
        "team_form": team_form,
        "has_other_sites": settings.CAPTIOUS.sign_in or request.user.socialaccount_set.exists(),
        "new_token": secret if is_token_of(request.user, secret) else None,
    }
    status = 422 if wrong.errors else 200
    return without_secret(request, render(request, "captious/account.html", context, status=status))


@signed_in("POST")
def token_revoke(request: UserRequest, pk: int) -> HttpResponse:
    """Revoke an own token."""
    token = get_object_or_404(Token, pk=pk, user=request.user)
    token.delete()
    record("revoke token", token.name, request=request)
    messages.success(request, "The token was revoked.")
    return redirect("captious:account")


# Pages of teams and invitations, with the functions of their actions, which the API shares.


def _team_action(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A view that changes a team for a member."""

    @signed_in("POST")
    def wrapper(request: UserRequest, slug: str, **values: Any) -> HttpResponseBase:
        with actions.own_team(request, slug) as team:
            return view(request, team, **values)

    return wrapper


@signed_in("GET", "HEAD")
def team(request: UserRequest, slug: str) -> HttpResponse:
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
        "invitations": actions.open_invitations(team),
        "is_captain": team.memberships.filter(user=request.user, is_captain=True).exists(),
        "invitation_url": actions.invitation_address(request, secret) if is_new else None,
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
@reauthentication_required
def team_invite(request: UserRequest, team: Team) -> HttpResponse:
    """Create an invitation link."""
    return redirect_with(actions.invite(request, team, request.POST.get("label", "")), team.url)


@_team_action
def invitation_revoke(request: UserRequest, team: Team, pk: int) -> HttpResponse:
    """Revoke an invitation link."""
    actions.revoke(request, team, pk)
    messages.success(request, "The invitation link was revoked.")
    return redirect(team.url)


@_team_action
def team_leave(request: UserRequest, team: Team) -> HttpResponse:
    """Leave a team."""
    is_deleted = actions.leave(request, team)
    messages.success(request, f"You left {team.name}." + (" The team was deleted." if is_deleted else ""))
    return redirect("captious:account")


@_team_action
def team_remove(request: UserRequest, team: Team, pk: int) -> HttpResponse:
    """Remove a member, which captains can do."""
    name = actions.remove(request, team, pk=pk)
    messages.success(request, f"{name} was removed, and all invitation links were revoked.")
    return redirect(team.url)


@_team_action
def team_captain(request: UserRequest, team: Team, pk: int) -> HttpResponse:
    """Make another member captain."""
    messages.success(request, f"{actions.make_captain(request, team, pk=pk)} is now the captain.")
    return redirect(team.url)


@require_http_methods(["GET", "HEAD", "POST"])
def team_join(request: HttpRequest, token: str) -> HttpResponse:
    """Join a team through an invitation link. Visitors see the invitation before they sign in."""
    limit(request, "join")
    invitation = invitation_of(token)
    if invitation is None:
        raise actions.InvitationError
    team = invitation.team
    if request.method == "POST":
        if not is_signed_in(request):
            return redirect_to_login(request.path)
        actions.join(request, token)
        messages.success(request, f"You are now a member of {team.name}.")
        return redirect(team.url)
    if request.user.is_authenticated and team.members.contains(request.user):
        messages.info(request, f"You are a member of {team.name}.")
        return redirect(team.url)
    context = {"heading": f"Join {team.name}?", "button": "Join", "invitation": invitation, "next": request.path}
    return render(request, "captious/team_join.html", context)
