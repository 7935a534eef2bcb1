"""Protocols: how published work compares metrics with human judgments.

A benchmark is data with at least one protocol; ``flickr8k-expert@yi2020`` is the protocol ``yi2020`` of the benchmark
``flickr8k-expert``, and a benchmark's name alone stands for its first. Numbers under two protocols are not comparable.
Every rule of a protocol is a value that is applied to the data; tables and JSON show its text.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Generic, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

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
        parts: the part of an item; the statistic is computed for each part and averaged. None for no parts.
        part_order: names of parts that come first, in this order.
        measure: for systems, the human measure; for captions rated in several ways, one of their ratings; for pairs
            with several votes, the preferred caption.
        systems: the system of a caption; scores and ratings are averaged over the captions of each system, and the
            statistic compares the means. None if captions are compared.
        source: its publication.
    """

    benchmark: str
    name: str
    statistic: str
    ratings: Aggregation
    of: Literal["captions", "pairs", "systems"]
    references: Rule[Any] = AS_GIVEN
    excluded: Rule[bool] = NOTHING
    ties: float = 0.5
    parts: Rule[str] | None = None
    part_order: Sequence[str] = ()
    measure: Rule[float] | None = None
    systems: Rule[str] | None = None
    source: str = ""

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
        texts = {
            "of": self.of,
            "ratings": self.ratings,
            "references": self.references.text,
            "excluded": self.excluded.text,
            "ties": _TIES.get(self.ties, f"{self.ties:g}") if self.statistic.endswith("accuracy") else "",
            "parts": self.parts.text if self.parts else "",
            "measure": self.measure.text if self.measure else "",
            "systems": self.systems.text if self.systems else "",
            "source": self.source,
        }
        return {name: text for name, text in texts.items() if text}


def system_protocols(
    protocol: Protocol, suffix: str = "", *, systems: Rule[str] = SYSTEM_FACT
) -> tuple[Protocol, Protocol]:
    """Return two protocols that compare mean scores of systems with mean ratings: Pearson, and pairwise accuracy.

    Args:
        protocol: the protocol with the ratings, references and exclusions.
        suffix: suffix of their names, "system-pearson" and "system-accuracy".
        systems: the system of a caption.
    """
    pearson = replace(
        protocol, name=f"system-pearson{suffix}", statistic="pearson", systems=systems, parts=None, ties=0.5
    )
    return pearson, replace(pearson, name=f"system-accuracy{suffix}", statistic="pairwise-accuracy")
