"""Pages on which users sign in: with a password, with a code as the second step, and through other sites."""

from __future__ import annotations

import time
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.decorators import login_required
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from captious.server.actions.forms import one_line
from captious.server.models import Identity, User
from captious.server.pages.account_forms import NameForm
from captious.server.pages.error_pages import error_answer
from captious.server.pages.reauthentication import ProofForm, device_of, keep_device
from captious.server.people.audit import record
from captious.server.people.identity_providers import IdentityError, begin, find_provider, identity_in
from captious.server.people.rate_limits import limit
from captious.server.people.second_step import refusal
from captious.server.people.teams import personal_team

#: Which of Django's backends knows the users.
BACKEND = "django.contrib.auth.backends.ModelBackend"
# Session key during sign-in, and its lifetime in seconds.
_PASSWORD_STEP_KEY, _IDENTITY_KEY, _NEXT_KEY, _STEP_SECONDS = (
    "captious_first_step",
    "captious_identity",
    "captious_next",
    600,
)

#: Purposes of pages that require a sign-in.
_PURPOSES = {
    "submit": "submit captions",
    "submissions": "see your submissions",
    "team_join": "join the team that you are invited to",
    "terms": "read and accept the terms for your team",
    "teams": "ask for the approval of your team",
    "account": "see your account",
}


def next_page(request: HttpRequest) -> str:
    """The requested page of this site, or the list of challenges."""
    address = request.POST.get("next", request.GET.get("next", ""))
    is_safe = url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure())
    return address if address and is_safe else reverse("captious:home")


def purpose_of(address: str) -> str:
    """The purpose for which a user is asked to sign in, to follow "to"; empty for most pages."""
    try:
        return _PURPOSES.get(resolve(address.partition("?")[0]).url_name or "", "")
    except Resolver404:
        return ""


def enter(request: HttpRequest, user: User, to: str, *, through: str = "") -> HttpResponse:
    """Sign in a user who has given a password or an identity: at once, or after the second step.

    Args:
        to: a page of this site.
        through: the identity provider.
    """
    if not user.totp_salt:
        return _sign_in(request, user, to, through)
    request.session.cycle_key()
    step = {"user": user.pk, "hash": user.get_session_auth_hash(), "to": to, "through": through}
    request.session[_PASSWORD_STEP_KEY] = {**step, "until": time.time() + _STEP_SECONDS}
    return redirect("captious:sign_in_code")


def _sign_in(request: HttpRequest, user: User, to: str, through: str) -> HttpResponse:
    login(request, user, backend=BACKEND)
    record("sign in", user.username, request=request, detail=f"through {through}" if through else "")
    return HttpResponseRedirect(to)


class SignIn(views.LoginView):
    """Sign in. Wrong passwords lock the account for an address for a while; ``RateLimit`` counts all attempts."""

    template_name = "captious/sign_in.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        """Django's own name of the site is the host."""
        context: dict[str, Any] = super().get_context_data(**kwargs)
        names = {"heading": "Sign in", "site_name": settings.CAPTIOUS.site_name}
        purpose = purpose_of(context["next"])
        return {**context, **names, "providers": settings.CAPTIOUS.sign_in, "purpose": purpose}

    def form_valid(self, form: Any) -> HttpResponse:
        return enter(self.request, form.get_user(), self.get_success_url())


