"""Static files have a digest in their addresses, so that browsers keep them and never ask for them again."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage

#: The cache header of a file whose address has its digest.
FOREVER = "public, max-age=31536000, immutable"


@cache
def digest(name: str) -> str:
    """The digest of a static file, computed once, because files do not change meanwhile; empty if there is no file."""
    path = finders.find(name)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12] if path else ""


class DigestStorage(StaticFilesStorage):
    """Adds digests to the addresses of static files: "/static/captious/check.js?v=0a1b2c3d4e5f"."""

    def url(self, name: str | None) -> str:
        address: str = super().url(name)
        checksum = digest(name) if name else ""
        return f"{address}?v={checksum}" if checksum else address
