"""What every page is given."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest

__all__ = ["site"]


def site(request: HttpRequest) -> dict[str, Any]:
    """The name of the site."""
    return {"site_name": settings.CAPTIOUS.site_name}
