"""The metric of Yi et al., token by token, from hidden states that are given."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.floating]


@dataclass
class Text:
    """A caption: its pieces and its hidden states, both with the special tokens at the ends."""

    pieces: list[str]
    states: Vector

    def __post_init__(self) -> None:
        self.states = self.states / np.linalg.norm(self.states, axis=1, keepdims=True)

    @property
    def words(self) -> list[str]:
        return self.pieces[1:-1]


@dataclass
class Item:
    """A token of the combined reference: the piece that gives its weight, and the state that is compared."""

    piece: str
    state: Vector


def frequencies(captions: list[list[str]]) -> tuple[Counter[str], int]:
    """In how many captions each piece is, and the number of captions."""
    return Counter(piece for pieces in captions for piece in set(pieces)), len(captions)


def cosine(a: Vector, b: Vector) -> float:
    return float(np.dot(a, b))  # of length 1 both


def matches(token: Vector, text: Text, threshold: float) -> bool:
    """Return whether some word of the text is similar to a token."""
    best = 0.0
    for state in text.states[1:-1]:
        best = max(best, cosine(token, state))
    return best > threshold


def combine(references: list[Text], base: int, threshold: float, *, official: bool) -> list[Item]:
    """Return the base, followed by the words of the other references that no text before them has."""
    own = references[base]
    pieces = list(own.words)
    added = []
    for b, other in enumerate(references):
        if b == base:
            continue
        for k, piece in enumerate(other.words):
            token = other.states[k + 1]
            if matches(token, own, threshold):
                continue
            if any(matches(token, references[c], threshold) for c in range(b) if c != base):
                continue
            pieces.append(piece)
            added.append(other.states[k] if official else token)
    # The official way keeps the closing token of the base and loses the last one that was added.
    states = [*own.states, *added][1:-1] if official else [*own.states[1:-1], *added]
    assert len(states) == len(pieces)
    return [Item(piece, state) for piece, state in zip(pieces, states, strict=True)]


def best(item: Item, states: list[Vector]) -> float:
    return max(cosine(item.state, state) for state in states)


def score(
    candidate: Text,
    references: list[Text],
    counts: Counter[str],
    n_captions: int,
    stop_words: set[str] | frozenset[str],
    threshold: float = 0.4,
    variant: str = "official",
    *,
    combined: bool = True,
    cut: bool = True,
    remove: bool = True,
) -> float:
    """Return the mean over bases of the two recalls' product."""
    official = variant == "official"
    words = list(candidate.states[1:-1])
    content = [s for p, s in zip(candidate.words, candidate.states[1:-1], strict=True) if p not in stop_words]
    if not words or (remove and not content):
        return 0.0

    def weight(piece: str) -> float:
        if official:
            return math.log((n_captions + 1) / (counts[piece] + 1))
        return -math.log10(max(counts[piece], 1) / n_captions)

    total = 0.0
    for base in range(len(references)):
        if combined:
            items = combine(references, base, threshold, official=official)
        else:
            items = [Item(p, s) for p, s in zip(references[base].words, references[base].states[1:-1], strict=True)]
        above = below = 0.0
        for item in items:
            similarity = best(item, words)
            if similarity > threshold or not cut:
                above += weight(item.piece) * similarity
                below += weight(item.piece)
        recall = above / below if below else 0.0
        if remove:
            kept = [item for item in items if item.piece not in stop_words]
            found = [s for s in (best(item, content) for item in kept) if s > threshold or not cut]
            divisor = len(found) if official else len(kept)
            recall *= sum(found) / divisor if divisor else 0.0
        total += recall
    return total / len(references)


def unigram(candidate: list[str], references: list[list[str]], stop_words: set[str] | frozenset[str]) -> float:
    """Return the share of the words of all references together that the candidate has."""
    base: list[str] = []
    for reference in references:
        for word in reference:
            if word not in base:
                base.append(word)
    kept = [word for word in base if word not in stop_words]
    words = [word for word in candidate if word not in stop_words]
    return sum(word in words for word in kept) / len(kept) if kept else 0.0
