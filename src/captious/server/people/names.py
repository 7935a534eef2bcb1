"""Names that could be taken for others: letters of several alphabets that look alike."""

from __future__ import annotations

import unicodedata

__all__ = ["mixes_alphabets"]

#: Alphabets with letters that look like those of another: Latin a and Cyrillic а.
_ALIKE = {"ARMENIAN", "CHEROKEE", "COPTIC", "CYRILLIC", "GREEK", "LATIN", "LISU"}


def mixes_alphabets(name: str) -> bool:
    """Whether a name has letters of two alphabets that look alike, so that it may read like another name."""
    letters = (letter for letter in unicodedata.normalize("NFKC", name) if letter.isalpha())
    alphabets = {unicodedata.name(letter, "").partition(" ")[0] for letter in letters}
    return len(alphabets & _ALIKE) > 1
