"""Error answers, as a page or, for programs, as JSON."""

from __future__ import annotations

import sys

from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

#: The messages for programs; templates have those of pages.
_MESSAGES = {
    400: "The server could not understand the request.",
    403: "You do not have permission to do this.",
    404: "This page does not exist or is not public.",
    500: "An error occurred on the server. It has been logged.",
}


def is_api(request: HttpRequest) -> bool:
    """Return whether a program is asking."""
    return bool(request.path.startswith("/api/"))


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


def unavailable(request: HttpRequest) -> HttpResponse:
    """503"""
    message = "The server cannot do this at the moment. Nothing was changed; try again in a few minutes."
    return error_answer(request, 503, message)
