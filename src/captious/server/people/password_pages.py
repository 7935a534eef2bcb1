"""The pages that hash passwords, which takes a core for a while: the web server has threads of their own for them."""

from __future__ import annotations

import re

__all__ = ["hashes_password"]

_PAGES = re.compile(
    r"/sign-(in|up)|/account/password|/account/reset/[^/]+/[^/]+/|/admin/(login|password_change)/|/admin/captious/user/.*"
)


def hashes_password(method: str, path: str) -> bool:
    """Whether a password is hashed to answer a request."""
    return method == "POST" and _PAGES.fullmatch(path) is not None
