"""METEOR 1.5: precision and recall of words aligned by equality, stem, synonym and paraphrase, with a fragmentation
penalty.

Denkowski and Lavie 2014; Banerjee and Lavie 2005; Chen et al. 2015 (COCO), equations 11 to 15. The official variant is
meteor-1.5.jar with the options ``-l en -norm``, as run by the COCO caption toolkit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, read_captions
from captious.errors import InputError, ParameterError
from captious.metrics.contract.metric import Metric, State
from captious.metrics.contract.parameters import NumberParameter, Parameter, TokenizerParameter, exact
from captious.metrics.shared.arithmetic import first_best
from captious.native import meteor_alignment, meteor_counts, threads
from captious.resources import meteor_tables as resource
from captious.text import as_tokenizer
from captious.text.languages import ENGLISH, Language, as_language
from captious.text.meteor_words import MeteorLayer

#: In METEOR's order, with its weights for English.
_MODULES = {"exact": 1.0, "stem": 0.6, "synonym": 0.8, "paraphrase": 0.6}


@dataclass(frozen=True)
class _Tuned:
    """METEOR 1.5's settings of a language.

    Args:
        alpha, beta, gamma, delta: its parameters.
        stem: the weight of stems; None for a language without a stemmer.
    """

    alpha: float
    beta: float
    gamma: float
    delta: float
    stem: float | None

    @property
    def modules(self) -> dict[str, float]:
        """Modules that need no tables of synonyms and paraphrases."""
        return {"exact": 1.0} if self.stem is None else {"exact": 1.0, "stem": self.stem}


_ENGLISH = _Tuned(0.85, 0.2, 0.6, 0.75, 0.6)
#: By code: tuned to rank systems, as for English.
_TUNED = {
    "cs": _Tuned(0.95, 0.2, 0.6, 0.8, None),
    "de": _Tuned(0.95, 1.0, 0.55, 0.55, 0.8),
    "es": _Tuned(0.65, 1.3, 0.5, 0.8, 0.8),
    "fr": _Tuned(0.9, 1.4, 0.6, 0.65, 0.2),
}
#: Of languages for which METEOR has a stemmer but was not tuned, Russian among them, and of all others.
_STEMMED, _OTHER = _Tuned(0.75, 1.4, 0.7, 0.5, 0.5), _Tuned(0.75, 1.4, 0.7, 0.5, None)
_STEMMED_LANGUAGES = frozenset(("da", "fi", "hu", "it", "nl", "no", "pt", "ro", "ru", "sv", "tr"))


def _tuned(language: Language) -> _Tuned:
    if language == ENGLISH:
        return _ENGLISH
    return _TUNED.get(language.code, _STEMMED if language.code in _STEMMED_LANGUAGES else _OTHER)


class LanguageParameter(Parameter[Language | str | None, Language]):
    """A language by its code; None for English."""

    text_form = "the code of a language"

    def check(self, metric: Any, value: Any) -> Language:
        return ENGLISH if value is None else as_language(value)

    def shown(self, value: Language) -> str:
        return value.code


_WORDS, _FUNCTION_WORDS, _MATCHES = slice(0, 2), slice(2, 4), slice(4, 20)
_CHUNKS, _MATCHED = 20, slice(21, 23)


class _Modules(Parameter[Mapping[str, float] | Iterable[str] | None, Mapping[str, float]]):
    """The modules that match words, by name, with the weight of their matches, 0 to 1, in METEOR's order.

    Names without weights, or None for all modules, use METEOR's own weights. As in METEOR, only the first module is
    applied to identical captions, so without "exact" they score almost 0; and the search for the alignment ignores the
    weights.
    """

    def check(self, metric: Any, value: Any) -> Mapping[str, float]:
        usual = _MODULES if metric.language == ENGLISH else _tuned(metric.language).modules
        usual = usual if metric.variant == "official" else dict.fromkeys(usual, 1.0)
        names = list(usual) if value is None else [value] if isinstance(value, str) else list(value)
        if not names or (unknown := [name for name in names if name not in usual]):
            problem = f"meteor has no module {unknown[0]!r}" if names else "meteor needs at least one module"
            of_language = "" if metric.language == ENGLISH else f" for {metric.language.name}"
            raise ParameterError(problem, hint=f"its modules{of_language} are {', '.join(usual)}")
        weights = value if isinstance(value, Mapping) else {name: usual[name] for name in names}
        for name, weight in weights.items():
            _weight(name).check(metric, weight)
        return {name: float(weights[name]) for name in _MODULES if name in weights}

    def to_text(self, value: Mapping[str, float] | None) -> str:
        return "none" if value is None else self.shown(value)

    def shown(self, value: Mapping[str, float]) -> str:
        return ",".join(f"{name}={exact(weight)}" for name, weight in value.items())


def _weight(module: str) -> NumberParameter[float]:
    """Return the range of a module's weight."""
    weight: NumberParameter[float] = NumberParameter(default=1.0, least=0, most=1)
    weight.name = f"weight of {module}"
    return weight


