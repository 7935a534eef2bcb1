"""Thai words, by the dictionary of PyThaiNLP: Thai is written without spaces between words."""

from __future__ import annotations

from captious.errors import MissingExtraError, option
from captious.text.unicode_words import unicode_words


def thai_words(caption: str) -> list[str]:
    """Words in lower case, without punctuation; text in other scripts is cut as ``unicode`` does.

    Raises:
        MissingExtraError: PyThaiNLP is not installed.
    """
    try:
        from pythainlp.tokenize import word_tokenize
    except ImportError as error:
        raise MissingExtraError(
            "the tokenizer th needs PyThaiNLP",
            help=f"pip install 'captious[languages]', or choose {option('tokenizer', 'char')}",
        ) from error
    words: list[str] = []
    for word in word_tokenize(caption, engine="newmm", keep_whitespace=False):
        is_thai = any("\u0e01" <= character <= "\u0e5b" for character in word)
        words += [word] if is_thai else unicode_words(word)
    return words
