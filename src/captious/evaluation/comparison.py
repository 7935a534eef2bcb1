"""``compare``: the differences between systems, all pairs of them, with tests, effect sizes and examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from string import ascii_lowercase
from typing import Any, TypeAlias, TypeVar

import numpy as np

from captious.data import (
    Candidates,
    Captions,
    CaptionSets,
    Ids,
    ImageId,
    Match,
    ReferencesLike,
    Several,
    absent_references,
    same_images,
)
from captious.data.matching import on_shared_images, ways_of
from captious.errors import CaptionWarning, ParameterError, UnknownNameError, option
from captious.evaluation.checks import few_images_warning, issue
from captious.evaluation.report import (
    Report,
    Reports,
    Result,
    are_ranked,
    exclusions,
    images_text,
    lower_is_better_note,
    score_table,
    signature_lines,
    subject,
)
from captious.evaluation.scoring import check_systems, evaluate_systems, read_systems
from captious.metrics.contract.selection import Metrics, check_order, select
from captious.metrics.contract.settings import Settings
from captious.plugins import answers_other_keywords
from captious.progress import steps
from captious.statistics import (
    DEFAULT_RESAMPLES,
    Sampling,
    bootstrap_p_value,
    differences,
    effect_interval,
    effect_size,
    holm,
    permutation_p_value,
)
from captious.tables import (
    PAGE,
    PAPER,
    SCREEN,
    ByValue,
    Cell,
    Column,
    DisplayedMapping,
    Dot,
    Dots,
    Form,
    Row,
    Table,
    json_document,
    labeled,
)
from captious.version import __version__
from captious.words import DEFAULT_SEED, counted, percentage, sample_of

# Paired tests of the difference between two systems on the same images.
#
# The tests are the paired bootstrap (Koehn 2004), which resamples images, and approximate randomization (Noreen 1989),
# which exchanges the two systems' candidates at random.


#: Data of a difference, with fields for its p values.
Tested = TypeVar("Tested", bound=Any)


@dataclass(frozen=True)
class Significance:
    """A difference with its interval and p values, as in ``Difference``."""

    difference: float
    interval: tuple[float, float]
    p_bootstrap: float
    p_randomization: float


def significance(a: Result, b: Result, sampling: Sampling) -> Significance:
    """Return the difference between two systems in one output, with its interval and p values."""
    difference, scale = float(differences(a.score, b.score)), max(abs(a.score), abs(b.score))
    scores_a, scores_b = (result.statistics.resampled(**sampling.settings)[:, a.column] for result in (a, b))
    resampled = differences(scores_a, scores_b)
    exchanged = a.statistics.exchanged_difference(b.statistics, **sampling.settings)[:, a.column]
    return Significance(
        difference,
        sampling.interval(resampled),
        bootstrap_p_value(difference, resampled, scale=scale, n_images=len(a.statistics.rows)),
        permutation_p_value(difference, exchanged, scale=scale),
    )


def corrected(tests: Sequence[Tested]) -> list[Tested]:
    """Return differences with the p values that are corrected for their number (Holm)."""
    bootstrap, randomization = holm([test.p_bootstrap for test in tests]), holm([t.p_randomization for t in tests])
    return [
        replace(test, corrected_bootstrap=of_bootstrap, corrected_randomization=of_randomization)
        for test, of_bootstrap, of_randomization in zip(tests, bootstrap, randomization, strict=True)
    ]


#: The calls of ``compare`` in messages.
_CALL = 'compare({"a": candidates, "b": candidates}, references, metrics)'
_CALL_WITH_REPORTS = 'compare({"a": report_a, "b": report_b})'

# Comparisons as tables: two systems with their differences, and pairs of several.

#: Below this p value of approximate randomization, corrected if there are several systems, a difference is significant.
SIGNIFICANT = 0.05
#: That rule in legends.
RULE = "p < .05 of approximate randomization"
#: Fields that hold intervals -> the names of their bounds in records.
_BOUNDS = {
    "interval": ("difference_low", "difference_high"),
    "effect_interval": ("effect_size_low", "effect_size_high"),
}


def difference_table(comparison: Comparison, *, examples: int = 0, corrected: bool = False) -> Table:
    """Return a table of two systems, one row per output: scores, differences with intervals, effect sizes and tests.

    Args:
        comparison: the comparison of two systems.
        examples: number of images to show, those on which the systems differ most.
        corrected: show the p values that are corrected for the number of tests in addition.
    """
    a, b = comparison.a, comparison.b
    rows = []
    for d in comparison.values():
        p = d.corrected_randomization if corrected else d.p_randomization
        cells = difference_cells(d, significant=p < SIGNIFICANT)
        effect = Cell(d.effect_size)
        cells = [*cells, effect, *p_value_cells(d, corrected=corrected), effect]
        rows.append(Row(labeled(d.name, d.lower_is_better), cells, signature=d.signature))
    note = (
        f"{percentage(comparison.level)} intervals and p values from {comparison.resamples:,} resamples of images, "
        f"seed {comparison.seed}. Effect size: Cohen's d of caption scores."
    )
    return Table(
        columns=[
            *difference_columns(comparison, drawn=True),
            Column("effect size", "effect", media=[SCREEN]),
            *p_value_columns(corrected=corrected),
            Column("effect size", "effect", media=[PAGE]),
        ],
        rows=rows,
        records=[difference_record(comparison, d.values(corrected=corrected)) for d in comparison.values()],
        document=comparison.to_dict(examples=examples),
        title=subject([a, b]),
        caption=f"{counted(a.n_images, 'image')}; below each difference its {percentage(comparison.level)} interval; "
        f"{comparison.resamples:,} resamples, seed {comparison.seed}; bold: {RULE}",
        notes=[*exclusions([a, b]), " ".join([note, *lower_is_better_note(rows)])],
        pictures={"effect-sizes": effect_picture(comparison)},
        comments=[*comparison_comments(comparison), "*: p < .05", *signature_lines(a)],
        below=example_table(comparison, examples) if examples else None,
    )


def effect_picture(comparison: Comparison) -> Dots:
    """Return a picture of the effect sizes of all metrics, which share a scale."""
    dots = {d.name: Dot(d.effect_size, d.effect_interval) for d in comparison.values()}
    title = f"{comparison.b.system} − {comparison.a.system}"
    return Dots(title, f"effect size (Cohen's d); {percentage(comparison.level)} intervals", dots, line=0.0)


def pairwise_table(compared: Comparison) -> Table:
    """Return a table of systems side by side, each score with the letters of the systems that it beats, and one of the
    pairs below.
    """
    reports = [*compared.reports.values()]
    scores = score_table(reports)
    counts = {"test": compared.n_tests, "pair": len(compared.pairs), "metric": len(scores.rows)}
    n_tests, n_pairs, n_metrics = (counted(n, noun) for noun, n in counts.items())
    correction = f"Holm's correction for {n_tests} ({n_pairs}, {n_metrics})"
    letters = compared.letters
    rows = [
        replace(
            row,
            cells=[
                cell and replace(cell, marks="".join(letters[worse] for worse in compared.beaten(system, name)))
                for cell, system in zip(row.cells, compared.reports, strict=True)
            ],
        )
        for row, name in zip(scores.rows, reports[0], strict=True)
    ]
    tables = [difference_table(compared.between(*pair), corrected=True) for pair in compared.pairs]
    below = [
        replace(row, section=f"{b} − {a}", cells=row.cells[2:])
        for (a, b), table in zip(compared.pairs, tables, strict=True)
        for row in table.rows
    ]
    sampling = (
        f"{percentage(compared.level)} intervals and p values from {compared.resamples:,} resamples of images, seed "
        f"{compared.seed}; corrected: {correction}. Effect size: Cohen's d of caption scores."
    )
    return replace(
        scores,
        columns=[replace(column, head=f"{column.head} ({letters[column.head]})") for column in scores.columns],
        rows=rows,
        records=[record for table in tables for record in table.records],
        document=compared.to_dict(),
        caption=counted(reports[0].n_images, "image"),
        notes=[*scores.notes, sampling],
        comments=[*scores.comments, sampling],
        legend=f"Letters: systems that are significantly worse ({RULE}, {correction}).",
        below=Table(tables[0].columns[2:], below, [], {}, title="differences"),
    )


def difference_columns(comparison: Comparison, *, drawn: bool = False) -> list[Column]:
    """Return the columns for the cells of ``difference_cells``. In papers, the interval has a column of its own."""
    return [
        Column(comparison.a.system),
        Column(comparison.b.system),
        Column("difference", "difference", drawn=drawn, media=[SCREEN, PAGE]),
        Column("difference", "difference", media=[PAPER]),
        Column(f"{percentage(comparison.level)} interval", align="center", media=[PAPER]),
    ]


def p_value_columns(*, corrected: bool) -> list[Column]:
    """Return the columns of p values, and of corrected ones. Papers have one, of approximate randomization."""
    media = (SCREEN, PAGE)
    correction = [Column("corrected", "p", media=media)] * corrected
    bootstrap, randomization = (Column(f"p {kind}", "p", media=media) for kind in ("bootstrap", "randomization"))
    return [bootstrap, *correction, randomization, *correction, Column("p", "p", in_papers="p", media=[PAPER])]


def difference_cells(d: Any, *, significant: bool = False) -> list[Cell | None]:
    """Return the cells for the columns of ``difference_columns``.

    Args:
        d: a ``Difference``, or one of a group.
        significant: whether the difference is significant. Papers mark it with a star.
    """
    # Lengths and their like are no shares, which could be in hundredths.
    number: Form | None = None if d.lower_is_better is not None else "number"
    change: Form | None = None if d.lower_is_better is not None else "difference"
    return [
        *(Cell(score, form=number) for score in (d.score_a, d.score_b)),
        Cell(d.difference, d.interval, significant=significant, form=change),
        Cell(d.difference, marks="*" * significant, form=change),
        Cell(d.interval, form=number),
    ]


def p_value_cells(d: Any, *, corrected: bool) -> list[Cell | None]:
    """Return the cells for the columns of ``p_value_columns``; averages over groups have no corrected p values."""
    bootstrap, randomization = ([d.corrected_bootstrap], [d.corrected_randomization]) if corrected else ([], [])
    in_papers = next((p for p in randomization if p is not None), d.p_randomization)
    p_values = [d.p_bootstrap, *bootstrap, d.p_randomization, *randomization, in_papers]
    return [None if p is None else Cell(p) for p in p_values]


def difference_record(comparison: Comparison, values: Mapping[str, Any]) -> dict[str, object]:
    """Return the fields of a difference as a flat record, with a field for each bound of an interval."""
    record: dict[str, object] = {"system_a": comparison.a.system, "system_b": comparison.b.system}
    for name, value in values.items():
        if name in _BOUNDS:
            record |= zip(_BOUNDS[name], value, strict=True)
        else:
            record["metric" if name == "name" else name] = value
    return record


def comparison_comments(comparison: Comparison) -> list[str]:
    """Return lines about the systems and the sampling of a comparison, for comments in papers."""
    return [
        f"captious {__version__}; {comparison.b.system} minus {comparison.a.system}",
        images_text(comparison.a),
        f"{percentage(comparison.level)} intervals: paired bootstrap; p: approximate randomization; "
        f"{comparison.resamples:,} resamples, seed {comparison.seed}",
    ]


def example_table(comparison: Comparison, n: int) -> Table:
    """Return rows for the images on which two systems differ most, two each."""
    rows: list[Row] = []
    for example in comparison.examples(n):
        first = [Cell(comparison.a.system), Cell(example.candidate_a), Cell(example.score_a)]
        second = [Cell(comparison.b.system), Cell(example.candidate_b), Cell(example.score_b)]
        rows += [Row(str(example.id), first), Row("", second)]
    columns = [Column("", align="left"), Column("", align="left"), Column("", "rounded")]
    by = comparison.examples_by
    return Table(columns, rows, [], {}, title=f"largest differences in {by}")


# ``Comparison``: the differences between systems.


@dataclass(frozen=True, eq=False)
class Difference(ByValue):
    """The difference between two systems in one output, b minus a.

    Attributes:
        name: the output.
        score_a, score_b: corpus scores.
        difference: score_b - score_a; 0 if that is a rounding error.
        interval: paired bootstrap interval of the difference at the comparison's level.
        effect_size: Cohen's d of paired caption scores: mean difference divided by its standard deviation; nan if all
            differences are equal up to rounding errors.
        effect_interval: paired bootstrap interval of the effect size.
        p_bootstrap: two-sided p value of the paired bootstrap.
        p_randomization: two-sided p value of approximate randomization.
        lower_is_better: whether a negative difference means that b is better; None if neither direction is better.
        signature: everything that the scores depend on besides the captions.
        corrected_bootstrap, corrected_randomization: the p values with Holm's correction for all tests of the
            comparison: the number of pairs times that of outputs.
    """

    name: str
    score_a: float
    score_b: float
    difference: float
    interval: tuple[float, float]
    effect_size: float
    effect_interval: tuple[float, float]
    p_bootstrap: float
    p_randomization: float
    lower_is_better: bool | None
    signature: str
    corrected_bootstrap: float
    corrected_randomization: float

    def __float__(self) -> float:
        return self.difference

    def values(self, *, corrected: bool) -> dict[str, Any]:
        """Return all fields as plain values, with the corrected p values or without."""
        values = asdict(self)
        if not corrected:
            del values["corrected_bootstrap"], values["corrected_randomization"]
        return values


@dataclass(frozen=True)
class Example:
    """An image on which two systems differ strongly. Several candidates are joined by " | "."""

    id: ImageId
    candidate_a: str
    candidate_b: str
    score_a: float
    score_b: float


#: The name of an output, or with the names of two systems, a and b.
Key: TypeAlias = str | tuple[str, str, str]


class Comparison(DisplayedMapping[Key, Difference]):
    """Differences between all pairs of systems: ``comparison["cider-d"].p_randomization`` for two systems,
    ``comparison["cider-d", "baseline", "mine"]`` for more.

    Attributes:
        reports: the reports of the systems.
        pairs: the names a and b of each pair. Differences are b minus a.
        level, resamples, seed: confidence level, resamples and seed of intervals and tests; ``sampling`` holds all
            three.
    """

    _unknown = ("{name!r} was not compared", "this comparison has")

    def __init__(
        self, reports: Reports, differences: Mapping[tuple[str, str, str], Difference], sampling: Sampling
    ) -> None:
        self.reports = reports
        self.pairs = tuple(dict.fromkeys((a, b) for _, a, b in differences))
        self.sampling = sampling
        self.level, self.resamples, self.seed = sampling.level, sampling.resamples, sampling.seed
        self._differences = dict(differences)
        self._parts = {key[0] if len(reports) == 2 else key: difference for key, difference in differences.items()}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Comparison):
            return NotImplemented
        return (
            self.reports == other.reports
            and self._differences == other._differences
            and self.sampling == other.sampling
        )

    __hash__ = None  # type: ignore[assignment]

    def label_of(self, name: object) -> Key | None:
        """Return the key of a difference; outputs may have any of the names that ``Report.label_of`` takes."""
        if isinstance(name, str):
            label = next(iter(self.reports.values())).label_of(name)
            return label if label in self._parts else None
        if not isinstance(name, tuple) or len(name) != 3:
            return None
        label, a, b = next(iter(self.reports.values())).label_of(name[0]), *name[1:]
        if (label, a, b) not in self._differences:
            return None
        return label if len(self.reports) == 2 else (label, a, b)  # type: ignore[return-value]

    def unknown(self, name: object) -> UnknownNameError:
        """Return the error for what was not compared."""
        first = next(iter(self.reports.values()))
        output = name[0] if isinstance(name, tuple) and name else name
        label = first.label_of(output)
        if label is None:
            return UnknownNameError(f"{output!r:.80} was not compared", hint=first.unknown(output).hint)
        keys = (f'comparison["{label}", "{a}", "{b}"]' for a, b in self.pairs)
        message = f"{label} was compared for {counted(len(self.pairs), 'pair')} of systems"
        return UnknownNameError(message, where=f"asked for {name!r:.80}", hint=f"write {sample_of(keys)}")

    def between(self, a: str, b: str) -> Comparison:
        """Return the comparison of one of the pairs alone, with p values that are corrected as before.

        Raises:
            UnknownNameError: there is no such pair.
        """
        if (a, b) not in self.pairs:
            pairs = ", ".join(map(str, self.pairs))
            raise UnknownNameError(f"{(a, b)} is not one of the pairs", hint=f"the pairs are {pairs}")
        reports = Reports([self.reports[a], self.reports[b]])
        return Comparison(reports, {key: d for key, d in self._differences.items() if key[1:] == (a, b)}, self.sampling)

    def _only_pair(self) -> tuple[Report, Report]:
        if len(self.reports) != 2:
            raise ParameterError(
                f"{counted(len(self.reports), 'system')} were compared, not two",
                hint=f"choose a pair, such as comparison.between{self.pairs[0]}",
            )
        a, b = self.reports.values()
        return a, b

    @property
    def a(self) -> Report:
        """The report of the first of two systems.

        Raises:
            ParameterError: more than two systems were compared.
        """
        return self._only_pair()[0]

    @property
    def b(self) -> Report:
        """The report of the second of two systems.

        Raises:
            ParameterError: more than two systems were compared.
        """
        return self._only_pair()[1]

    def summary(self) -> str:
        """Return a line for each pair with its differences: "improved - baseline: bleu-4 +0.0392"."""
        lines = []
        for a, b in self.pairs:
            of_pair = [d for key, d in self._differences.items() if key[1:] == (a, b)]
            lines.append(f"{b} - {a}: {', '.join(f'{d.name} {d.difference:+.4f}' for d in of_pair)}")
        return "\n".join(lines)

    def examples(self, n: int = 5, *, by: str | None = None) -> list[Example]:
        """Return the images on which two systems differ most, largest difference first.

        Args:
            n: number of images.
            by: the output to sort by; None for cider-d if it was compared, otherwise the last one.

        Raises:
            ParameterError: a negative number of examples; more than two systems.
        """
        if n < 0:
            raise ParameterError(f"{counted(n, 'example')} cannot be shown", hint="ask for 0 or more")
        by = self.examples_by if by is None else by
        scores_a, scores_b = self.a[by].per_caption, self.b[by].per_caption
        order = np.argsort(-np.nan_to_num(np.abs(scores_b - scores_a), nan=-1.0), kind="stable")[:n].tolist()
        a, b = (
            [text if isinstance(text, str) else " | ".join(text) for text in report.candidates]
            for report in (self.a, self.b)
        )
        return [Example(self.a.ids[i], a[i], b[i], float(scores_a[i]), float(scores_b[i])) for i in order]

    @property
    def examples_by(self) -> str:
        """The default output for ``examples``."""
        return "cider-d" if "cider-d" in self.a else [*self.a][-1]

    @property
    def n_tests(self) -> int:
        """Number of pairs times number of outputs."""
        return len(self._differences)

    @cached_property
    def letters(self) -> dict[str, str]:
        """Letter of each system, which marks scores that are significantly better than its own."""
        return dict(zip(self.reports, ascii_lowercase, strict=False))

    def beaten(self, system: str, name: str) -> list[str]:
        """Return the systems that are significantly worse in an output: corrected p of randomization below .05.

        There are none for an output without a better direction, or that means nothing for these captions.
        """
        worse: list[str] = []
        if not are_ranked([*self.reports.values()], name):
            return worse
        for a, b in self.pairs:
            d = self[name, a, b]
            if system not in (a, b) or d.lower_is_better is None or not d.difference:
                continue
            better = b if (d.difference > 0) != d.lower_is_better else a
            if better == system and d.corrected_randomization < SIGNIFICANT:
                worse.append(a if system == b else b)
        return worse

    def to_table(self, *, examples: int = 0) -> Table:
        """Return the differences as a table: for two systems, their scores and differences; for more, the scores with
        the letters of the systems that each one beats, then all differences.

        Args:
            examples: number of images to show below, those on which two systems differ most.

        Raises:
            ParameterError: examples of more than two systems.
        """
        if len(self.reports) == 2 or examples:
            return difference_table(self, examples=examples)
        return pairwise_table(self)

    def _pictured(self) -> Table:
        return self.to_table() if len(self.reports) == 2 else self.reports.to_table(intervals=True)

    def to_dict(self, *, examples: int = 0) -> dict[str, Any]:
        """Return JSON values, as printed by ``captious compare --format json``.

        Args:
            examples: number of images to include, those on which two systems differ most.
        """
        several = len(self.reports) > 2
        first = next(iter(self.reports.values()))
        out: dict[str, Any] = {
            "version": __version__,
            "systems": [*self.reports],
            "n_images": first.n_images,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
        }
        metrics: dict[tuple[str, str], dict[str, Any]] = {pair: {} for pair in self.pairs}
        for (name, *pair), difference in self._differences.items():
            values = difference.values(corrected=several)
            del values["name"]
            metrics[pair[0], pair[1]][name] = values
        if several:
            out |= {"correction": "holm", "n_tests": self.n_tests}
            out["pairs"] = [{"systems": pair, "metrics": values} for pair, values in metrics.items()]
        else:
            [out["metrics"]] = metrics.values()
        if examples:
            out["examples"] = {self.examples_by: [asdict(example) for example in self.examples(examples)]}
        if not several and any(report.left_out for report in self.reports.values()):
            out["left_out"] = {system: report.left_out for system, report in self.reports.items()}
        if self.warnings:
            out["warnings"] = self.warnings
        return json_document(out)

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the systems, then about their comparison, one sentence each."""
        sentences = [*self.reports.warnings, *few_images_warning(next(iter(self.reports.values())).n_images)]
        described = [report.description for report in self.reports.values() if report.description is not None]
        if len({(description.fewest, description.most) for description in described}) > 1:
            text = (
                "the systems have different numbers of candidates per image, on which diversity and scores of the "
                "best candidate depend."
            )
            sentences.append(CaptionWarning(text, "different-numbers"))
        smallest = self.n_tests / (self.resamples + 1)
        if len(self.reports) > 2 and smallest > SIGNIFICANT:
            text = (
                f"with {self.resamples:,} resamples and {counted(self.n_tests, 'test')} no corrected p value is below "
                f"{min(smallest, 1):.2f}: use at least {self.n_tests / SIGNIFICANT:,.0f} resamples, or "
                "fewer metrics."
            )
            sentences.append(CaptionWarning(text, "few-resamples"))
        return [*dict.fromkeys(sentences)]


