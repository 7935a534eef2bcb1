"""Rate limits: how often an account or network address may do something within a minute."""

from __future__ import annotations

import time

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest

from captious.server.models import RateCount

__all__ = ["TooManyRequests", "address_of", "limit", "remove_old_counts"]


class TooManyRequests(Exception):
    """A rate limit was reached."""


def address_of(request: HttpRequest) -> str:
    """The client's address. ``X-Forwarded-For`` counts only if the settings say that a proxy is in front."""
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "") if settings.CAPTIOUS.behind_proxy else ""
    # The proxy appends the address that it saw; what comes before may be made up by the client.
    address = forwarded.rpartition(",")[2].strip() or request.META.get("REMOTE_ADDR", "")
    return str(address)[:45]


def limit(request: HttpRequest, what: str) -> None:
    """Count a request, by account or, for visitors, by address.

    Raises:
        TooManyRequests: there were too many within this minute.
    """
    who = f"user {request.user.pk}" if request.user.is_authenticated else address_of(request)
    key, minute = f"{what} {who}"[:200], int(time.time() // 60)
    rows = RateCount.objects.filter(key=key, minute=minute)
    try:
        with transaction.atomic():
            RateCount.objects.get_or_create(key=key, minute=minute)
            rows.update(count=F("count") + 1)
    except IntegrityError:  # two first requests at once
        rows.update(count=F("count") + 1)
    if rows.get().count > settings.CAPTIOUS.requests_per_minute:
        raise TooManyRequests


def remove_old_counts() -> None:
    """Forget counts of earlier minutes."""
    RateCount.objects.filter(minute__lt=int(time.time() // 60) - 1).delete()
