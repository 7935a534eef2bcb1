"""The words that a candidate shares with the references, for pages that color them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from captious.server.submissions.word_counts import WORD
from captious.text.stems import porter_stem
from captious.text.stop_words import NLTK_STOP_WORDS


@dataclass(frozen=True)
class Piece:
    """A piece of a candidate.

    Args:
        text: the original text.
        agreement: share of references with the word: "none", "some", or "most" for at least half of them; "" for stop
            words and text between words.
        count: number of references with the word.
    """

    text: str
    agreement: str = ""
    count: int = 0


def pieces(candidate: str, references: Sequence[str]) -> list[Piece]:
    """Split a candidate into pieces. Words agree if their stems are equal."""
    counts = Counter(stem for reference in references for stem in {*map(_stem, WORD.findall(reference))})
    words = [*WORD.finditer(candidate)]
    bounds = [0, *(end for match in words for end in match.span()), len(candidate)]
    result = []
    for i, (start, end) in enumerate(pairwise(bounds)):
        text = candidate[start:end]
        is_word = i % 2 == 1 and any(map(str.isalnum, text)) and text.lower() not in NLTK_STOP_WORDS
        if is_word:
            n = counts[_stem(text)]
            result.append(Piece(text, "none" if n == 0 else "most" if 2 * n >= len(references) else "some", n))
        elif text:
            result.append(Piece(text))
    return result


def has_word(word: str, texts: Sequence[str]) -> bool:
    """Return whether one of the texts has a word, in any of its forms."""
    stem = _stem(word)
    return any(stem in map(_stem, WORD.findall(text)) for text in texts if stem[:1] in text.lower())


def _stem(word: str) -> str:
    return porter_stem(word.lower())
