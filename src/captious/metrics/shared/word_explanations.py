"""What explains scores of n-grams and of common subsequences, word by word, for one caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from captious.data import Captions, load
from captious.text import Tokenizer, TokenLayer, WordLayer

__all__ = ["MatchedNgram", "NgramExplanation", "Subsequence", "SubsequenceExplanation", "ngrams", "token_lists"]

#: The orders of n-grams.
ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True)
class MatchedNgram:
    """An n-gram of the candidate.

    Args:
        words: its words.
        count: how often the candidate has it.
        matched: how many of these match a reference; for CIDEr, how many references have it.
        adds: what it adds to the score, where scores are sums over n-grams.
    """

    words: tuple[str, ...]
    count: int
    matched: int
    adds: float | None = None


@dataclass(frozen=True)
class NgramExplanation:
    """A score that is made of n-grams.

    Args:
        candidate: its words.
        score: of the caption.
        orders: what each order contributes, from 1 to 4: precisions of BLEU, parts of CIDEr's score.
        ngrams: those of the candidate; for CIDEr, only those that add something, the largest share first.
        facts: what else is in the formula, by name, such as the brevity penalty.
    """

    candidate: tuple[str, ...]
    score: float
    orders: tuple[float, ...]
    ngrams: tuple[MatchedNgram, ...]
    facts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Subsequence:
    """The longest common subsequence of the candidate and one reference.

    Args:
        reference: its words.
        places: positions of its words, ascending: (in the candidate, in the reference).
        precision, recall: its share of both sides.
    """

    reference: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    precision: float
    recall: float


@dataclass(frozen=True)
class SubsequenceExplanation:
    """A score that is made of common subsequences.

    Args:
        candidate: its words.
        references: one for each reference.
        precision, recall: those that the score is computed from.
        score: of the caption.
    """

    candidate: tuple[str, ...]
    references: tuple[Subsequence, ...]
    precision: float
    recall: float
    score: float


def token_lists(
    candidate: str, references: Sequence[str], tokenizer: Tokenizer, *, split: bool
) -> tuple[list[str], list[list[str]], Captions]:
    """The words of a candidate and of its references, and the captions as a table.

    Args:
        candidate, references: captions of one image.
        tokenizer: makes the words.
        split: cut tokens at white space, as metrics of n-grams do.
    """
    captions = load({0: candidate}, {0: [*references]})
    layer = WordLayer(tokenizer) if split else TokenLayer(tokenizer)
    sides = captions.layer(layer)
    ours, theirs = (
        [
            [side.vocabulary.word(word) for word in side.ids[start:end].tolist()]
            for start, end in zip(side.offsets[:-1].tolist(), side.offsets[1:].tolist(), strict=True)
        ]
        for side in sides
    )
    return ours[0], theirs, captions


def ngrams(words: Sequence[str]) -> Iterator[Counter[tuple[str, ...]]]:
    """The n-grams of each order with their counts."""
    for n in ORDERS:
        yield Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))
