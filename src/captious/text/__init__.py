"""Words of captions: tokenizers, vocabulary ids, n-grams.

Everything here is an annotation layer of a table of captions, computed once and shared by all metrics.
"""

from captious.text.stems import porter_stem
from captious.text.stop_words import NLTK_STOP_WORDS
from captious.text.tokenizers import (
    CHARACTERS,
    PTB,
    PTB_HARNESS,
    PTB_RAW,
    SMURF,
    SPACES,
    WHITESPACE,
    Tokenizer,
    as_tokenizer,
    register_tokenizer,
)
from captious.text.tokens import NgramLayer, TokenLayer, Tokens, WordLayer

__all__ = [
    "CHARACTERS",
    "NLTK_STOP_WORDS",
    "PTB",
    "PTB_HARNESS",
    "PTB_RAW",
    "SMURF",
    "SPACES",
    "WHITESPACE",
    "NgramLayer",
    "TokenLayer",
    "Tokenizer",
    "Tokens",
    "WordLayer",
    "as_tokenizer",
    "porter_stem",
    "register_tokenizer",
]
