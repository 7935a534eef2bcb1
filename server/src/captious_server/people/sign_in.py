"""Sign-up, passwords, the second step and other sites, as allauth does them here: its adapters, forms and signals."""

from __future__ import annotations

import base64
import functools
import logging
import re
import secrets
import time
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import jwt
import requests
from allauth.account.adapter import DefaultAccountAdapter, get_adapter
from allauth.account.forms import (
    ChangePasswordForm,
    LoginForm,
    ResetPasswordForm,
    ResetPasswordKeyForm,
    SignupForm,
)
from allauth.account.models import EmailAddress
from allauth.account.signals import (
    email_added,
    email_confirmed,
    email_removed,
    password_changed,
    password_reset,
    password_set,
    user_logged_in,
    user_signed_up,
)
from allauth.account.stages import EmailVerificationStage
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import (
    authentication_failed,
    authenticator_added,
    authenticator_removed,
    authenticator_reset,
)
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.forms import SignupForm as SocialSignupForm
from allauth.socialaccount.models import SocialAccount, SocialApp
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import OpenIDConnectOAuth2Adapter
from allauth.socialaccount.signals import social_account_added, social_account_removed
from allauth.usersessions.models import UserSession
from cryptography.fernet import Fernet, InvalidToken
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.forms import AdminPasswordChangeForm
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.http import url_has_allowed_host_and_scheme

from captious_server.models import Notice, Token, User
from captious_server.people.access import Visitor, may_create
from captious_server.people.accounts import network_of, record
from captious_server.people.teams import mixes_alphabets, personal_team
from captious_server.settings import LONGEST_SUBJECT, is_loopback

_log = logging.getLogger(__name__)
_LEEWAY = 60  # seconds by which the clock of an issuer may differ
_STAGE = "allauth.account.stages.EmailVerificationStage"


class AccountAdapter(DefaultAccountAdapter):
    """Accounts of this site: who may sign up, under which names, and what limits count."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return bool(settings.CAPTIOUS.registration != "closed")

    def clean_username(self, username: str, shallow: bool = False) -> str:
        if mixes_alphabets(username):
            raise ValidationError("This name mixes letters of alphabets that look alike.")
        name: str = super().clean_username(username, shallow)
        return name

    def save_user(self, request: HttpRequest, user: User, form: Any, commit: bool = True) -> User:
        """The user of a form, with a personal team."""
        user.is_active = settings.CAPTIOUS.registration == "open"
        super().save_user(request, user, form, commit=True)
        personal_team(user)
        return user

    def get_login_stages(self) -> list[str]:
        return [f"{__name__}.ConfirmAddress" if name == _STAGE else name for name in super().get_login_stages()]

    def get_client_ip(self, request: HttpRequest) -> str:
        return network_of(request)

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        """Wrong passwords lock an account for an address, not for its owner elsewhere.

        allauth's key has the host of the request, of which senders choose the port, and often the name.
        """
        return f"{network_of(request)} {credentials.get('username', '').lower()}"

    def get_password_change_redirect_url(self, request: HttpRequest) -> str:
        return reverse("captious:account")

    def get_email_verification_redirect_url(self, email_address: EmailAddress) -> str:
        return reverse("captious:account")

    def send_confirmation_mail(self, request: HttpRequest, emailconfirmation: Any, signup: bool) -> None:
        """A link; to the owner of an address that another account has confirmed, only word of the attempt."""
        address: str = emailconfirmation.email_address.email
        if EmailAddress.objects.is_verified(address):
            self.send_account_already_exists_mail(address)
        else:
            super().send_confirmation_mail(request, emailconfirmation, signup)

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Mail is sent by a worker: the time that a page takes does not tell whether somebody gets one.

        Links begin with the address of the site, where the settings say it, not with the host of the request.
        """
        host = self.request.get_host()
        if site := settings.CAPTIOUS.address:
            here = re.compile(rf"^https?://{re.escape(host)}(?=/)")
            context = {name: here.sub(site, text) if isinstance(text, str) else text for name, text in context.items()}
            host = urlsplit(site).netloc
        own = {"request": self.request, "email": email, "current_site": SimpleNamespace(domain=host, name=host)}
        mail = self.render_mail(template_prefix, email, {**own, **context})
        key = f"{Notice.ACCOUNT}:{secrets.token_hex(16)}"
        text = {"address": email, "subject": mail.subject, "body": mail.body}
        Notice.objects.create(key=key, event=Notice.ACCOUNT, not_before=timezone.now(), **text)

    def is_safe_url(self, url: str) -> bool:
        request = self.request
        return bool(url_has_allowed_host_and_scheme(url, {request.get_host()}, require_https=request.is_secure()))

    def is_reauthentication_required(self, *, app: str, **kwargs: Any) -> bool:
        """Accounts that sign in through another site alone have nothing to prove who they are."""
        return bool(self.get_reauthentication_methods(self.request.user))


