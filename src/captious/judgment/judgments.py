"""Human judgments, and the protocols by which published work compares metrics with them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from operator import attrgetter
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions
from captious.errors import ParameterError, option
from captious.judgment.correlation import Points, bootstrap, correlation, p_of_none, standardized, williams
from captious.statistics import Sampling, permutation_p_value

# Protocols: how published work compares metrics with human judgments.
#
# A benchmark is data with at least one protocol; ``flickr8k-expert@yi2020`` is the protocol ``yi2020`` of the benchmark
# ``flickr8k-expert``, and a benchmark's name alone stands for its first. Numbers under two protocols are not
# comparable. Every rule of a protocol is a value that is applied to the data; tables and JSON show its text.

#: Ways to combine several people's judgments of one caption.
Aggregation: TypeAlias = Literal["each", "mean", "annotators", "share", "majority", "given", "known"]
#: Name of the agreement of people with each other, as a metric.
PEOPLE = "people"
T = TypeVar("T")
_TIES = {0.0: "nothing", 0.5: "one half", 1.0: "one"}


@dataclass(frozen=True)
class Rule(Generic[T]):
    """A rule of a protocol about references, items or measures.

    Args:
        text: description in tables and JSON; empty to omit it.
        function: the rule, called with each judged item, a ``RatedCaption``, ``CaptionPair`` or ``RankedSystem``.
    """

    text: str
    function: Callable[[Any], T]

    def __call__(self, item: Any) -> T:
        return self.function(item)


def _no_item(item: Any) -> bool:
    return False


#: The references of an item, all of them.
AS_GIVEN: Rule[Any] = Rule("as given in the file", attrgetter("references"))
#: The system of a caption, where the items of a benchmark have it among their facts.
SYSTEM_FACT: Rule[str] = Rule("as given in the file", lambda item: item.facts["system"])
#: No item is left out.
NOTHING: Rule[bool] = Rule("nothing", _no_item)


@dataclass(frozen=True)
class Protocol:
    """A protocol for comparing scores and judgments.

    Args:
        benchmark: the data.
        name: name of the protocol within the benchmark.
        statistic: kendall-tau-b, kendall-tau-c, spearman, pearson, kendall-tau-b-by-image, average-precision or
            accuracy; with ``systems``, pearson, spearman, kendall-tau-b or pairwise-accuracy.
        ratings: "each" rating is a point; their "mean"; the statistic is computed for each of the "annotators" and
            averaged; the "share" of people who say yes; the choice of the "majority"; a single "given" number; or what
            is "known" to be right.
        of: the judged items: captions one by one, pairs of captions, or systems.
        references: the references of an item for metrics; for systems, their published scores by metric.
        excluded: whether an item is left out.
        ties: for (pairwise) accuracy, the value of a tie of the metric, 0 to 1.
        tie_winner: for pairs, the caption that a tie is a preference for, 0 or 1, instead; None for neither.
        parts: the part of an item; the statistic is computed for each part and averaged. None for no parts.
        part_order: names of parts that come first, in this order.
        measure: for systems, the human measure; for captions rated in several ways, one of their ratings; for pairs
            with several votes, the preferred caption.
        digits: for captions, digits after the decimal point that scores are rounded to; None for all.
        systems: the system of a caption; scores and ratings are averaged over the captions of each system, and the
            statistic compares the means. None if captions are compared.
        source: its publication.
        ids: what the ids of judged captions are, in warnings; "line" if they are numbers of lines.
    """

    benchmark: str
    name: str
    statistic: str
    ratings: Aggregation
    of: Literal["captions", "pairs", "systems"]
    references: Rule[Any] = AS_GIVEN
    excluded: Rule[bool] = NOTHING
    ties: float = 0.5
    tie_winner: int | None = None
    parts: Rule[str] | None = None
    part_order: Sequence[str] = ()
    measure: Rule[float] | None = None
    digits: int | None = None
    systems: Rule[str] | None = None
    source: str = ""
    ids: str = "item"

    @property
    def full_name(self) -> str:
        """Name on the command line."""
        return f"{self.benchmark}@{self.name}"

    def points(self, ratings: Sequence[float]) -> NDArray[np.float64]:
        """Return the ratings of one caption as the points to correlate: their mean, or each of them."""
        points = np.asarray(ratings, np.float64)
        return points.mean(keepdims=True) if self.ratings == "mean" else points

    def facts(self) -> dict[str, str]:
        """Return its rules in words; rules without text are omitted."""
        ties = _TIES.get(self.ties, f"{self.ties:g}")
        if self.tie_winner is not None:
            ties = f"a preference for the {('first', 'second')[self.tie_winner]} caption"
        texts = {
            "of": self.of,
            "ratings": self.ratings,
            "references": self.references.text,
            "excluded": self.excluded.text,
            "ties": ties if self.statistic.endswith("accuracy") else "",
            "parts": self.parts.text if self.parts else "",
            "measure": self.measure.text if self.measure else "",
            "scores": f"rounded to {self.digits} digits after the point" if self.digits else "",
            "systems": self.systems.text if self.systems else "",
            "source": self.source,
        }
        return {name: text for name, text in texts.items() if text}


# Human judgments of captions or systems, in three forms that scores can be compared with.
#
# Each form knows its statistic, its computation on resamples, and the test of the difference of two metrics. A
# benchmark may have parts (kinds of pairs, language pairs); its statistic is then the mean over parts.


@dataclass(frozen=True, eq=False)
class OfSystems:
    """Scores and human ratings of systems.

    Args:
        names: the systems.
        scores, ratings: float64[n_systems].
    """

    names: Sequence[str]
    scores: NDArray[np.float64]
    ratings: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HumanJudgments(ABC):
    """Judgments with the judged items.

    Args:
        protocol: the protocol.
        data: their files: name -> checksum.
    """

    protocol: Protocol
    data: Mapping[str, str]

    @property
    @abstractmethod
    def items(self) -> Sequence[str]:
        """Names of the scored items: captions or systems."""

    @property
    @abstractmethod
    def n(self) -> int:
        """Number of points: ratings, pairs or systems."""

    @property
    @abstractmethod
    def n_units(self) -> int:
        """Number of images, or of other units of resampling."""

    @property
    def part_names(self) -> Sequence[str]:
        """Parts whose statistics are averaged; none if there is only one."""
        return ()

    @abstractmethod
    def values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the statistic of each part, float64[n_parts], from scores float64[n_items]."""

    def people(self, sampling: Sampling) -> tuple[float, tuple[float, float]] | None:
        """Return the agreement between people, with its interval; None if they did not judge the same items."""
        return None

    def p_of_none(self, scores: NDArray[np.float64]) -> float | None:
        """Return p of no correlation; None if points are not independent, such as several captions of an image."""
        return None

    def of_systems(self, scores: NDArray[np.float64]) -> OfSystems | None:
        """Return scores and ratings of systems, if these are compared; None for captions or pairs."""
        return None

    @abstractmethod
    def resampled(self, scores: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return the statistic for units drawn with counts int32[n, n_units]; float64[n]."""

    @abstractmethod
    def p_value(self, a: NDArray[np.float64], b: NDArray[np.float64], swaps: NDArray[np.uint8]) -> float:
        """Return the two-sided p of the difference between two metrics' statistics.

        Args:
            a, b: scores float64[n_items].
            swaps: [n, n_units], the units whose scores each permutation exchanges.
        """

    def resampled_mean(self, draws: Sequence[NDArray[np.float64]], sampling: Sampling) -> NDArray[np.float64]:
        """Return the statistic in each resample, float64[resamples], averaged over several scores float64[n_items].

        Values of two metrics can be compared one by one. The correlation of a constant resample is nan; intervals
        ignore it.
        """

        def mean(counts: NDArray[np.int32]) -> NDArray[np.float64]:
            return np.asarray(np.mean([self.resampled(scores, counts) for scores in draws], axis=0))

        return bootstrap(mean, self.n_units, sampling)

    @property
    def is_permuted(self) -> bool:
        """Whether ``p_value`` permutes scores, rather than computing p from a formula."""
        return True

    def permutation_test(self, a: NDArray[np.float64], b: NDArray[np.float64], permutations: int, seed: int) -> float:
        """Return the two-sided p of the difference between two metrics' statistics."""
        swaps = np.random.default_rng(seed).integers(0, 2, (permutations, self.n_units), np.uint8)
        return self.p_value(a, b, swaps)


class CaptionJudgments(HumanJudgments):
    """Base class of judgments of captions."""

    captions: Captions
    units: NDArray[np.int64]
    names: Sequence[str]

    @property
    def items(self) -> Sequence[str]:
        return [str(id) for id in self.captions.ids]

    @property
    def n_units(self) -> int:
        return int(self.units.max()) + 1

    @property
    def part_names(self) -> Sequence[str]:
        return self.names if len(self.names) > 1 else ()


@dataclass(frozen=True, eq=False)
class RatedCaptions(CaptionJudgments):
    """Captions rated one by one.

    Args:
        captions: the captions.
        ratings: one array per caption.
        units: int[n_captions], the image of each, numbered from 0.
        parts: int[n_captions], the part of each, or None.
        names: names of the parts, or of the annotators if the statistic is computed for each of them.
        raters: float64[n_captions, n_raters], ratings by person, if all captions have several.
    """

    captions: Captions
    ratings: list[NDArray[np.float64]]
    units: NDArray[np.int64]
    parts: NDArray[np.int64] | None = None
    names: Sequence[str] = ()
    raters: NDArray[np.float64] | None = None

    @property
    def n(self) -> int:
        return sum(map(len, self.ratings))

    @cached_property
    def _points(self) -> list[tuple[NDArray[np.int64], Points]]:
        """Rows and ratings of each part, or of each annotator."""
        statistic = self.protocol.statistic
        if self.protocol.ratings == "annotators":
            every = np.arange(len(self.captions))
            of_annotators = ([ratings[k : k + 1] for ratings in self.ratings] for k in range(len(self.names)))
            return [(every, Points(ratings, self.units, statistic)) for ratings in of_annotators]
        parts = np.zeros(len(self.captions), np.int64) if self.parts is None else self.parts
        rows = [np.flatnonzero(parts == part) for part in range(parts.max() + 1)]
        return [(part, Points([self.ratings[row] for row in part], self.units[part], statistic)) for part in rows]

    def _rounded(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return scores if self.protocol.digits is None else np.round(scores, self.protocol.digits)

    def values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        scores = self._rounded(scores)
        return np.array([points.value(scores[rows]) for rows, points in self._points])

    def resampled(self, scores: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        scores = self._rounded(scores)
        parts = [points.resampled(scores[rows], counts) for rows, points in self._points]
        return np.asarray(np.mean(parts, axis=0))

    def people(self, sampling: Sampling) -> tuple[float, tuple[float, float]] | None:
        """Return the protocol's statistic between two raters, averaged over pairs of raters, in one part."""
        if self.raters is None or np.ptp(self.raters, axis=0).min() == 0:
            return None
        protocol = replace(self.protocol, ratings="given")
        values, resampled = [], []
        for a, b in combinations(self.raters.T, 2):
            pair = RatedCaptions(protocol, self.data, self.captions, [*b[:, None]], self.units)
            values.append(pair.values(a)[0])
            resampled.append(pair.resampled_mean([a], sampling))
        return float(np.mean(values)), sampling.interval(np.mean(resampled, axis=0))

    def p_value(self, a: NDArray[np.float64], b: NDArray[np.float64], swaps: NDArray[np.uint8]) -> float:
        a, b = self._rounded(a), self._rounded(b)
        observed = float((self.values(a) - self.values(b)).mean())
        permuted = [points.exchanged(a[rows], b[rows], swaps) for rows, points in self._points]
        return permutation_p_value(observed, np.mean(permuted, axis=0), scale=1)


@dataclass(frozen=True, eq=False)
class CaptionPairs(CaptionJudgments):
    """Pairs of captions with a human preference; a metric is right if it scores the preferred one higher.

    Args:
        captions: both captions of every pair, pair by pair.
        preferred: int[n_pairs], index of the preferred caption, 0 or 1.
        units: int[n_pairs], the image of each, numbered from 0.
        parts: int[n_pairs], the part of each.
        names: names of the parts.
        draws: int[n_captions], the caption of the pairs, 0 to 2 n_pairs - 1, in each row of ``captions``, if some are
            scored with several draws of references and averaged. None if every caption is one row.
    """

    captions: Captions
    preferred: NDArray[np.int64]
    units: NDArray[np.int64]
    parts: NDArray[np.int64]
    names: Sequence[str]
    draws: NDArray[np.int64] | None = None

    @property
    def n(self) -> int:
        return len(self.preferred)

    @cached_property
    def _sizes(self) -> NDArray[np.int64]:
        return np.bincount(self.parts, minlength=len(self.names))

    def of_pairs(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the scores of both captions of every pair, float64[n_pairs, 2]."""
        if self.draws is not None:
            scores = np.bincount(self.draws, scores) / np.bincount(self.draws)
        return scores.reshape(-1, 2)

    def _right(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 for pairs ordered as by people, 0 for others; for ties, the value of the protocol."""
        of_pair = self.of_pairs(scores)
        rows = np.arange(self.n)
        margin = of_pair[rows, self.preferred] - of_pair[rows, 1 - self.preferred]
        winner = self.protocol.tie_winner
        ties = self.protocol.ties if winner is None else self.preferred == winner
        return np.where(margin == 0, ties, (margin > 0).astype(np.float64))

    def values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.bincount(self.parts, self._right(scores), len(self.names)) / self._sizes

    def resampled(self, scores: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        right = self._right(scores)
        weights = counts[:, self.units]
        accuracies = []
        for part in range(len(self.names)):
            rows = np.flatnonzero(self.parts == part)
            with np.errstate(invalid="ignore"):
                accuracies.append(weights[:, rows] @ right[rows] / weights[:, rows].sum(axis=1))
        return np.asarray(np.mean(accuracies, axis=0))

    def p_value(self, a: NDArray[np.float64], b: NDArray[np.float64], swaps: NDArray[np.uint8]) -> float:
        weights = 1 / (self._sizes * len(self.names))[self.parts]
        gains = np.bincount(self.units, (self._right(a) - self._right(b)) * weights, self.n_units)
        return permutation_p_value(float(gains.sum()), (1.0 - 2.0 * swaps) @ gains, scale=1)


@dataclass(frozen=True, eq=False)
class SystemRanking(HumanJudgments):
    """Systems ranked by people.

    Args:
        systems: their names.
        human: float64[n_systems].
        published: metric -> published scores of the systems, float64[n_systems], if any.
        outputs: the captions of each system, or None.
    """

    systems: Sequence[str]
    human: NDArray[np.float64]
    published: Mapping[str, NDArray[np.float64]] = field(default_factory=dict)
    outputs: Sequence[Sequence[str]] | None = None

    @property
    def items(self) -> Sequence[str]:
        return self.systems

    @property
    def n(self) -> int:
        return len(self.systems)

    @property
    def n_units(self) -> int:
        return len(self.systems)

    @cached_property
    def _points(self) -> Points:
        ratings = [np.array([value]) for value in self.human]
        return Points(ratings, np.arange(self.n), self.protocol.statistic)

    def scores_of(self, metric: str) -> NDArray[np.float64]:
        """Return the published scores of a metric.

        Raises:
            ParameterError: there are none.
        """
        if metric not in self.published:
            where = "the system outputs have no references"
            help = f"give a file of scores with {option('scores', 'FILE')}"
            if self.outputs is None:
                where = "their captions are not among the files of the benchmark"
                help += (
                    "; with captions of the systems, captious study systems FILE... REFERENCES "
                    f"--human {self.protocol.benchmark} computes any metric"
                )
            if self.published:
                where = f"published metrics: {', '.join(self.published)}; {where}"
                help = f"choose one of those, or {help}"
            raise ParameterError(
                f"{self.protocol.benchmark} has no published scores for {metric}", where=where, hint=help
            )
        return self.published[metric]

    def values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.array([self._points.value(scores)])

    def of_systems(self, scores: NDArray[np.float64]) -> OfSystems:
        return OfSystems(self.systems, scores, self.human)

    def p_of_none(self, scores: NDArray[np.float64]) -> float:
        return p_of_none(self.protocol.statistic, scores, self.human)

    def resampled(self, scores: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        return self._points.resampled(scores, counts)

    @property
    def is_permuted(self) -> bool:
        return self.protocol.statistic != "pearson"

    def p_value(self, a: NDArray[np.float64], b: NDArray[np.float64], swaps: NDArray[np.uint8]) -> float:
        if not self.is_permuted:
            between = correlation("pearson", a, b)
            return williams(float(self.values(a)[0]), float(self.values(b)[0]), between, self.n)
        observed = float(self.values(a)[0] - self.values(b)[0])
        return permutation_p_value(observed, self._points.exchanged(a, b, swaps), scale=1)


# Judgments of systems by ratings of their captions: means of scores compared with means of ratings.

#: Statistics that compare mean scores of systems with their mean ratings.
SYSTEM_STATISTICS = ("pearson", "spearman", "kendall-tau-b", "pairwise-accuracy")


@dataclass(frozen=True, eq=False)
class RatedSystems(CaptionJudgments):
    """Systems with rated captions: the score and the rating of a system are means over its captions.

    Args:
        captions: the rated captions.
        ratings: float64[n_captions], the mean rating of each caption.
        units: int[n_captions], the image of each, numbered from 0.
        systems: int[n_captions], the system of each.
        names: names of the systems.
    """

    captions: Captions
    ratings: NDArray[np.float64]
    units: NDArray[np.int64]
    systems: NDArray[np.int64]
    names: Sequence[str]

    @property
    def part_names(self) -> Sequence[str]:
        return ()

    @property
    def n(self) -> int:
        return len(self.names)

    @cached_property
    def _every(self) -> NDArray[np.int32]:
        """Counts of a single resample with every image once."""
        return np.ones((1, self.n_units), np.int32)

    def _means(self, values: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        """Return means over the captions of each system, float64[n, n_systems]."""
        members = np.zeros((len(self.systems), self.n))
        members[np.arange(len(self.systems)), self.systems] = 1
        weights = counts[:, self.units].astype(np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray((weights @ (members * values[:, None])) / (weights @ members))

    def of_systems(self, scores: NDArray[np.float64]) -> OfSystems:
        return OfSystems(self.names, self._means(scores, self._every)[0], self._means(self.ratings, self._every)[0])

    def values(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return self.resampled(scores, self._every)

    def resampled(self, scores: NDArray[np.float64], counts: NDArray[np.int32]) -> NDArray[np.float64]:
        means = self._means(scores, counts), self._means(self.ratings, counts)
        return agreement_of_systems(self.protocol.statistic, *means, ties=self.protocol.ties)

    def p_value(self, a: NDArray[np.float64], b: NDArray[np.float64], swaps: NDArray[np.uint8]) -> float:
        observed = float((self.values(a) - self.values(b))[0])
        left, right = standardized(a), standardized(b)
        ratings = self._means(self.ratings, self._every)
        permuted = []
        for swap in swaps:
            swapped = swap[self.units] != 0
            exchanges = [np.where(swapped, right, left), np.where(swapped, left, right)]
            means = np.concatenate([self._means(values, self._every) for values in exchanges])
            first, second = agreement_of_systems(
                self.protocol.statistic, means, np.repeat(ratings, 2, axis=0), ties=self.protocol.ties
            )
            permuted.append(first - second)
        return permutation_p_value(observed, np.array(permuted), scale=1)


def agreement_of_systems(
    statistic: str, scores: NDArray[np.float64], ratings: NDArray[np.float64], *, ties: float = 0.5
) -> NDArray[np.float64]:
    """Return the agreement of mean scores with mean ratings, in each of several resamples.

    Args:
        statistic: one of ``SYSTEM_STATISTICS``. Pairwise accuracy is the share of pairs of systems with different
            ratings that scores order as ratings do (Kocmi et al. 2021).
        scores, ratings: float64[n, n_systems].
        ties: value of a pair with equal scores, 0 to 1.

    Returns:
        float64[n]; nan if scores or ratings are constant.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        if statistic in ("pearson", "spearman"):
            if statistic == "spearman":
                from scipy import stats

                scores, ratings = stats.rankdata(scores, axis=1), stats.rankdata(ratings, axis=1)
            x, y = (values - values.mean(axis=1, keepdims=True) for values in (scores, ratings))
            return np.asarray((x * y).sum(axis=1) / np.sqrt((x * x).sum(axis=1) * (y * y).sum(axis=1)))
        first, second = np.triu_indices(scores.shape[1], 1)
        of_scores, of_ratings = (np.sign(values[:, first] - values[:, second]) for values in (scores, ratings))
        if statistic == "kendall-tau-b":
            told_apart = np.abs(of_scores).sum(axis=1) * np.abs(of_ratings).sum(axis=1)
            return np.asarray((of_scores * of_ratings).sum(axis=1) / np.sqrt(told_apart))
        right = np.where(of_scores == 0, ties, of_scores == of_ratings) * (of_ratings != 0)
        return np.asarray(right.sum(axis=1) / (of_ratings != 0).sum(axis=1))
