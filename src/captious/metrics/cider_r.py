"""CIDEr-R: CIDEr-D for captions of very different lengths, with a penalty on relative length and on repeated words.

Santos, Colombini and Avila 2021. The official variant is the code of its authors, a fork of the COCO caption toolkit.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, KeyedByFields, References
from captious.metrics.cider import Cider, WeightLayer, ids_in_frequencies, word_map_of
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.native import CiderReferences, ReferenceNgrams, threads
from captious.text import Tokenizer, Tokens, WordLayer

#: The weights of repetition and length, exponents of a weighted geometric mean.
_REPETITION, _LENGTH = 0.8, 0.2
_WORDS = re.compile(r"\w+")


class CiderR(Cider):
    """CIDEr-R, 0 to 10, higher is better. The corpus score is the mean."""

    name = "cider-r"
    summary = "CIDEr-D with penalties on repeated words and relative length, for captions of different lengths"
    variants: ClassVar[Mapping[str, str]] = {"official": "the authors' code"}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        idf = self.idf or state or self.frequencies(captions.references)
        assert isinstance(idf, DocumentFrequencies)
        candidates, references = captions.layer(WordLayer(self.tokenizer))
        weighted = captions.references.layer(_SingleReferences(self.tokenizer, idf))
        word_map = word_map_of(candidates, references, idf)
        # One row for each pair of a candidate and a reference.
        offsets = captions.references.offsets
        numbers = np.diff(offsets)
        of_pair = np.repeat(np.arange(len(captions)), numbers)
        ids, bounds = _repeated(candidates, of_pair)
        similarity = weighted.score(ids, bounds, np.arange(len(of_pair)), word_map, threads())
        penalty = _length_penalty(candidates.lengths[of_pair], references.lengths) ** _LENGTH
        penalty *= _repetition_penalty(candidates, references, of_pair) ** _REPETITION
        means: NDArray[np.float64] = np.bincount(of_pair, similarity * penalty, len(captions)) / numbers
        return means * self.scale

    row_scores = MeanMetric.row_scores

    def factor(self, candidate: Sequence[str], reference: Sequence[str]) -> float:
        lengths = (np.array([len(side)], np.int64) for side in (candidate, reference))
        counts = [Counter(_WORDS.findall(" ".join(side))) for side in (candidate, reference)]
        return float(_length_penalty(*lengths)[0] ** _LENGTH * _repetition(*counts) ** _REPETITION)

    @property
    def factor_parameters(self) -> Mapping[str, str | float]:
        return {"kind": "repetition", "repetition": _REPETITION, "length": _LENGTH}

    def weights(self, idf: DocumentFrequencies) -> WeightLayer:
        return WeightLayer(self.tokenizer, idf, sigma=math.inf, clip=True, relative=False, length_in_words=False)


@dataclass(frozen=True)
class _SingleReferences(KeyedByFields):
    """References weighted for CIDEr-D without a length penalty, each as if it were the only one of an image."""

    tokenizer: Tokenizer
    idf: DocumentFrequencies

    def of_references(self, references: References) -> CiderReferences:
        words: Tokens = references.layer(WordLayer(self.tokenizer))
        index = ReferenceNgrams(words.ids, words.offsets, np.arange(len(words.offsets)), threads())
        return CiderReferences(
            index,
            self.idf.counts,
            ids_in_frequencies(words, self.idf),
            math.log(self.idf.n_documents),
            sigma=math.inf,
            clip=True,
            relative=False,
            length_in_words=False,
            threads=threads(),
        )


def _repeated(tokens: Tokens, rows: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the captions of these rows, which are ascending and may repeat: ids int32[m] and offsets int64[n_rows +
    1].
    """
    lengths = tokens.lengths[rows]
    bounds = np.concatenate([[0], np.cumsum(lengths)])
    places = np.arange(bounds[-1]) + np.repeat(tokens.offsets[:-1][rows] - bounds[:-1], lengths)
    return tokens.ids[places], bounds


def _length_penalty(candidate: NDArray[np.int64], reference: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return 1 for equal lengths, and less the more they differ relative to the reference, in bigrams plus 1."""
    c, r = np.maximum(candidate, 1), np.maximum(reference, 1)
    return np.exp(-(((c - r) / r) ** 2))


def _repetition_penalty(candidates: Tokens, references: Tokens, of_pair: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the penalty of each pair of a candidate and a reference."""
    pieces = [_WORDS.findall(word) for word in candidates.vocabulary.words()]
    counts_of_candidates = _counts(candidates, pieces)
    penalties = np.empty(len(of_pair))
    for pair, (row, in_reference) in enumerate(zip(of_pair.tolist(), _counts(references, pieces), strict=True)):
        penalties[pair] = _repetition(counts_of_candidates[row], in_reference)
    return penalties


def _repetition(counts: Counter[str], in_reference: Counter[str]) -> float:
    """Return 1 if each word of the candidate is as frequent in the reference, or occurs once and only in the candidate;
    0 without words.
    """
    product = 1
    for word, count in counts.items():
        # Over integers, which is exact: the geometric mean is taken at the end.
        product *= 1 + (abs(in_reference[word] - count) if word in in_reference else count - 1)
    return math.exp(-math.log(product) / len(counts)) if counts else 0.0


def _counts(tokens: Tokens, pieces: Sequence[Sequence[str]]) -> list[Counter[str]]:
    """Return counts of words in each caption; a token may be several words."""
    ids = tokens.ids.tolist()
    bounds = tokens.offsets.tolist()
    return [Counter(word for token in ids[a:b] for word in pieces[token]) for a, b in pairwise(bounds)]
