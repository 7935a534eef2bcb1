"""Slow pages, which have their own threads in the web server."""

from __future__ import annotations

import re

_PASSWORD_PATHS = re.compile(
    r"/sign-(in|up|in/connect)|/account/(|password|mail|delete|second-step)|/account/reset/[^/]+/[^/]+/"
    r"|/admin/captious/user/.*"
)
_SLOW_PATHS = re.compile(
    r"(/api/v1)?/challenges/[^/]+/(captions(/.+)?|compare)|/submissions/\d+/(scores/.+)?|/api/v1/submissions/\d+/scores"
    r"|/sign-in/with/.+"
)


def takes_long(path: str) -> bool:
    """Return whether a page is slow because it computes something or calls another site."""
    return _SLOW_PATHS.fullmatch(path) is not None


def hashes_password(method: str, path: str) -> bool:
    """Return whether a password is hashed to answer a request."""
    return method == "POST" and _PASSWORD_PATHS.fullmatch(path) is not None
