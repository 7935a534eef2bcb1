"""Handling of every request: security headers, size and rate limits, error answers, and the context of templates."""

from __future__ import annotations

import gzip
import logging
import re
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.utils import Error as DatabaseError
from django.db.utils import IntegrityError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import patch_vary_headers

from captious.errors import CaptiousError
from captious_server.people.access import ExplainedError, ImpossibleError, Request
from captious_server.people.accounts import TooManyRequests, network_of
from captious_server.people.sign_in import is_missing
from captious_server.people.turns import all_turns, hashes_password, takes_long
from captious_server.settings import SESSION_COOKIE, is_upload, max_request_bytes, token_in
from captious_server.templatetags.captious_pages import FOREVER, digest, style_policy

# The context of every template.


def site(request: HttpRequest) -> dict[str, Any]:
    """The name of the site, whether visitors can sign up, and whether users get mail."""
    return {
        "site_name": settings.CAPTIOUS.site_name,
        "can_sign_up": settings.CAPTIOUS.registration != "closed",
        "has_no_mail": has_no_mail(),
    }


def has_no_mail() -> bool:
    """Return whether the server sends no mail, because the administrator has not configured it."""
    return bool(settings.EMAIL_BACKEND == "django.core.mail.backends.dummy.EmailBackend")


# Error answers, as a page or, for programs, as JSON.

#: The messages for programs; templates have those of pages.
_MESSAGES = {
    400: "The server could not understand the request.",
    403: "You do not have permission to do this.",
    404: "This page does not exist or is not public.",
    408: "The request took too long to arrive.",
    500: "An error occurred on the server. It has been logged.",
}


def is_api(request: HttpRequest) -> bool:
    """Return whether a program is asking."""
    return request.path.startswith("/api/")


