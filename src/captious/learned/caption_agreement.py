"""captious: how well a caption agrees with the references, as people see it; trained, from text alone.

A caption is the weighted sum of vectors of its words. The vectors were trained so that captions of one image find each
other among those of other images, and on human ratings of captions (training/captious). Cosines with the references,
n-grams, the support of single words, contradictions and the soundness of the caption's junctions make the score. The
variant ``full`` adds cosines of vectors that a trained head makes of the hidden states of a contextual encoder.
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
from captious.learned.caption_alignment import places, supports
from captious.learned.caption_features import (
    EncodedCaptions,
    EncodedLayer,
    EncodedReferences,
    agreement,
    junctions,
    of_length_one,
    sides,
    similarities,
    slips,
)
from captious.learned.caption_weights import FEATURES, LANGUAGES, CaptionWeights
from captious.learned.encoder_heads import FULL_FEATURES, EncoderHead, HeadedLayer
from captious.metrics.cider_d import CiderD
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ChoiceParameter, ResourceParameter
from captious.metrics.sparcs import Sparcs
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.text.languages import ENGLISH, Language

__all__ = ["Agreement", "Captious", "WordAgreement"]

_SUPPORTED = 0.5  # cosine of words that mean about the same
_MISSING = 10  # words that an explanation lists


@dataclass(frozen=True)
class WordAgreement:
    """What a word of the candidate adds to its cosine with the references.

    Args:
        word: the word.
        share: what it adds; the shares of all words sum to the cosine. Less than 0 for a word that disagrees.
        closest: the word of the references with the closest vector; None for a word that has no vector of its own and
            is like no word of theirs in its spelling.
        similarity: the largest cosine with a word of the references.
        instead: what a reference has in the place of this word, if the caption is otherwise a copy; else None.
    """

    word: str
    share: float
    closest: str | None
    similarity: float
    instead: str | None = None

    @property
    def is_supported(self) -> bool:
        """Whether the references have the word, or one that means about the same."""
        return self.similarity >= _SUPPORTED


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
        precision, recall: see ``caption_features.agreement``.
        missing: words of the references that nothing in the candidate supports, and what each costs in recall, the
            most costly first.
        parts: each feature of the score with its value and what it adds to the logit of the score.
    """

    kind: ClassVar[str] = "words"

    score: float
    centroid: float
    cosines: tuple[float, ...]
    sparcs: float
    slips: float
    words: tuple[WordAgreement, ...]
    unsound: tuple[tuple[str, str], ...]
    precision: float
    recall: float
    missing: tuple[tuple[str, float], ...]
    parts: tuple[tuple[str, float, float], ...]


class _WeightsLanguage(ChoiceParameter):
    """The language of weights of the package.

    A ``Language`` is that of the captions, which settings pass to all metrics: English weights score those without
    weights of their own, and the metric says that it is made for English.
    """

    def check(self, metric: Any, value: Any) -> str:
        if not isinstance(value, Language):
            return super().check(metric, value)
        is_known = value.code in LANGUAGES and metric.variant == "light" and metric.weights is None
        return value.code if is_known else ENGLISH.code


