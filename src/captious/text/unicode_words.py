"""Words of any language, by the default word boundaries of Unicode (UAX 29), as the package regex finds them.

They need no dictionary, so they are words where words are written apart. Han characters and hiragana come out one by
one, and Thai, Lao, Khmer and Burmese in clusters of a consonant and its marks, as Unicode says of scripts that would
need a dictionary.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any


@cache
def _boundary() -> Any:
    import regex

    return regex.compile(r"(?wV1)\b")


def unicode_words(caption: str) -> list[str]:
    """The words of a caption: in lower case and composed (NFC), those with a letter or a digit."""
    pieces = _boundary().split(unicodedata.normalize("NFC", caption).lower())
    return [piece for piece in pieces if any(map(str.isalnum, piece))]
