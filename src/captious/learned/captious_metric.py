"""captious: agreement of a caption with its references as people perceive it, trained, from text alone.

A caption is the weighted sum of its word vectors. These were trained so that captions of one image retrieve each other
among captions of other images, and on human ratings of captions (training/captious). The score is computed from cosines
with the references, n-grams, the support of single words, contradictions, and the soundness of the caption's junctions.
The variant ``full`` adds cosines of vectors that a trained head computes from the hidden states of a contextual
encoder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, read_captions
from captious.errors import ParameterError, ResourceError
from captious.learned.caption_agreement.caption_explanation import Agreement, Parts, explanations
from captious.learned.caption_agreement.caption_features import EncodedLayer, agreement, similarities, slips
from captious.learned.caption_agreement.caption_weights import FEATURES, LANGUAGES, CaptionWeights
from captious.learned.caption_agreement.encoder_heads import FULL_FEATURES, EncoderHead, HeadedLayer
from captious.metrics.cider_d import CiderD
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ChoiceParameter, ResourceParameter
from captious.metrics.sparcs import Sparcs
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.text import Tokens, WordLayer
from captious.text.languages import ENGLISH, Language, as_language
from captious.text.tokenizers import SMURF, as_tokenizer
from captious.text.word_forms import word_forms


class _WeightsLanguage(ChoiceParameter):
    """The language of weights of the package.

    A ``Language`` object is that of the captions, which settings pass to all metrics: captions in a language without
    weights are scored with the English weights, with a warning that the metric is made for English.
    """

    def check(self, metric: Any, value: Any) -> str:
        if not isinstance(value, Language):
            return super().check(metric, value)
        is_known = value.code in LANGUAGES and metric.variant == "light" and metric.weights is None
        return value.code if is_known else ENGLISH.code


class Captious(MeanMetric):
    """Agreement with the references on a scale trained on human ratings, 0 to 1, higher is better. The corpus score is
    the mean.

    ``captious-precision`` is the support of the caption's words by the references, ``captious-recall`` that of the
    references' words by the caption. Both are equal for the variants ``light`` and ``full``.

    Raises:
        ParameterError: a model for the variant "light"; when captions are scored, an encoder that the weights were not
            trained for.
        ResourceError: unusable weights.
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
                help="give only one of language, weights and model",
            )
        if "tokenizer" not in self.arguments:
            self.tokenizer = as_tokenizer(as_language(self.weights.language).tokenizer)
        form = word_forms(self.weights.language)
        self._words = replace(self.tokenizer, form=form)
        self._sparcs = Sparcs(tokenizer=replace(SMURF, form=form))
        self.ngrams = CiderD(idf=self.weights.frequencies(self.tokenizer.name), tokenizer=self._words)

    @property
    def english_only(self) -> bool:  # type: ignore[override]
        return self.language == ENGLISH.code

    @property
    def parameters(self) -> Mapping[str, object]:
        values = {"variant": self.variant, "tokenizer": self.tokenizer.name}
        if self.head is None or self.encoder is None:
            return {**values, "weights": self.weights.name}
        return {**values, "weights": self.head.name, "model": self.encoder.label}

    def signatures(self, state: State | None = None) -> tuple[str, ...]:
        """Return the signatures of the variant; precision and recall are equal for both variants, and have that of
        ``light``.
        """
        signatures = super().signatures(state)
        return (
            signatures
            if self.head is None
            else (signatures[0], *type(self)(variant="light", tokenizer=self.tokenizer).signatures()[1:])
        )

    @property
    def coefficients(self) -> dict[str, float]:
        """Coefficient of each feature in the logit of the score, in the order of ``features``."""
        fitted, names = (self.weights, FEATURES) if self.head is None else (self.head, FULL_FEATURES)
        return dict(zip(names, fitted.coefficients.tolist(), strict=True))

    @property
    def layer(self) -> EncodedLayer:
        """The layer of caption vectors of the variant ``light``."""
        return EncodedLayer(self.weights, self._words)

    def features(self, captions: Captions) -> NDArray[np.float64]:
        """Return the features that scores are computed from, float64[n, k].

        See ``captious.learned.caption_agreement.caption_weights.FEATURES``; for the variant ``full``,
        ``captious.learned.caption_agreement.encoder_heads.FULL_FEATURES``.
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
        left, right = captions.layer(HeadedLayer(self.head, self.encoder, self._words))
        offsets = captions.references.offsets
        headed = similarities(left.vectors[left.rows], right.vectors[right.rows], offsets, right.centroids)
        return np.hstack([headed, light])

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        features = self.features(captions)
        return np.column_stack([self.of_features(features), features[:, -2:]])

    def of_features(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores from features, float64[n, k] to float64[n]."""
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
        """Explain which words of a candidate agree with the references, which are missing, and which junctions are
        unsound.

        Words are compared by the vectors of ``light``, even for ``full``, which has more ``features``.
        """
        (agreement,) = self.explanations(read_captions({0: candidate}, {0: list(references)}))
        return agreement

    def explanations(self, captions: Captions) -> Iterator[Agreement]:
        """Return the explanations of all candidates, in order."""
        features = self.features(captions)
        parts = Parts(self.coefficients, features, self.of_features(features))
        surface: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        return explanations(*captions.layer(self.layer), self.weights, parts, surface)
