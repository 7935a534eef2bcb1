"""Word mover's distance: the minimum cost of moving the words of one caption to those of the other, as a similarity.

Kusner, Sun, Kolkin and Weinberger 2015; exp(-distance) for captions by Kilickaya et al. 2017. The variants are two
implementations used in the field.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, read_captions
from captious.errors import InputError
from captious.metrics.contract.metric import State
from captious.metrics.contract.parameters import NumberParameter
from captious.metrics.shared.word_vectors import VectorMetric
from captious.models.word_vectors import FORMS, BagLayer, Bags, EmbeddedLayer
from captious.native import nearest_word_mover_distances, threads, transport_plan, word_distances, word_mover_distances
from captious.text.stop_words import NLTK_STOP_WORDS, StopWords

#: Distinct words of a caption; the cost of moving them grows with the third power of their number.
MOST_WORDS = 1_000

#: NLTK's list as it was until 2017, without words that hold an apostrophe.
_NLTK_2016 = StopWords("nltk-2016", frozenset(word for word in NLTK_STOP_WORDS.words if "'" not in word))


class Wmd(VectorMetric):
    """exp(-d / sigma), 0 to 1, higher is better, with d the word mover's distance of the nearest reference.

    The corpus score is the mean. The distance of a caption in which no word has a vector is infinite.

    Raises:
        InputError: when scoring, a caption of more than ``MOST_WORDS`` distinct words with a vector.
    """

    name = "wmd"
    explanation = "transport"
    summary = "exp(-cost) of moving the nearest reference's words to the candidate's, with word vectors"
    variants = {
        "mtanti": "COCO toolkit with WMD: unnormalized vectors",
        "lceval": "LCEval and NNEval: unit-length vectors, lower-case tokens",
    }

    sigma: NumberParameter[float] = NumberParameter(
        default=1.0, least=0.001, summary="how fast similarity falls with distance"
    )

    @property
    def default_stop_words(self) -> StopWords:
        return _NLTK_2016 if self.variant == "mtanti" else NLTK_STOP_WORDS

    @property
    def words(self) -> EmbeddedLayer:
        if self.variant == "mtanti":
            return EmbeddedLayer(self.vectors, self.tokenizer, "token", self.stop_words)
        return EmbeddedLayer(self.vectors, self.tokenizer, "lower", self.stop_words, split=True)

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        nearest = nearest_word_mover_distances(*self._arguments(captions))
        return np.asarray(np.exp(-nearest / self.sigma))

    def distances(self, captions: Captions) -> NDArray[np.float64]:
        """Return the distance of every reference from its candidate, float64[n_references]; possibly infinite."""
        return word_mover_distances(*self._arguments(captions))

    def _arguments(self, captions: Captions) -> tuple[Any, ...]:
        """Return arguments of distance kernels: vectors, bags of both sides, references of each image, threads."""
        candidates, references = captions.layer(BagLayer(self.words))
        _check_sizes(captions, candidates, references)
        bags = [array for bags in (candidates, references) for array in (bags.words, bags.counts, bags.offsets)]
        return self._rows(candidates), *bags, captions.references.offsets, threads()

    def explain(self, candidate: str, references: Sequence[str]) -> list[Transport]:
        """Return the transport plan to each reference; the nearest one determines the score."""
        return [self.transport(candidate, reference) for reference in references]

    def transport(self, candidate: str, reference: str) -> Transport:
        """Return the transport of the words of a reference to those of a candidate, and its cost."""
        captions = read_captions({0: candidate}, {0: [reference]})
        candidate_bags, reference_bags = captions.layer(BagLayer(self.words))
        words = candidate_bags.table.words
        distance = float(self.distances(captions)[0])
        moves = [
            Move(words[word], words[reference_word], share, cost, share * cost)
            for word, reference_word, share, cost in next(self.plans(captions, [0], np.zeros(1, np.int64)))
        ]
        return Transport(
            candidate=_bag(candidate_bags),
            reference=_bag(reference_bags),
            moves=tuple(moves),
            candidate_left_out=self._left_out(candidate, candidate_bags),
            reference_left_out=self._left_out(reference, reference_bags),
            distance=distance if isfinite(distance) else None,
            score=float(np.exp(-distance / self.sigma)),
        )

    def plans(
        self, captions: Captions, rows: Iterable[int], references: NDArray[np.int64]
    ) -> Iterator[list[tuple[int, int, float, float]]]:
        """Yield the transport of the words of one reference to those of the candidate, for some images.

        Args:
            captions: the table.
            rows: its images.
            references: for every image of the table, the index of a reference in ``captions.references.texts``.

        Yields:
            (word of the candidate, word of the reference, share, distance) for each move; words are numbers in the
            table of the candidates' bags. Nothing if the distance is infinite.
        """
        candidate_bags, reference_bags = captions.layer(BagLayer(self.words))
        vectors = self._rows(candidate_bags)
        is_finite = np.isfinite(self.distances(captions))[references]
        for row in rows:
            if not is_finite[row]:
                yield []
                continue
            words, counts = candidate_bags.caption(row)
            reference_words, reference_counts = reference_bags.caption(int(references[row]))
            n, m = int(counts.sum()), int(reference_counts.sum())
            costs = word_distances(vectors, words, reference_words)
            plan = transport_plan(costs, counts.astype(np.int64) * m, reference_counts.astype(np.int64) * n)
            yield [
                (int(words[i]), int(reference_words[j]), int(plan[i, j]) / (n * m), float(costs[i, j]))
                for i, j in np.argwhere(plan).tolist()
            ]

    def _left_out(self, text: str, bag: Bags) -> tuple[str, ...]:
        """Return tokens of a caption that are not in its bag."""
        in_bag = {bag.table.words[word] for word in bag.words.tolist()}
        form = FORMS[self.words.form]
        words = (word for token in self.tokenizer(text) for word in token.split())
        return tuple(word for word in words if form(word) not in in_bag)

    def _rows(self, bags: Bags) -> NDArray[np.float32]:
        """Return vectors of the words as in the variant, in single precision for gensim."""
        rows = bags.table.rows
        if self.variant == "mtanti":
            return rows
        lengths = np.linalg.norm(rows, axis=1)
        return np.asarray(rows / np.where(lengths > 0, lengths, 1)[:, None], np.float32)


@dataclass(frozen=True)
class Move:
    """A move of words from one caption to the other.

    Args:
        word: the candidate's word.
        reference_word: the reference's word.
        share: its share of all words, 0 to 1.
        distance: distance between the two vectors.
        cost: share times distance.
    """

    word: str
    reference_word: str
    share: float
    distance: float
    cost: float


@dataclass(frozen=True)
class Transport:
    """The cheapest way to move the words of a reference to those of a candidate.

    Args:
        candidate, reference: words with a vector, each with its share.
        moves: the moves, whose costs add up to the distance.
        candidate_left_out, reference_left_out: ignored words: stop words, and those without a vector.
        distance: word mover's distance; None if it is infinite.
        score: exp(-distance / sigma).
    """

    kind: ClassVar[str] = "transport"

    candidate: tuple[tuple[str, float], ...]
    reference: tuple[tuple[str, float], ...]
    moves: tuple[Move, ...]
    candidate_left_out: tuple[str, ...]
    reference_left_out: tuple[str, ...]
    distance: float | None
    score: float


def _check_sizes(captions: Captions, candidates: Bags, references: Bags) -> None:
    """Refuse captions that would take minutes, as the time is cubic in their distinct words.

    Raises:
        InputError: a caption of more than ``MOST_WORDS`` distinct words with a vector.
    """
    for kind, bags in (("candidate", candidates), ("reference", references)):
        sizes = np.diff(bags.offsets)
        for row in np.flatnonzero(sizes > MOST_WORDS)[:1]:
            of_reference = int(np.searchsorted(captions.references.offsets, row, side="right")) - 1
            raise InputError(
                f"a {kind} has {sizes[row]:,} distinct words with a vector; wmd supports at most {MOST_WORDS:,}",
                where=f"image_id {captions.ids[row if kind == 'candidate' else of_reference]!r}",
                hint="score captions, not documents",
            )


def _bag(bags: Bags) -> tuple[tuple[str, float], ...]:
    total = max(1, int(bags.counts.sum()))
    pairs = zip(bags.words.tolist(), bags.counts.tolist(), strict=True)
    return tuple((bags.table.words[word], count / total) for word, count in pairs)
