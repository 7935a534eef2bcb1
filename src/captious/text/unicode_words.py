"""Words of any language, by the default word boundaries of Unicode (UAX 29), with the package regex.

No dictionary is needed for languages that separate words. Han characters and hiragana are split one by one, and Thai,
Lao, Khmer and Burmese into clusters of a consonant and its marks, as Unicode specifies for scripts that would need a
dictionary; ``thai_words`` uses that of PyThaiNLP.
"""

from __future__ import annotations

import unicodedata
from functools import cache
from typing import Any

from captious.errors import MissingExtraError, setting


@cache
def _boundary() -> Any:
    import regex

    return regex.compile(r"(?wV1)\b")


def unicode_words(caption: str) -> list[str]:
    """Return the words of a caption that contain a letter or a digit, in lower case and composed (NFC)."""
    pieces = _boundary().split(unicodedata.normalize("NFC", caption).lower())
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


def thai_words(caption: str) -> list[str]:
    """Return Thai words in lower case, without punctuation; text in other scripts is tokenized as by ``unicode``.

    Raises:
        MissingExtraError: PyThaiNLP is not installed.
    """
    try:
        from pythainlp.tokenize import word_tokenize
    except ImportError as error:
        raise MissingExtraError(
            "the tokenizer th needs PyThaiNLP",
            help=f"pip install 'captious[languages]', or choose {setting('tokenizer', 'char')}",
        ) from error
    words: list[str] = []
    for word in word_tokenize(caption, engine="newmm", keep_whitespace=False):
        is_thai = any("\u0e01" <= character <= "\u0e5b" for character in word)
        words += [word] if is_thai else unicode_words(word)
    return words
