"""Words of captions: tokenizers, vocabulary ids, n-grams.

Everything here is an annotation layer of a table of captions, computed once and shared by all metrics.
"""

from captious.text.tokenizers import PTB, PTB_RAW, SPACES, WHITESPACE, Tokenizer, as_tokenizer, register_tokenizer
from captious.text.tokens import NgramLayer, TokenLayer, Tokens, WordLayer

__all__ = [
    "PTB",
    "PTB_RAW",
    "SPACES",
    "WHITESPACE",
    "NgramLayer",
    "TokenLayer",
    "Tokenizer",
    "Tokens",
    "WordLayer",
    "as_tokenizer",
    "register_tokenizer",
]