@answers_other_keywords
def compare(
    systems: Mapping[str, Candidates | Report],
    references: ReferencesLike | None = None,
    metrics: Metrics | None = None,
    *,
    settings: Settings | None = None,
    match: Match = "all",
    ids: Ids = "exact",
    several: Several = None,
    clean: str | Sequence[str] = (),
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Comparison:
    """Compare the captions of systems on the same images: all pairs of them.

    Args:
        systems: the candidates of two or more systems by their names, each in any form that ``score`` takes; or the
            reports of systems, such as ``score_systems`` returns, with ``level``, ``resamples`` and ``seed`` only. The
            images of reports may be in any order.
        references: in any form that ``read_references`` takes. None if candidates have references (``Captions``), or
            metrics need none.
        metrics, settings, ids, several, clean: as for ``score``.
        match: which images: "common" compares only those that the references and all systems have; otherwise, a
            difference is an error.
        level, resamples, seed: confidence level, number of resamples and random seed of the intervals and tests.

    Returns:
        The differences between the systems of each pair, with intervals, effect sizes and p values, which are also
        given with Holm's correction for the number of pairs and outputs. Misleading results are listed in ``warnings``
        and issued as CaptiousWarning, each wording once per process.

    Raises:
        InputError, UnknownNameError, ParameterError: as ``score`` does.
        ParameterError: reports of different images or metrics; other arguments with reports; fewer than two systems.

    >>> comparison = compare({"a": ["a cat"], "b": ["a dog"]}, [["the dog"]], "bleu-1", resamples=10)
    >>> round(comparison["bleu-1"].difference, 2)
    0.5
    """
    Sampling(resamples, seed, level)  # refuses what is not valid before any work
    sampling: dict[str, Any] = {"level": level, "resamples": resamples, "seed": seed}
    items = systems if isinstance(systems, list | tuple) else [systems]
    call = _CALL_WITH_REPORTS if any(isinstance(item, Report) for item in items) else _CALL
    check_order("compare", {"systems": systems, "references": references}, metrics, hint=f"write {call}")
    check_systems(systems, references, hint=f"write {call}")
    if not 2 <= len(systems) <= len(ascii_lowercase):
        raise ParameterError(
            f"{counted(len(systems), 'system')} cannot be compared", hint=f"give 2 to {len(ascii_lowercase)} systems"
        )
    scored = [name for name, system in systems.items() if isinstance(system, Report)]
    if scored and len(scored) < len(systems):
        raise ParameterError(
            "some systems are reports and others are captions",
            where=f"reports: {', '.join(scored)}",
            hint="give the reports of all systems, or the captions of all",
        )
    if scored:
        given = {
            "references": references is not None,
            "metrics": metrics is not None,
            "settings": settings is not None,
            "match": match != "all",
            "several": several is not None,
            "clean": bool(clean),
            "ids": ids != "exact",
        }
        if unused := [name for name, is_given in given.items() if is_given]:
            raise ParameterError("reports are already scored", hint=f"leave out {', '.join(unused)}")
        named = [report.named(name) for name, report in systems.items() if isinstance(report, Report)]
        reports = [_in_order_of(named[0], report) for report in named]
    else:
        ways = ways_of(several, *systems.values())
        selection = select(metrics, settings, several=bool(ways))
        tables = [captions for captions in systems.values() if isinstance(captions, Captions | CaptionSets)]
        if references is None and len(tables) < len(systems):  # the systems have the images of one of them
            references = tables[0].references if tables else absent_references(next(iter(systems.values())))
        captions = read_systems(systems, references, match=match, ids=ids, several=ways or None, clean=clean)
        if match == "common":
            captions = on_shared_images(captions)
        reports = [*evaluate_systems(captions, selection, several=ways).values()]
    comparison = compare_reports(*reports, **sampling)
    issue(comparison.warnings)
    return comparison


def compare_reports(
    *reports: Report, level: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> Comparison:
    """Compare reports of different names on the same images and outputs, all pairs of them.

    Raises:
        ParameterError: images, references or signatures differ.
    """
    sampling = Sampling(resamples, seed, level)
    tests: dict[tuple[str, str, str], Difference] = {}
    for a, b in combinations(reports, 2):
        _check_comparable(a, b)
        with steps([*a], lambda name: f"testing {name}") as compared:
            for name in compared:
                tests[name, a.system, b.system] = _tested(a, b, name, sampling)
    differences = dict(zip(tests, corrected([*tests.values()]), strict=True))
    return Comparison(Reports(reports), differences, sampling)


def _in_order_of(first: Report, report: Report) -> Report:
    """Return a report with its images in the order of another one; as it is if these are not the same images."""
    if report.n_images != first.n_images or same_images(report.ids, first.ids):
        return report
    rows = report.captions.references.rows_of(first.ids)
    return report if None in rows else report.select(np.array(rows))


def _check_comparable(a: Report, b: Report) -> None:
    if not same_images(a.ids, b.ids):
        raise ParameterError(
            f"{a.system} and {b.system} were not scored on the same images",
            where=f"{a.n_images:,} and {counted(b.n_images, 'image')}",
            hint=f"compare their captions, not reports: {option('match', 'common')} leaves out the images of only one",
        )
    if a.captions.references is not b.captions.references and (
        a.captions.references.texts != b.captions.references.texts
        or not np.array_equal(a.captions.references.offsets, b.captions.references.offsets)
    ):
        raise ParameterError(
            f"{a.system} and {b.system} were not scored against the same references",
            where=f"{a.captions.references.name}; {b.captions.references.name}",
            hint="score both against the same references",
        )
    for name in {**a, **b}:
        signatures = [report[name].signature if name in report else "absent" for report in (a, b)]
        if signatures[0] != signatures[1]:
            raise ParameterError(
                f"{name} was not computed the same way for both systems",
                where="; ".join(signatures),
                hint="score both with the same metrics and settings",
            )


def _tested(a: Report, b: Report, name: str, sampling: Sampling) -> Difference:
    """Return the difference between two reports in an output, with p values that are not corrected yet."""
    if a[name].statistics.rows.shape[1] != b[name].statistics.rows.shape[1]:
        raise ParameterError(
            f"{name} can only compare systems with the same number of candidates per image",
            where=f"{a.system}, {b.system}",
            hint="score as many candidates per image of both, or use mbleu@mean",
        )
    tests = significance(a[name], b[name], sampling)
    of_captions = differences(a[name].per_caption, b[name].per_caption)
    return Difference(
        name=name,
        score_a=a[name].score,
        score_b=b[name].score,
        **asdict(tests),
        effect_size=effect_size(of_captions),
        effect_interval=effect_interval(of_captions, sampling),
        lower_is_better=a[name].lower_is_better,
        signature=a[name].signature,
        corrected_bootstrap=tests.p_bootstrap,
        corrected_randomization=tests.p_randomization,
    )