def error_answer(request: HttpRequest, status: int, message: str = "") -> HttpResponse:
    """An error, as JSON if requested; the default message is that of its status."""
    if is_api(request) or request.path.endswith(".json"):
        return JsonResponse({"error": message or _MESSAGES[status]}, status=status)
    context = None if status == 503 else request  # the context of pages may need the database, which is unavailable
    return HttpResponse(render_to_string(f"{status}.html", {"message": message}, context), status=status)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_answer(request, 400)


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_answer(request, 403)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return error_answer(request, 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """500; or 503 if the database or the disk cannot be used, which may fail before a view is called."""
    if isinstance(sys.exception(), DatabaseError | OSError):
        return unavailable(request)
    return error_answer(request, 500)


def too_many(request: HttpRequest, error: TooManyRequests) -> HttpResponse:
    """429, with the time after which to try again."""
    s = "" if error.seconds == 1 else "s"
    response = error_answer(request, 429, f"{error.message} Try again in {error.seconds} second{s}.")
    response["Retry-After"] = str(error.seconds)
    return response


def unavailable(request: HttpRequest) -> HttpResponse:
    """503"""
    message = "The server cannot do this at the moment. Nothing was changed; try again in a few minutes."
    return error_answer(request, 503, message)


# The middleware: security headers, size limits, rate limits, an unavailable database.

_log = logging.getLogger(__name__)
#: The content security policy, but for the styles within pages.
POLICY = (
    "default-src 'self'; img-src 'self' data: https: http:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
#: Types of static files that are worth compressing.
_COMPRESSED_TYPES = ("text/css", "text/javascript", "application/javascript", "image/svg+xml")

_GetResponse = Callable[[HttpRequest], HttpResponseBase]


class _Middleware:
    def __init__(self, get_response: _GetResponse) -> None:
        self._next = get_response


class Unavailable(_Middleware):
    """Answers with 503 and advice if the database cannot be used or the disk is full."""

    def __call__(self, request: Request) -> HttpResponseBase:
        request.arrival_time = _arrival_time(request)
        # PostgreSQL fails on NUL. A cookie in quotes can contain it, too; keys of sessions are letters and digits.
        for name in [name for name, value in request.META.items() if name.startswith("HTTP_") and "\0" in value]:
            del request.META[name]
        if not request.COOKIES.get(settings.SESSION_COOKIE_NAME, "").isalnum():
            request.COOKIES.pop(settings.SESSION_COOKIE_NAME, None)
        return self._next(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Django calls this for every exception of a view."""
        if isinstance(error, TooManyRequests):
            return too_many(request, error)
        if isinstance(error, ImpossibleError) and not is_api(request):
            messages.error(request, str(error))
            return redirect(error.back)
        if isinstance(error, ExplainedError):
            return error_answer(request, error.status, str(error))
        if isinstance(error, OperationalError | IntegrityError | CaptiousError | OSError):
            _log.error("the server cannot do this now", exc_info=error)
            return unavailable(request)
        return None


def sender(request: HttpRequest) -> str:
    """The token of an API call, otherwise the session; empty if there is neither."""
    if is_api(request):
        return token_in(request.headers.get("Authorization", "")) or ""
    return request.COOKIES.get(SESSION_COOKIE, "")


class TakingTurns(_Middleware):
    """Middleware: uploads, passwords, pages that compute and other pages wait separately.

    Uploads count for their token or session and for their address, others for their address.
    """

    def __init__(self, get_response: _GetResponse) -> None:
        super().__init__(get_response)
        self._uploads, self._passwords, self._computing, self._pages = all_turns(settings.CAPTIOUS)

    def __call__(self, request: Request) -> HttpResponseBase:
        try:
            with self._turn(request):
                return self._next(request)
        except TooManyRequests as error:
            return too_many(request, error)

    def _turn(self, request: HttpRequest) -> AbstractContextManager[None]:
        address = network_of(request)
        if request.method == "POST" and is_upload(request.path):
            return self._uploads.turn(sender(request) or address, address)
        if hashes_password(request.method, request.path):
            return self._passwords.turn(address)
        return (self._computing if takes_long(request.path) else self._pages).turn(address)


class Limits(_Middleware):
    """Refuses requests that are too large before parsing them, and those that took too long to arrive.

    Only signed-in users may send files.
    """

    def __call__(self, request: Request) -> HttpResponseBase:
        if request.method in {"POST", "PUT", "PATCH"}:
            if timezone.now() - request.arrival_time > timedelta(seconds=settings.CAPTIOUS.upload_seconds):
                return error_answer(request, 408)
            address = request.path if request.user.is_authenticated else ""
            max_bytes = max_request_bytes(address, settings.CAPTIOUS.upload_bytes)
            if not is_api(request) and _length(request) > max_bytes:
                mebibytes = settings.CAPTIOUS.upload_mebibytes
                return error_answer(request, 413, f"Uploads may have up to {mebibytes:,} MiB.")
        return self._next(request)


class SecondStep(_Middleware):
    """Makes users set up a second step if the settings require one. Tokens are not affected."""

    def __call__(self, request: Request) -> HttpResponseBase:
        page = reverse("mfa_index")
        is_free = is_api(request) or request.path.startswith((page, "/account/again/", "/static/", "/sign-out"))
        if not is_free and is_missing(request.user):
            return redirect(page)
        return self._next(request)


class Headers(_Middleware):
    """Tells browsers to run and load only files of this site, except images of challenges."""

    def __call__(self, request: Request) -> HttpResponseBase:
        response = self._next(request)
        response.setdefault("Content-Security-Policy", f"{POLICY}; {style_policy()}")
        response.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
        if response.status_code == 429:  # a limit of allauth
            response.setdefault("Retry-After", "60")
        if hasattr(request, "user"):
            is_known = request.user.is_authenticated
            response.setdefault("Cache-Control", "private, no-store" if is_known else "no-cache")
        return response


class Compression(GZipMiddleware):
    """Compresses pages, styles, scripts and drawings of the site to a fifth to a third of their size;
    other files and archives are sent uncompressed.

    Django pads pages randomly, so that their lengths reveal no secrets on them.
    """

    def __init__(self, get_response: _GetResponse) -> None:
        super().__init__(get_response)
        self._packed: dict[tuple[str, str], bytes] = {}

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        kind = response.get("Content-Type", "")
        if request.path.startswith(settings.STATIC_URL) and kind.startswith(_COMPRESSED_TYPES):
            return self._static(request, response)
        if response.streaming or not kind.startswith("text/html"):
            return response
        return super().process_response(request, response)

    def _static(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        """A file of the site; files do not change while the server runs, so each is compressed once."""
        patch_vary_headers(response, ("Accept-Encoding",))
        requested_digest = request.GET.get("v")
        if requested_digest and requested_digest == digest(request.path.removeprefix(settings.STATIC_URL)):
            response["Cache-Control"] = FOREVER
        is_whole = request.method == "GET" and response.status_code == 200 and "Range" not in request.headers
        if not is_whole or not re.search(r"\bgzip\b", request.headers.get("Accept-Encoding", "")):
            return response
        key = (request.path, response.get("ETag", ""))
        if key not in self._packed:
            self._packed[key] = gzip.compress(response.getvalue(), mtime=0)
        compressed = HttpResponse(self._packed[key], headers=dict(response.items()))
        response.close()
        compressed["Content-Encoding"], compressed["Content-Length"] = "gzip", str(len(compressed.content))
        return compressed


def _arrival_time(request: HttpRequest) -> datetime:
    """The time at which the first byte arrived; now if no proxy tells.

    ``X-Arrival`` has the time in seconds since 1970 at which all had arrived, and the seconds that it took.
    """
    match = re.fullmatch(r"(\d{1,12}\.\d+) (\d{1,9}\.\d+)", request.headers.get("X-Arrival", ""))
    if match is None or not settings.CAPTIOUS.behind_proxy:
        return timezone.now()
    return datetime.fromtimestamp(float(match[1]) - float(match[2]), UTC)


def _length(request: HttpRequest) -> int:
    try:
        return int(request.META.get("CONTENT_LENGTH") or 0)
    except ValueError:
        return 0
