"""Parameters of addresses that are true or false."""

from __future__ import annotations

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def flag(text: str) -> bool | None:
    """Parse a boolean: 1, true, yes and on, or 0, false, no and off; None for any other text."""
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else None
