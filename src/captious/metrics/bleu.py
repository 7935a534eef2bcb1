"""BLEU-1 to BLEU-4, and n-gram precision and unigram recall, which are features of LCEval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, Metric, State
from captious.metrics.shared.arithmetic import CombineParameter, combine_references
from captious.metrics.shared.word_explanations import MatchedNgram, NgramMatches, OrderMatches, ngrams, token_lists
from captious.native import bleu_statistics, ngram_matches, threads
from captious.text import NgramLayer, WordLayer

_TINY, _SMALL = 1e-15, 1e-9  # added by the official scorer to every numerator and every denominator


# BLEU-1 to BLEU-4: modified n-gram precision with a brevity penalty.
#
# Papineni et al. 2002; Chen et al. 2015 (COCO), equations 1 to 3. The official variant is the scorer of the COCO
# caption toolkit, including the small constants it adds to every count.


class Bleu(Metric):
    """BLEU of order 1 to 4, each 0 to 1, higher is better.

    Statistics (k = 10): clipped matches of order 1..4, candidate n-grams of order 1..4, candidate length, length of the
    reference closest in length (the shorter of two equally close ones). Sentence and corpus scores use the same
    formula, applied to one row and to the sum of rows.
    """

    name = "bleu"
    explanation = NgramMatches.kind
    outputs = ("bleu-1", "bleu-2", "bleu-3", "bleu-4")
    summary = "clipped n-gram precision with a brevity penalty"
    variants = {
        "official": "COCO toolkit: 1e-15 added to numerators, 1e-9 to denominators",
        "paper": "nothing added; zero if an order has no match",
    }

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(NgramLayer(self.tokenizer))
        return bleu_statistics(references, candidates.ids, candidates.offsets, threads())

    def explain(self, candidate: str, references: Sequence[str]) -> NgramMatches:
        """Return the n-grams of a candidate with their matches, the precisions, and the brevity penalty."""
        words, reference_tokens, captions = token_lists(candidate, references, self.tokenizer, split=True)
        (row,) = self.statistics(captions)
        length, closest = row[8:]
        precisions, penalty = self._parts(row)
        orders: list[OrderMatches] = []
        for precision, counts, *reference_counts in zip(
            precisions.tolist(), ngrams(words), *map(ngrams, reference_tokens), strict=True
        ):
            most = {ngram: max(side[ngram] for side in reference_counts) for ngram in counts}
            matches = [MatchedNgram(ngram, n, min(n, most[ngram])) for ngram, n in counts.items()]
            matches.sort(key=lambda ngram: not ngram.matched)
            matched = sum(ngram.matched for ngram in matches)
            orders.append(OrderMatches(precision, matched, counts.total(), tuple(matches)))
        return NgramMatches(
            candidate=tuple(words),
            scores=dict(zip(self.outputs, self.aggregate(row).tolist(), strict=True)),
            orders=tuple(orders),
            brevity_penalty=float(penalty[0]),
            length=int(length),
            closest_length=int(closest),
        )

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        precisions, penalty = self._parts(statistics)
        return np.asarray(np.cumprod(precisions, axis=-1) ** (1 / np.arange(1, 5)) * penalty)

    @property
    def added(self) -> tuple[float, float]:
        """Constants added to numerators and to denominators."""
        return (_TINY, _SMALL) if self.variant == "official" else (0.0, 0.0)

    def _parts(self, statistics: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the precisions, float64[..., 4], and the brevity penalty, float64[..., 1]."""
        matches, ngrams = statistics[..., 0:4], statistics[..., 4:8]
        length, reference_length = statistics[..., 8:9], statistics[..., 9:10]
        tiny, small = self.added
        with np.errstate(all="ignore"):
            if self.variant == "official":
                precisions = (matches + tiny) / (ngrams + small)
                ratio = (length + tiny) / (reference_length + small)
            else:
                precisions = np.where(ngrams > 0, matches / ngrams, 0.0)
                # Two empty texts are equally long; an empty candidate is infinitely shorter than a reference.
                ratio = np.where(length == reference_length, 1.0, length / reference_length)
            penalty = np.where(ratio < 1, np.exp(1 - 1 / ratio), 1.0)
        return np.asarray(precisions), penalty


# N-gram precision of order 1 to 4, as in BLEU, by caption and without the brevity penalty.
#
# A feature of LCEval (Sharif et al. 2019): the proportion of a candidate's n-grams that match a reference.


class NgramPrecision(MeanMetric):
    """Clipped n-gram matches divided by the candidate's n-grams, each 0 to 1. The corpus score is the mean.

    With several references, "max" clips the count of an n-gram at its maximum over references, as BLEU does; "mean" and
    "min" are the mean and minimum of the precisions with each reference.
    """

    name = "ngram-precision"
    outputs = ("ngram-precision-1", "ngram-precision-2", "ngram-precision-3", "ngram-precision-4")
    summary = "share of the candidate's n-grams found in a reference"
    variants = {
        "official": "LCEval: with the constants of the COCO toolkit's BLEU",
        "paper": "the plain proportion; 0 for a candidate too short to have an n-gram",
    }

    combine: CombineParameter = CombineParameter(default="max")

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(NgramLayer(self.tokenizer))
        counts = bleu_statistics(references, candidates.ids, candidates.offsets, threads())
        matches, ngrams = counts[:, 0:4], counts[:, 4:8]
        if self.combine == "max":
            return self._precision(matches, ngrams)
        offsets = captions.references.offsets
        precisions = self._precision(
            ngram_matches(references, candidates.ids, candidates.offsets, threads()),
            np.repeat(ngrams, np.diff(offsets), axis=0),
        )
        return combine_references(self.combine, precisions, offsets)

    def _precision(self, matches: NDArray[np.number], ngrams: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.variant == "official":
            return np.asarray((matches + _TINY) / (ngrams + _SMALL))
        return np.asarray(matches / np.maximum(ngrams, 1))


# Unigram recall: the share of a reference's words in the candidate, for the best reference.
#
# A feature of LCEval (Sharif et al. 2019), whose code for it was never released.


class UnigramRecall(MeanMetric):
    """Clipped matching words divided by the words of the reference, best reference; 0 to 1.

    The corpus score is the mean. 0 for a reference without words.
    """

    name = "unigram-recall"
    summary = "share of a reference's words found in the candidate, best reference"
    variants = {"paper": "LCEval"}

    combine: CombineParameter = CombineParameter(default="max")

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, index = captions.layer(NgramLayer(self.tokenizer))
        lengths = captions.references.layer(WordLayer(self.tokenizer)).lengths
        matches = ngram_matches(index, candidates.ids, candidates.offsets, threads())[:, 0]
        return combine_references(self.combine, matches / np.maximum(lengths, 1), captions.references.offsets)
