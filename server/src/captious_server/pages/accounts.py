"""Pages of accounts: signing in, the second step, mail, and the proof of identity before sensitive actions."""

from __future__ import annotations

import time
from typing import Any

import segno
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth import login, update_session_auth_hash, views
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import UserCreationForm
from django.core import signing
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import Resolver404, resolve, reverse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from captious_server.actions import Line, one_line, validate_alphabet
from captious_server.models import Challenge, Identity, User
from captious_server.notices.delivery import verification, verified_user
from captious_server.pages.middleware import error_answer, has_no_mail
from captious_server.people.access import visible_challenges
from captious_server.people.accounts import (
    SCOPES,
    IdentityError,
    begin,
    find_provider,
    identity_in,
    is_code,
    is_missing,
    know_device,
    limit,
    new_recovery_codes,
    new_salt,
    record,
    refusal,
    secret_of,
    setup_uri,
    turn_off,
    turn_on,
)
from captious_server.people.teams import personal_team

# A form in which users prove their identity again, which protects sensitive actions in an unattended browser.

_DEVICE_COOKIE = "captious_device"
_DEVICE_SECONDS = 365 * 24 * 3600


class ProofForm(forms.Form):
    """The password or, for accounts with a second step, a code. Accounts with neither need no proof.

    Args:
        request: the request, with the user and the browser.
        user: the current user from the database, if it has been read.
    """

    proof = forms.CharField(
        label="Your password", max_length=4096, widget=forms.PasswordInput(attrs={"autocomplete": "current-password"})
    )

    def __init__(self, *args: Any, request: HttpRequest, user: User | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._user: Any = user or request.user
        self._device = device_of(request)
        has_password = self._user.has_usable_password()
        if not has_password and not self._user.totp_salt:
            del self.fields["proof"]
        elif self._user.totp_salt:
            self.fields["proof"].label = "Your password, or a code" if has_password else "A code"

    def clean_proof(self) -> str:
        proof: str = self.cleaned_data["proof"]
        if self._user.has_usable_password() and self._user.check_password(proof):
            return proof
        if not self._user.totp_salt or not is_code(proof):  # a mistyped password is not a wrong code
            raise ValidationError(
                "This is not your password." if self._user.has_usable_password() else "This code is invalid."
            )
        if reason := refusal(self._user, proof, self._device):
            raise ValidationError(
                f"This is not your password. {reason}" if self._user.has_usable_password() else reason
            )
        return proof


def device_of(request: HttpRequest) -> str:
    """The secret that a browser has kept since its user entered a right code; empty if it has none."""
    return str(request.COOKIES.get(_DEVICE_COOKIE, ""))[:100]


def keep_device(request: HttpRequest, response: HttpResponse, user: User) -> HttpResponse:
    """Remember the browser in which a user has entered a right code."""
    device = know_device(user, device_of(request))
    secure = settings.SESSION_COOKIE_SECURE
    response.set_cookie(_DEVICE_COOKIE, device, max_age=_DEVICE_SECONDS, secure=secure, httponly=True, samesite="Lax")
    return response


# The forms of accounts: names, sign-up and tokens.


class NameForm(forms.ModelForm):
    """The name of a new account."""

    class Meta:
        model = User
        fields: tuple[str, ...] = ("username",)

    def clean_username(self) -> str:
        name: str = self.cleaned_data["username"]
        if User.objects.filter(username__iexact=name).exists():
            raise ValidationError("This name is taken.")
        return validate_alphabet(name)


class SignUpForm(NameForm, UserCreationForm):
    """A new account with a password."""

    email = forms.EmailField(required=False)

    class Meta(NameForm.Meta):
        fields = ("username", "email")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].help_text = (
            "If you forget your password, the administrator can create a reset link."
            if has_no_mail()
            else "Reset links for forgotten passwords are sent to this address."
        )


class TokenForm(ProofForm):
    """A new token. It outlives its session, so it needs a proof of identity."""

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
    field_order = ["name", "scopes", "challenge", "days", "proof"]

    def __init__(self, *args: Any, request: HttpRequest, **kwargs: Any) -> None:
        super().__init__(*args, request=request, **kwargs)
        self.fields["challenge"].queryset = visible_challenges(request.user).order_by("slug")

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean()
        if values.get("challenge") and "teams" in values.get("scopes", []):
            self.add_error("challenge", "A token for one challenge cannot change teams, which take part in many.")
        return values


# Pages about mail: the address of an account, its notices, and the link that confirms the address.


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
        try:
            with transaction.atomic():
                User.objects.filter(pk=user.pk, email=user.email).update(verified_email=user.email)
            record("confirm address", user.username, request=request)
            messages.success(request, f"{user.email} is confirmed.")
        except IntegrityError:
            messages.error(request, f"Another account has confirmed {user.email}. Give this one another address.")
        return redirect("captious:account" if request.user.is_authenticated else "captious:home")
    context = {"heading": f"Is {user.email} your address, {user.username}?", "button": "Confirm"}
    return render(request, "captious/form_page.html", context)


# The page on which users set up a second step of signing in, get new recovery codes, and turn it off.

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
            return keep_device(request, _second_step_page(request, user, None, codes=codes), user)
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
    return _second_step_page(request, user, form, **context, is_asked=is_missing(user))


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
        return _second_step_page(request, user, None, codes=codes)
    return _second_step_page(request, user, form)


def _keep_session(request: HttpRequest, user: User) -> None:
    """End all sessions of a user but this one."""
    user.refresh_from_db()
    update_session_auth_hash(request, user)


def _second_step_page(request: HttpRequest, user: User, form: forms.Form | None, **values: Any) -> HttpResponse:
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


# Pages on which users sign in: with a password, with a code as the second step, and through other sites.

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
        return _sign_up_page(request, claims, None)
    form = NameForm(request.POST if request.method == "POST" else None, initial={"username": claims["name"]})
    if request.method == "POST":
        limit(request, "password", by_address=True)
        if form.is_valid():
            return _create_account(request, claims, form)
    return _sign_up_page(request, claims, form)


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
    return _sign_up_page(request, claims, form)


def _create_account(request: HttpRequest, claims: dict[str, Any], form: NameForm) -> HttpResponse:
    to = request.session.get(_NEXT_KEY, reverse("captious:home"))
    user = form.save(commit=False)
    user.set_unusable_password()
    user.is_active = settings.CAPTIOUS.registration == "open"
    with transaction.atomic():
        user.email = claims["email"]
        if not User.objects.filter(verified_email__iexact=user.email).exists():
            user.verified_email = user.email
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


def _sign_up_page(request: HttpRequest, claims: dict[str, Any], form: forms.Form | None) -> HttpResponse:
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
