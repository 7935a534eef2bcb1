"""Pages about mail: the address of an account, its notices, and the link that confirms the address."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from captious.server.models import User
from captious.server.notices.events import verification, verified_user
from captious.server.pages.context import has_no_mail
from captious.server.pages.reauthentication import ProofForm
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit


class MailForm(ProofForm, forms.ModelForm):
    """The mail address and notices of an account. Users prove their identity to change the address."""

    email = forms.EmailField(required=False, max_length=254, widget=forms.EmailInput(attrs={"autocomplete": "email"}))
    mail_ended = forms.BooleanField(required=False, label="A submission of one of my teams was scored or failed")
    mail_closing = forms.BooleanField(required=False, label="A phase that I take part in closes within a day")
    field_order = ["email", "mail_ended", "mail_closing", "proof"]

    class Meta:
        model = User
        fields = ("email", "mail_ended", "mail_closing")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if has_no_mail():
            del self.fields["mail_ended"], self.fields["mail_closing"]
        if "proof" in self.fields:
            self.fields["proof"].required = False
            self.fields["proof"].help_text = "To change the address."

    def clean_proof(self) -> str:
        if "email" not in self.changed_data:
            return ""
        if not self.cleaned_data["proof"]:
            raise ValidationError("Your password is required to change the address.")
        return super().clean_proof()


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def mail(request: HttpRequest) -> HttpResponse:
    """The mail address of the account, and its notices."""
    user, action = User.objects.get(pk=request.user.pk), request.POST.get("action")
    data = request.POST if request.method == "POST" and action != "verify" else None
    form = MailForm(data, request=request, user=user, instance=user)
    if request.method == "POST":
        limit(request, "password", by_address=True)
        if action == "verify":
            send_link(request, user)
            return redirect("captious:mail")
        if form.is_valid():
            _save(request, form)
            return redirect("captious:account")
    context = {"heading": "Mail", "form": form, "section": "account"}
    return render(request, "captious/mail.html", context, status=422 if form.errors else 200)


def _save(request: HttpRequest, form: MailForm) -> None:
    """Save a valid form. A new address is not used before it is confirmed."""
    names = [name for name in form.changed_data if name != "proof"]
    values = {name: form.cleaned_data[name] for name in names}
    User.objects.filter(pk=request.user.pk).update(**values)
    if names:
        record("change mail", request.user.username, request=request, detail=", ".join(names))
    request.user.refresh_from_db()
    if "email" in names and request.user.email:
        send_link(request, request.user)
    messages.success(request, "Saved.")


def send_link(request: HttpRequest, user: User) -> None:
    """Send the link that confirms the address of a user, if this server sends mail."""
    if has_no_mail() or not user.email or user.email == user.verified_email:
        return

    def link(token: str) -> str:
        return request.build_absolute_uri(reverse("captious:email_confirm", args=[token]))

    if verification(user, link):
        messages.success(request, f"A link was sent to {user.email}. Open it to confirm the address.")
    else:
        messages.error(
            request, f"A link was sent to {user.email} a few minutes ago. Check your mail, or try again later."
        )


@require_http_methods(["GET", "HEAD", "POST"])
def confirm(request: HttpRequest, token: str) -> HttpResponse:
    """Confirm an address through a link. It needs a click, as mail scanners follow links, too."""
    limit(request, "change")
    user = verified_user(token)
    if user is None:
        raise Http404
    if request.method == "POST":
        User.objects.filter(pk=user.pk, email=user.email).update(verified_email=user.email)
        record("confirm address", user.username, request=request)
        messages.success(request, f"{user.email} is confirmed.")
        return redirect("captious:account" if request.user.is_authenticated else "captious:home")
    context = {"heading": f"Is {user.email} your address, {user.username}?", "button": "Confirm"}
    return render(request, "captious/form_page.html", context)
