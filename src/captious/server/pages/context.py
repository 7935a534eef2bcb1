"""The context of every template."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


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
