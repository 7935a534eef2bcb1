"""Pages of people: sign-up, and the account with tokens."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, views
from django.contrib.auth.decorators import login_required
from django.contrib.messages.views import SuccessMessageMixin
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse, reverse_lazy
from django.views.decorators.http import require_http_methods, require_POST

from captious.server.actions.forms import TeamForm
from captious.server.actions.team_changes import TeamError, new_team
from captious.server.models import Identity, Token
from captious.server.pages.account_forms import SignUpForm, TokenForm
from captious.server.pages.mail import send_link
from captious.server.pages.shown_once import redirect_with, secret_in, without_secret
from captious.server.pages.sign_in import BACKEND, next_page, purpose_of
from captious.server.people.audit import record
from captious.server.people.passwords import ChangeForm, LinkForm, ResetForm
from captious.server.people.rate_limits import limit
from captious.server.people.secrets import is_token_of, make_token
from captious.server.people.teams import personal_team, teams_of


class _AuditedView(views.FormView):
    """A view of Django that logs its success in the audit log."""

    action = ""

    def form_valid(self, form: Any) -> HttpResponse:
        response: HttpResponse = super().form_valid(form)
        user = getattr(self, "user", self.request.user)  # a link that sets a password names the user
        n = getattr(form, "n_ended", 0)
        record(self.action, user.username, request=self.request, detail=f"removed tokens and sites: {n:,}" if n else "")
        return response


class _RateLimitedView(views.FormView):
    """A password view of Django with a rate limit per account and address."""

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        limit(request, "password", by_address=True)
        return super().post(request, *args, **kwargs)


class ChangePassword(_RateLimitedView, SuccessMessageMixin, _AuditedView, views.PasswordChangeView):
    """Change the password. Other sessions end, and so do tokens and connected sites unless the user keeps them."""

    action = "change password"
    form_class = ChangeForm
    template_name = "captious/password_change.html"
    extra_context = {"heading": "Change password"}
    success_url = reverse_lazy("captious:account")

    def get_success_message(self, cleaned_data: dict[str, Any]) -> str:
        fate = "kept" if cleaned_data["keep_tokens"] else "removed"
        return f"Your password was changed. Your tokens and connected sites were {fate}."


class ResetPassword(_RateLimitedView, views.PasswordResetView):
    """Send a link that resets the password, to addresses of accounts."""

    form_class = LinkForm
    template_name = "captious/password_reset.html"
    extra_context = {"heading": "Reset password", "button": "Send the link"}
    email_template_name = "captious/password_reset_email.txt"
    subject_template_name = "captious/password_reset_subject.txt"
    success_url = reverse_lazy("captious:password_reset_done")
    extra_email_context = {"site_name": settings.CAPTIOUS.site_name}


class SetPassword(_RateLimitedView, _AuditedView, views.PasswordResetConfirmView):
    """Set a new password through a link. Sessions end, and tokens and connected sites unless the user keeps them."""

    action = "reset password"
    form_class = ResetForm
    template_name = "captious/password_reset_confirm.html"
    extra_context = {"heading": "Set a new password", "button": "Set password"}
    success_url = reverse_lazy("captious:password_reset_complete")


@require_http_methods(["GET", "HEAD", "POST"])
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create an account, unless registration is closed."""
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
    next_address = request.POST.get("next", request.GET.get("next", ""))
    context = {"heading": "Sign up", "form": form, "next": next_address, "purpose": purpose_of(next_address)}
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
        values = {name: token_form.cleaned_data[name] for name in ("name", "scopes", "challenge", "days")}
        secret = make_token(request.user, **values)
        record("make token", values["name"], request=request)
        return redirect_with(secret, reverse("captious:account"))
    if action == "team" and team_form.is_valid():
        try:
            return redirect(new_team(request, team_form.cleaned_data["name"]).url)
        except TeamError as error:
            messages.error(request, str(error))
            return redirect("captious:account")
    secret = secret_in(request)
    identities = Identity.objects.filter(user=request.user)
    issuers, providers = {identity.issuer for identity in identities}, settings.CAPTIOUS.sign_in
    context = {
        "section": "account",
        "tokens": Token.objects.filter(user=request.user).select_related("challenge"),
        "teams": teams_of(request.user),
        "token_form": token_form,
        "team_form": team_form,
        "identities": identities,
        "unconnected": {name: provider.title for name, provider in providers.items() if provider.issuer not in issuers},
        "new_token": secret if is_token_of(request.user, secret) else None,
    }
    context["wrong"] = team_form if team_form.errors else token_form
    status = 422 if context["wrong"].errors else 200
    return without_secret(request, render(request, "captious/account.html", context, status=status))


@login_required
@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """Revoke an own token."""
    token = get_object_or_404(Token, pk=pk, user=request.user)
    token.delete()
    record("revoke token", token.name, request=request)
    messages.success(request, "The token was revoked.")
    return redirect("captious:account")
