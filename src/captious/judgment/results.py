"""Results of ``judge`` and of studies, and the tables in which they are shown."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

from captious.errors import UnknownNameError
from captious.judgment.judgments import PEOPLE, Protocol
from captious.judgment.scores import negated
from captious.plugins import choices
from captious.statistics import Sampling
from captious.tables import (
    Cell,
    Cloud,
    Clouds,
    Column,
    Curve,
    Curves,
    Displayed,
    DisplayedMapping,
    Dot,
    Dots,
    Matrix,
    Picture,
    Ranking,
    Row,
    Table,
    json_document,
)
from captious.version import __version__
from captious.words import percentage

__all__ = ["Cloud", "Clouds", "Curve", "Curves", "Dot", "Dots", "Matrix", "Study"]


# Judgments as tables: metrics by benchmark, followed by everything that the numbers depend on.
#
# That is protocols, data with checksums, signatures, and the meaning of intervals and ranks.

_RATINGS = {
    "each": "each rating is a point",
    "mean": "the mean of a caption's ratings is a point",
    "share": "the share of people who say yes",
    "majority": "majority preference",
    "given": "one number per item, as given in the file",
    "known": "the correct caption is known",
}


def judgment_table(judgment: Judgment) -> Table:
    """Return a table of metrics by benchmark, values multiplied by 100 with intervals, ranks and parts."""
    facts = {name: _protocol_facts(result) for name, result in judgment.items()}
    signatures = _signatures(judgment)
    explanations = _explanations(judgment)
    comments = [f"captious {__version__}, judgment; values in hundredths"]
    for name, result in judgment.items():
        comments.append(f"{name}: {result.protocol.statistic}, n = {result.n}")
        comments += [f"  {label}: {text}" for label, text in facts[name].items()]
    comments += ["signatures", *(f"  {signature}" for signature in signatures), *explanations]
    cells = [_cells(result) for result in judgment.values()]
    return Table(
        columns=[column for result in judgment.values() for column in _columns(result, judgment.level)],
        rows=[
            Row(metric, [cell for by_metric in cells for cell in by_metric.get(metric, by_metric[""])])
            for metric in _ordered_metrics(judgment)
        ],
        records=judgment.records,
        document=judgment.to_dict(),
        label_head="metric",
        description=_people(judgment),
        group_notes={name: _statistic(result) for name, result in judgment.items()},
        facts=facts,
        signatures=signatures,
        explanations=explanations,
        comments=comments,
        fold=_FOLD,
        pictures={name: _ranking(result, judgment.level) for name, result in judgment.items()}
        | {name: picture for result in judgment.values() for name, picture in result.pictures.items()},
        warnings=judgment.warnings,
    )


def _ranking(result: BenchmarkResult, level: float) -> Ranking:
    """Return a picture of the metrics of a benchmark, the best first; values are multiplied by 100."""
    agreements = sorted(result.agreements.values(), key=lambda a: (a.rank or 0, -a.value))
    return Ranking(
        result.protocol.full_name,
        f"{_statistic(result)}; {percentage(level)} intervals",
        {a.metric: Dot(100 * a.value, (100 * a.interval[0], 100 * a.interval[1])) for a in agreements},
        [a.rank for a in agreements],
    )


def _columns(result: BenchmarkResult, level: float) -> list[Column]:
    """Return columns for value, interval, rank if metrics were compared, and parts if there are any."""
    name = result.protocol.full_name
    first = next(iter(result.agreements.values()))
    return [
        Column("value", "percent", group=name, in_papers=result.protocol.statistic),
        Column(f"{percentage(level)} interval", "percent", group=name),
        *([Column("p", "p", group=name, in_papers="p")] if first.p is not None else []),
        *([Column("rank", "count", group=name)] if first.rank is not None else []),
        *(Column(part, "percent", group=name, apart="its parts, ×100") for part in first.parts),
    ]


def _cells(result: BenchmarkResult) -> dict[str, list[Cell | None]]:
    """Return the cells of every metric; those under "" are for a metric that was not judged."""
    agreements = result.agreements
    first = next(iter(agreements.values()))
    top = _best([agreement.value for agreement in agreements.values()])
    top_parts = {part: _best([agreement.parts[part] for agreement in agreements.values()]) for part in first.parts}
    cells: dict[str, list[Cell | None]] = {}
    for metric, agreement in agreements.items():
        cells[metric] = [Cell(agreement.value, best=_rounded(agreement.value) == top), Cell(agreement.interval)]
        cells[metric] += [Cell(agreement.p)] if first.p is not None else []
        cells[metric] += [Cell(agreement.rank)] if first.rank is not None else []
        cells[metric] += [
            Cell(value, best=_rounded(value) == top_parts[part]) for part, value in agreement.parts.items()
        ]
    unknown = [None for statistic in (first.p, first.rank) if statistic is not None]
    cells[""] = [Cell(None), None, *unknown, *(Cell(None) for _ in first.parts)]
    return cells


def _people(judgment: Judgment) -> list[Row]:
    """Return a row with the agreement of people with each other, if there is any."""
    if not any(result.people for result in judgment.values()):
        return []
    cells: list[Cell | None] = []
    for result in judgment.values():
        people = [Cell(result.people.value), Cell(result.people.interval)] if result.people else []
        cells += people + [None] * (len(_columns(result, judgment.level)) - len(people))
    return [Row(PEOPLE, cells)]


def _best(values: list[float]) -> float | None:
    """Return the largest of several values as displayed: those that look equal are equally good."""
    numbers = [_rounded(value) for value in values if not math.isnan(value)]
    return max(numbers) if len(numbers) > 1 else None


def _rounded(value: float) -> float:
    return float(f"{100 * value:.1f}")


def _ordered_metrics(judgment: Judgment) -> list[str]:
    """Return the metrics: as requested or, if they were compared, the best of the first benchmark first."""
    metrics = list(dict.fromkeys(metric for result in judgment.values() for metric in result.agreements))
    first = next(iter(judgment.values())).agreements
    if not any(agreement.rank for agreement in first.values()):
        return metrics
    place = {metric: number for number, metric in enumerate(sorted(first, key=lambda m: -first[m].value))}
    return sorted(metrics, key=lambda metric: place.get(metric, len(place)))


def _statistic(result: BenchmarkResult) -> str:
    """Return a heading such as "kendall-tau-c ×100, n = 16,992"."""
    return f"{result.protocol.statistic} ×100, n = {result.n:,}"


def _protocol_facts(result: BenchmarkResult) -> dict[str, str]:
    """Return the protocol of a benchmark: label -> text."""
    p = result.protocol
    protocol_facts = p.facts()
    facts = {
        "judgments": _RATINGS["mean" if p.systems and p.ratings == "each" else p.ratings],
        "measure": protocol_facts.get("measure", ""),
        "systems": f"{protocol_facts['systems']}; mean scores are compared with mean ratings"
        if "systems" in protocol_facts
        else "",
        "references": protocol_facts.get("references", ""),
        "scores": protocol_facts.get("scores", ""),
        "left out": protocol_facts.get("excluded", ""),
        "ties": f"a tie between metric scores counts as {protocol_facts['ties']}" if "ties" in protocol_facts else "",
        "parts": f"{protocol_facts['parts']}; the value is the mean over them" if "parts" in protocol_facts else "",
        "data": data_text(result.data),
        "source": p.source,
    }
    return {label: text for label, text in facts.items() if text}


def data_text(data: Mapping[str, str]) -> str:
    """Format files with their checksums."""
    return ", ".join(f"{name} (CRC-32 {crc})" for name, crc in data.items())


def _signatures(judgment: Judgment) -> list[str]:
    """Return the signatures of the metrics; if they depend on the benchmark, with the benchmarks of each."""
    by_metric: dict[str, dict[str, list[str]]] = {}
    for benchmark, result in judgment.items():
        for metric, agreement in result.agreements.items():
            by_metric.setdefault(metric, {}).setdefault(agreement.signature, []).append(benchmark)
    return [
        signature if len(signatures) == 1 else f"{signature} on {', '.join(benchmarks)}"
        for signatures in by_metric.values()
        for signature, benchmarks in signatures.items()
    ]


def _explanations(judgment: Judgment) -> list[str]:
    """Return sentences about the meaning of intervals and ranks, and the metrics whose scores were negated."""
    units = dict.fromkeys("systems" if result.protocol.of == "systems" else "images" for result in judgment.values())
    unit_names = " or ".join(units)
    sentences = [
        f"{percentage(judgment.level)} intervals: percentile bootstrap over {unit_names}, "
        f"{judgment.resamples:,} resamples, seed {judgment.seed}."
    ]
    if any(a.p is not None for result in judgment.values() for a in result.agreements.values()):
        sentences.append("p: of no correlation over systems, two-sided.")
    sentences += negated(
        a.metric for result in judgment.values() for a in result.agreements.values() if a.lower_is_better
    )
    tested = [result for result in judgment.values() if any(a.rank is not None for a in result.agreements.values())]
    if tested:
        better = f"Rank: 1 plus the number of metrics that are significantly better at {percentage(1 - judgment.level)}"
        sentences.append(f"{better} ({_tests(tested)}; Holm's correction over the pairs of a benchmark).")
        sentences += _exceptions(tested, judgment.level)
    return sentences


def _tests(tested: list[BenchmarkResult]) -> str:
    """Describe the test of the difference between two metrics; see ``captious.judgment.judgments``."""
    permuted = [result for result in tested if result.permutations is not None]
    numbers = " or ".join(f"{number:,}" for number in dict.fromkeys(result.permutations or 0 for result in permuted))
    units = dict.fromkeys("systems" if result.protocol.of == "systems" else "images" for result in permuted)
    others = [result.protocol for result in tested if result.permutations is None]
    tests = ["paired bootstrap over images, normal approximation"] * any(p.of != "systems" for p in others)
    tests += [f"{numbers} permutations over {' or '.join(units)}"] if permuted else []
    tests += ["Williams' test for Pearson over systems"] * any(p.of == "systems" for p in others)
    return ", ".join(tests)


def _exceptions(tested: list[BenchmarkResult], level: float) -> list[str]:
    """Explain that ranks are not clusters if A is better than C but B differs from neither, and where that occurs."""
    told_apart, not_apart = [], []
    for result in tested:
        rank = {metric: agreement.rank for metric, agreement in result.agreements.items()}
        for (a, b), p in result.p_values.items():
            pair = f"{a} and {b} ({result.protocol.full_name})"
            if rank[a] == rank[b] and p <= 1 - level:
                told_apart.append(pair)
            elif rank[a] != rank[b] and not p <= 1 - level:
                not_apart.append(pair)
    sentence = "Metrics that share a rank do not differ significantly"
    sentences = [f"{sentence}, except {', '.join(told_apart)}." if told_apart else f"{sentence}."]
    return sentences + ([f"Nor do these, although their ranks differ: {', '.join(not_apart)}."] if not_apart else [])


# Results of ``judge``: a table of metrics per benchmark, with intervals, ranks and signatures.


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
        permutations: number of permutations of each test; None if metrics were not tested, or in another way.
        people: the agreement of people with each other, averaged over pairs, if several judged every caption; otherwise
            None.
        pictures: plots of scores against human judgments of systems, by file name, if systems were compared.
    """

    protocol: Protocol
    n: int
    data: Mapping[str, str]
    agreements: Mapping[str, Agreement]
    p_values: Mapping[tuple[str, str], float] = field(default_factory=dict)
    permutations: int | None = None
    people: Agreement | None = None
    pictures: Mapping[str, Picture] = field(default_factory=dict)

    def __getitem__(self, metric: str) -> Agreement:
        if metric not in self.agreements:
            raise UnknownNameError(f"{metric!r} was not judged", hint=choices(metric, self, "this result has"))
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
            **({} if self.permutations is None else {"permutations": self.permutations}),
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
            raise UnknownNameError(f"{name} was judged under several protocols", hint=help)
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
                ends = dict(zip(("ci95_low", "ci95_high"), a.interval, strict=True))
                whole = {"part": "", "n": result.n, "metric": a.metric, "value": a.value}
                whole |= {**ends, "p": a.p, "rank": a.rank}
                rows.append(head | whole | tail)
                nothing = dict.fromkeys(whole)
                rows += [
                    head | nothing | {"part": part, "metric": a.metric, "value": value} | tail
                    for part, value in a.parts.items()
                ]
        return rows