class ConfirmAddress(EmailVerificationStage):
    """Accounts that administrators made may have no address, and then there is none to confirm."""

    def handle(self) -> tuple[Any, bool]:
        user = self.login.user
        return (None, True) if user is not None and not user.email else super().handle()


def confirm_address(user: User) -> bool:
    """Count the address of a user as confirmed; False if it is that of another account."""
    row, _ = EmailAddress.objects.get_or_create(user=user, email=user.email.lower(), defaults={"primary": True})
    return bool(row.set_verified())


# Forms: a confirmed address belongs to one account, and a new password ends tokens and connections.


class _AnyAddress(forms.Form):
    """Accounts are made with any address: without an account, signing in would reveal that the address is taken."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["email"].label = "Email"  # the page marks what is optional

    def validate_unique_email(self, value: str) -> str:
        return value


class SignUpForm(_AnyAddress, SignupForm):
    """A new account with a password."""


class OtherSiteSignUpForm(_AnyAddress, SocialSignupForm):
    """A new account of a user whom another site has identified."""


class SignInForm(LoginForm):
    """Name and password."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["login"].widget.attrs["autofocus"] = True


class LinkForm(ResetPasswordForm):
    """The address of an account, to which a link is sent if it is confirmed."""

    def clean_email(self) -> str:
        email: str = super().clean_email()
        self.users = [user for user in EmailAddress.objects.get_users_for(email) if user.is_active]
        return email


class _KeepTokens(forms.Form):
    keep_tokens = forms.BooleanField(
        required=False,
        label="Keep my tokens and connected sites",
        help_text="Otherwise they are removed. Keep them only if nobody else can have added or seen one. The second "
        "step and passkeys stay in any case: remove passkeys that are not yours.",
    )


class ChangeForm(_KeepTokens, ChangePasswordForm):
    """A new password, for users who know the old one. Wrong ones lock the account as those of signing in do."""

    field_order = ["oldpassword", "password1", "password2", "keep_tokens"]

    def clean_oldpassword(self) -> str:
        password: str = self.cleaned_data["oldpassword"]
        adapter = get_adapter()
        if not adapter.reauthenticate(self.user, password):
            raise adapter.validation_error("enter_current_password")
        return password


class ResetForm(_KeepTokens, ResetPasswordKeyForm):
    """A new password, for users who have a link."""

    field_order = ["password1", "password2", "keep_tokens"]


class AdministratorsForm(AdminPasswordChangeForm):  # type: ignore[type-arg]  # generic in the stubs alone
    """A new password, from an administrator.

    Tokens are always revoked and other sites disconnected: administrators do this for owners who are locked out, or
    whose account somebody else has used, and cannot know who added them. Owners connect their sites again.
    """

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        self.fields["password1"].help_text = format_html(
            "{}<p>Saving ends all sessions of the account, revokes its tokens ({}), and disconnects the other sites "
            "through which it signs in ({}). Its owner can connect them again. The second step and passkeys ({}) stay: "
            "turn them off if somebody else may have added one.</p>",
            self.fields["password1"].help_text,
            user.tokens.count(),
            ", ".join(map(str, user.socialaccount_set.all())) or "none",
            user.authenticator_set.filter(type=Authenticator.Type.WEBAUTHN).count(),
        )

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        end_access(user)
        return user


