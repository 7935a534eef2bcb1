"""Text in tables that spreadsheets open."""

from __future__ import annotations

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def harmless(value: object) -> object:
    """A value that no spreadsheet interprets as a formula.

    Text that begins with one of ``= + - @``, a tab or a line break gets an apostrophe in front, as OWASP recommends.
    Numbers stay as they are.
    """
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA_STARTS) else value
