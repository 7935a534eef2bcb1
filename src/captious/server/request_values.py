"""Values of addresses and forms: booleans, and ids of rows."""

from __future__ import annotations

_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"0", "false", "no", "off"}


def flag(text: str) -> bool | None:
    """Parse a boolean: 1, true, yes and on, or 0, false, no and off; None for any other text."""
    word = text.lower()
    return True if word in _TRUE else False if word in _FALSE else None


def row_id(text: str) -> int:
    """The id of a row in a text; 0, which no row has, if the text is not an id."""
    return int(text) if text.isdecimal() and len(text) < 19 else 0