def end_access(user: User) -> int:
    """Revoke all tokens of a user, and disconnect other sites; return the number of both."""
    rows = (Token.objects.filter(user=user), SocialAccount.objects.filter(user=user))
    return sum(table_rows.delete()[0] for table_rows in rows)


# The second step. Its secrets are encrypted with a key that is made of the server's, and is not in the database.


@functools.cache
def _cipher(secret_key: str) -> Fernet:
    key = HKDF(SHA256(), 32, salt=None, info=b"captious second step").derive(secret_key.encode())
    return Fernet(base64.urlsafe_b64encode(key))


class SecondStepAdapter(DefaultMFAAdapter):
    """The second step of this site."""

    def encrypt(self, text: str) -> str:
        return _cipher(settings.SECRET_KEY).encrypt(text.encode()).decode()

    def decrypt(self, encrypted_text: str) -> str:
        """The secret; if the key of the server has changed, one that matches no code."""
        try:
            return _cipher(settings.SECRET_KEY).decrypt(encrypted_text.encode()).decode()
        except InvalidToken:
            return base64.b32encode(secrets.token_bytes(20)).decode()

    def _get_user_identifier(self, user: User) -> str:
        return user.username

    def _get_site_name(self) -> str:
        return str(settings.CAPTIOUS.site_name)


def is_missing(user: Visitor) -> bool:
    """Return whether the settings require a second step that a user has not set up."""
    audience = settings.CAPTIOUS.second_step_for
    if audience == "nobody" or not user.is_authenticated or user.has_second_step:
        return False
    manages = user.is_staff or user.is_superuser or may_create(user) or user.organized.exists()
    return bool(audience == "everybody" or manages)


def turn_off(user: User) -> None:
    """Let a user sign in without a second step. All sessions of the account end."""
    Authenticator.objects.filter(user=user).delete()
    for session in UserSession.objects.filter(user=user):
        session.end()


# Other sites. Their answers must be small, arrive within seconds over TLS, and come from the requested address.

_TIMEOUT, _MAX_SECONDS, _MAX_BYTES = 10, 20, 1 << 20


class _Session(requests.Session):
    """Calls of other sites, without redirects and with limits on size and time."""

    def request(self, method: str, url: str, **options: Any) -> requests.Response:  # type: ignore[override]
        check_address(url)
        deadline = time.monotonic() + _MAX_SECONDS
        limits = {"timeout": _TIMEOUT, "stream": True, "allow_redirects": False}
        with super().request(method, url, **{**options, **limits}) as answer:
            content = b""
            for block in answer.iter_content(1 << 14):
                content += block
                if len(content) > _MAX_BYTES or time.monotonic() > deadline:
                    raise requests.RequestException(f"{url!r} answers with too many bytes, or for too long")
            answer._content = content
        return answer


def check_address(address: str) -> None:
    """Refuse addresses without https, but for those of this machine, where sign-in can be tried."""
    parts = urlsplit(address)
    if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
        raise requests.RequestException(f"{address} must be an https:// address")


class SignedOpenID(OpenIDConnectOAuth2Adapter):
    """OpenID Connect with ID tokens that a published key of the issuer has signed, whose clock may differ a little.

    allauth trusts ID tokens without a signature, because they came over TLS, and has no leeway.
    """

    def _decode_id_token(self, app: SocialApp, id_token: str) -> dict[str, Any]:
        with _Session() as session:
            answer = session.get(self.openid_config["jwks_uri"])
            answer.raise_for_status()
        expected = {"issuer": self.openid_config["issuer"], "audience": app.client_id, "leeway": _LEEWAY}
        try:
            key = jwt.PyJWKSet.from_dict(answer.json())[jwt.get_unverified_header(id_token)["kid"]]
            claims: dict[str, Any] = jwt.decode(id_token, key, algorithms=[key.algorithm_name], **expected)
        except (jwt.PyJWTError, LookupError, TypeError, ValueError) as error:
            raise OAuth2Error(f"the ID token is not valid: {error}") from error
        if len(str(claims.get("sub"))) > LONGEST_SUBJECT:
            raise OAuth2Error("the ID token is not valid: its subject is too long")
        return claims


