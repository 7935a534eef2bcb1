"""Values of addresses and forms: booleans, and ids of rows."""

from __future__ import annotations

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def flag(text: str) -> bool | None:
    """Parse a boolean: 1, true, yes and on, or 0, false, no and off; None for any other text."""
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def row_id(text: str) -> int:
    """The id that a text names; 0, which no row has, if it is none."""
    return int(text) if text.isdecimal() and len(text) < 19 else 0
