"""ROUGE-L, ROUGE-1 to ROUGE-4 and ROUGE-S: common subsequences, n-grams and skip-bigrams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import IntegerParameter, NumberParameter
from captious.metrics.shared.arithmetic import f_measure
from captious.metrics.shared.word_explanations import Subsequence, SubsequenceExplanation, token_lists
from captious.native import lcs_lengths, ngram_matches, skip_bigram_matches, threads
from captious.text import NgramLayer, TokenLayer, WordLayer

# ROUGE-L: longest common subsequence.
#
# Lin 2004, section 3; Chen et al. 2015 (COCO), equations 5 to 7. The official variant is the COCO caption toolkit,
# which takes the best precision and the best recall over references independently.


class RougeL(MeanMetric):
    """ROUGE-L, 0 to 1, higher is better. The corpus score is the mean.

    An empty caption counts as one empty word, which matches only another empty caption, as the official code splits at
    single spaces.
    """

    name = "rouge-l"
    explanation = SubsequenceExplanation.kind
    summary = "F-measure of the longest common subsequence"
    variants = {
        "official": "COCO toolkit and paper: best precision and best recall, each over all references",
        "lin2004": "Lin 2004: F-measure with each reference, then the best",
    }

    beta: NumberParameter[float] = NumberParameter(default=1.2, least=0, summary="weight of recall against precision")

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(TokenLayer(self.tokenizer))
        image_offsets = captions.references.offsets
        starts, counts = image_offsets[:-1], np.diff(image_offsets)
        lcs = lcs_lengths(
            candidates.ids, candidates.offsets, references.ids, references.offsets, image_offsets, threads()
        )
        lengths, reference_lengths = np.repeat(candidates.lengths, counts), references.lengths
        lcs = np.where((lengths == 0) & (reference_lengths == 0), 1, lcs)
        precision, recall = lcs / np.maximum(lengths, 1), lcs / np.maximum(reference_lengths, 1)
        if self.variant == "official":
            best = np.maximum.reduceat(precision, starts), np.maximum.reduceat(recall, starts)
            return f_measure(*best, self.beta)
        return np.asarray(np.maximum.reduceat(f_measure(precision, recall, self.beta), starts))

    def explain(self, candidate: str, references: Sequence[str]) -> SubsequenceExplanation:
        """Return the longest common subsequence with each reference, and the best precision and recall."""
        words, reference_tokens, captions = token_lists(candidate, references, self.tokenizer, split=False)
        parts = [_subsequence(words, tokens) for tokens in reference_tokens]
        score = float(self.scores(captions)[0])
        if self.variant == "official":
            precision, recall = max(part.precision for part in parts), max(part.recall for part in parts)
        else:
            best = max(parts, key=lambda part: f_measure(part.precision, part.recall, self.beta))
            precision, recall = best.precision, best.recall
        return SubsequenceExplanation(tuple(words), tuple(parts), precision, recall, score)


def _subsequence(candidate: Sequence[str], reference: Sequence[str]) -> Subsequence:
    """Return the longest common subsequence of two captions, as far to the left as possible."""
    if not candidate and not reference:
        return Subsequence((), (), 1.0, 1.0)  # two empty words
    longest = np.zeros((len(candidate) + 1, len(reference) + 1), np.int64)  # from each pair of places on
    for i in reversed(range(len(candidate))):
        for j in reversed(range(len(reference))):
            equal = candidate[i] == reference[j]
            longest[i, j] = longest[i + 1, j + 1] + 1 if equal else max(longest[i + 1, j], longest[i, j + 1])
    places, i, j = [], 0, 0
    while i < len(candidate) and j < len(reference) and longest[i, j]:
        if candidate[i] == reference[j]:
            places.append((i, j))
            i, j = i + 1, j + 1
        elif longest[i + 1, j] >= longest[i, j + 1]:
            i += 1
        else:
            j += 1
    precision, recall = len(places) / max(len(candidate), 1), len(places) / max(len(reference), 1)
    return Subsequence(tuple(reference), tuple(places), precision, recall)


# ROUGE-1 to ROUGE-4: n-gram recall over all references.
#
# Lin 2004, section 2; Chen et al. 2015 (COCO), equation 4. There is no official code for captions.


class RougeN(MeanMetric):
    """Matching n-grams over all references of the image, divided by all their n-grams; 0 to 1, higher is better.

    The score is 0 if the references have no n-gram of that order. The corpus score is the mean.
    """

    name = "rouge-n"
    outputs = ("rouge-1", "rouge-2", "rouge-3", "rouge-4")
    summary = "n-gram recall, pooled over references"
    variants = {"paper": "COCO paper, equation 4"}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, index = captions.layer(NgramLayer(self.tokenizer))
        starts = captions.references.offsets[:-1]
        matches = ngram_matches(index, candidates.ids, candidates.offsets, threads())
        words = captions.references.layer(WordLayer(self.tokenizer))
        ngrams = np.maximum(words.lengths[:, None] - np.arange(4), 0)
        n_matches, total = np.add.reduceat(matches, starts), np.add.reduceat(ngrams, starts)
        return n_matches / np.maximum(total, 1)


# ROUGE-S: skip-bigrams, ordered word pairs with words between them.
#
# Lin 2004, section 5; Chen et al. 2015 (COCO), equations 8 to 10. There is no official code for captions.


class RougeS(MeanMetric):
    """F-measure of skip-bigrams with the best precision and the best recall over references; 0 to 1."""

    name = "rouge-s"
    summary = "F-measure of skip-bigrams at most 4 apart, beta 1.2"
    variants = {"paper": "COCO paper, equations 8 to 10"}
    beta = 1.2

    gap: IntegerParameter[int | None] = IntegerParameter(
        default=4,
        least=1,
        optional=True,
        none="any",
        summary="how far apart the two words may be; none for any distance",
    )

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "beta": self.beta}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        candidates, references = captions.layer(WordLayer(self.tokenizer))
        image_offsets = captions.references.offsets
        starts, counts = image_offsets[:-1], np.diff(image_offsets)
        gap = self.gap if self.gap is not None else 2**62
        matches = skip_bigram_matches(
            candidates.ids, candidates.offsets, references.ids, references.offsets, image_offsets, gap, threads()
        )
        pairs = np.repeat(self._pairs(candidates.lengths), counts)
        precision = np.maximum.reduceat(matches / np.maximum(pairs, 1), starts)
        recall = np.maximum.reduceat(matches / np.maximum(self._pairs(references.lengths), 1), starts)
        return f_measure(precision, recall, self.beta)

    def _pairs(self, lengths: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the number of skip-bigrams of captions of these lengths."""
        reach = lengths - 1 if self.gap is None else np.minimum(self.gap, lengths - 1)
        return np.asarray(np.maximum(0, reach * lengths - reach * (reach + 1) // 2))
