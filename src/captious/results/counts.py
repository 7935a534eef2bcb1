"""Counts with their nouns, in sentences about results."""

from __future__ import annotations


def counted(n: int, noun: str) -> str:
    """Format a count: "1 image", "5,000 images"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
