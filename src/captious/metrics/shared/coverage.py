"""Coverage of the sentences of long captions and references by each other.

Precision is how well the sentences of the candidate are supported, recall how well those of the references are covered.
Metrics differ in the score of a pair of sentences: the first as a candidate, the second as its only reference.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, References, read_captions
from captious.data.tables import batches
from captious.metrics.contract.metric import MeanMetric, State
from captious.text.sentences import sentences_of

#: Scores of pairs of sentences, float64[n], 0 to 1, from the rows of both in a table, int64[n] each.
PairScores: TypeAlias = Callable[[NDArray[np.int64], NDArray[np.int64]], NDArray[np.float64]]

_PAIRS_AT_ONCE = 1 << 16
_IMAGES_AT_ONCE = 512


@dataclass(frozen=True)
class CoveredSentence:
    """A sentence, and the sentence that covers it best.

    Args:
        name: its number in the candidate, or the numbers of a reference and of the sentence in it, as "2.1".
        text: the sentence.
        best: the best score with a sentence of the other side, 0 to 1.
        by: the name of that sentence; None if none agrees.
    """

    name: str
    text: str
    best: float
    by: str | None


@dataclass(frozen=True)
class CoverageMatrix:
    """The agreement of the sentences of a candidate with those of its references.

    Args:
        score: harmonic mean of precision and recall.
        precision: mean of the best score of each sentence of the candidate.
        recall: mean over references of the mean of the best score of each of its sentences.
        candidate: sentences of the candidate.
        references: sentences of all references.
        matrix: a row for each sentence of the candidate, a column for each of the references.
    """

    kind: ClassVar[str] = "coverage"

    score: float
    precision: float
    recall: float
    candidate: tuple[CoveredSentence, ...]
    references: tuple[CoveredSentence, ...]
    matrix: tuple[tuple[float, ...], ...]


class SentenceCoverage(MeanMetric):
    """Base class of coverage metrics. Their outputs are F1, precision and recall."""

    explanation = CoverageMatrix.kind

    @abstractmethod
    def pair_scores(self, sentences: References, state: State | None) -> PairScores:
        """Return a function that scores pairs of sentences.

        Args:
            sentences: each is an image with one text.
            state: the result of ``fit`` for the references of the corpus.
        """

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        matrices = self._matrices(captions, state, range(len(captions)))
        rows = [_means(matrix, sides) for sides, matrix in matrices]
        return np.array(rows, np.float64).reshape(len(rows), 3)

    def matrices(self, captions: Captions, state: State | None, rows: Sequence[int]) -> Iterator[CoverageMatrix]:
        """Yield the sentences of the captions of some images, and how well they agree."""
        for sides, matrix in self._matrices(captions, state, rows):
            candidate_sentences, reference_sentences = sides[0], [text for side in sides[1:] for text in side]
            candidate_names = [str(i) for i in range(1, len(candidate_sentences) + 1)]
            reference_names = [f"{i}.{j}" for i, side in enumerate(sides[1:], 1) for j in range(1, len(side) + 1)]
            score, precision, recall = _means(matrix, sides)
            yield CoverageMatrix(
                score,
                precision,
                recall,
                tuple(_covered(candidate_names, candidate_sentences, matrix, reference_names)),
                tuple(_covered(reference_names, reference_sentences, matrix.T, candidate_names)),
                tuple(map(tuple, matrix.tolist())),
            )

    def explain(self, candidate: str, references: Sequence[str], state: Any = None) -> CoverageMatrix:
        """Return the agreement of each sentence of a candidate with each sentence of its references.

        Args:
            candidate, references: captions of one image.
            state: the result of ``fit`` for the references of a corpus, if the metric needs it.
        """
        return next(self.matrices(read_captions({0: candidate}, {0: [*references]}), state, [0]))

    def _matrices(
        self, captions: Captions, state: State | None, rows: Sequence[int]
    ) -> Iterator[tuple[Sequence[list[str]], NDArray[np.float64]]]:
        """Yield, for some images, the sentences of the candidate and of each reference, and the scores of all pairs."""
        if state is None and self.needs_fit:
            state = self.fit(captions.references)
        offsets, texts = captions.references.offsets.tolist(), captions.references.texts
        of_images = (
            [sentences_of(captions.candidates[row]), *map(sentences_of, texts[offsets[row] : offsets[row + 1]])]
            for row in rows
        )
        for block in batches(of_images, _cost, _PAIRS_AT_ONCE):
            flat = [sentence for sides in block for side in sides for sentence in side]
            table = References(tuple(range(len(flat))), tuple(flat), np.arange(len(flat) + 1))
            score = self.pair_scores(table, state)
            first, pairs = 0, []
            for sides in block:
                n, m = len(sides[0]), sum(map(len, sides[1:]))
                pairs.append((np.repeat(np.arange(n), m) + first, np.tile(np.arange(m), n) + first + n, n, m))
                first += n + m
            scores = score(*(np.concatenate([pair[side] for pair in pairs]) for side in (0, 1)))
            start = 0
            for sides, (_, _, n, m) in zip(block, pairs, strict=True):
                yield sides, scores[start : start + n * m].reshape(n, m)
                start += n * m


def _covered(
    names: Sequence[str], texts: Sequence[str], scores: NDArray[np.float64], opposite_names: Sequence[str]
) -> Iterator[CoveredSentence]:
    """Return sentences with their best scores, from rows of scores with those of the other side."""
    for name, text, row in zip(names, texts, scores, strict=True):
        best = float(row.max(initial=0.0))
        yield CoveredSentence(name, text, best, opposite_names[int(row.argmax())] if best > 0 else None)


def _cost(sides: Sequence[list[str]]) -> int:
    """Return the number of pairs of sentences, or more, so that few images are scored at once."""
    return max(len(sides[0]) * sum(map(len, sides[1:])), _PAIRS_AT_ONCE // _IMAGES_AT_ONCE)


def _means(matrix: NDArray[np.float64], sides: Sequence[list[str]]) -> tuple[float, float, float]:
    """Return F1, precision and recall from the scores of all pairs; 0 if one side has no sentences."""
    if not matrix.size:
        return 0.0, 0.0, 0.0
    precision = float(matrix.max(axis=1).mean())
    covered = matrix.max(axis=0)
    bounds = np.cumsum([0, *map(len, sides[1:])]).tolist()
    recall = float(np.mean([covered[start:end].mean() for start, end in pairwise(bounds) if end > start]))
    total = precision + recall
    return 2 * precision * recall / total if total else 0.0, precision, recall
