"""Comparisons as tables: two systems with their differences, and pairs of several."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from captious.evaluation.tables.score_tables import (
    exclusions,
    images_text,
    lower_is_better_note,
    score_table,
    signature_lines,
    subject,
)
from captious.phrases import counted
from captious.results.pictures import Dot, Dots
from captious.results.table import PAGE, PAPER, SCREEN, Cell, Column, Form, Row, Table, labeled
from captious.version import __version__

if TYPE_CHECKING:
    from captious.evaluation.comparison import Comparison
    from captious.evaluation.pairwise import Corrected, PairwiseComparison

SIGNIFICANT = 0.05
#: Fields that hold intervals -> the names of their bounds in records.
_BOUNDS = {
    "interval": ("difference_low", "difference_high"),
    "effect_interval": ("effect_size_low", "effect_size_high"),
}


def difference_table(
    comparison: Comparison, *, examples: int = 0, corrected: Mapping[str, Corrected] | None = None
) -> Table:
    """Return a table of two systems, one row per output: scores, differences with intervals, effect sizes and tests.

    Args:
        comparison: the comparison.
        examples: number of images to show, those on which the systems differ most.
        corrected: output -> p values corrected for the number of tests, shown in addition.
    """
    a, b = comparison.a, comparison.b
    rows = []
    for name, d in comparison.items():
        bootstrap, randomization = d.p_bootstrap, d.p_randomization
        p_values = [bootstrap, randomization, randomization]
        if corrected is not None:
            bootstrap, randomization = corrected[name].p_bootstrap, corrected[name].p_randomization
            p_values = [d.p_bootstrap, bootstrap, d.p_randomization, randomization, randomization]
        cells = difference_cells(
            (d.score_a, d.score_b),
            d.difference,
            d.interval,
            d.lower_is_better,
            significant=bootstrap < SIGNIFICANT,
            marks="*" * (randomization < SIGNIFICANT),
        )
        cells += [Cell(d.effect_size), *map(Cell, p_values), Cell(d.effect_size)]
        rows.append(Row(labeled(name, d.lower_is_better), cells, signature=d.signature))
    note = (
        f"{comparison.level:.0%} intervals and p values from {comparison.resamples:,} resamples of images, "
        f"seed {comparison.seed}. Effect size: Cohen's d of caption scores."
    )
    return Table(
        columns=[
            *difference_columns(comparison, drawn=True),
            Column("effect size", "effect", media=[SCREEN]),
            *p_value_columns(corrected=corrected is not None),
            Column("effect size", "effect", media=[PAGE]),
        ],
        rows=rows,
        records=[difference_record(comparison, asdict(d)) for d in comparison.values()],
        document=comparison.to_dict(examples=examples),
        title=subject([a]),
        caption=f"{counted(a.n_images, 'image')}; below each difference its {comparison.level:.0%} interval; "
        f"{comparison.resamples:,} resamples, seed {comparison.seed}",
        notes=[*exclusions([a, b]), " ".join([note, *lower_is_better_note(rows)])],
        pictures={"effect-sizes": effect_picture(comparison)},
        comments=[*comparison_comments(comparison), "*: p < .05", *signature_lines(a)],
        below=example_table(comparison, examples) if examples else None,
    )


def effect_picture(comparison: Comparison) -> Dots:
    """Return a picture of the effect sizes of all metrics, which share a scale."""
    dots = {name: Dot(d.effect_size, d.effect_interval) for name, d in comparison.items()}
    title = f"{comparison.b.system} − {comparison.a.system}"
    return Dots(title, f"effect size (Cohen's d); {comparison.level:.0%} intervals", dots, line=0.0)


def pairwise_table(compared: PairwiseComparison) -> Table:
    """Return a table of systems side by side, each score with the letters of the systems that it beats, and one of the
    pairs below.
    """
    reports = [*compared.reports.values()]
    scores = score_table(reports)
    counts = {"test": compared.n_tests, "pair": len(compared), "metric": len(scores.rows)}
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
    tables = {
        pair: difference_table(comparison, corrected=compared.corrected[pair]) for pair, comparison in compared.items()
    }
    below = [
        replace(row, section=f"{b} − {a}", cells=row.cells[2:])
        for (a, b), table in tables.items()
        for row in table.rows
    ]
    records = []
    for pair, table in tables.items():
        for record, p in zip(table.records, compared.corrected[pair].values(), strict=True):
            records.append(
                {**record, "corrected_bootstrap": p.p_bootstrap, "corrected_randomization": p.p_randomization}
            )
    sampling = (
        f"{compared.level:.0%} intervals and p values from {compared.resamples:,} resamples of images, seed "
        f"{compared.seed}; corrected: {correction}. Effect size: Cohen's d of caption scores."
    )
    first = next(iter(tables.values()))
    return replace(
        scores,
        columns=[replace(column, head=f"{column.head} ({letters[column.head]})") for column in scores.columns],
        rows=rows,
        records=records,
        document=compared.to_dict(),
        caption=counted(reports[0].n_images, "image"),
        notes=[*scores.notes, sampling],
        comments=[*scores.comments, sampling],
        legend=f"Letters: systems that are significantly worse (p < .05 of approximate randomization, {correction}).",
        below=Table(first.columns[2:], below, [], {}, title="differences"),
    )


def difference_columns(comparison: Comparison, *, drawn: bool = False) -> list[Column]:
    """Return the columns for the cells of ``difference_cells``. In papers, the interval has a column of its own."""
    return [
        Column(comparison.a.system),
        Column(comparison.b.system),
        Column("difference", "difference", drawn=drawn, media=[SCREEN, PAGE]),
        Column("difference", "difference", media=[PAPER]),
        Column(f"{100 * comparison.level:.0f}% interval", align="center", media=[PAPER]),
    ]


def p_value_columns(*, corrected: bool) -> list[Column]:
    """Return the columns of p values, and of corrected ones. Papers have one, of approximate randomization."""
    media = (SCREEN, PAGE)
    correction = [Column("corrected", "p", media=media)] * corrected
    bootstrap, randomization = (Column(f"p {kind}", "p", media=media) for kind in ("bootstrap", "randomization"))
    return [bootstrap, *correction, randomization, *correction, Column("p", "p", in_papers="p", media=[PAPER])]


def difference_cells(
    scores: tuple[float, float],
    difference: float,
    interval: tuple[float, float],
    lower_is_better: bool | None,
    *,
    significant: bool = False,
    marks: str = "",
) -> list[Cell]:
    """Return the cells for the columns of ``difference_columns``.

    Args:
        scores: the scores of a and b.
        difference, interval, lower_is_better: as in ``Difference``.
        significant: whether the difference is significant.
        marks: superscript of the difference in papers.
    """
    # Lengths and their like are no shares, which could be in hundredths.
    number: Form | None = None if lower_is_better is not None else "number"
    change: Form | None = None if lower_is_better is not None else "difference"
    return [
        *(Cell(score, form=number) for score in scores),
        Cell(difference, interval, significant=significant, form=change),
        Cell(difference, marks=marks, form=change),
        Cell(interval, form=number),
    ]


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
        f"{comparison.level:.0%} intervals: paired bootstrap; p: approximate randomization; {comparison.resamples:,} "
        f"resamples, seed {comparison.seed}",
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
