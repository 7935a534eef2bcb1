"""Times in sentences for users, and in files and answers for programs."""

from __future__ import annotations

from datetime import UTC, datetime

from django.utils import timezone


def local_time(time: datetime) -> str:
    """A time to the minute in the time zone of the server, which is named: "2026-11-22 17:05 UTC"."""
    return timezone.localtime(time).strftime("%Y-%m-%d %H:%M %Z")


def utc_time(time: datetime) -> str:
    """A time in UTC for programs, everywhere as in the API: "2026-11-22T17:05:03.120Z"."""
    text = time.astimezone(UTC).isoformat(timespec="milliseconds" if time.microsecond else "seconds")
    return text.removesuffix("+00:00") + "Z"
