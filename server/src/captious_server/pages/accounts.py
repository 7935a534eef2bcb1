"""Forms and pages of accounts beside those of allauth: tokens, notices by mail, and sign-in through other sites."""

from __future__ import annotations

import logging
from typing import Any

import requests
from allauth.socialaccount.providers.github.views import GitHubOAuth2Adapter
from allauth.socialaccount.providers.oauth2.views import OAuth2CallbackView, OAuth2LoginView, OAuth2View
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from captious_server.actions import Line
from captious_server.models import Challenge, User
from captious_server.people.access import visible_challenges
from captious_server.people.accounts import SCOPES, limit, record
from captious_server.people.sign_in import SignedOpenID, check_address

_log = logging.getLogger(__name__)

# New tokens, and mail about submissions and phases.


class TokenForm(forms.Form):
    """A new token."""

    name = Line(label="Name of the token", max_length=80, help_text="Its purpose, such as the name of a machine.")
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
        empty_value=365,
        label="Valid for",
    )

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["challenge"].queryset = visible_challenges(request.user).order_by("slug")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean()
        if values.get("challenge") and "teams" in values.get("scopes", []):
            self.add_error("challenge", "A token for one challenge cannot change teams, which take part in many.")
        return values


class MailForm(forms.ModelForm):
    """The notices that a user gets by mail."""

    mail_ended = forms.BooleanField(required=False, label="A submission of one of my teams was scored or failed")
    mail_closing = forms.BooleanField(required=False, label="A phase that I take part in closes within a day")

    class Meta:
        model = User
        fields = ("mail_ended", "mail_closing")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def mail(request: HttpRequest) -> HttpResponse:
    """The notices of the account."""
    form = MailForm(request.POST or None, instance=User.objects.get(pk=request.user.pk))
    if request.method == "POST":
        limit(request, "change")
        form = MailForm(request.POST, instance=form.instance)
        if form.is_valid():
            form.save()
            record("change mail", request.user.username, request=request, detail=", ".join(form.changed_data))
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
    return str(request.COOKIES.get(_COOKIE, ""))


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
