"""Pages that take a core for a while: the web server has threads of their own for them."""

from __future__ import annotations

import re

_PASSWORDS = re.compile(
    r"/sign-(in|up)|/account/(password|mail|delete)|/account/reset/[^/]+/[^/]+/|/admin/login/|/admin/captious/user/.*"
)
_COMPUTING = re.compile(r"/challenges/[^/]+/(captions(/.+)?|compare)|/submissions/\d+/(scores/.+)?")


def computes(path: str) -> bool:
    """Whether a page shows captions or scores of single images, or one submission among others."""
    return _COMPUTING.fullmatch(path) is not None


def hashes_password(method: str, path: str) -> bool:
    """Whether a password is hashed to answer a request."""
    return method == "POST" and _PASSWORDS.fullmatch(path) is not None
