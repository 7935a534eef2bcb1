"""The page on which users set up a second step of signing in, get new recovery codes, and turn it off."""

from __future__ import annotations

from typing import Any

import segno
from django import forms
from django.contrib import messages
from django.contrib.auth import update_session_auth_hash
from django.contrib.auth.decorators import login_required
from django.core import signing
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_http_methods

from captious.server.models import User
from captious.server.pages.reauthentication import ProofForm, keep_device
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.people.second_step import (
    is_missing,
    new_recovery_codes,
    new_salt,
    secret_of,
    setup_uri,
    turn_off,
    turn_on,
)

_SALT_PURPOSE, _SALT_SECONDS = "captious.second_step", 3600


class SetUpForm(ProofForm):
    """A first code of a new secret, and the password."""

    code = forms.CharField(
        max_length=20,
        label="Code",
        help_text="The six digits shown by the app.",
        widget=forms.TextInput(attrs={"autocomplete": "one-time-code", "inputmode": "numeric"}),
    )
    field_order = ["code", "proof"]


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def second_step(request: HttpRequest) -> HttpResponse:
    """The second step of the account. New recovery codes are shown in the answer, and nowhere else."""
    user = User.objects.get(pk=request.user.pk)
    if request.method == "POST":
        limit(request, "password", by_address=True)
    return _active_page(request, user) if user.totp_salt else _setup_page(request, user)


def _setup_page(request: HttpRequest, user: User) -> HttpResponse:
    salt = _salt_in(request.POST.get("salt", ""), user)
    form = SetUpForm(request.POST if request.method == "POST" else None, request=request, user=user)
    if form.is_valid() and salt is not None:
        codes = turn_on(user, salt, "".join(form.cleaned_data["code"].split()))
        if codes:
            _keep_session(request, user)
            record("turn on second step", user.username, request=request)
            return keep_device(request, _page(request, user, None, codes=codes), user)
        form.add_error("code", "This code is wrong. Check the time of your device.")
    elif form.is_valid():
        form.add_error(None, "This page was open for too long. Add the new secret to your app.")
    salt = salt or new_salt()
    secret = secret_of(salt)
    context = {
        "salt": signing.dumps([user.pk, salt], salt=_SALT_PURPOSE),
        "secret": " ".join(secret[i : i + 4] for i in range(0, len(secret), 4)),
        "picture": _qr_code(setup_uri(user, salt)),
    }
    return _page(request, user, form, **context, is_asked=is_missing(user))


def _salt_in(text: str, user: User) -> str | None:
    """The salt that a page has shown to this user within the last hour."""
    try:
        pk, salt = signing.loads(text, salt=_SALT_PURPOSE, max_age=_SALT_SECONDS)
    except signing.BadSignature:
        return None
    return str(salt) if pk == user.pk else None


def _active_page(request: HttpRequest, user: User) -> HttpResponse:
    form = ProofForm(request.POST if request.method == "POST" else None, request=request, user=user)
    if request.method == "POST" and form.is_valid():
        if request.POST.get("action") == "off":
            turn_off(user)
            _keep_session(request, user)
            record("turn off second step", user.username, request=request)
            messages.success(request, "The second step has been turned off.")
            return redirect("captious:account")
        codes = new_recovery_codes(user)
        record("make recovery codes", user.username, request=request)
        return _page(request, user, None, codes=codes)
    return _page(request, user, form)


def _keep_session(request: HttpRequest, user: User) -> None:
    """End all sessions of a user but this one."""
    user.refresh_from_db()
    update_session_auth_hash(request, user)


def _page(request: HttpRequest, user: User, form: forms.Form | None, **values: Any) -> HttpResponse:
    context = {"heading": "Second step of signing in", "section": "account", "form": form}
    status = 422 if form is not None and form.errors else 200
    return render(
        request,
        "captious/second_step.html",
        {**context, "n_codes": user.recovery_codes.count(), **values},
        status=status,
    )


def _qr_code(text: str) -> SafeString:
    """An SVG drawing of paths, black on white even on dark pages, because scanners need it."""
    drawing = segno.make(text, error="m", micro=False).svg_inline(scale=4, border=4, dark="#000", light="#fff")
    return mark_safe(drawing)