# Results of studies: a table of records and, optionally, pictures.

_FOLD = 100  # columns of a terminal
_HEADS = {"pathology": "corruption"}  # columns that tables call differently from records


@dataclass(frozen=True, eq=False, repr=False)
class Study(Displayed):
    """The result of a study. Displayed as a table.

    Args:
        name: its name on the command line.
        title: one line about the content of the table.
        columns: column names, in order; also the keys of the records.
        records: one per row of the table; numbers are fractions unless the column name says otherwise.
        signatures: metric -> everything that its scores depend on besides the captions.
        data: input files: name -> CRC-32.
        settings: everything that the result depends on besides metrics and data: seed, sizes, strengths.
        pictures: curves, matrices, clouds and dots, by file name without extension.
        notes: sentences below the table.
        warnings: warnings about misleading results, one sentence each.
    """

    name: str
    title: str
    columns: Sequence[str]
    records: Sequence[Mapping[str, Any]]
    signatures: Mapping[str, str] = field(default_factory=dict)
    data: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    pictures: Mapping[str, Picture] = field(default_factory=dict)
    notes: Sequence[str] = ()
    warnings: Sequence[str] = ()

    def to_table(self) -> Table:
        """Return a table of the records, with settings, data and signatures.

        csv has the signature of the metric of each record, or all signatures if it has no metric.
        """
        texts = {
            "settings": ", ".join(
                f"{name.replace('_', ' ')} {_setting(value)}" for name, value in self.settings.items()
            ),
            "data": data_text(self.data),
        }
        facts = {label: text for label, text in texts.items() if text}
        signatures = [
            signature if signature.split("|")[0] == metric else f"{metric}: {signature}"
            for metric, signature in self.signatures.items()
        ]
        every = " ".join(self.signatures.values())
        data = " ".join(f"{file}:{crc}" for file, crc in self.data.items())
        comments = [f"captious {__version__}, study {self.name}: {self.title}", *self.notes]
        comments += [f"  {label}: {text}" for label, text in facts.items()]
        return Table(
            columns=[
                Column(
                    _HEADS.get(name, name.replace("_", " ")),
                    "number",
                    align="right" if any(_is_number(record.get(name)) for record in self.records) else "left",
                )
                for name in self.columns
            ],
            rows=[Row("", [Cell(record.get(name)) for name in self.columns]) for record in self.records],
            records=[
                {
                    **{name: record.get(name) for name in self.columns},
                    "signature": self.signatures.get(str(record.get("metric")), every),
                    "data": data,
                }
                for record in self.records
            ],
            document=self.to_dict(),
            title=self.title,
            caption=self.title,
            notes=self.notes,
            facts={"": facts} if facts else {},
            signatures=signatures,
            comments=comments + (["signatures", *(f"  {signature}" for signature in signatures)] if signatures else []),
            fold=_FOLD,
            pictures=self.pictures,
            warnings=self.warnings,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the study as JSON values, as in its JSON output."""
        return json_document(
            {
                "version": __version__,
                "study": self.name,
                "title": self.title,
                "settings": self.settings,
                "data": self.data,
                "signatures": self.signatures,
                "records": self.records,
                "notes": self.notes,
                **({"warnings": self.warnings} if self.warnings else {}),
            }
        )


def _is_number(value: object) -> bool:
    """Return whether it is a number, numpy's or not; booleans are not numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def _setting(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
