"""Pages for what goes wrong, in HTML or, for programs, in JSON."""

from __future__ import annotations

import sys

from django.db.utils import Error as DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from captious.server.pages.middleware import is_api, unavailable

__all__ = ["bad_request", "forbidden", "not_found", "server_error"]


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400"""
    return _answer(request, 400, "The server could not understand the request.")


def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403"""
    return _answer(request, 403, "You do not have permission to do this.")


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404"""
    return _answer(request, 404, "There is no such page, or it is not public.")


def server_error(request: HttpRequest) -> HttpResponse:
    """500; or 503 if the database or the disk cannot be used, which may show before a view is called."""
    if isinstance(sys.exception(), DatabaseError | OSError):
        return unavailable(request)
    return _answer(request, 500, "This is an error on the server. It was logged.")


def _answer(request: HttpRequest, status: int, message: str) -> HttpResponse:
    if is_api(request):
        return JsonResponse({"error": message}, status=status)
    return render(request, f"{status}.html", {}, status=status)
