"""Secrets that a page shows once, such as a new token."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

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
