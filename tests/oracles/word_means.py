"""Cosines of mean word vectors: MOWE as LCEval's code computes it, and WEmbSim as its authors describe it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

import numpy as np

Vectors = Mapping[str, np.ndarray]


def clean(tokenized: str) -> list[str]:
    """Return the words of a tokenized caption that MOWE averages."""
    for character in ".,\"'":
        tokenized = tokenized.replace(character, "")
    return re.sub(r"\s\s+", " ", tokenized.lower()).split(" ")


def mean(words: list[str], stop_words: Collection[str], vectors: Vectors) -> np.ndarray | None:
    found = [vectors[word].astype(float) for word in words if word not in stop_words and word in vectors]
    return np.mean(found, axis=0) if found else None


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.dot(a, b) / np.sqrt(np.dot(a, a) * np.dot(b, b)))


def mowe(candidate: str, references: list[str], stop_words: Collection[str], vectors: Vectors) -> list[float]:
    """Return the similarity of each reference, from tokenized captions; the score is the largest."""
    ours = mean(clean(candidate), stop_words, vectors)
    theirs = [mean(clean(reference), stop_words, vectors) for reference in references]
    return [-1.0 if ours is None or other is None else cosine(ours, other) for other in theirs]


def wembsim(candidate: str, references: list[str], stop_words: Collection[str], vectors: Vectors) -> list[float]:
    """Return the similarity of each reference, from tokenized captions; the score is their mean."""
    ours = mean(candidate.split(" "), stop_words, vectors)
    theirs = [mean(reference.split(" "), stop_words, vectors) for reference in references]
    return [0.0 if ours is None or other is None else abs(cosine(ours, other)) for other in theirs]
