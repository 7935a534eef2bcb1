"""``PairwiseComparison``: the differences between all pairs of systems, tested together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from string import ascii_lowercase
from typing import Any

from captious.errors import ParameterError
from captious.evaluation.comparison import Comparison, compare_reports
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, holm
from captious.evaluation.systems import Reports
from captious.evaluation.tables.difference_tables import SIGNIFICANT, pairwise_table
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED
from captious.results.displayed import DisplayedMapping
from captious.results.table import Table, json_document
from captious.version import __version__


@dataclass(frozen=True)
class Corrected:
    """P values of a difference with Holm's correction for all pairs and metrics."""

    p_bootstrap: float
    p_randomization: float


class PairwiseComparison(DisplayedMapping[tuple[str, str], Comparison]):
    """The comparison of each pair of systems, by their names: ``compared["baseline", "mine"]["cider-d"].difference``.

    Attributes:
        reports: the systems.
        corrected: pair -> output -> p values, with Holm's correction for the number of pairs and outputs.
        level, resamples, seed: confidence level, resamples and seed of intervals and tests.
    """

    _unknown = ("{name!r} were not compared", "the pairs are")

    def __init__(self, reports: Reports, comparisons: Mapping[tuple[str, str], Comparison]) -> None:
        self.reports = reports
        self._parts = dict(comparisons)
        first = next(iter(self._parts.values()))
        self.level, self.resamples, self.seed = first.level, first.resamples, first.seed
        tests = [(pair, name, d) for pair, compared in comparisons.items() for name, d in compared.items()]
        bootstrap, randomization = (
            holm([getattr(d, kind) for _, _, d in tests]) for kind in ("p_bootstrap", "p_randomization")
        )
        self.corrected: dict[tuple[str, str], dict[str, Corrected]] = {pair: {} for pair in comparisons}
        for (pair, name, _), *p_values in zip(tests, bootstrap, randomization, strict=True):
            self.corrected[pair][name] = Corrected(*p_values)

    @property
    def n_tests(self) -> int:
        """Number of pairs times number of outputs."""
        return sum(map(len, self._parts.values()))

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letter of each system, which marks scores that are significantly better than its own."""
        return dict(zip(self.reports, ascii_lowercase, strict=False))

    def beaten(self, system: str, name: str) -> list[str]:
        """Return the systems that are significantly worse in an output: corrected p of randomization below .05.

        There are none for an output without a better direction.
        """
        worse = []
        for (a, b), compared in self._parts.items():
            d = compared[name]
            if system not in (a, b) or d.lower_is_better is None or not d.difference:
                continue
            better = b if (d.difference > 0) != d.lower_is_better else a
            if better == system and self.corrected[a, b][name].p_randomization < SIGNIFICANT:
                worse.append(a if system == b else b)
        return worse

    @property
    def warnings(self) -> list[str]:
        """Warnings about the comparison, one sentence each."""
        sentences = self.reports.warnings + [warning for pair in self.values() for warning in pair.own_warnings]
        smallest = self.n_tests / (self.resamples + 1)
        if smallest > SIGNIFICANT:
            sentences.append(
                f"with {self.resamples:,} resamples and {counted(self.n_tests, 'test')} no corrected p value is below "
                f"{min(smallest, 1):.2f}: use at least {self.n_tests / SIGNIFICANT:,.0f} resamples, or "
                "fewer metrics."
            )
        return [*dict.fromkeys(sentences)]

    def to_table(self) -> Table:
        """Return a table of the scores, with the letters of the systems that each one beats, then all differences."""
        return pairwise_table(self)

    def _pictured(self) -> Table:
        return self.reports.to_table(intervals=True)

    def to_dict(self) -> dict[str, Any]:
        """Return JSON values, as printed by ``captious compare --format json`` for more than two systems."""
        pairs = []
        for pair, compared in self.items():
            values = compared.to_dict()["metrics"]
            for name, p_values in self.corrected[pair].items():
                values[name]["corrected_bootstrap"] = p_values.p_bootstrap
                values[name]["corrected_randomization"] = p_values.p_randomization
            pairs.append({"systems": pair, "metrics": values})
        out: dict[str, Any] = {
            "version": __version__,
            "systems": [*self.reports],
            "n_images": next(iter(self.reports.values())).n_images,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "correction": "holm",
            "n_tests": self.n_tests,
            "pairs": pairs,
        }
        if self.warnings:
            out["warnings"] = self.warnings
        return json_document(out)


def pairwise_comparison(
    reports: Reports, *, level: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> PairwiseComparison:
    """Compare all pairs of systems, with Holm's correction for their number and that of the outputs.

    Raises:
        ParameterError: fewer than two systems, or different images or references.
    """
    if not 2 <= len(reports) <= len(ascii_lowercase):
        raise ParameterError(
            f"{counted(len(reports), 'system')} cannot be compared", help=f"give 2 to {len(ascii_lowercase)} systems"
        )
    return PairwiseComparison(
        reports,
        {
            (a.system, b.system): compare_reports(a, b, level=level, resamples=resamples, seed=seed)
            for a, b in combinations(reports.values(), 2)
        },
    )
