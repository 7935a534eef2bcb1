"""Judgments as tables: metrics by benchmark, followed by everything that the numbers depend on.

That is protocols, data with checksums, signatures, and the meaning of intervals and ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from captious.judgment.protocols import PEOPLE
from captious.judgment.scores.metric_scores import negated
from captious.results.pictures import Dot, Ranking
from captious.results.table import Cell, Column, Row, Table
from captious.version import __version__

if TYPE_CHECKING:
    from captious.judgment.judgment_result import BenchmarkResult, Judgment

_FOLD = 100  # columns of a terminal

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
        f"{_statistic(result)}; {level:.0%} intervals",
        {a.metric: Dot(100 * a.value, (100 * a.interval[0], 100 * a.interval[1])) for a in agreements},
        [a.rank for a in agreements],
    )


def _columns(result: BenchmarkResult, level: float) -> list[Column]:
    """Return columns for value, interval, rank if metrics were compared, and parts if there are any."""
    name = result.protocol.full_name
    first = next(iter(result.agreements.values()))
    return [
        Column("value", "percent", group=name, in_papers=result.protocol.statistic),
        Column(f"{level:.0%} interval", "percent", group=name),
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
        "judgments": _RATINGS[p.ratings],
        "measure": protocol_facts.get("measure", ""),
        "systems": f"{protocol_facts['systems']}; mean scores are compared with mean ratings"
        if "systems" in protocol_facts
        else "",
        "references": protocol_facts.get("references", ""),
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
        f"{judgment.level:.0%} intervals: percentile bootstrap over {unit_names}, "
        f"{judgment.resamples:,} resamples, seed {judgment.seed}."
    ]
    if any(a.p is not None for result in judgment.values() for a in result.agreements.values()):
        sentences.append("p: of no correlation over systems, two-sided.")
    sentences += negated(
        a.metric for result in judgment.values() for a in result.agreements.values() if a.lower_is_better
    )
    tested = [result for result in judgment.values() if any(a.rank is not None for a in result.agreements.values())]
    if tested:
        better = f"Rank: 1 plus the number of metrics that are significantly better at {1 - judgment.level:.0%}"
        sentences.append(f"{better} ({_tests(tested, judgment)}; Holm's correction over the pairs of a benchmark).")
        sentences += _exceptions(tested, judgment.level)
    return sentences


def _tests(tested: list[BenchmarkResult], judgment: Judgment) -> str:
    """Describe the test of the difference between two metrics; see ``captious.judgment.human_judgments``."""
    by_bootstrap = [v.protocol for v in tested if judgment.test == "bootstrap" and v.protocol.of != "systems"]
    of_systems = [v.protocol for v in tested if v.protocol.of == "systems" and v.protocol.statistic == "pearson"]
    permuted = [v.protocol for v in tested if v.protocol not in (*by_bootstrap, *of_systems)]
    units = dict.fromkeys("systems" if p.of == "systems" else "images" for p in permuted)
    tests = ["paired bootstrap over images, normal approximation"] if by_bootstrap else []
    tests += [f"{judgment.resamples:,} permutations over {' or '.join(units)}"] if permuted else []
    tests += ["Williams' test for Pearson over systems"] if of_systems else []
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
    return sentences + (
        [f"The same holds for these, despite their ranks: {', '.join(not_apart)}."] if not_apart else []
    )
