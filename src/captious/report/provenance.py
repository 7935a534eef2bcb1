"""What judgments and studies show in every form: the order of metrics, how values are written, and, below them,

protocols, data with checksums, signatures, and what intervals and ranks are.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from captious.report import numbers

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study, Verdict

__all__ = [
    "NOTHING",
    "cell",
    "data_text",
    "explanations",
    "heading",
    "in_order",
    "is_number",
    "protocol_facts",
    "signatures_of",
    "statistic_of",
    "study_facts",
    "study_signatures",
]

#: Stands where there is no value.
NOTHING = "–"

_HEADINGS = {"pathology": "corruption"}  # columns that tables call differently from records

_RATINGS = {
    "each": "each rating is a point",
    "mean": "the mean of a caption's ratings is a point",
    "share": "the share of people who say yes",
    "majority": "majority preference",
    "given": "one number per item, as given in the file",
    "known": "the correct caption is known",
}


def in_order(judgment: Judgment) -> list[str]:
    """The metrics: as they were asked for or, if they were compared, the best of the first benchmark first."""
    metrics = list(dict.fromkeys(metric for verdict in judgment.values() for metric in verdict.results))
    first = next(iter(judgment.values())).results
    if not any(agreement.rank for agreement in first.values()):
        return metrics
    place = {metric: number for number, metric in enumerate(sorted(first, key=lambda m: -first[m].value))}
    return sorted(metrics, key=lambda metric: place.get(metric, len(place)))


def statistic_of(verdict: Verdict) -> str:
    """ "kendall-tau-c ×100, n = 16,992"."""
    return f"{verdict.protocol.statistic} ×100, n = {verdict.n:,}"


def heading(column: str) -> str:
    """The name of a column of a study as tables show it."""
    return _HEADINGS.get(column, column.replace("_", " "))


def cell(value: Any) -> str:
    """A value of a record as it is shown."""
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if not is_number(value):
        return str(value)
    return f"{value:,}" if isinstance(value, Integral) else numbers.score(float(value))


def is_number(value: Any) -> bool:
    """Whether it is a number, of numpy or not; truth values are not numbers."""
    return isinstance(value, Real) and not isinstance(value, bool)


def protocol_facts(verdict: Verdict) -> dict[str, str]:
    """How scores and judgments of a benchmark were compared: label -> text."""
    p = verdict.protocol
    said = p.facts()
    facts = {
        "judgments": _RATINGS[p.ratings],
        "measure": said.get("measure", ""),
        "references": said.get("references", ""),
        "left out": said.get("excluded", ""),
        "ties": f"a tie between metric scores counts as {said['ties']}" if "ties" in said else "",
        "parts": f"{said['parts']}; the value is the mean over them" if "parts" in said else "",
        "data": data_text(verdict.data),
        "source": p.source,
    }
    return {label: text for label, text in facts.items() if text}


def data_text(data: Mapping[str, str]) -> str:
    """Files with their checksums."""
    return ", ".join(f"{name} (CRC-32 {crc})" for name, crc in data.items())


def signatures_of(judgment: Judgment) -> list[str]:
    """The signatures of the metrics; where they depend on the benchmark, each with the benchmarks it stands for."""
    found: dict[str, dict[str, list[str]]] = {}
    for benchmark, verdict in judgment.items():
        for metric, agreement in verdict.results.items():
            found.setdefault(metric, {}).setdefault(agreement.signature, []).append(benchmark)
    return [
        signature if len(signatures) == 1 else f"{signature} on {', '.join(benchmarks)}"
        for signatures in found.values()
        for signature, benchmarks in signatures.items()
    ]


def explanations(judgment: Judgment) -> list[str]:
    """Sentences that say what intervals and ranks are, and whose scores were negated."""
    units = dict.fromkeys("systems" if v.protocol.of == "systems" else "images" for v in judgment.values())
    drawn = " or ".join(units)
    sentences = [
        f"{judgment.level:.0%} intervals: percentile bootstrap over {drawn}, "
        f"{judgment.resamples:,} resamples, seed {judgment.seed}."
    ]
    from captious.judgment.metric_scores import negated

    sentences += negated(a.metric for v in judgment.values() for a in v.results.values() if a.lower_is_better)
    tested = [verdict for verdict in judgment.values() if any(a.rank is not None for a in verdict.results.values())]
    if tested:
        better = f"Rank: 1 plus the number of metrics that are significantly better at {1 - judgment.level:.0%}"
        sentences.append(f"{better} ({_tests(tested, judgment)}; Holm's correction over the pairs of a benchmark).")
        sentences += _exceptions(tested, judgment.level)
    return sentences


def study_signatures(study: Study) -> list[str]:
    """The signatures of the metrics, each preceded by its name in the table if it begins with another."""
    return [
        signature if signature.split("|")[0] == metric else f"{metric}: {signature}"
        for metric, signature in study.signatures.items()
    ]


def study_facts(study: Study) -> dict[str, str]:
    """What the result depends on besides its metrics: label -> text."""
    settings = ", ".join(f"{name.replace('_', ' ')} {_setting(value)}" for name, value in study.settings.items())
    facts = {"settings": settings, "data": data_text(study.data)}
    return {label: text for label, text in facts.items() if text}


def _setting(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _tests(tested: list[Verdict], judgment: Judgment) -> str:
    """What decides whether two metrics differ; see ``captious.judgment.human_judgments``."""
    by_bootstrap = [v.protocol for v in tested if judgment.test == "bootstrap" and v.protocol.of != "systems"]
    of_systems = [v.protocol for v in tested if v.protocol.of == "systems" and v.protocol.statistic == "pearson"]
    permuted = [v.protocol for v in tested if v.protocol not in (*by_bootstrap, *of_systems)]
    units = dict.fromkeys("systems" if p.of == "systems" else "images" for p in permuted)
    tests = ["paired bootstrap over images, normal approximation"] if by_bootstrap else []
    tests += [f"{judgment.resamples:,} permutations over {' or '.join(units)}"] if permuted else []
    tests += ["Williams' test for Pearson over systems"] if of_systems else []
    return ", ".join(tests)


def _exceptions(tested: list[Verdict], level: float) -> list[str]:
    """Ranks are not clusters where A is better than C but B differs from neither; says where that is so."""
    told_apart, not_apart = [], []
    for verdict in tested:
        rank = {metric: agreement.rank for metric, agreement in verdict.results.items()}
        for (a, b), p in verdict.p_values.items():
            pair = f"{a} and {b} ({verdict.protocol.full_name})"
            if rank[a] == rank[b] and p <= 1 - level:
                told_apart.append(pair)
            elif rank[a] != rank[b] and not p <= 1 - level:
                not_apart.append(pair)
    said = "Metrics that share a rank do not differ significantly"
    sentences = [f"{said}, except {', '.join(told_apart)}." if told_apart else f"{said}."]
    return sentences + (
        [f"The same holds for these, despite their ranks: {', '.join(not_apart)}."] if not_apart else []
    )
