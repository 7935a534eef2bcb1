"""Stems of English words."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["porter2_stems", "porter2_version"]


def porter2_stems(words: Sequence[str]) -> list[str]:
    """Stems by the Porter2 algorithm, which Snowball calls English, as PyStemmer computes it."""
    from Stemmer import Stemmer

    stems: list[str] = Stemmer("english", 0).stemWords(list(words))  # 0: no cache, every word comes once
    return stems


def porter2_version() -> str:
    """The version of PyStemmer."""
    import Stemmer

    return str(Stemmer.version())
