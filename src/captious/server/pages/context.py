"""What every page is given."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

__all__ = ["site"]


def site(request: HttpRequest) -> dict[str, Any]:
    """The name of the site, and whether visitors can make accounts."""
    ours = settings.CAPTIOUS
    return {"site_name": ours.site_name, "can_sign_up": ours.registration != "closed"}
