"""Tables as CSV files to download."""

from __future__ import annotations

from collections.abc import Sequence

from django.http import HttpResponse

from captious.row_files import csv_text

__all__ = ["csv_file"]

_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def csv_file(heads: Sequence[str], rows: Sequence[Sequence[object]], name: str) -> HttpResponse:
    """A table as a file of this name.

    Text that spreadsheets would take for a formula, because it begins with one of ``= + - @``, a tab or a line break,
    gets an apostrophe in front, as OWASP recommends. Numbers stay as they are.
    """
    response = HttpResponse(
        csv_text(heads, [[_harmless(value) for value in row] for row in rows]), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