class Meteor(Metric):
    """METEOR with the best-scoring reference; 0 to 1, higher is better.

    Statistics (k = 23), of the best reference: words of candidate and reference; function words of both; for each of
    exact, stem, synonym and paraphrase the matched content words of both and the matched function words of both;
    chunks, matched words of both. For a candidate aligned word for word in one chunk, the number of chunks is 0.
    Caption and corpus scores use the same formula, applied to one row and to the sum of rows.

    Raises:
        InputError: when scoring, a candidate and a reference with more than 16,777,216 matches of paraphrases.
        MissingExtraError: METEOR's tables are not installed.
    """

    name = "meteor"
    explanation = "alignment"
    _requirements = (resource.missing_tables,)
    summary = "words aligned by exact match, stem, synonym and paraphrase, minus a fragmentation penalty"
    variants = {
        "official": "COCO toolkit: METEOR 1.5, English, tuned to rank systems",
        "paper": "COCO paper: all words and modules have equal weight",
    }

    language: LanguageParameter = LanguageParameter(default=None, summary="language of the captions; none for English")
    tokenizer: TokenizerParameter = TokenizerParameter(
        default=None, summary="how captions become words; none for that of the language, ptb for English"
    )
    alpha: NumberParameter[Any] = NumberParameter(
        default=None, least=0, most=1, summary="weight of recall against precision; none for the language's: 0.85"
    )
    beta: NumberParameter[Any] = NumberParameter(
        default=None, least=0, summary="how fast the penalty grows with fragmentation; none for the language's: 0.2"
    )
    gamma: NumberParameter[Any] = NumberParameter(
        default=None, least=0, most=1, summary="the largest penalty; none for the language's: 0.6"
    )
    delta: NumberParameter[Any] = NumberParameter(
        default=None,
        least=0,
        most=1,
        summary="weight of content words against function words; none for the language's: 0.75, paper 0.5",
    )
    modules: _Modules = _Modules(
        default=None, summary="the modules that match words and the weights of their matches; none for the variant's"
    )

    def setup(self) -> None:
        tuned = _tuned(self.language)
        for name in ("alpha", "beta", "gamma", "delta"):
            if getattr(self, name) is None:
                setattr(self, name, getattr(tuned, name))
        if self.variant == "paper" and "delta" not in self.arguments:
            self.delta = 0.5
        if "tokenizer" not in self.arguments:
            self.tokenizer = as_tokenizer(self.language.tokenizer)
        self.tables = resource.tables().of_language(self.language.name)

    @property
    def parameters(self) -> Mapping[str, object]:
        parameters = {**super().parameters, "tables": self.tables.label}
        if self.language == ENGLISH:
            del parameters["language"]
        return parameters

    def statistics(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return self.best_references(captions)[1]

    def best_references(self, captions: Captions) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the best reference of each candidate, and the statistics of that pair.

        Returns:
            int64[n], indices into ``captions.references.texts``; float64[n, 23].
        """
        candidates, references = captions.layer(MeteorLayer(self.tokenizer, self.tables))
        offsets = captions.references.offsets
        try:
            pairs = meteor_counts(
                candidates.lexicon,  # which knows the words of both
                *(candidates.ids, candidates.offsets, references.ids, references.offsets, offsets),
                self._module_bits,
                threads(),
            )
        except OverflowError as error:
            row = error.args[0]
            image = captions.ids[int(np.searchsorted(offsets, row, side="right")) - 1]
            raise InputError(
                "meteor found more than 16,777,216 paraphrase matches between a candidate and a reference",
                where=f"image_id {image!r}, whose reference has {np.diff(references.offsets)[row]:,} words",
                hint="score captions, not documents, or leave out its module of paraphrases",
            ) from None
        counts = pairs.astype(np.float64)
        perfect = (counts[:, _MATCHED] == counts[:, _WORDS]).all(axis=1) & (counts[:, _CHUNKS] == 1)
        counts[perfect, _CHUNKS] = 0
        best = first_best(self.aggregate(counts)[:, 0], offsets)
        return best, counts[best]

    def aggregate(self, statistics: NDArray[np.float64]) -> NDArray[np.float64]:
        # Always as a table: the power of a single number may differ in the last bit from that of an array.
        precision, recall, fragmentation = self.parts(np.atleast_2d(statistics))
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            mean = 1 / ((1 - self.alpha) / precision + self.alpha / recall)
            scores = mean * (1 - self.gamma * fragmentation**self.beta)
        above = np.maximum(np.nan_to_num(scores, nan=0.0), 0.0)
        return np.asarray(above).reshape(*statistics.shape[:-1], 1)

    def parts(self, statistics: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Return precision, recall and fragmentation; NaN if the denominator is 0."""
        matches = statistics[..., _MATCHES].reshape(*statistics.shape[:-1], len(_MODULES), 2, 2)
        words = statistics[..., _WORDS] - statistics[..., _FUNCTION_WORDS]
        weighed = self.delta * words + (1 - self.delta) * statistics[..., _FUNCTION_WORDS]
        matched = np.zeros_like(weighed)
        for kind, delta in enumerate((self.delta, 1 - self.delta)):  # in this order: ties depend on the last bit
            for module, name in enumerate(_MODULES):
                matched += matches[..., module, kind, :] * self.modules.get(name, 0.0) * delta
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = matched / weighed
            fragmentation = statistics[..., _CHUNKS] / (statistics[..., _MATCHED].sum(axis=-1) / 2)
        return shares[..., 0], shares[..., 1], fragmentation

    @property
    def _module_bits(self) -> int:
        return sum(1 << bit for bit, name in enumerate(_MODULES) if name in self.modules)

    def best_alignments(self, captions: Captions, rows: Iterable[int]) -> Iterator[NDArray[np.int32]]:
        """Yield the alignments of the candidates of some images with the references of ``best_references``.

        Yields:
            int32[n_matches, 5]: start and length of a match in the candidate, start and length in the reference, and
            the index of its module in METEOR's order; in the order of the reference.
        """
        candidates, references = captions.layer(MeteorLayer(self.tokenizer, self.tables))
        best = self.best_references(captions)[0]
        for row in rows:
            candidate_ids = candidates.ids[candidates.offsets[row] : candidates.offsets[row + 1]]
            reference_ids = references.ids[references.offsets[best[row]] : references.offsets[best[row] + 1]]
            yield meteor_alignment(candidates.lexicon, candidate_ids, reference_ids, self._module_bits)

    def explain(self, candidate: str, references: Sequence[str]) -> list[Alignment]:
        """Return the alignment with each reference; the best one determines the score."""
        return [self.align(candidate, reference) for reference in references]

    def align(self, candidate: str, reference: str) -> Alignment:
        """Return the alignment of a candidate with one reference, and the resulting scores."""
        captions = read_captions({0: candidate}, {0: [reference]})
        sides = captions.layer(MeteorLayer(self.tokenizer, self.tables))
        statistics = self.statistics(captions)[0]  # raises where there is too much to align
        links = meteor_alignment(sides[0].lexicon, sides[0].ids, sides[1].ids, self._module_bits)
        words, reference_words = (tuple(map(side.vocabulary.word, side.ids.tolist())) for side in sides)
        names = tuple(_MODULES)
        matches: list[Match] = []
        for i, n, j, m, module in links.tolist():
            last = matches[-1] if matches else None
            continues = last is not None and (last.end, last.reference_end) == (i, j)
            chunk = 1 if last is None else last.chunk + (not continues)
            matches.append(Match(i, i + n, j, j + m, names[module], chunk))
        precision, recall, fragmentation = (float(np.nan_to_num(part)) for part in self.parts(statistics))
        score = float(self.aggregate(statistics)[0])
        chunks = matches[-1].chunk if matches else 0
        return Alignment(words, reference_words, tuple(matches), chunks, precision, recall, fragmentation, score)


@dataclass(frozen=True)
class Match:
    """A span of the candidate aligned with one of the reference.

    Args:
        start, end: words ``start`` to ``end - 1`` of the candidate.
        reference_start, reference_end: the same for the reference.
        module: exact, stem, synonym or paraphrase.
        chunk: number of its chunk, from 1, in the order of the reference.
    """

    start: int
    end: int
    reference_start: int
    reference_end: int
    module: str
    chunk: int


@dataclass(frozen=True)
class Alignment:
    """A candidate aligned with a reference.

    Args:
        candidate, reference: their words as normalized by METEOR.
        matches: aligned spans, in the order of the reference; no word twice.
        chunks: number of runs of matches that are adjacent and in the same order on both sides.
        precision, recall: weighted shares of matched words, 0 to 1.
        fragmentation: chunks per matched word, 0 to 1; 0 if all words are matched in one chunk.
        score: METEOR of this pair.
    """

    kind: ClassVar[str] = "alignment"

    candidate: tuple[str, ...]
    reference: tuple[str, ...]
    matches: tuple[Match, ...]
    chunks: int
    precision: float
    recall: float
    fragmentation: float
    score: float


def align(candidate: str, reference: str) -> Alignment:
    """Return the official alignment of a candidate with a reference; ``Meteor(...).align`` has other variants.

    Raises:
        CaptionTypeError, EncodingError: a value that is not a caption.
        MissingExtraError: METEOR's tables are not installed.
    """
    return Meteor().align(candidate, reference)