class OtherSitesAdapter(DefaultSocialAccountAdapter):
    """Sign-in through other sites."""

    def get_requests_session(self) -> requests.Session:
        return _Session()

    def get_connect_redirect_url(self, request: HttpRequest, socialaccount: SocialAccount) -> str:
        return reverse("captious:account")

    def on_authentication_error(self, request: HttpRequest, provider: Any, **values: Any) -> None:
        _log.warning("%s: %s", provider.name, str(values.get("exception") or values.get("error"))[:500])


# What people do with their accounts is written to the audit log.


def _record(action: str, *, request: HttpRequest, detail: str = "", **values: Any) -> None:
    """Write to the log what a signal says about a user."""
    owner = values.get("user") or next(
        values[name].user for name in ("email_address", "sociallogin", "socialaccount") if name in values
    )
    if (authenticator := values.get("authenticator")) is not None:
        if action.startswith("turn") and authenticator.type == Authenticator.Type.RECOVERY_CODES:
            return  # they come and go with the second step
        detail = authenticator.get_type_display()
    elif "sociallogin" in values and not detail:
        detail = f"through {values['sociallogin'].provider.name}"
    record(action, owner.username, request=request, detail=detail)


def _record_sign_up(*, request: HttpRequest, user: User, **_: Any) -> None:
    _record("sign up", request=request, user=user, detail="" if user.is_active else "waits for activation")


def _end_access_with(action: str, *, request: HttpRequest, user: User, **_: Any) -> None:
    n = 0 if request.POST.get("keep_tokens") else end_access(user)
    _record(action, request=request, user=user, detail=f"removed tokens and sites: {n:,}" if n else "")
    if n_passkeys := user.authenticator_set.filter(type=Authenticator.Type.WEBAUTHN).count():
        text = (
            'Passkeys and security keys still sign in to your account: {}. <a href="{}">Remove what is not yours.</a>'
        )
        messages.warning(request, format_html(text, n_passkeys, reverse("mfa_list_webauthn")))


def _end_other_sessions(*, request: HttpRequest, user: User, **_: Any) -> None:
    for session in UserSession.objects.filter(user=user).exclude(session_key=request.session.session_key):
        session.end()


def _use_up_code(*, request: HttpRequest, authenticator: Authenticator, **_: Any) -> None:
    """The code that sets up an app counts as used."""
    if authenticator.type == Authenticator.Type.TOTP:
        authenticator.wrap().validate_code(request.POST.get("code", ""))


def listen() -> None:
    """Listen to the signals of allauth."""
    recorded = {
        user_logged_in: "sign in",
        password_set: "set password",
        email_added: "change address",
        email_confirmed: "confirm address",
        email_removed: "remove address",
        authenticator_added: "turn on second step",
        authenticator_removed: "turn off second step",
        authenticator_reset: "make recovery codes",
        authentication_failed: "wrong code",
        social_account_added: "connect",
        social_account_removed: "disconnect",
    }
    for signal, action in recorded.items():
        signal.connect(functools.partial(_record, action), weak=False)
    user_signed_up.connect(_record_sign_up)
    password_changed.connect(functools.partial(_end_access_with, "change password"), weak=False)
    password_reset.connect(functools.partial(_end_access_with, "reset password"), weak=False)
    authenticator_added.connect(_use_up_code)
    authenticator_added.connect(_end_other_sessions)
    authenticator_removed.connect(_end_other_sessions)
