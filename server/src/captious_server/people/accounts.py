"""Accounts: passwords, the second step, sign-in through other sites, tokens, rate limits and the audit log."""

from __future__ import annotations

import base64
import functools
import hashlib
import hmac
import logging
import re
import secrets
import time
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import pyotp
import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
from authlib.integrations.requests_client import OAuth2Session
from django import forms
from django.conf import settings
from django.contrib.auth.backends import BaseBackend
from django.contrib.auth.forms import (
    AdminPasswordChangeForm,
    PasswordChangeForm,
    PasswordResetForm,
    SetPasswordForm,
)
from django.core.cache import cache
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.http import Http404, HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.html import format_html
from joserfc.errors import JoseError

from captious_server.models import (
    AuditEvent,
    Challenge,
    Identity,
    Invitation,
    KnownDevice,
    RateCount,
    RecoveryCode,
    Submission,
    Team,
    Token,
    User,
)
from captious_server.people.access import may_create
from captious_server.settings import Provider, client_address, network

# Signing in through other sites: OpenID Connect with PKCE, state and nonce, and OAuth 2.0 for GitHub.
#
# Authlib keeps state, nonce and verifier in the session, each for one answer, and checks the signature and the claims
# of ID tokens. This part has the configured providers and the names of their users. Every answer of another site must
# be small, arrive within seconds over TLS, and come from the requested address; otherwise it is refused.

_log = logging.getLogger(__name__)
_TIMEOUT = 10  # seconds without data
_MAX_SECONDS = 20  # seconds for a whole answer
_MAX_BYTES = 1 << 20  # bytes of an answer, unpacked
#: How ID tokens may be signed: with keys whose public half the issuer publishes.
_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
_METADATA_SECONDS = 3600  # seconds for which metadata of an issuer is cached
_GITHUB, _GITHUB_USER, _ORCID = "https://github.com", "https://api.github.com/user", "https://orcid.org"
#: Errors of requests to identity providers and of their answers.
_PROVIDER_ERRORS = (
    *(AuthlibBaseError, JoseError, requests.RequestException),
    *(RuntimeError, ValueError, LookupError, TypeError, AttributeError),
)


class IdentityError(Exception):
    """An identity provider did not identify the user; the message is for the user."""


def find_provider(name: str) -> Provider:
    """The provider of this name.

    Raises:
        Http404: there is no such provider.
    """
    provider: Provider | None = settings.CAPTIOUS.sign_in.get(name)
    if provider is None:
        raise Http404
    return provider


def begin(request: HttpRequest, name: str, return_address: str) -> str:
    """The address of the identity provider that the user has to visit, which sends the user back to the site.

    Raises:
        IdentityError: it cannot be reached.
    """
    provider = find_provider(name)
    try:
        return str(_client_of(name, provider).authorize_redirect(request, return_address)["Location"])
    except _PROVIDER_ERRORS as error:
        raise _identity_error(provider, error) from None


def identity_in(request: HttpRequest, name: str) -> dict[str, Any]:
    """The user's identity, from another site's answer to ``begin``.

    Returns:
        ``issuer``, ``subject``, ``provider``, ``label`` (names of site and user), a ``name`` to
        propose, and ``email``: empty unless the site has verified it.

    Raises:
        IdentityError: the answer has no identity, or cannot be trusted.
    """
    provider = find_provider(name)
    try:
        client = _client_of(name, provider)
        if provider.issuer == _GITHUB:
            token = client.authorize_access_token(request)
            answer = client.get(_GITHUB_USER, token=token)
            answer.raise_for_status()
            claims = answer.json()
            return _identity(provider, str(int(claims["id"])), claims["login"], claims)
        required = {"iss": client.server_metadata["issuer"], "aud": provider.client_id}
        options = {claim: {"essential": True, "value": value} for claim, value in required.items()}
        token = client.authorize_access_token(request, claims_options=options)
        claims = token["userinfo"]
        subject = claims["sub"]
        if not isinstance(subject, str) or not subject:
            raise ValueError("sub must be text")
        return _identity(provider, subject, claims.get("preferred_username"), claims)
    except _PROVIDER_ERRORS as error:
        raise _identity_error(provider, error) from None


