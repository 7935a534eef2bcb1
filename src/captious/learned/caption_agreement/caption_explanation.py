"""Explanations of scores of the metric ``captious``: which words agree, which do not, and which are missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.learned.caption_agreement.caption_alignment import Lexicon, Side, near_copies, supports, words_instead
from captious.learned.caption_agreement.caption_features import (
    EncodedCaptions,
    EncodedReferences,
    junctions,
    sides,
    unit_vectors,
)
from captious.learned.caption_agreement.caption_weights import CaptionWeights
from captious.text import Tokens

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
