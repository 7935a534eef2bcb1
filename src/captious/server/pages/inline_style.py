"""Inlined styles, so that pages render at a first visit before other files arrive."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

from django.contrib.staticfiles import finders

#: The static files that pages contain.
STYLES = ("design/tokens.css", "captious/style.css", "explanations/explanations.css")


@cache
def style(name: str) -> str:
    """A style without comments and indentation. It is read once; static files do not change while a server runs."""
    content = Path(finders.find(name)).read_text(encoding="utf-8")
    return re.sub(r"\n\s*", "\n", re.sub(r"/\*.*?\*/", "", content, flags=re.DOTALL)).strip()


@cache
def style_policy() -> str:
    """The content security policy for styles: those of the site, and exactly these within pages."""
    digests = [hashlib.sha256(style(name).encode()).digest() for name in STYLES]
    return " ".join(["style-src 'self'", *(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)])