def _identity(provider: Provider, subject: str, name: object, claims: Mapping[str, Any]) -> dict[str, Any]:
    if len(subject) > 255 or not subject.isprintable():
        raise ValueError("sub must be up to 255 printable characters")
    email = str(claims.get("email") or "") if claims.get("email_verified") is True else ""
    try:
        validate_email(email)
    except ValidationError:
        email = ""
    user_name = _printable(name)
    label = (user_name or _printable(claims.get("name")) or email or subject)[:100]
    return {
        "issuer": provider.issuer,
        "provider": provider.title,
        "subject": subject,
        "label": f"{provider.title}: {label}"[:200],
        "name": user_name[:150],
        "email": email if len(email) <= 254 else "",
    }


def _printable(text: object) -> str:
    """Text of another site without characters that no page can show, such as lone surrogates."""
    return "".join(letter for letter in text if letter.isprintable()) if isinstance(text, str) else ""


def _identity_error(provider: Provider, error: Exception) -> IdentityError:
    _log.warning("%s: %s: %s", provider.title, type(error).__name__, str(error)[:500])
    if isinstance(error, requests.ConnectionError | requests.Timeout):
        return IdentityError(f"{provider.title} cannot be reached at the moment. Try again in a few minutes.")
    return IdentityError(f"{provider.title} did not confirm your identity. Start again on the sign-in page.")


class _Session(OAuth2Session):
    """Calls of other sites, without redirects and with limits on size and time."""

    def request(self, method: str, url: str, **options: Any) -> Any:
        deadline = time.monotonic() + _MAX_SECONDS
        with super().request(method, url, **options, stream=True, allow_redirects=False) as answer:
            content = b""
            for block in answer.iter_content(1 << 14):
                content += block
                if len(content) > _MAX_BYTES or time.monotonic() > deadline:
                    raise ValueError(f"{url} answers with more than {_MAX_BYTES:,} bytes, or for too long")
            answer._content = content
        return answer


class _App(DjangoOAuth2App):
    client_cls = _Session


