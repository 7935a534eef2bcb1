"""SMURF and its parts: SPARCS for semantics, SPURTS for style and MIMA for grammar."""

from __future__ import annotations

import json
import os
import string
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import lru_cache
from math import isfinite
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, stored_key
from captious.data.matching import hold_out
from captious.errors import ParameterError, ResourceError
from captious.files import checksum, user_text, whole_file
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import MeanMetric, Metric, State
from captious.metrics.contract.parameters import NumberParameter, ResourceParameter, TokenizerParameter
from captious.metrics.shared.encoder_metric import EncoderMetric, FlowLayer, OptionalEncoder, StopWords
from captious.text.stems import porter_stem
from captious.text.stop_words import NLTK_STOP_WORDS
from captious.text.tokenizers import SMURF
from captious.text.tokens import TokenLayer, Tokens
from captious.words import DEFAULT_SEED, counted

# MIMA, the grammatical part of SMURF: one minus the information flow of attention, which is higher for good grammar.
#
# Feinglass and Yang 2021, equation 6, with the conventions of the authors' code.


class Mima(EncoderMetric):
    """One minus the information flow of a caption; 0 to 1, higher is better. The corpus score is the mean.

    References are not used. An empty caption scores 0.
    """

    name = "mima"
    summary = "grammaticality of a caption, without references, from a model's attention maps"
    variants = {"official": "the authors' code"}
    default_models = ("distilbert-base-uncased",)
    needs_references = False

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        flow = captions.own_layer(FlowLayer(self.encoder))
        return np.where(np.isnan(flow), 0.0, 1.0 - flow)


# SPARCS, the semantic part of SMURF: F1 of concepts, weighted by the share of references that have them.
#
# Feinglass and Yang 2021, equations 9 to 11, with the tokens, stop words and stems of the authors' code.


_PUNCTUATION = frozenset(string.punctuation)
_NO_CONCEPT = "."  # which no stem contains


@lru_cache(1 << 17)
def _concept(word: str) -> str:
    """Return the stem of a word; a full stop for a stop word, and for what contains punctuation."""
    return _NO_CONCEPT if word in NLTK_STOP_WORDS.words or _PUNCTUATION.intersection(word) else porter_stem(word)


@dataclass(frozen=True)
class ConceptLayer(TokenLayer):
    """The distinct concepts of references and candidates, as tokens."""

    @property
    def stored_as(self) -> str | None:
        return stored_key("concepts-2", self.tokenizer.stored_as)

    def of_references(self, references: References) -> Tokens:
        words: Tokens = references.layer(TokenLayer(self.tokenizer))
        return _distinct(words.in_one_form(_concept))

    def of_candidates(self, captions: Captions, references: Tokens) -> Tokens:
        words: Tokens = captions.layer(TokenLayer(self.tokenizer))[0]
        return _distinct(words.in_one_form(_concept, references.vocabulary))


def _distinct(tokens: Tokens) -> Tokens:
    """Return the distinct concepts of each caption."""
    size = max(1, len(tokens.vocabulary))
    keys = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths) * size + tokens.ids
    keys = np.sort(keys[tokens.ids != tokens.vocabulary.find((_NO_CONCEPT,))])  # np.unique is slow for millions
    keys = keys[np.diff(keys, prepend=-1) > 0]
    offsets = np.searchsorted(keys, np.arange(len(tokens.offsets)) * size)
    return Tokens((keys % size).astype(np.int32), offsets, tokens.vocabulary)


