"""The network address that a request came from."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

__all__ = ["address_of"]


def address_of(request: HttpRequest) -> str:
    """The client's address. ``X-Forwarded-For`` counts only if the settings say that a proxy is in front."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.CAPTIOUS.behind_proxy else ""
    # The proxy appends the address that it saw; what comes before may be made up by the client.
    address = forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")
    return str(address)[:45]
