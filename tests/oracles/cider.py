"""CIDEr and CIDEr-D, official and as in their papers, with the references' own document frequencies or others."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from tests.oracles.ngrams import Caption, Ngrams, ngrams


@dataclass(frozen=True)
class Frequencies:
    """In how many documents (images) each n-gram occurs."""

    documents: int
    counts: Ngrams

    def idf(self, ngram: tuple[str, ...]) -> float:
        """Return the inverse document frequency; n-grams in no document weigh as much as those in one."""
        return math.log(self.documents) - math.log(max(1, self.counts[ngram]))


def frequencies(corpus: list[list[Caption]]) -> Frequencies:
    """Return document frequencies of the references of all images."""
    counts: Ngrams = Counter()
    for references in corpus:
        present = {ngram for reference in references for n in range(1, 5) for ngram in ngrams(reference, n)}
        counts.update(present)
    return Frequencies(len(corpus), counts)


def _vector(tokens: Caption, n: int, known: Frequencies, relative: bool) -> dict[tuple[str, ...], float]:
    counts = ngrams(tokens, n)
    total = sum(counts.values()) if relative else 1
    return {ngram: count / total * known.idf(ngram) for ngram, count in counts.items()}


def _norm(vector: dict[tuple[str, ...], float]) -> float:
    return math.sqrt(sum(value**2 for value in vector.values()))


def _similarity(
    candidate: Caption, references: list[Caption], known: Frequencies, clip: bool, sigma: float, paper: bool
) -> float:
    """Return mean over orders and references, 0 to 1."""
    total = 0.0
    for n in range(1, 5):
        mine = _vector(candidate, n, known, relative=paper)
        for reference in references:
            theirs = _vector(reference, n, known, relative=paper)
            product = 0.0
            for ngram, value in mine.items():
                if ngram in theirs:
                    product += (min(value, theirs[ngram]) if clip else value) * theirs[ngram]
            if _norm(mine) != 0 and _norm(theirs) != 0:
                product /= _norm(mine) * _norm(theirs)
            if paper:
                delta = len(candidate) - len(reference)
            else:
                delta = max(0, len(candidate) - 1) - max(0, len(reference) - 1)
            total += product * math.exp(-(delta**2) / (2 * sigma**2))
    return total / 4 / len(references)


def cider(candidate: Caption, references: list[Caption], known: Frequencies, variant: str = "official") -> float:
    """Return plain CIDEr; the paper does not multiply by 10."""
    similarity = _similarity(candidate, references, known, clip=False, sigma=math.inf, paper=False)
    return similarity if variant == "paper" else 10 * similarity


def cider_d(
    candidate: Caption, references: list[Caption], known: Frequencies, variant: str = "official", sigma: float = 6.0
) -> float:
    """CIDEr-D; the paper clips relative counts and measures length in words."""
    return 10 * _similarity(candidate, references, known, clip=True, sigma=sigma, paper=variant == "paper")