class CodeForm(forms.Form):
    """A code of the second step."""

    code = forms.CharField(
        max_length=40,
        help_text="The six digits shown by your app, or one of your recovery codes.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "autofocus": True, "spellcheck": "false"}),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def code(request: HttpRequest) -> HttpResponse:
    """The second step of signing in."""
    step = request.session.get(_PASSWORD_STEP_KEY)
    user = None if step is None else User.objects.filter(pk=step["user"], is_active=True).first()
    if (
        user is None
        or time.time() > step["until"]
        or not constant_time_compare(step["hash"], user.get_session_auth_hash())
    ):
        request.session.pop(_PASSWORD_STEP_KEY, None)
        return redirect("captious:sign_in")
    form = CodeForm(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        limit(request, "password", by_address=True)
        if form.is_valid():
            reason = refusal(user, form.cleaned_data["code"], device_of(request))
            if not reason:
                del request.session[_PASSWORD_STEP_KEY]
                return keep_device(request, _sign_in(request, user, step["to"], step["through"]), user)
            form.add_error("code", reason)
            record("wrong code", user.username, request=request)
    context = {"heading": "Enter a code", "button": "Sign in", "form": form}
    return render(request, "captious/sign_in_code.html", context, status=422 if form.errors else 200)


@require_POST
def with_provider(request: HttpRequest, name: str) -> HttpResponse:
    """Go to an identity provider to sign in.

    It is a page, not a redirect: browsers apply ``form-action`` of the content security policy to all sites
    to which a form is redirected, and further redirects of the provider are unknown.
    """
    provider = find_provider(name)
    limit(request, "sign in with", by_address=True)
    request.session[_NEXT_KEY] = next_page(request)
    back = request.build_absolute_uri(reverse("captious:sign_in_with_return", args=[name]))
    try:
        address = begin(request, name, back)
    except IdentityError as error:
        return error_answer(request, 403, str(error))
    context = {"heading": f"To {provider.title}", "title": provider.title, "address": address}
    response = render(request, "captious/sign_in_with.html", context)
    response["Refresh"] = f'0;url="{address}"'
    return response


@require_safe
def with_provider_return(request: HttpRequest, name: str) -> HttpResponse:
    """Return from an identity provider with the identity of the user."""
    provider = find_provider(name)
    limit(request, "sign in with", by_address=True)
    try:
        claims = identity_in(request, name)
    except IdentityError as error:
        return error_answer(request, 403, str(error))
    identity = (
        Identity.objects.filter(issuer=claims["issuer"], subject=claims["subject"]).select_related("user").first()
    )
    if identity is None:
        request.session[_IDENTITY_KEY] = {
            **claims,
            "label": one_line(claims["label"]),
            "until": time.time() + _STEP_SECONDS,
        }
        return redirect("captious:sign_in_connect")
    if request.user.is_authenticated and request.user != identity.user:
        return error_answer(request, 403, f"{identity.label} is connected to another account of this site.")
    if not identity.user.is_active:
        return error_answer(request, 403, "This account is not active. Ask the administrator of this site.")
    Identity.objects.filter(pk=identity.pk).update(last_used=timezone.now())
    return enter(
        request, identity.user, request.session.pop(_NEXT_KEY, reverse("captious:home")), through=provider.title
    )


@require_http_methods(["GET", "HEAD", "POST"])
def connect(request: HttpRequest) -> HttpResponse:
    """Connect a new identity with the account of the signed-in user, or with a new account.

    Equal mail addresses do not connect them: owners of an account have to sign in to it first.
    """
    claims = request.session.get(_IDENTITY_KEY)
    if claims is None or time.time() > claims["until"]:
        request.session.pop(_IDENTITY_KEY, None)
        return redirect("captious:account" if request.user.is_authenticated else "captious:sign_in")
    if request.user.is_authenticated:
        return _connect_own(request, claims)
    if settings.CAPTIOUS.registration == "closed":
        return _page(request, claims, None)
    form = NameForm(request.POST if request.method == "POST" else None, initial={"username": claims["name"]})
    if request.method == "POST":
        limit(request, "password", by_address=True)
        if form.is_valid():
            return _create_account(request, claims, form)
    return _page(request, claims, form)


def _connect_own(request: HttpRequest, claims: dict[str, Any]) -> HttpResponse:
    form = ProofForm(request.POST if request.method == "POST" else None, request=request)
    if request.method == "POST":
        limit(request, "password", by_address=True)
        if form.is_valid():
            if _connect_identity(request, request.user, claims):
                messages.success(request, f"{claims['label']} is connected. You can sign in with it from now on.")
            else:
                messages.error(request, f"{claims['label']} is already connected to an account.")
            return redirect("captious:account")
    return _page(request, claims, form)


def _create_account(request: HttpRequest, claims: dict[str, Any], form: NameForm) -> HttpResponse:
    to = request.session.get(_NEXT_KEY, reverse("captious:home"))
    user = form.save(commit=False)
    user.set_unusable_password()
    user.is_active = settings.CAPTIOUS.registration == "open"
    with transaction.atomic():
        user.email = user.verified_email = claims["email"]
        user.save()
        personal_team(user)
        if not _connect_identity(request, user, claims):
            raise IntegrityError("the identity was connected meanwhile")
    record("sign up", user.username, request=request, detail="" if user.is_active else "waits for activation")
    if user.is_active:
        return _sign_in(request, user, to, claims["provider"])
    messages.success(request, "Your account was created. You can sign in as soon as it has been activated.")
    return redirect("captious:home")


def _connect_identity(request: HttpRequest, user: User, claims: dict[str, Any]) -> bool:
    """Connect an identity with a user; False if it has been connected in the meantime."""
    _, is_new = Identity.objects.get_or_create(
        issuer=claims["issuer"], subject=claims["subject"], defaults={"user": user, "label": claims["label"]}
    )
    request.session.pop(_IDENTITY_KEY, None)
    if is_new:
        record("connect", user.username, request=request, detail=claims["provider"])
    return bool(is_new)


def _page(request: HttpRequest, claims: dict[str, Any], form: forms.Form | None) -> HttpResponse:
    is_signed_in = request.user.is_authenticated
    context = {
        "heading": "Connect your account" if is_signed_in else "A new account",
        "button": "Connect" if is_signed_in else "Sign up",
        "label": claims["label"],
        "form": form,
    }
    return render(
        request, "captious/sign_in_connect.html", context, status=422 if form is not None and form.errors else 200
    )


@login_required
@require_POST
def disconnect(request: HttpRequest, pk: int) -> HttpResponse:
    """Disconnect an own identity, unless it is the only way to sign in."""
    with transaction.atomic():
        user = User.objects.select_for_update().get(pk=request.user.pk)
        identity = get_object_or_404(Identity, pk=pk, user=user)
        if not user.has_usable_password() and user.identities.count() == 1:
            messages.error(
                request, "This is your only way to sign in. Ask the administrator for a password link first."
            )
        else:
            identity.delete()
            record("disconnect", user.username, request=request, detail=identity.label.split(":")[0])
            messages.success(request, f"{identity.label} is disconnected.")
    return redirect("captious:account")
