"""The metric ``concur``, with the explanations of its scores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, read_captions
from captious.errors import ParameterError, ResourceError
from captious.learned.caption_features import (
    FULL_FEATURES,
    Comparison,
    EncodedCaptions,
    EncodedLayer,
    EncodedReferences,
    EncoderHead,
    HeadedLayer,
    agreement,
    features,
    junctions,
    unit_vectors,
    with_words,
)
from captious.learned.caption_weights import FEATURES, LANGUAGES, PENALTIES, STRICT, CaptionWeights
from captious.learned.plain_captions import PlainWords
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ChoiceParameter, ResourceParameter
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.text import Tokens
from captious.text.languages import ENGLISH, Language, as_language
from captious.text.stems import word_forms
from captious.text.tokenizers import as_tokenizer

# Explanations of scores of the metric ``concur``: which words agree, which do not, and which are missing.

_SUPPORTED = 0.5  # cosine of words that mean about the same
_MISSING = 10  # words that an explanation lists
_LONG = 40  # words of references on average, above which they have several sentences


@dataclass(frozen=True)
class WordAgreement:
    """The contribution of a word of the candidate to its cosine with the references.

    Args:
        word: the word, as written.
        share: its contribution; the shares of all words sum to the cosine. Negative for a word that disagrees.
        closest: the word of the references with the closest vector; None for a word without a vector whose spelling
            resembles none of theirs.
        similarity: the largest cosine with a word of the references.
        instead: the word of a reference that this word replaces, if the caption is otherwise a copy; else None.
        status: "supported" if the references have the word or a near synonym; else "unsupported".
    """

    word: str
    share: float
    closest: str | None
    similarity: float
    instead: str | None
    status: str


@dataclass(frozen=True)
class Feature:
    """The contribution of a feature to a score.

    Args:
        name: its name.
        value: its value.
        adds: its contribution to the logit of the score.
    """

    name: str
    value: float
    adds: float


@dataclass(frozen=True)
class Agreement:
    """The explanation of a caption's score.

    Args:
        score: the score.
        centroid: cosine with the sum of the closest references.
        cosines: cosine with each reference that has words.
        words: words of the candidate, in order.
        unsound: the junctions that are more likely unsound than sound, as pairs of words; "" is an end.
        precision, recall: features of the score.
        missing: words of the reference that is covered best which no word of the candidate supports, with their cost
            in recall, the highest first.
        features: features of the score, after its bias; what they add is the logit of the score.
    """

    kind: ClassVar[str] = "words"

    score: float
    centroid: float
    cosines: tuple[float, ...]
    words: tuple[WordAgreement, ...]
    unsound: tuple[tuple[str, str], ...]
    precision: float
    recall: float
    missing: tuple[tuple[str, float], ...]
    features: tuple[Feature, ...]


def _missing(compared: Comparison) -> list[tuple[int, float]]:
    """Return words of the best covered reference without support, and the recall that each costs."""
    right, importance = compared.right, compared.lexicon.importance[compared.right.ids]
    total = np.maximum(np.bincount(right.captions, importance, len(right.images)), 1e-9)
    best = np.bincount(right.captions, importance * compared.coverage, len(right.images)) / total
    tokens = np.flatnonzero((right.captions == best.argmax()) & (compared.coverage < _SUPPORTED))
    words, places = np.unique(right.ids[tokens], return_inverse=True)
    losses = np.bincount(places, (importance * (1 - compared.coverage))[tokens], len(words)) / total[best.argmax()]
    return [(int(words[i]), float(losses[i])) for i in np.argsort(-losses, kind="stable")[:_MISSING].tolist()]


def _words(
    candidate: EncodedCaptions,
    summed: NDArray[np.float64],
    compared: Comparison,
    vocabulary: Sequence[str],
    surface_words: Sequence[str],
) -> tuple[WordAgreement, ...]:
    ids, lexicon = compared.left.ids, compared.lexicon
    rows = candidate.words.vectors[ids]
    shares = rows @ summed / max(float(np.linalg.norm(rows.sum(axis=0))), 1e-9)
    counterparts = np.full(len(ids), -1)
    counterparts[~lexicon.is_article[ids]] = compared.found.instead
    distinct = np.unique(compared.right.ids)
    cosines = unit_vectors(rows) @ unit_vectors(candidate.words.vectors[distinct]).T
    cosines[ids[:, None] == distinct] = 1
    words = []
    parts = zip(surface_words, ids.tolist(), shares.tolist(), cosines, counterparts.tolist(), strict=True)
    for name, word, share, row, counterpart in parts:
        similarity = float(row.max(initial=-1)) if len(distinct) else 0.0
        is_supported = similarity >= _SUPPORTED
        is_compared = len(row) > 0 and (is_supported or bool(lexicon.is_known[word]))
        words.append(
            WordAgreement(
                name,
                share,
                vocabulary[distinct[row.argmax()]] if is_compared else None,
                similarity,
                vocabulary[counterpart] if counterpart >= 0 else None,
                "supported" if is_supported else "unsupported",
            )
        )
    return tuple(words)


# concur: agreement of a caption with its references as people perceive it, trained, from text alone.
#
# A caption is the weighted sum of its word vectors. These were trained so that captions of one image retrieve each
# other among captions of other images, and on human ratings of captions (training/concur). The score is computed from
# the cosine with the references, the support of single words, their order, contradictions, repetitions, and the
# soundness of the caption's junctions. The variant ``full`` adds the cosine of vectors that a trained head computes
# from the hidden states of a contextual encoder.


class _WeightsLanguage(ChoiceParameter):
    """The language of weights of the package.

    A ``Language`` object is that of the captions, which settings pass to all metrics: captions in a language without
    weights are scored with the English weights, with a warning that the metric is made for English.
    """

    def check(self, metric: Any, value: Any) -> str:
        if not isinstance(value, Language):
            return super().check(metric, value)
        is_known = value.code in LANGUAGES and metric.variant != "full" and metric.weights is None
        return value.code if is_known else ENGLISH.code


class Concur(MeanMetric):
    """Agreement with the references on a scale trained on human ratings, 0 to 1, higher is better. The corpus score is
    the mean.

    ``concur-precision`` is the support of the caption's words by the references, ``concur-recall`` that of the
    references' words by the caption. Both are equal for the variants ``light`` and ``full``.

    Raises:
        ParameterError: a model for the variant "light"; when captions are scored, an encoder that the weights were not
            trained for.
        ResourceError: unusable weights.
    """

    name = "concur"
    outputs = ("concur", "concur-precision", "concur-recall")
    explanation = Agreement.kind
    summary = "trained agreement with the references, from text alone"
    variants: ClassVar[Mapping[str, str]] = {
        "light": "vectors of words, trained on captions and their ratings",
        "strict": "the same, safe as a reward: texts made of the references' words score less than captions",
        "full": "the same with a contextual encoder and a trained head",
    }
    reward_variant = "strict"

    weights: ResourceParameter[CaptionWeights | EncoderHead | str | os.PathLike[str] | None, Any] = ResourceParameter(
        default=None, summary="a file of training/concur (train_head.py for full); none for those of the package"
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
                f"concur@{self.variant} does not use a model", hint="use concur@full, or remove the model: model=none"
            )
        elif not isinstance(weights, CaptionWeights):
            self.weights = CaptionWeights.load(weights, self.language)
        if self.language != "en" and (weights is not None or self.variant == "full"):
            raise ParameterError(
                f"language {self.language} chooses among the weights that the package has for concur@light",
                hint="give only one of language, weights and model",
            )
        if "tokenizer" not in self.arguments:
            self.tokenizer = as_tokenizer(as_language(self.weights.language).tokenizer)
        self._words = replace(self.tokenizer, form=word_forms(self.weights.language))

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

    def warnings(self, captions: Captions, state: State | None) -> Sequence[str]:
        return self.reference_warnings(captions.references, state)

    def reference_warnings(self, references: References, state: State | None) -> Sequence[str]:
        n_words = float(np.mean(np.diff(references.layer(PlainWords(self._words)).offsets))) if references.texts else 0
        if self.variant != "strict" or n_words <= _LONG:
            return []
        return [
            f"{self.name}@strict is made for captions of one sentence, and even right descriptions of several score "
            f"low: references have {n_words:.0f} words on average."
        ]

    @property
    def coefficients(self) -> dict[str, float]:
        """Coefficient of each feature in the logit of the score, in the order of ``features``."""
        fitted, names = (self.weights, FEATURES) if self.head is None else (self.head, FULL_FEATURES)
        strict = zip(STRICT, self.weights.strict.tolist() if self.variant == "strict" else (), strict=False)
        return dict(zip(names, fitted.coefficients.tolist(), strict=True)) | dict(strict)

    @property
    def terms(self) -> dict[str, float]:
        """Coefficients of the terms that explanations show: the bias, whose value is 1, and the features."""
        return {"bias": (self.weights if self.head is None else self.head).bias, **self.coefficients}

    @property
    def layer(self) -> EncodedLayer:
        """The layer of caption vectors of the variant ``light``."""
        return EncodedLayer(self.weights, self._words)

    def features(self, captions: Captions) -> NDArray[np.float64]:
        """Return the features that scores are computed from, float64[n, k].

        See ``captious.learned.caption_weights.FEATURES``; for the variant ``full``,
        ``captious.learned.caption_features.FULL_FEATURES``.
        """
        light = features(*captions.layer(self.layer), self.weights)
        if self.head is None or self.encoder is None:
            return light
        if not self._checked:
            self.head.check(self.encoder)
            self._checked = True
        left, right = captions.layer(HeadedLayer(self.head, self.encoder, self._words))
        rows, offsets = with_words(captions.references.layer(PlainWords(self._words)), captions.references.offsets)
        headed, _ = agreement(left.vectors[left.rows], right.vectors[right.rows[rows]], offsets)
        return np.column_stack([headed, light])

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        found = self.features(captions)
        first = len(self.coefficients) - len(FEATURES) + FEATURES.index("precision")
        return np.column_stack([self.of_features(found), found[:, first : first + 2]])

    def of_features(self, features: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return scores from features, float64[n, k] to float64[n]; 0 for captions that have nothing in common."""
        bias, *coefficients = self.terms.values()
        scores = 1 / (1 + np.exp(-(bias + (features * coefficients).sum(axis=1))))
        return np.where(features[:, : -len(PENALTIES)].any(axis=1), scores, 0)

    def _set_head(
        self, weights: CaptionWeights | EncoderHead | str | os.PathLike[str] | None, model: Encoder | str | None
    ) -> None:
        if isinstance(weights, CaptionWeights):
            raise ParameterError(
                "these are weights for concur@light", hint="give concur@full the weights that train_head.py wrote"
            )
        self.head = weights if isinstance(weights, EncoderHead) else EncoderHead.load(weights)
        self.encoder = as_encoder(self.head.encoder if model is None else model)
        self.weights = CaptionWeights.load()
        # The names of weights end with their checksum: the same weights may be in a file of another name.
        if self.head.light.rpartition("-")[2] != self.weights.name.rpartition("-")[2]:
            raise ResourceError(
                "the weights belong to another version of concur",
                where=f"{self.head.name} was fitted with {self.head.light}, not {self.weights.name}",
                hint="train them again: python training/concur/train_head.py",
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
        found, terms, weights = self.features(captions), self.terms, self.weights
        scores = self.of_features(found)
        candidates, references = captions.layer(self.layer)
        surface: Tokens = captions.layer(PlainWords(self.tokenizer))[0]
        vocabulary, names = candidates.tokens.vocabulary.words(), surface.vocabulary.words()
        logits, bounds = junctions(candidates, weights)
        for row, (start, end) in enumerate(pairwise(references.offsets.tolist())):
            candidate = candidates.take(np.array([row]))
            theirs = references.captions.take(np.arange(start, end))
            own = EncodedReferences(theirs, np.array([0, end - start])).with_words
            compared = Comparison.of(candidate, own, weights)
            candidate = compared.candidates
            (cosine,), (summed,) = agreement(candidate.vectors, own.captions.vectors, own.offsets)
            values = dict(zip(terms, [1.0, *found[row].tolist()], strict=True))
            words = [names[i] for i in surface.ids[slice(*surface.offsets[row : row + 2])].tolist()]
            ends = ["", *words, ""]
            unsound = np.flatnonzero(logits[bounds[row] : bounds[row + 1]] < 0).tolist()
            yield Agreement(
                score=float(scores[row]),
                centroid=float(cosine),
                cosines=tuple((own.captions.vectors @ candidate.vectors[0]).tolist()),
                words=_words(candidate, summed, compared, vocabulary, words),
                unsound=tuple((ends[i], ends[i + 1]) for i in unsound),
                precision=values["precision"],
                recall=values["recall"],
                missing=tuple((vocabulary[word], loss) for word, loss in _missing(compared)),
                features=tuple(Feature(name, value, value * terms[name]) for name, value in values.items()),
            )
