"""Rate limits: how often an account or network address may do something within a minute."""

from __future__ import annotations

import time

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest

from captious.server.models import RateCount
from captious.server.people.addresses import client_address, network


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
