"""What every page is given."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

__all__ = ["mail_is_printed", "site"]

_CONSOLE = "django.core.mail.backends.console.EmailBackend"


def site(request: HttpRequest) -> dict[str, Any]:
    """The name of the site, and whether visitors can make accounts."""
    ours = settings.CAPTIOUS
    return {"site_name": ours.site_name, "can_sign_up": ours.registration != "closed"}


def mail_is_printed() -> bool:
    """Whether mail goes to the console of the server, where only the administrator sees it."""
    return bool(settings.EMAIL_BACKEND == _CONSOLE)
