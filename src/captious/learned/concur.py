"""The metric ``concur``, with the explanations of its scores."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, read_captions
from captious.errors import ParameterError, ResourceError
from captious.learned.caption_features import (
    FULL_FEATURES,
    EncodedCaptions,
    EncodedLayer,
    EncodedReferences,
    EncoderHead,
    HeadedLayer,
    Lexicon,
    Side,
    agreement,
    junctions,
    near_copies,
    sides,
    similarities,
    slips,
    supports,
    unit_vectors,
    words_instead,
)
from captious.learned.caption_weights import FEATURES, LANGUAGES, CaptionWeights
from captious.metrics.cider import CiderD
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.parameters import ChoiceParameter, ResourceParameter
from captious.metrics.smurf import Sparcs
from captious.models import Encoder
from captious.models.encoders import as_encoder
from captious.text import Tokens, WordLayer
from captious.text.languages import ENGLISH, Language, as_language
from captious.text.stems import word_forms
from captious.text.tokenizers import SMURF, as_tokenizer

# Explanations of scores of the metric ``concur``: which words agree, which do not, and which are missing.

_SUPPORTED = 0.5  # cosine of words that mean about the same
_MISSING = 10  # words that an explanation lists


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
        centroid: cosine with the sum of all references.
        cosines: cosine with each reference.
        words: words of the candidate, in order.
        unsound: the junctions that are more likely unsound than sound, as pairs of words; "" is an end.
        precision, recall: see ``caption_features.agreement``.
        missing: words of the references that no word of the candidate supports, with their cost in recall, the highest
            first.
        features: features of the score.
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


@dataclass(frozen=True, eq=False)
class Parts:
    """Components of scores.

    Args:
        coefficients: of the k features, by name.
        features: of captions, float64[n, k].
        scores: float64[n].
    """

    coefficients: Mapping[str, float]
    features: NDArray[np.float64]
    scores: NDArray[np.float64]


def explanations(
    candidates: EncodedCaptions, references: EncodedReferences, weights: CaptionWeights, parts: Parts, surface: Tokens
) -> Iterator[Agreement]:
    """Return the explanation of each candidate, in order.

    Args:
        candidates, references: captions in normal forms of words.
        weights: weights of the metric.
        parts: components of the scores.
        surface: the candidates as written.
    """
    lexicon = candidates.words.lexicon(weights)
    vocabulary, names = candidates.tokens.vocabulary.words(), surface.vocabulary.words()
    logits, bounds = junctions(candidates, weights)
    for row, (start, end) in enumerate(zip(references.offsets[:-1], references.offsets[1:], strict=True)):
        candidate = candidates.take(np.array([row]))
        reference_captions = references.captions.take(np.arange(start, end))
        references_of_one = EncodedReferences(reference_captions, np.array([0, end - start]))
        left, right = sides(candidate, references_of_one)
        values = dict(zip(parts.coefficients, parts.features[row].tolist(), strict=True))
        words = [names[i] for i in surface.ids[slice(*surface.offsets[row : row + 2])].tolist()]
        ends = ["", *words, ""]
        unsound = np.flatnonzero(logits[bounds[row] : bounds[row + 1]] < 0).tolist()
        yield Agreement(
            score=float(parts.scores[row]),
            centroid=values["centroid"],
            cosines=tuple((reference_captions.vectors @ candidate.vectors[0]).tolist()),
            words=_words(candidate, references_of_one.centroids[0], right, lexicon, vocabulary, words),
            unsound=tuple((ends[i], ends[i + 1]) for i in unsound),
            precision=values["precision"],
            recall=values["recall"],
            missing=tuple((vocabulary[word], loss) for word, loss in _missing(left, right, lexicon)),
            features=tuple(Feature(name, value, value * parts.coefficients[name]) for name, value in values.items()),
        )


def _missing(left: Side, right: Side, lexicon: Lexicon) -> list[tuple[int, float]]:
    """Return words of the references without support, and the recall that each costs."""
    words, counts = right.distinct(len(lexicon))
    support, _ = supports(words, left.distinct(len(lexicon))[0], lexicon)
    losses = counts * lexicon.importance[words] * (1 - support)
    losses /= max(float((counts * lexicon.importance[words]).sum()), 1e-9)
    missing = [i for i in np.argsort(-losses, kind="stable").tolist() if support[i] < _SUPPORTED]
    return [(int(words[i]), float(losses[i])) for i in missing[:_MISSING]]


def _words(
    candidate: EncodedCaptions,
    centroid: NDArray[np.float64],
    right: Side,
    lexicon: Lexicon,
    vocabulary: Sequence[str],
    surface_words: Sequence[str],
) -> tuple[WordAgreement, ...]:
    left = Side(candidate.tokens.ids, candidate.tokens.offsets, np.arange(1))
    rows = candidate.words.vectors[left.ids]
    shares = rows @ centroid / max(float(np.linalg.norm(rows.sum(axis=0))), 1e-9)
    counterparts = words_instead(near_copies(left, right, lexicon), len(rows))
    distinct = np.unique(right.ids)
    cosines = unit_vectors(rows) @ unit_vectors(candidate.words.vectors[distinct]).T
    cosines[left.ids[:, None] == distinct] = 1
    words = []
    parts = zip(surface_words, left.ids.tolist(), shares.tolist(), cosines, counterparts.tolist(), strict=True)
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
# cosines with the references, n-grams, the support of single words, contradictions, and the soundness of the caption's
# junctions. The variant ``full`` adds cosines of vectors that a trained head computes from the hidden states of a
# contextual encoder.


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
        "full": "the same with a contextual encoder and a trained head",
    }

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
                "concur@light does not use a model", hint="use concur@full, or remove the model: model=none"
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

        See ``captious.learned.caption_weights.FEATURES``; for the variant ``full``,
        ``captious.learned.caption_features.FULL_FEATURES``.
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
        features = self.features(captions)
        parts = Parts(self.coefficients, features, self.of_features(features))
        surface: Tokens = captions.layer(WordLayer(self.tokenizer))[0]
        return explanations(*captions.layer(self.layer), self.weights, parts, surface)
