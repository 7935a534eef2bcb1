"""Signing in through other sites: OpenID Connect with PKCE, state and nonce, and OAuth 2.0 for GitHub.

Authlib keeps state, nonce and verifier in the session, each for one answer, and checks the signature and the claims of
ID tokens. This module has the configured providers and the names of their users. Every answer of another site
must be small, arrive within seconds over TLS, and come from the requested address; otherwise it is refused.
"""

from __future__ import annotations

import functools
import logging
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import DjangoIntegration, DjangoOAuth2App
from authlib.integrations.requests_client import OAuth2Session
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.http import Http404, HttpRequest
from joserfc.errors import JoseError

from captious.server.server_settings import Provider

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
