"""Explanations of scores of n-grams and of common subsequences, word by word, for one caption."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
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
        count: number of occurrences in the candidate.
        matched: number of these that match a reference.
    """

    words: tuple[str, ...]
    count: int
    matched: int


@dataclass(frozen=True)
class OrderMatches:
    """The n-grams of one order.

    Args:
        precision: precision of this order.
        matched, count: numbers of matching and of all n-grams.
        ngrams: n-grams of the candidate, matching ones first.
    """

    precision: float
    matched: int
    count: int
    ngrams: tuple[MatchedNgram, ...]


@dataclass(frozen=True)
class NgramMatches:
    """The explanation of a score based on shared n-grams.

    Args:
        candidate: words of the candidate.
        scores: scores of the caption by output.
        orders: the n-grams of each order, from 1 to 4.
        brevity_penalty: factor of the mean of the precisions.
        length: length of the candidate, in words.
        closest_length: length of the reference closest in length.
    """

    kind: ClassVar[str] = "ngram-matches"

    candidate: tuple[str, ...]
    scores: Mapping[str, float]
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
        references: number of references with it.
        adds: its contribution to the score.
    """

    words: tuple[str, ...]
    weight: float
    references: int
    adds: float


@dataclass(frozen=True)
class NgramWeights:
    """The explanation of a score that is a sum over weighted n-grams.

    Args:
        candidate: words of the candidate.
        score: score of the caption.
        orders: contribution of each order to the score, from 1 to 4.
        ngrams: n-grams of the candidate, by contribution, then by weight, the largest first.
        n_references: number of references.
        n_documents: number of images in the document frequencies.
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
        reference: words of the reference.
        places: positions of its words, ascending: (in the candidate, in the reference).
        precision, recall: its share of the candidate and of the reference.
    """

    reference: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    precision: float
    recall: float


@dataclass(frozen=True)
class SubsequenceExplanation:
    """The explanation of a score based on common subsequences.

    Args:
        candidate: words of the candidate.
        references: one for each reference.
        precision, recall: the values used in the score.
        score: score of the caption.
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
    """Return the words of a candidate and of its references, and the captions as a table.

    Args:
        candidate, references: captions of one image.
        tokenizer: the tokenizer.
        split: split tokens at white space, as metrics of n-grams do.
    """
    captions = read_captions({0: candidate}, {0: [*references]})
    sides = captions.layer(WordLayer(tokenizer) if split else TokenLayer(tokenizer))
    (words,), reference_words = (
        [[*map(side.vocabulary.word, side.ids[a:b].tolist())] for a, b in pairwise(side.offsets.tolist())]
        for side in sides
    )
    return words, reference_words, captions


def ngrams(words: Sequence[str]) -> Iterator[Counter[tuple[str, ...]]]:
    """Return the n-grams of each order with their counts."""
    for n in ORDERS:
        yield Counter(tuple(words[start : start + n]) for start in range(len(words) - n + 1))