class Sparcs(MeanMetric):
    """F1 of the distinct concepts of a caption; 0 to 1. The corpus score is the mean.

    A concept that occurs in a share w of the references has weight w in precision and recall; a candidate's concept
    that occurs in no reference has weight 1.
    """

    name = "sparcs"
    english_only = True
    summary = "F1 of stemmed words without stop words, weighted by how many references contain them"
    variants = {"official": "the authors' code, which agrees with the paper"}

    tokenizer: TokenizerParameter = TokenizerParameter(default=SMURF)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        # With counts in place of shares of references all sums are whole numbers: captions that tie have equal scores.
        candidates, references = captions.layer(ConceptLayer(self.tokenizer))
        size, images = max(1, len(candidates.vocabulary)), np.arange(len(captions))
        n_references = np.diff(captions.references.offsets)
        image_of = np.repeat(np.repeat(images, n_references), references.lengths)
        concepts, n_having = np.unique(image_of * size + references.ids, return_counts=True)
        total = np.bincount(concepts // size, n_having, len(captions))
        image = np.repeat(images, candidates.lengths)
        pairs = image * size + candidates.ids
        place = np.minimum(np.searchsorted(concepts, pairs), len(concepts) - 1)
        is_shared = concepts[place] == pairs if len(concepts) else np.zeros(len(pairs), bool)
        shared = np.bincount(image[is_shared], n_having[place[is_shared]], len(captions))
        unmatched = np.bincount(image[~is_shared], minlength=len(captions)) * n_references
        return np.asarray(2 * shared / np.maximum(shared + unmatched + total, 1))


# SPURTS, the stylistic part of SMURF: information flow of attention without stop words, which is higher for rare
# words.
#
# Feinglass and Yang 2021, with the conventions of the authors' code.

_STOP_WORDS: dict[str, StopWords] = {"official": "masked", "paper": "removed"}


class Spurts(EncoderMetric):
    """Information flow of a caption without stop words; 0 to 1, higher is better. The corpus score is the mean.

    References are not used. An empty caption scores 0.
    """

    name = "spurts"
    summary = "style of a caption, without references, from a model's attention maps without stop words"
    variants = {
        "official": "the authors' code: stop words replaced by padding tokens",
        "paper": "stop words removed",
    }
    default_models = ("distilroberta-base",)
    needs_references = False

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        flow = captions.own_layer(FlowLayer(self.encoder, _STOP_WORDS[self.variant]))
        return np.nan_to_num(flow, nan=0.0)


# SMURF: semantics, style and grammar of a caption, each standardized by human captions, combined.
#
# Feinglass and Yang 2021, equation 12, and the authors' code, which uses the average instead of the paper's sum.

_PARTS = ("sparcs", "spurts", "mima")
_HELP = "create it again: captious fit smurf REFERENCES -o FILE"


@dataclass(frozen=True)
class SmurfConstants:
    """Means and population standard deviations of the parts over human captions.

    Args:
        sparcs, spurts, mima: mean and standard deviation of each.
        mima_model, spurts_model: names of their models in signatures; without a version, any version.
        name: name in signatures.
        source: the captions that they were computed from.

    Raises:
        ParameterError: a standard deviation that is not positive, or a number that is not finite.
    """

    sparcs: tuple[float, float]
    spurts: tuple[float, float]
    mima: tuple[float, float]
    mima_model: str
    spurts_model: str
    name: str
    source: str = ""

    def __post_init__(self) -> None:
        for part in _PARTS:
            mean, deviation = getattr(self, part)
            if not (isfinite(mean) and isfinite(deviation) and deviation > 0):
                raise ParameterError(
                    f"{part} cannot be standardized with mean {mean:g} and standard deviation {deviation:g}",
                    where=f"{self.name}: {self.source}",
                    hint="compute them from human captions of many images",
                )

    @classmethod
    def of(
        cls,
        sparcs: NDArray[np.float64],
        spurts: NDArray[np.float64],
        mima: NDArray[np.float64],
        *,
        mima_model: str,
        spurts_model: str,
        name: str,
        source: str = "",
    ) -> SmurfConstants:
        """Compute the constants from scores of human captions, float64[n] each."""
        if not len(sparcs):
            raise ParameterError(
                "there are no captions to compute constants from", where=source, hint="give one or more captions"
            )
        return cls(_moments(sparcs), _moments(spurts), _moments(mima), mima_model, spurts_model, name, source)

    @property
    def label(self) -> str:
        """The constants in signatures: the name, and a checksum of the numbers."""
        numbers = np.array([getattr(self, part) for part in _PARTS])
        return f"{self.name}@{checksum(numbers)}"

    @property
    def contents(self) -> str:
        """A short description."""
        return f"{self.label}, {self.source}"

    def standardized(
        self, sparcs: NDArray[np.float64], spurts: NDArray[np.float64], mima: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return scores in standard deviations from the mean of human captions."""
        (a, s), (b, t), (c, u) = self.sparcs, self.spurts, self.mima
        return (sparcs - a) / s, (spurts - b) / t, (mima - c) / u

    def hold_for(self, mima_model: str, spurts_model: str) -> bool:
        """Return whether the constants were computed with these models."""
        pairs = ((self.mima_model, mima_model), (self.spurts_model, spurts_model))
        return all(published in (model, model.partition("@")[0]) for published, model in pairs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write them as JSON.

        Raises:
            OutputError: the file cannot be written.
        """
        with whole_file(path) as file:
            file.write(json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SmurfConstants:
        """Read a file written by ``save``.

        Raises:
            ResourceError: no such file, or not a file of constants.
        """
        try:
            content: dict[str, Any] = json.loads(user_text(path, "constants", _HELP))
            for part in _PARTS:
                mean, deviation = content[part]
                content[part] = float(mean), float(deviation)
            return cls(**content)
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise ResourceError("not a file of SMURF constants", where=str(path), hint=_HELP) from error


def as_constants(constants: SmurfConstants | str | os.PathLike[str]) -> SmurfConstants:
    """Return constants, or read them from a file."""
    return constants if isinstance(constants, SmurfConstants) else SmurfConstants.load(constants)


def _moments(scores: NDArray[np.float64]) -> tuple[float, float]:
    return float(scores.mean()), float(scores.std())


#: The published values, from the authors' repository.
PUBLISHED = SmurfConstants(
    sparcs=(0.400853, 0.171832),
    spurts=(0.402463, 0.052658),
    mima=(0.489233, 0.035721),
    mima_model="distilbert-base-uncased",
    spurts_model="distilroberta-base",
    name="karpathy-test",
    source="one human caption per image of the Karpathy test split (5,000), with four others as its references",
)


#: SPARCS, SPURTS and MIMA, float64[n] each.
Parts: TypeAlias = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]

#: The threshold in standard deviations: a caption below it is an outlier among human captions.
THRESHOLD = -1.96


class Smurf(Combined):
    """SPARCS plus a reward for style and a penalty for unusual grammar, in standard deviations of human
    captions; any real number, higher is better. The corpus score is the mean.
    """

    name = "smurf"
    english_only = True
    fitted_resource = "constants that its parts are standardized with"
    bounds = (float("-inf"), float("inf"))
    summary = "semantics, style and grammar, each standardized with human captions"
    without_parameters = frozenset({"tokenizer"})
    part_classes = (Sparcs, Spurts, Mima)
    default_models = (*Mima.default_models, *Spurts.default_models)
    variants = {
        "official": "the authors' code: the average of the parts that count",
        "paper": "their sum",
    }

    model: OptionalEncoder = OptionalEncoder(
        default=None, summary="model of both MIMA and SPURTS; none for those of the paper"
    )
    mima_model: OptionalEncoder = OptionalEncoder(default=None, summary="model of MIMA alone")
    spurts_model: OptionalEncoder = OptionalEncoder(default=None, summary="model of SPURTS alone")
    constants: ResourceParameter[SmurfConstants | str | os.PathLike[str], SmurfConstants] = ResourceParameter(
        default=PUBLISHED,
        read=as_constants,
        summary="a file that 'captious fit smurf' wrote; valid only for its models",
    )
    threshold: NumberParameter[float] = NumberParameter(
        default=THRESHOLD,
        summary="in standard deviations: style is rewarded above it, grammar is penalized below it, and captions whose "
        "SPARCS is below it get no reward for style",
    )

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        self.sparcs = Sparcs()
        self.mima = Mima(model=self.mima_model or self.model)
        self.spurts = Spurts(model=self.spurts_model or self.model)
        return [(self.sparcs, "sparcs"), (self.spurts, "spurts"), (self.mima, "mima")]

    @property
    def parameters(self) -> Mapping[str, object]:
        return {
            "variant": self.variant,
            "tokenizer": self.sparcs.tokenizer.name,
            "mima-model": self.mima.encoder.label,
            "spurts-model": self.spurts.encoder.label,
            "constants": self.constants.label,
            "threshold": self.threshold,
        }

    def standardized(self, captions: Captions) -> Parts:
        """Return SPARCS, SPURTS and MIMA of each caption, in standard deviations from the mean of human captions."""
        return self.constants.standardized(*self.part_scores(captions).T)

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        standardized = self.constants.standardized(*scores.T)
        return fuse(*standardized, self.threshold, average=self.variant == "official")

    def fit_resource(self, references: References, *, seed: int = DEFAULT_SEED) -> SmurfConstants:
        """Return the constants of one random reference of each image, with the others as its references."""
        people, _ = hold_out(references, seed)
        images = counted(len(people), "image")
        source = f"one reference per image of {references.name}, with the others as references; {images}"
        return self.calibrate(people, Path(references.name).name.partition(".")[0], source)

    def calibrate(self, captions: Captions, name: str, source: str = "") -> SmurfConstants:
        """Return the constants of human captions that are not among their own references, with these models."""
        return SmurfConstants.of(
            *self.part_scores(captions).T,
            mima_model=self.mima.encoder.label,
            spurts_model=self.spurts.encoder.label,
            name=name,
            source=source,
        )

    def warnings(self, captions: Captions, state: State | None) -> list[str]:
        if self.constants.hold_for(self.mima.encoder.label, self.spurts.encoder.label):
            return []
        return [
            f"smurf is standardized with {self.constants.name}, which was computed with other models: "
            "run captious fit smurf to compute constants for these models."
        ]


def fuse(
    sparcs: NDArray[np.float64],
    spurts: NDArray[np.float64],
    mima: NDArray[np.float64],
    threshold: float = THRESHOLD,
    *,
    average: bool = True,
) -> NDArray[np.float64]:
    """Combine standardized parts, float64[n] each.

    Args:
        threshold: T. The reward for style is the excess of SPURTS over T, the penalty for grammar the shortfall of MIMA
            below T; a caption whose SPARCS is below T gets no reward.
        average: divide by the number of parts that count, 3, or 2 for a caption without reward.
    """
    counts = sparcs >= threshold
    reward = np.where(counts, np.maximum(spurts - threshold, 0), 0)
    total = sparcs + reward + grammar_penalty(mima, threshold)
    return np.asarray(total / np.where(counts, 3, 2) if average else total)


def grammar_penalty(mima: NDArray[np.float64], threshold: float = THRESHOLD) -> NDArray[np.float64]:
    """Return standardized MIMA minus the threshold if it is below, otherwise 0, float64[n]."""
    return np.minimum(mima - threshold, 0)
