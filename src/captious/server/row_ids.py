"""Ids of rows, as addresses and forms name them."""

from __future__ import annotations


def row_id(text: str) -> int:
    """The id that a text names; 0, which no row has, if it is none."""
    return int(text) if text.isdecimal() and len(text) < 19 else 0
