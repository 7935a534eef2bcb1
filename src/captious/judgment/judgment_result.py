"""Results of ``judge``: a table of metrics per benchmark, with intervals, ranks and signatures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from captious.entry_points import did_you_mean
from captious.errors import UnknownNameError
from captious.evaluation.inference.resampling import Sampling
from captious.judgment.judgment_table import judgment_table
from captious.judgment.protocols import Protocol
from captious.results.displayed import DisplayedMapping
from captious.results.pictures import Picture
from captious.results.table import Table, json_document
from captious.version import __version__


@dataclass(frozen=True)
class Agreement:
    """Agreement of one metric with human judgments on one benchmark.

    Args:
        metric: its name.
        value: the protocol's statistic, -1 to 1 for correlations, 0 to 1 for accuracy.
        interval: 95% bootstrap interval over images.
        rank: 1 plus the number of metrics that are significantly better; None if not tested.
        signature: everything that the scores depend on besides the captions.
        parts: the statistic of each part, if the benchmark has parts.
        lower_is_better: whether lower scores of the metric are better. Its scores are then negated, so that larger
            values mean more agreement for every metric.
        p: two-sided p of no correlation over systems; None for captions, which are not independent.
    """

    metric: str
    value: float
    interval: tuple[float, float]
    rank: int | None
    signature: str
    parts: Mapping[str, float] = field(default_factory=dict)
    lower_is_better: bool = False
    p: float | None = None


@dataclass(frozen=True, eq=False)
class BenchmarkResult(Mapping[str, Agreement]):
    """A benchmark with the agreement of every metric: ``result["cider-d"].value``.

    Args:
        protocol: the protocol.
        n: number of points: ratings, pairs or systems.
        data: input files: name -> CRC-32.
        agreements: metric -> agreement.
        p_values: pair of metrics -> p of their difference, corrected for the number of pairs; empty if not tested.
        people: the agreement of people with each other, averaged over pairs, if several judged every caption; otherwise
            None.
        pictures: plots of scores against human judgments of systems, by file name, if systems were compared.
    """

    protocol: Protocol
    n: int
    data: Mapping[str, str]
    agreements: Mapping[str, Agreement]
    p_values: Mapping[tuple[str, str], float] = field(default_factory=dict)
    people: Agreement | None = None
    pictures: Mapping[str, Picture] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Agreement:
        if metric not in self.agreements:
            raise UnknownNameError(
                f"{metric!r} was not judged", help=f"{did_you_mean(metric, self)}this result has {', '.join(self)}"
            )
        return self.agreements[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self.agreements)

    def __len__(self) -> int:
        return len(self.agreements)

    def _ipython_key_completions_(self) -> list[str]:
        return [*self]

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, as in the JSON output; numbers are fractions."""
        p = self.protocol
        document = {
            "name": p.full_name,
            "n": self.n,
            "statistic": p.statistic,
            "protocol": p.facts(),
            "data": self.data,
            "results": {
                name: {
                    "value": a.value,
                    "ci95": a.interval,
                    **({} if a.p is None else {"p": a.p}),
                    "rank": a.rank,
                    **({"parts": a.parts} if a.parts else {}),
                    "lower_is_better": a.lower_is_better,
                    "signature": a.signature,
                }
                for name, a in self.agreements.items()
            },
            **({"people": {"value": self.people.value, "ci95": self.people.interval}} if self.people else {}),
            **(
                {"differences": [{"metrics": pair, "p": p} for pair, p in self.p_values.items()]}
                if self.p_values
                else {}
            ),
        }
        return json_document(document)


class Judgment(DisplayedMapping[str, BenchmarkResult]):
    """Results by benchmark, in the order requested. Displayed as a table.

    Args:
        results: one per benchmark.
        sampling: resamples, random seed and level of the intervals and tests.
        warnings: warnings about misleading results, one sentence each.
        test: the test of differences, "permutation" or "bootstrap"; None if they were not tested.
    """

    _unknown = ("{name!r} was not judged", "this judgment has")

    def __init__(
        self,
        results: Sequence[BenchmarkResult],
        sampling: Sampling,
        warnings: Sequence[str] = (),
        *,
        test: str | None = None,
    ) -> None:
        self._parts = {result.protocol.full_name: result for result in results}
        self.resamples, self.seed, self.level = sampling.resamples, sampling.seed, sampling.level
        self.warnings = list(warnings)
        self.test = test

    def label_of(self, name: object) -> str | None:
        """Return the full name of a protocol that was judged: the name itself, or that of a benchmark's only one."""
        return str(name) if name in self._parts else next(iter(self._protocols_of(name)), None)

    def __getitem__(self, name: str) -> BenchmarkResult:
        if name not in self._parts and len(names := self._protocols_of(name)) > 1:
            help = f"choose one of {', '.join(names)}"
            raise UnknownNameError(f"{name} was judged under several protocols", help=help)
        return super().__getitem__(name)

    def _protocols_of(self, benchmark: object) -> list[str]:
        return [label for label, result in self._parts.items() if result.protocol.benchmark == benchmark]

    def to_table(self) -> Table:
        """Return a table of the metrics by benchmark."""
        return judgment_table(self)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, as in the JSON output; numbers are fractions."""
        return {
            "version": __version__,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            **({"test": self.test} if self.test else {}),
            "benchmarks": [result.to_dict() for result in self.values()],
            **({"warnings": self.warnings} if self.warnings else {}),
        }

    @property
    def records(self) -> list[dict[str, Any]]:
        """One record per benchmark and metric, and per part, for data frames and csv."""
        rows = []
        for name, result in self.items():
            for a in (*result.agreements.values(), *([result.people] if result.people else [])):
                head = {"benchmark": name, "statistic": result.protocol.statistic}
                tail = {
                    "lower_is_better": a.lower_is_better,
                    "signature": a.signature,
                    "data": " ".join(f"{file}:{crc}" for file, crc in result.data.items()),
                }
                whole = (a.value, *a.interval, a.p, a.rank)
                rows.append(head | _row("", result.n, a.metric, *whole) | tail)
                rows += [head | _row(part, None, a.metric, value) | tail for part, value in a.parts.items()]
        return rows


def _row(
    part: str,
    n: int | None,
    metric: str,
    value: float,
    low: float | None = None,
    high: float | None = None,
    p: float | None = None,
    rank: int | None = None,
) -> dict[str, Any]:
    """Return the record of a whole benchmark, or of a part, which has no interval."""
    cells = {"part": part, "n": n, "metric": metric, "value": value, "ci95_low": low, "ci95_high": high}
    return {**cells, "p": p, "rank": rank}
