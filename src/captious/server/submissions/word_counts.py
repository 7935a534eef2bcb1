"""The words of captions, as limits count them."""

from __future__ import annotations

import re

#: Japanese syllables and Han characters, which are written without spaces between words.
_UNSPACED_LETTERS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
#: A word, or a punctuation mark.
WORD = re.compile(rf"[{_UNSPACED_LETTERS}]|[^\W{_UNSPACED_LETTERS}]+|[^\w\s]")


def count_words(caption: str) -> int:
    """The number of words and punctuation marks, about as many as tokens of a parser.

    Each Han character and each Japanese syllable counts as a word.
    """
    return sum(1 for _ in WORD.finditer(caption))