class Captious(MeanMetric):
    """Agreement with the references as people would rate it, 0 to 1, higher is better. The corpus score is the mean.

    ``captious-precision`` is how far the references support the words of the caption, ``captious-recall`` how far the
    caption has what they mention.

    Raises:
        ParameterError: a model for the variant "light"; when captions are scored, an encoder that the weights were not
            trained for.
        ResourceError: weights that cannot be used.
    """

    name = "captious"
    outputs = ("captious", "captious-precision", "captious-recall")
    explanation = Agreement.kind
    summary = "trained agreement with the references, from text alone"
    variants: ClassVar[Mapping[str, str]] = {
        "light": "vectors of words, trained on captions and their ratings",
        "full": "the same with a contextual encoder and a trained head",
    }

    weights: ResourceParameter[CaptionWeights | EncoderHead | str | os.PathLike[str] | None, Any] = ResourceParameter(
        default=None, summary="a file of training/captious (train_head.py for full); none for those of the package"
    )
    language: ChoiceParameter = _WeightsLanguage(
        default="en", choices=LANGUAGES, summary="of the weights of the package, for light", signature_key=""
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
            self.weights = CaptionWeights.load(weights, self.language)
        if self.language != "en" and (weights is not None or self.variant == "full"):
            raise ParameterError(
                f"language {self.language} chooses among the weights that the package has for captious@light",
                help="leave out language, weights and model, or all but one of them",
            )
        self._sparcs = Sparcs()
        self.ngrams = CiderD(idf=self.weights.frequencies(self.tokenizer.name), tokenizer=self.tokenizer)

    @property
    def english_only(self) -> bool:  # type: ignore[override]
        return self.language == ENGLISH.code

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
        cosines = similarities(
            candidates.vectors, references.captions.vectors, references.offsets, references.centroids
        )
        light = np.column_stack(
            [
                cosines,
                self._sparcs.scores(captions),
                slips(candidates, self.weights),
                self.ngrams.scores(captions),
                agreement(candidates, references, self.weights),
            ]
        )
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
        features = self.features(captions)
        return np.column_stack([self.of_features(features), features[:, -2:]])

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
        """Which words of a candidate agree with the references, what they miss, and what in it is unsound.

        Words are compared by the vectors of ``light``, also for ``full``, which adds its features to the ``parts``.
        """
        captions = read_captions({0: candidate}, {0: list(references)})
        candidates, encoded = captions.layer(self.layer)
        ours, theirs = sides(candidates, encoded)
        vocabulary, lexicon = candidates.tokens.vocabulary.words(), candidates.words.lexicon(self.weights)
        others, counts = theirs.distinct(len(lexicon))
        support, _ = supports(others, ours.distinct(len(lexicon))[0], lexicon)
        losses = counts * lexicon.importance[others] * (1 - support)
        losses /= max(float((counts * lexicon.importance[others]).sum()), 1e-9)
        missing = [i for i in np.argsort(-losses, kind="stable").tolist() if support[i] < _SUPPORTED]
        features = self.features(captions)[0]
        fitted, names = (self.weights, FEATURES) if self.head is None else (self.head, FULL_FEATURES)
        values = dict(zip(names, features.tolist(), strict=True))
        logits = junctions(candidates, self.weights)[0]
        words = [vocabulary[i] for i in ours.ids.tolist()]
        ends = ["", *words, ""]
        return Agreement(
            score=float(self.scores(captions)[0, 0]),
            centroid=values["centroid"],
            cosines=tuple((encoded.captions.vectors @ candidates.vectors[0]).tolist()),
            sparcs=values["sparcs"],
            slips=values["slips"],
            words=self._words(candidates, encoded, values["contradiction"] > 0),
            unsound=tuple((ends[i], ends[i + 1]) for i in np.flatnonzero(logits < 0).tolist()),
            precision=values["precision"],
            recall=values["recall"],
            missing=tuple((vocabulary[others[i]], float(losses[i])) for i in missing[:_MISSING]),
            parts=tuple(zip(names, features.tolist(), (features * fitted.coefficients).tolist(), strict=True)),
        )

    def _words(
        self, candidates: EncodedCaptions, references: EncodedReferences, is_contradiction: bool
    ) -> tuple[WordAgreement, ...]:
        ours, theirs = sides(candidates, references)
        vocabulary, lexicon = candidates.tokens.vocabulary.words(), candidates.words.lexicon(self.weights)
        rows = candidates.words.vectors[ours.ids]
        shares = rows @ references.centroids[0] / max(float(np.linalg.norm(rows.sum(axis=0))), 1e-9)
        other = places(ours, theirs, lexicon).other if is_contradiction else np.full(len(rows), -1)
        distinct = np.unique(theirs.ids)
        cosines = of_length_one(rows) @ of_length_one(candidates.words.vectors[distinct]).T
        cosines[ours.ids[:, None] == distinct] = 1
        return tuple(
            WordAgreement(
                vocabulary[word],
                share,
                vocabulary[distinct[row.argmax()]] if len(row) and (known or row.max() >= _SUPPORTED) else None,
                float(row.max(initial=-1)) if len(distinct) else 0.0,
                vocabulary[instead] if instead >= 0 else None,
            )
            for word, share, row, instead, known in zip(
                ours.ids.tolist(), shares.tolist(), cosines, other.tolist(), lexicon.is_known[ours.ids], strict=True
            )
        )
