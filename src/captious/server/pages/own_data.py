"""Pages on which users get a copy of their data, and delete their account."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from captious.server.actions.account_deletion import delete_account, kept_submissions, why_not_deleted
from captious.server.actions.own_data import data_json, data_zip
from captious.server.models import User
from captious.server.pages.reauthentication import ProofForm
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit


class DeleteForm(ProofForm):
    """The user's name and a proof of identity, so that nothing is deleted by mistake."""

    name = forms.CharField(label="Your user name", widget=forms.TextInput(attrs={"autocomplete": "off"}))
    submissions = forms.BooleanField(required=False, label="Also delete my submissions on leaderboards")
    field_order = ["name", "proof", "submissions"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if name != self._user.username:
            raise ValidationError("This is not your user name.")
        return name


@login_required
@require_POST
def as_json(request: HttpRequest) -> HttpResponse:
    """Download the user's data as JSON."""
    limit(request, "export")
    return _file(HttpResponse(data_json(request.user), "application/json"), request, "json")


@login_required
@require_POST
def as_zip(request: HttpRequest) -> HttpResponse:
    """Download the user's data and uploaded files as a zip file."""
    limit(request, "export")
    return _file(StreamingHttpResponse(data_zip(request.user), "application/zip"), request, "zip")


def _file(response: Any, request: HttpRequest, ending: str) -> HttpResponse:
    response["Content-Disposition"] = f'attachment; filename="account.{ending}"'
    record("export data", request.user.username, request=request)
    return response


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest) -> HttpResponse:
    """Delete the account. The page explains the consequences."""
    user = User.objects.get(pk=request.user.pk)
    reason = why_not_deleted(user)
    form = DeleteForm(request.POST if request.method == "POST" else None, request=request, user=user)
    if request.method == "POST":
        limit(request, "password", by_address=True)
        if not reason and form.is_valid():
            delete_account(user, submissions=form.cleaned_data["submissions"])
            logout(request)
            messages.success(request, "Your account was deleted.")
            return redirect("captious:home")
    context = {"heading": "Delete account", "form": form, "reason": reason, "n_kept": kept_submissions(user).count()}
    is_wrong = request.method == "POST"
    return render(
        request, "captious/account_delete.html", context, status=(409 if reason else 422) if is_wrong else 200
    )
