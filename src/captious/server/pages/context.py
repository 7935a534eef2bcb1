"""What every page is given."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """The name of the site, whether visitors can make accounts, and whether users get mail."""
    return {
        "site_name": settings.CAPTIOUS.site_name,
        "can_sign_up": settings.CAPTIOUS.registration != "closed",
        "mail_is_printed": mail_is_printed(),
    }


def mail_is_printed() -> bool:
    """Whether mail goes to the console of the server, where only the administrator sees it."""
    return bool(settings.EMAIL_BACKEND == "django.core.mail.backends.console.EmailBackend")
