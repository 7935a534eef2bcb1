"""The sixteen features of LCEval and the eight of NNEval, one caption at a time, from spec to lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, isfinite

import numpy as np

from tests.oracles import bleu, cider, hwcm, ngram_precision, rouge_l, unigram_recall, wmd, word_means
from tests.oracles.ngrams import Caption

Combine = Callable[[Sequence[float]], float]


@dataclass(frozen=True)
class Inputs:
    """Inputs of the features of a caption.

    Args:
        candidate, references: words.
        parses: of the candidate and of each reference: lemmas, relations, heads.
        meteor, spice: their scores, which other tests compare with the official programs'.
    """

    candidate: Caption
    references: list[Caption]
    parses: list[tuple[Sequence[str], Sequence[str], Sequence[int]]]
    meteor: float
    spice: float


@dataclass(frozen=True)
class Known:
    """Data for all captions: word vectors, those at unit length, stop words, document frequencies."""

    vectors: word_means.Vectors
    unit: word_means.Vectors
    stop_words: frozenset[str]
    frequencies: cider.Frequencies


def similarity(inputs: Inputs, known: Known) -> float:
    """WMD as a similarity: words without stop words, unit vectors, the nearest reference."""

    def kept(words: Caption) -> list[str]:
        return [word for word in " ".join(words).lower().split() if word not in known.stop_words]

    nearest = min(wmd.distance(kept(inputs.candidate), kept(each), known.unit) for each in inputs.references)
    return exp(-nearest) if isfinite(nearest) else 0.0


def nneval(inputs: Inputs, known: Known) -> list[float]:
    """METEOR, WMD, BLEU-1 to 4, SPICE, a tenth of CIDEr-D."""
    scores = bleu.scores(bleu.statistics(inputs.candidate, inputs.references))
    cider_d = cider.cider_d(inputs.candidate, inputs.references, known.frequencies)
    return [inputs.meteor, similarity(inputs, known), *scores, inputs.spice, cider_d / 10]


def lceval(inputs: Inputs, known: Known, combine: Combine | None = None) -> list[float]:
    """LCEval's; ``combine`` puts the values of the references together, where it is not the best one."""
    candidate, references = inputs.candidate, inputs.references
    chosen: Combine = max if combine is None else combine
    if combine is None:
        precisions = ngram_precision.scores(candidate, references)
    else:
        each = [ngram_precision.scores(candidate, [reference]) for reference in references]
        precisions = [combine(column) for column in zip(*each, strict=True)]
    recall = chosen([unigram_recall.score(candidate, [reference]) for reference in references])
    tokenized = [" ".join(reference) for reference in references]
    mowe = chosen(word_means.mowe(" ".join(candidate), tokenized, known.stop_words, known.vectors))
    return [
        *(*precisions, recall, rouge_l.score(candidate, references), inputs.meteor, similarity(inputs, known)),
        *(inputs.spice, cider.cider_d(candidate, references, known.frequencies), mowe),
        *(_chains(inputs, 0, chosen)[1:4]),
        *(_chains(inputs, 1, chosen)[1:3]),
    ]


def _chains(inputs: Inputs, kind: int, combine: Combine) -> list[float]:
    """HWCM of lemmas (0) or relations (1), for lengths up to 1, 2, 3 and 4."""
    ours, *theirs = [(relations if kind else lemmas, heads) for lemmas, relations, heads in inputs.parses]
    each = [hwcm.official(ours, [other]) for other in theirs]
    return [combine(column) for column in zip(*each, strict=True)]


def network(weights: Sequence[np.ndarray], biases: Sequence[np.ndarray], features: Sequence[float]) -> list[float]:
    """Return probabilities of a dense network with ReLU and softmax, number by number."""
    values = list(features)
    for layer, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
        if layer:
            values = [max(value, 0.0) for value in values]
        columns = range(len(bias))
        values = [sum(v * float(weight[i][j]) for i, v in enumerate(values)) + float(bias[j]) for j in columns]
    powers = [exp(value - max(values)) for value in values]
    return [power / sum(powers) for power in powers]
