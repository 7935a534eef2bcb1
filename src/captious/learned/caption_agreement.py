"""captious: how well a caption agrees with the references, as people see it; trained, from text alone.

A caption is the weighted sum of vectors of its words. The vectors were trained so that captions of one COCO image find
each other among those of other images, and on human ratings of captions (training/captious). Cosines with the
references, SPARCS and the soundness of the caption's junctions make the score. The variant ``full`` adds cosines of
vectors that a trained head makes of the hidden states of a contextual encoder.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, read_captions
from captious.errors import ParameterError, ResourceError
from captious.learned.caption_features import EncodedLayer, junctions, similarities, slips
from captious.learned.caption_weights import CaptionWeights
from captious.learned.encoder_heads import EncoderHead, HeadedLayer
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ResourceParameter
from captious.metrics.sparcs import Sparcs
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.text import WordLayer

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

    kind: ClassVar[str] = "words"

    score: float
    centroid: float
    cosines: tuple[float, ...]
    sparcs: float
    slips: float
    words: tuple[WordAgreement, ...]
    unsound: tuple[tuple[str, str], ...]


class Captious(MeanMetric):
    """Agreement with the references as people would rate it, 0 to 1, higher is better. The corpus score is the mean.

    Raises:
        ParameterError: a model for the variant "light"; when captions are scored, an encoder that the weights were not
            trained for.
        ResourceError: weights that cannot be used.
    """

    name = "captious"
    english_only = True
    explanation = Agreement.kind
    summary = "trained agreement with the references, from text alone"
    variants: ClassVar[Mapping[str, str]] = {
        "light": "vectors of words, trained on captions and their ratings",
        "full": "the same with a contextual encoder and a trained head",
    }

    weights: ResourceParameter[CaptionWeights | EncoderHead | str | os.PathLike[str] | None, Any] = ResourceParameter(
        default=None, summary="a file of training/captious (train_head.py for full); none for those of the package"
    )
    model: ResourceParameter[Encoder | str | None, Encoder | str | None] = ResourceParameter(
        default=None, summary="for full: contextual encoder; none for the one that the weights name", signature_key=""
    )

    def setup(self) -> None:
        weights, model = self.weights, self.model
        if "variant" not in self.arguments and (model is not None or isinstance(weights, EncoderHead)):
            self.variant = "full"
        self.head: EncoderHead | None = None
        self.encoder: Encoder | None = None
        self._checked = False
        if self.variant == "full":
            self._set_head(weights, model)
        elif model is not None or isinstance(weights, EncoderHead):
            raise ParameterError(
                "captious@light does not use a model", help="use captious@full, or remove the model: model=none"
            )
        elif not isinstance(weights, CaptionWeights):
            self.weights = CaptionWeights.load(weights)
        self._sparcs = Sparcs()

    @property
    def parameters(self) -> Mapping[str, object]:
        values = {"variant": self.variant, "tokenizer": self.tokenizer.name}
        if self.head is None or self.encoder is None:
            return {**values, "weights": self.weights.name}
        return {**values, "weights": self.head.name, "model": self.encoder.label}

    @property
    def layer(self) -> EncodedLayer:
        """The vectors of captions of the variant ``light``."""
        return EncodedLayer(self.weights, self.tokenizer)

    def features(self, captions: Captions) -> NDArray[np.float64]:
        """What scores are computed from, float64[n, k].

        See ``captious.learned.caption_weights.FEATURES``; for the variant ``full``,
        ``captious.learned.encoder_heads.FULL_FEATURES``.
        """
        candidates, references = captions.layer(self.layer)
        cosines = similarities(candidates.vectors, references.captions.vectors, references.rows, references.centroids)
        light = np.column_stack([cosines, self._sparcs.scores(captions), slips(candidates, self.weights)])
        if self.head is None or self.encoder is None:
            return light
        if not self._checked:
            self.head.check(self.encoder)
            self._checked = True
        ours, theirs = captions.layer(HeadedLayer(self.head, self.encoder, self.tokenizer))
        offsets = captions.references.offsets
        headed = similarities(ours.vectors[ours.rows], theirs.vectors[theirs.rows], offsets, theirs.centroids)
        return np.hstack([headed, light])

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return self.of_features(self.features(captions))

    def of_features(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores from features, float64[n, k] to float64[n]."""
        fitted = self.weights if self.head is None else self.head
        return np.asarray(1 / (1 + np.exp(-(fitted.bias + (features * fitted.coefficients).sum(axis=1)))))

    def _set_head(
        self, weights: CaptionWeights | EncoderHead | str | os.PathLike[str] | None, model: Encoder | str | None
    ) -> None:
        if isinstance(weights, CaptionWeights):
            raise ParameterError(
                "these are weights for captious@light", help="give captious@full the weights that train_head.py wrote"
            )
        self.head = weights if isinstance(weights, EncoderHead) else EncoderHead.load(weights)
        self.encoder = as_encoder(self.head.encoder if model is None else model)
        self.weights = CaptionWeights.load()
        if self.head.light != self.weights.name:
            raise ResourceError(
                "the weights belong to another version of captious",
                where=f"{self.head.name} was fitted with {self.head.light}, not {self.weights.name}",
                help="train them again: python training/captious/train_head.py",
            )

    def explain(self, candidate: str, references: Sequence[str]) -> Agreement:
        """Which words of a candidate agree with the references, and what in it is unsound.

        Raises:
            ParameterError: the variant is not ``light``, whose caption vectors are sums of vectors of words.
        """
        if self.head is not None:
            raise ParameterError(f"captious@{self.variant} cannot be explained", help="explain captious@light instead")
        captions = read_captions({0: candidate}, {0: list(references)})
        candidates, encoded = captions.layer(self.layer)
        words = captions.layer(WordLayer(self.tokenizer))[0]
        vocabulary = words.vocabulary.words()
        vectors = self.weights.vectors
        has_vector = candidates.numbers >= 0
        rows = vectors[candidates.numbers]
        length = float(np.linalg.norm(rows[has_vector].sum(axis=0))) if has_vector.any() else 1.0
        shares = np.where(has_vector, rows @ encoded.centroids[0] / length, 0)
        theirs = np.unique(encoded.captions.numbers[encoded.captions.numbers >= 0])
        agreements = []
        for i, row, share in zip(words.ids.tolist(), rows, shares.tolist(), strict=True):
            number = self.weights.numbers.get(vocabulary[i])
            if number is None or not len(theirs):
                agreements.append(WordAgreement(vocabulary[i], share, None, 0.0))
                continue
            cosines = vectors[theirs] @ row / np.linalg.norm(vectors[theirs], axis=1) / np.linalg.norm(row)
            best = int(cosines.argmax())
            agreements.append(
                WordAgreement(vocabulary[i], share, self.weights.words[theirs[best]], float(cosines[best]))
            )
        features = self.features(captions)[0].tolist()
        logits = junctions(candidates, self.weights)[0]
        ends = ["", *(vocabulary[i] for i in words.ids.tolist()), ""]
        return Agreement(
            score=float(self.scores(captions)[0]),
            centroid=features[0],
            cosines=tuple((encoded.captions.vectors @ candidates.vectors[0]).tolist()),
            sparcs=features[2],
            slips=features[3],
            words=tuple(agreements),
            unsound=tuple((ends[i], ends[i + 1]) for i in np.flatnonzero(logits < 0).tolist()),
        )
