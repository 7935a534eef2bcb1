"""Times in sentences for users."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone


def local_time(time: datetime) -> str:
    """A time to the minute in the time zone of the server, which is named: "2026-11-22 17:05 UTC"."""
    return timezone.localtime(time).strftime("%Y-%m-%d %H:%M %Z")
