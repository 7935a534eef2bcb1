"""Rate limits: how often an account or address may do something within a minute."""

from __future__ import annotations

import time

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F
from django.http import HttpRequest

from captious.server.models import RateCount
from captious.server.people.address import address_of

__all__ = ["TooManyRequests", "limit", "remove_old_counts"]


class TooManyRequests(Exception):
    """A rate limit was reached."""


def limit(request: HttpRequest, what: str) -> None:
    """Count a request, by account or, for visitors, by address.

    Raises:
        TooManyRequests: there were too many within this minute.
    """
    who = f"user {request.user.pk}" if request.user.is_authenticated else address_of(request)
    key, minute = f"{what} {who}"[:200], int(time.time() // 60)
    try:
        with transaction.atomic():
            count, _ = RateCount.objects.get_or_create(key=key, minute=minute)
            RateCount.objects.filter(pk=count.pk).update(count=F("count") + 1)
    except IntegrityError:  # two first requests at once
        RateCount.objects.filter(key=key, minute=minute).update(count=F("count") + 1)
    if RateCount.objects.get(key=key, minute=minute).count > settings.CAPTIOUS.requests_per_minute:
        raise TooManyRequests


def remove_old_counts() -> None:
    """Forget counts of earlier minutes."""
    RateCount.objects.filter(minute__lt=int(time.time() // 60) - 1).delete()
