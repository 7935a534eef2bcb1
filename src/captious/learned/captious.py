"""captious: how well a caption agrees with the references, as people see it; trained, from text alone.

A caption is the weighted sum of vectors of its words. The vectors were trained so that captions of one COCO image find
each other among those of other images, and on human ratings of captions (training/captious). Cosines with the
references, SPARCS and the soundness of the caption's junctions make the score.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, load
from captious.learned.caption_features import EncodedLayer, junctions, similarities, slips
from captious.learned.caption_weights import CaptionWeights
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.sparcs import Sparcs
from captious.text import Tokenizer, WordLayer

__all__ = ["Agreement", "Captious", "WordAgreement"]


@dataclass(frozen=True)
class WordAgreement:
    """What a word of the candidate adds to its cosine with the references.

    Args:
        word: the word.
        share: what it adds; the shares of all words sum to the cosine. Less than 0 for a word that disagrees.
        closest: the word of the references with the closest vector, and their cosine; None for an unknown word.
        similarity: the cosine of the two; 0 for an unknown word.
    """

    word: str
    share: float
    closest: str | None
    similarity: float


@dataclass(frozen=True)
class Agreement:
    """Why a caption got its score.

    Args:
        score: the score.
        centroid: cosine with the sum of all references.
        cosines: with each reference.
        sparcs: its SPARCS.
        slips: see ``caption_features.slips``.
        words: those of the candidate, in order.
        unsound: the junctions that are more likely unsound than sound, as pairs of words; "" is an end.
    """

    score: float
    centroid: float
    cosines: tuple[float, ...]
    sparcs: float
    slips: float
    words: tuple[WordAgreement, ...]
    unsound: tuple[tuple[str, str], ...]


class Captious(MeanMetric):
    """Agreement with the references as people would rate it, 0 to 1, higher is better. The corpus score is the mean.

    Args:
        weights: weights, or a file that training/captious/train.py wrote; None for those of the package.
        variant: one of ``variants``.
        tokenizer: see ``captious.text.as_tokenizer``; the weights of the package were trained with "ptb".

    Raises:
        ResourceError: weights that cannot be used.
    """

    name = "captious"
    summary = "trained agreement with the references, from text alone"
    variants: ClassVar[Mapping[str, str]] = {"light": "vectors of words, trained on captions and their ratings"}

    def __init__(
        self,
        weights: CaptionWeights | str | os.PathLike[str] | None = None,
        *,
        variant: str | None = None,
        tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
    ) -> None:
        super().__init__(variant=variant, tokenizer=tokenizer)
        self.weights = weights if isinstance(weights, CaptionWeights) else CaptionWeights.load(weights)
        self._sparcs = Sparcs()

    @property
    def parameters(self) -> Mapping[str, object]:
        return {**super().parameters, "weights": self.weights.name}

    @property
    def layer(self) -> EncodedLayer:
        """The vectors of captions."""
        return EncodedLayer(self.weights, self.tokenizer)

    def features(self, captions: Captions) -> NDArray[np.float64]:
        """What scores are computed from, float64[n, 4]; see ``captious.learned.caption_weights.FEATURES``."""
        candidates, references = captions.layer(self.layer)
        centroid, closest = similarities(candidates, references)
        return np.stack([centroid, closest, self._sparcs.scores(captions), slips(candidates, self.weights)], axis=1)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        weighted = self.features(captions) * self.weights.coefficients
        return np.asarray(1 / (1 + np.exp(-(self.weights.bias + weighted.sum(axis=1)))))

    def explain(self, candidate: str, references: Sequence[str]) -> Agreement:
        """Which words of a candidate agree with the references, and what in it is unsound."""
        captions = load({0: candidate}, {0: list(references)})
        candidates, encoded = captions.layer(self.layer)
        words = captions.layer(WordLayer(self.tokenizer))[0]
        vocabulary = words.vocabulary.words()
        vectors = self.weights.vectors
        known = candidates.numbers >= 0
        rows = vectors[candidates.numbers]
        length = float(np.linalg.norm(rows[known].sum(axis=0))) if known.any() else 1.0
        shares = np.where(known, rows @ encoded.centroids[0] / length, 0)
        theirs = np.unique(encoded.captions.numbers[encoded.captions.numbers >= 0])
        found = []
        for i, row, share in zip(words.ids.tolist(), rows, shares.tolist(), strict=True):
            number = self.weights.numbers.get(vocabulary[i])
            if number is None or not len(theirs):
                found.append(WordAgreement(vocabulary[i], share, None, 0.0))
                continue
            cosines = vectors[theirs] @ row / np.linalg.norm(vectors[theirs], axis=1) / np.linalg.norm(row)
            best = int(cosines.argmax())
            found.append(WordAgreement(vocabulary[i], share, self.weights.words[theirs[best]], float(cosines[best])))
        features = self.features(captions)[0].tolist()
        logits = junctions(candidates, self.weights)[0]
        ends = ["", *(vocabulary[i] for i in words.ids.tolist()), ""]
        return Agreement(
            score=float(self.scores(captions)[0]),
            centroid=features[0],
            cosines=tuple((encoded.captions.vectors @ candidates.vectors[0]).tolist()),
            sparcs=features[2],
            slips=features[3],
            words=tuple(found),
            unsound=tuple((ends[i], ends[i + 1]) for i in np.flatnonzero(logits < 0).tolist()),
        )
