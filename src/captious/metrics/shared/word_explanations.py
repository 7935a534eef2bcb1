"""What explains scores of n-grams and of common subsequences, word by word, for one caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

from captious.data import Captions, read_captions
from captious.text import Tokenizer, TokenLayer, WordLayer

#: The orders of n-grams.
ORDERS = (1, 2, 3, 4)


@dataclass(frozen=True)
class MatchedNgram:
    """An n-gram of the candidate.

    Args:
        words: its words.
        count: how often the candidate has it.
        matched: how many of these match a reference.
    """

    words: tuple[str, ...]
    count: int
    matched: int


@dataclass(frozen=True)
class OrderMatches:
    """The n-grams of one order.

    Args:
        precision: what the score is made of.
        matched, count: how many n-grams match, and how many there are.
        ngrams: those of the candidate, first those that match.
    """

    precision: float
    matched: int
    count: int
    ngrams: tuple[MatchedNgram, ...]


@dataclass(frozen=True)
class NgramMatches:
    """A score that counts n-grams in common.

    Args:
        candidate: its words.
        score: of the caption.
        orders: the n-grams of each order, from 1 to 4.
        brevity_penalty: what the mean of the precisions is multiplied by.
        length: of the candidate, in words.
        closest_length: of the reference that is closest in length.
    """

    kind: ClassVar[str] = "ngram-matches"

    candidate: tuple[str, ...]
    score: float
    orders: tuple[OrderMatches, ...]
    brevity_penalty: float
    length: int
    closest_length: int


@dataclass(frozen=True)
class WeightedNgram:
    """An n-gram of the candidate.

    Args:
        words: its words.
        weight: its inverse document frequency.
        references: how many references have it.
        adds: what it adds to the score.
    """

    words: tuple[str, ...]
    weight: float
    references: int
    adds: float


@dataclass(frozen=True)
class NgramWeights:
    """A score that is a sum over weighted n-grams.

    Args:
        candidate: its words.
        score: of the caption.
        orders: the part of each order in the score, from 1 to 4.
        ngrams: those of the candidate: what adds most comes first, then those with the largest weight.
        n_references: number of references.
        n_documents: number of images that the weights come from.
    """

    kind: ClassVar[str] = "ngram-weights"

    candidate: tuple[str, ...]
    score: float
    orders: tuple[float, ...]
    ngrams: tuple[WeightedNgram, ...]
    n_references: int
    n_documents: int


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

    kind: ClassVar[str] = "subsequences"

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
    captions = read_captions({0: candidate}, {0: [*references]})
    layer = WordLayer(tokenizer) if split else TokenLayer(tokenizer)
    sides = captions.layer(layer)
    candidate_tokens, reference_tokens = (
        [
            [side.vocabulary.word(word) for word in side.ids[start:end].tolist()]
            for start, end in zip(side.offsets[:-1].tolist(), side.offsets[1:].tolist(), strict=True)
        ]
        for side in sides
    )
    return candidate_tokens[0], reference_tokens, captions


def ngrams(words: Sequence[str]) -> Iterator[Counter[tuple[str, ...]]]:
    """The n-grams of each order with their counts."""
    for n in ORDERS:
        yield Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))