def _client_of(name: str, provider: Provider) -> Any:
    return _client(name, provider, int(time.time()) // _METADATA_SECONDS)


@functools.lru_cache(maxsize=16)
def _client(name: str, provider: Provider, period: int) -> Any:
    """The client of a provider, with addresses and keys that are looked up once in a period; unknown keys, too."""
    endpoints: dict[str, Any] = {"client_id": provider.client_id, "client_secret": provider.client_secret}
    limits = {"code_challenge_method": "S256", "default_timeout": _TIMEOUT}
    if provider.issuer == _GITHUB:
        endpoints["authorize_url"] = f"{_GITHUB}/login/oauth/authorize"
        endpoints["access_token_url"] = f"{_GITHUB}/login/oauth/access_token"
    else:
        endpoints |= _metadata(provider)
        limits["scope"] = "openid" if provider.issuer == _ORCID else "openid profile email"
    return _App(DjangoIntegration(name), name, **endpoints, client_kwargs=limits)


def _metadata(provider: Provider) -> dict[str, Any]:
    """The metadata that an issuer publishes."""
    with _Session(default_timeout=_TIMEOUT) as session:
        address = f"{provider.issuer}/.well-known/openid-configuration"
        response = session.request("GET", address, withhold_token=True)
    response.raise_for_status()
    document = response.json()
    if document["issuer"].rstrip("/") != provider.issuer:
        raise ValueError(f"the document of {provider.issuer} is that of another issuer")
    endpoints = {name: document[name] for name in ("authorization_endpoint", "token_endpoint", "jwks_uri")}
    for name, address in endpoints.items():
        _check_address(name, address, provider.issuer)
    metadata = {"issuer": document["issuer"], **endpoints}
    algorithms = document.get("id_token_signing_alg_values_supported", ["RS256"])
    metadata["id_token_signing_alg_values_supported"] = [
        algorithm for algorithm in algorithms if algorithm in _ALGORITHMS
    ]
    if "client_secret_basic" not in document.get("token_endpoint_auth_methods_supported", ["client_secret_basic"]):
        metadata["token_endpoint_auth_method"] = "client_secret_post"
    return metadata


def _check_address(name: str, address: str, issuer: str) -> None:
    """Refuse addresses without https, except on the host of an issuer without it, which settings allow on localhost."""
    parts, issuer_parts = urlsplit(address), urlsplit(issuer)
    is_on_issuer = parts.scheme == issuer_parts.scheme == "http" and parts.hostname == issuer_parts.hostname
    if not parts.hostname or (parts.scheme != "https" and not is_on_issuer):
        raise ValueError(f"{name} must be an https:// address")


# Rate limits: how often an account or network address may do something within a minute.


class TooManyRequests(Exception):
    """A rate limit was reached.

    Args:
        seconds: time after which to try again.
        message: the limit that was reached, a sentence.
    """

    def __init__(self, seconds: int, message: str = "Too many requests.") -> None:
        super().__init__(message)
        self.seconds = seconds
        self.message = message


def address_of(request: HttpRequest) -> str:
    """The client's address. ``X-Forwarded-For`` counts only if the settings say that a proxy is in front."""
    forwarded_for, peer = (request.META.get(name, "") for name in ("HTTP_X_FORWARDED_FOR", "REMOTE_ADDR"))
    return client_address(peer, forwarded_for, behind_proxy=settings.CAPTIOUS.behind_proxy)


def network_of(request: HttpRequest) -> str:
    """The client's address, for limits."""
    return network(address_of(request))


def limit(request: HttpRequest, action: str, *, by_address: bool = False) -> None:
    """Count a request, by account or, for visitors, by address.

    Args:
        by_address: whether to count by address for signed-in users as well.

    Raises:
        TooManyRequests: there were too many within this minute.
    """
    if request.user.is_authenticated:
        _count(f"{action} user {request.user.pk}")
    if by_address or not request.user.is_authenticated:
        _count(f"{action} {network_of(request)}")


def _count(key: str) -> None:
    key, now = key[:200], time.time()
    minute = int(now // 60)
    rows = RateCount.objects.filter(key=key, minute=minute)
    try:
        with transaction.atomic():
            RateCount.objects.get_or_create(key=key, minute=minute)
            rows.update(count=F("count") + 1)
    except IntegrityError:  # two concurrent first requests
        rows.update(count=F("count") + 1)
    if rows.get().count > settings.CAPTIOUS.requests_per_minute:
        raise TooManyRequests(60 - int(now % 60))


def remove_old_counts() -> None:
    """Forget counts of earlier minutes."""
    RateCount.objects.filter(minute__lt=int(time.time() // 60) - 1).delete()


# Writing the audit log.

_BATCH_EVENTS = 5000  # events removed per transaction


def record(
    action: str,
    target: str,
    *,
    request: HttpRequest | None = None,
    actor: Any = None,
    detail: str = "",
    challenge: Challenge | None = None,
    submission: Submission | None = None,
) -> None:
    """Add an event to the audit log.

    Args:
        action: the action on the target, such as "submit".
        request: the request of the action, for the actor and the address.
        actor: the user, where there is no request; None for the server itself.
    """
    user = request.user if request is not None else actor
    if submission is not None and challenge is None:
        challenge = submission.challenge
    event = AuditEvent.objects.create(
        actor=getattr(user, "username", "") or ("visitor" if request is not None else "server"),
        address=address_of(request) if request is not None else "",
        action=action,
        target=target[:200],
        detail=detail,
        challenge=challenge,
        submission=submission,
    )
    _log.info(action, extra={"actor": event.actor, "target": event.target, "detail": detail})


def remove_old_events() -> int:
    """Remove events that are older than the settings say; returns their number."""
    days, n = settings.CAPTIOUS.audit_days, 0
    if not days:
        return 0
    events = AuditEvent.objects.filter(time__lt=timezone.now() - timedelta(days=days)).order_by("time")
    while pks := [*events.values_list("pk", flat=True)[:_BATCH_EVENTS]]:
        n += AuditEvent.objects.filter(pk__in=pks).delete()[0]
    return n


# Passwords: limits on attempts, and revocation of tokens and identities with them.

_NAME_LENGTH = 255
_MAIL_SECONDS = 600  # minimum time between two mails to an account, per web process


def attempted_name(request: HttpRequest, credentials: Mapping[str, Any] | None) -> str:
    """The user name of an attempt to sign in, cut to the length of its column, which is longer than any name."""
    return str((credentials or request.POST).get("username", ""))[:_NAME_LENGTH]


class RateLimit(BaseBackend):
    """Counts every attempt to sign in, on the site and on the administration pages, and authenticates nobody."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> None:
        if request is not None:
            limit(request, "password", by_address=True)


def end_access(user: User) -> int:
    """Revoke all tokens of a user, and disconnect other sites; return the number of both."""
    rows = (Token.objects.filter(user=user), Identity.objects.filter(user=user))
    return sum(table_rows.delete()[0] for table_rows in rows)


class LinkForm(PasswordResetForm):
    """The email address of an account, to which a link is sent, with a limit per account."""

    def get_users(self, email: str) -> Iterable[User]:
        return [user for user in super().get_users(email) if cache.add(f"reset-mail-{user.pk}", True, _MAIL_SECONDS)]


class _PasswordForm(forms.Form):
    """A form that sets a password. Tokens and connected sites end with the old one unless the user keeps them."""

    keep_tokens = forms.BooleanField(
        required=False,
        label="Keep my tokens and connected sites",
        help_text="Otherwise they are removed. Keep them only if nobody else can have added or seen one.",
    )

    def save(self, commit: bool = True) -> User:
        user: User = super().save(commit)
        self.n_ended = 0 if self.cleaned_data["keep_tokens"] else end_access(user)
        return user


class ChangeForm(_PasswordForm, PasswordChangeForm):
    """A new password, for users who know the old one."""

    field_order = ["old_password", "new_password1", "new_password2", "keep_tokens"]


class ResetForm(_PasswordForm, SetPasswordForm):
    """A new password, for users who have a link."""

    field_order = ["new_password1", "new_password2", "keep_tokens"]


class AdministratorsForm(_PasswordForm, AdminPasswordChangeForm):
    """A new password, from an administrator.

    Tokens are always revoked and other sites disconnected: administrators do this for owners who are locked out, or
    whose account somebody else has used, and cannot know who added them. Owners connect their sites again.
    """

    def __init__(self, user: User, *args: Any, **kwargs: Any) -> None:
        super().__init__(user, *args, **kwargs)
        titles = ", ".join(user.identities.values_list("label", flat=True))
        self.fields["password1"].help_text = format_html(
            "{}<p>Saving ends all sessions of the account, revokes its tokens ({}), and disconnects the other sites "
            "through which it signs in ({}). Its owner can connect them again.</p>",
            self.fields["password1"].help_text,
            user.tokens.count(),
            titles or "none",
        )


# The second step of signing in: codes that an app computes from a secret and the time (RFC 6238), and recovery codes.
#
# The secret is not stored: it is computed from a random salt in the database and the key of the server, so that a copy
# of the database is not enough to make codes. Of recovery codes, only hashes are kept.

_STEP_SECONDS = 30  # seconds for which a code is shown
_STEP_TOLERANCE = 1  # accepted time steps before and after now: clocks differ, and people type slowly
_N_RECOVERY_CODES = 10
_MAX_DEVICES = 10  # known devices of a user; the latest are kept
_CODE_PATTERN = re.compile(r"[0-9]{6}|[a-z2-7]{16}")


def new_salt() -> str:
    """A random salt, from which a new secret is derived."""
    return secrets.token_urlsafe(20)


def secret_of(salt: str) -> str:
    """The secret that belongs to a salt, in base 32: 160 bits."""
    return base64.b32encode(salted_hmac("captious.totp", salt, algorithm="sha1").digest()).decode()


def setup_uri(user: User, salt: str) -> str:
    """The URI in the QR code that sets up an app."""
    totp = pyotp.TOTP(secret_of(salt))
    return str(totp.provisioning_uri(name=user.username, issuer_name=settings.CAPTIOUS.site_name))


def is_missing(user: User) -> bool:
    """Return whether the settings require a second step that a user has not set up."""
    audience = settings.CAPTIOUS.second_step_for
    if audience == "nobody" or not user.is_authenticated or user.totp_salt:
        return False
    manages = user.is_staff or user.is_superuser or may_create(user) or user.organized.exists()
    return bool(audience == "everybody" or manages)


@transaction.atomic
def turn_on(user: User, salt: str, code: str) -> list[str]:
    """Turn on the second step; return its recovery codes, which cannot be shown again. Empty if the code is wrong."""
    step = _time_step(salt, code, after=0)
    rows = User.objects.filter(pk=user.pk, totp_salt="")  # another page may have set one up in the meantime
    if step is None or not rows.update(totp_salt=salt, totp_used=step, wrong_codes=0, wrong_code_time=None):
        return []
    KnownDevice.objects.filter(user=user).delete()
    return new_recovery_codes(user)


@transaction.atomic
def turn_off(user: User) -> None:
    """Let a user sign in without a second step. All sessions of the account end."""
    User.objects.filter(pk=user.pk).update(totp_salt="", totp_used=0, wrong_codes=0, wrong_code_time=None)
    RecoveryCode.objects.filter(user=user).delete()
    KnownDevice.objects.filter(user=user).delete()


@transaction.atomic
def new_recovery_codes(user: User) -> list[str]:
    """New recovery codes in place of the old ones: 80 random bits each, for which one round of SHA-256 suffices."""
    codes = [base64.b32encode(secrets.token_bytes(10)).decode().lower() for _ in range(_N_RECOVERY_CODES)]
    RecoveryCode.objects.filter(user=user).delete()
    RecoveryCode.objects.bulk_create([RecoveryCode(user=user, hash=_hash_of_code(code)) for code in codes])
    return ["-".join(code[i : i + 4] for i in range(0, 16, 4)) for code in codes]


@transaction.atomic
def refusal(user: User, code: str, device: str = "") -> str:
    """Use a code or a recovery code of a user. Each works once.

    After ``wrong_passwords`` wrong codes, one more is checked every ``lock_minutes``, whatever address they come from:
    the sender knows the password, and may have many addresses. Known devices are counted separately, so
    that the owner can still sign in on them. Recovery codes are too long to be guessed, and always checked.

    Args:
        device: the secret of a browser, see ``know_device``; empty if it has none.

    Returns:
        The reason of a refusal, one or two sentences; empty if the code is right.
    """
    code = _normalized(code)
    row = User.objects.select_for_update().get(pk=user.pk)
    if not row.totp_salt:
        return "This account has no second step."
    known_device = (
        KnownDevice.objects.select_for_update().filter(user=row, hash=_hash_of_code(device)).first() if device else None
    )
    counter: User | KnownDevice = known_device or row
    rows = type(counter).objects.filter(pk=counter.pk)
    if RecoveryCode.objects.filter(user=row, hash=_hash_of_code(code)).delete()[0]:
        rows.update(wrong_codes=0)
        return ""
    wait, now = timedelta(minutes=settings.CAPTIOUS.lock_minutes), timezone.now()
    if counter.wrong_codes >= settings.CAPTIOUS.wrong_passwords and now < counter.wrong_code_time + wait:
        return f"There were too many wrong codes. Try again in {settings.CAPTIOUS.lock_minutes} minutes."
    step = _time_step(row.totp_salt, code, after=row.totp_used)
    if step is None:
        rows.update(wrong_codes=F("wrong_codes") + 1, wrong_code_time=now)
        return "This code is wrong or has been used. Wait for the next one."
    rows.update(wrong_codes=0)
    User.objects.filter(pk=row.pk).update(totp_used=step)
    return ""


@transaction.atomic
def know_device(user: User, device: str) -> str:
    """Remember a browser in which a user has entered a right code.

    Args:
        device: the secret that it has; empty if it has none.

    Returns:
        The secret that it keeps: another one, unless the user has entered a code there before.
    """
    now = timezone.now()
    devices = KnownDevice.objects.filter(user=user)
    if not device or not devices.filter(hash=_hash_of_code(device)).update(used=now):
        device = secrets.token_urlsafe(32)
        KnownDevice.objects.create(user=user, hash=_hash_of_code(device), used=now)
    latest = devices.order_by("-used", "-pk").values_list("pk", flat=True)[:_MAX_DEVICES]
    devices.exclude(pk__in=[*latest]).delete()
    return device


def is_code(text: str) -> bool:
    """Return whether a text has the form of a code of an app, or of a recovery code."""
    return _CODE_PATTERN.fullmatch(_normalized(text)) is not None


def _normalized(text: str) -> str:
    """A code as it is compared, without what makes it easier to read."""
    return "".join(text.split()).replace("-", "").lower()


def _time_step(salt: str, code: str, *, after: int) -> int | None:
    """The time step of a code after another time step; None if there is none."""
    totp, now = pyotp.TOTP(secret_of(salt)), int(time.time()) // _STEP_SECONDS
    for step in range(now - _STEP_TOLERANCE, now + _STEP_TOLERANCE + 1):
        if step > after and hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            return step
    return None


def _hash_of_code(code: str) -> str:
    return hashlib.sha256(code.encode()).hexdigest()


# Secrets that are shown once and of which only a hash is kept: API tokens and invitation links.

#: Scope of a token besides reading -> its description. Reading includes pages of organizers.
SCOPES = {
    "submit": "Submit, edit submissions, accept terms",
    "teams": "Create, join, change and leave teams",
    "organize": "Approve teams, and change webhooks",
}
#: How long a link to join a team can be used.
INVITATION_DAYS = 14


def make_token(
    user: User,
    name: str,
    *,
    scopes: Iterable[str] = ("submit",),
    challenge: Challenge | None = None,
    days: int = 0,
) -> str:
    """A new token of a user. It cannot be shown again: only its SHA-256 is kept, which suffices for random tokens.

    Args:
        scopes: some of ``SCOPES``; a token without any can only read.
        challenge: the only one that it is for.
        days: after which it expires; 0 for never.
    """
    token = f"cap_{secrets.token_urlsafe(32)}"
    expires = timezone.now() + timedelta(days=days) if days else None
    Token.objects.create(
        user=user,
        name=name,
        hash=_hash(token),
        prefix=token[:10],
        scopes=" ".join(scope for scope in SCOPES if scope in {*scopes}),
        challenge=challenge,
        expires=expires,
    )
    return token


def is_token_of(user: User, token: str) -> bool:
    """Return whether a token belongs to a user, which does not count as a use."""
    return bool(Token.objects.filter(user=user, hash=_hash(token)).exists())


def token_of(text: str) -> Token | None:
    """The token with this text, if it has not expired and its user is active."""
    now = timezone.now()
    rows = Token.objects.filter(Q(expires=None) | Q(expires__gt=now), hash=_hash(text), user__is_active=True)
    row: Token | None = rows.select_related("user", "challenge").first()
    if row is None:
        return None
    if row.last_used is None or now - row.last_used > timedelta(minutes=1):
        Token.objects.filter(pk=row.pk).update(last_used=now)
    return row


def make_invitation(team: Team, user: User, label: str = "") -> str:
    """The secret of a new link with which anyone who has it can join the team for two weeks."""
    secret = secrets.token_urlsafe(32)
    expires = timezone.now() + timedelta(days=INVITATION_DAYS)
    Invitation.objects.create(team=team, hash=_hash(secret), created_by=user, expires=expires, label=label)
    return secret


def invitation_of(secret: str) -> Invitation | None:
    """The invitation with this secret, if it has not expired."""
    return Invitation.objects.filter(hash=_hash(secret), expires__gt=timezone.now()).first()


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
