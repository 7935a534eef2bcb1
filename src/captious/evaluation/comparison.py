"""``compare``: the differences between two systems, or all pairs of several, with tests, effect sizes and examples."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations
from string import ascii_lowercase
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.data import (
    Captions,
    CaptionSets,
    Ids,
    ImageId,
    Match,
    Several,
    absent_references,
    read_captions,
    read_references,
    read_rows,
    same_images,
)
from captious.data.matching import ways_of
from captious.errors import CaptionWarning, ParameterError
from captious.evaluation.checks import few_images_warning, issue, warnings_by_system
from captious.evaluation.report import (
    Report,
    Reports,
    Result,
    exclusions,
    images_text,
    lower_is_better_note,
    pair_names,
    score_table,
    signature_lines,
    subject,
)
from captious.evaluation.scoring import evaluate
from captious.evaluation.statistics import (
    DEFAULT_RESAMPLES,
    Sampling,
    bootstrap_p_value,
    bootstrap_sums,
    holm,
    permutation_p_value,
)
from captious.metrics.contract.selection import MetricLike, select
from captious.metrics.contract.settings import Settings
from captious.progress import steps
from captious.tables import (
    PAGE,
    PAPER,
    SCREEN,
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
from captious.words import DEFAULT_SEED, counted

# Paired tests of the difference between two systems on the same images, and its effect size.
#
# The tests are the paired bootstrap (Koehn 2004), which resamples images, and approximate randomization (Noreen 1989),
# which exchanges the two systems' candidates at random.


@dataclass(frozen=True)
class Significance:
    """A difference with its interval and p values, as in ``Difference``."""

    difference: float
    interval: tuple[float, float]
    p_bootstrap: float
    p_randomization: float


@dataclass(frozen=True)
class ResampledDifference:
    """A difference between two systems, observed and resampled.

    Attributes:
        observed: score of b minus score of a.
        scale: the larger of the two scores in absolute value.
        n_images: number of images; for several sets, that of the largest.
        bootstrap: the difference on resampled images, float64[resamples].
        exchanged: the difference with each image's candidates exchanged with probability one half, float64[resamples].
    """

    observed: float
    scale: float
    n_images: int
    bootstrap: NDArray[np.float64]
    exchanged: NDArray[np.float64]

    def significance(self, sampling: Sampling) -> Significance:
        """Return the difference with its interval and p values."""
        return Significance(
            self.observed,
            sampling.interval(self.bootstrap),
            bootstrap_p_value(self.observed, self.bootstrap, scale=self.scale, n_images=self.n_images),
            permutation_p_value(self.observed, self.exchanged, scale=self.scale),
        )


def resampled_difference(a: Result, b: Result, resamples: int, seed: int) -> ResampledDifference:
    """Return the difference between two systems in one output, under both kinds of resampling."""
    bootstrap_a, bootstrap_b = (result.statistics.resampled(resamples, seed)[:, a.column] for result in (a, b))
    exchanged = a.statistics.exchanged_difference(b.statistics, resamples, seed)[:, a.column]
    scale = max(abs(a.score), abs(b.score))
    return ResampledDifference(b.score - a.score, scale, len(a.statistics.rows), bootstrap_b - bootstrap_a, exchanged)


def mean_difference(differences: Sequence[ResampledDifference]) -> ResampledDifference:
    """Return the mean of differences on disjoint sets of images that were resampled independently."""
    return ResampledDifference(
        float(np.mean([difference.observed for difference in differences])),
        max(difference.scale for difference in differences),
        max(difference.n_images for difference in differences),
        np.mean([difference.bootstrap for difference in differences], axis=0),
        np.mean([difference.exchanged for difference in differences], axis=0),
    )


def effect_size(differences: NDArray[np.float64]) -> float:
    """Return Cohen's d of paired caption scores, from their differences, float64[n_images]; nan if they do not vary."""
    center, moments = _moments(differences)
    return float(_effect_size(moments.sum(axis=0), center))


def effect_interval(differences: NDArray[np.float64], sampling: Sampling) -> tuple[float, float]:
    """Return the paired bootstrap interval of ``effect_size``."""
    center, moments = _moments(differences)
    sums = bootstrap_sums(moments, **sampling.settings)
    return sampling.interval(_effect_size(sums, center))


def _moments(differences: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
    """Return the mean of differences, and their powers 0, 1 and 2 about it: float64[n, 3]."""
    has_score = ~np.isnan(differences)  # an output may have no score for some captions
    center = float(differences[has_score].mean()) if has_score.any() else np.nan
    # About the mean, so that the variance is not a difference of large numbers.
    from_center = np.where(has_score, differences - center, 0.0)
    return center, np.stack([has_score.astype(np.float64), from_center, from_center**2], axis=1)


def _effect_size(moments: NDArray[np.float64], center: float) -> NDArray[np.float64]:
    """Return Cohen's d of paired differences from sums of powers 0, 1, 2 about a center: float64[..., 3] to
    float64[...].
    """
    n: NDArray[np.float64] = np.where(moments[..., 0] > 0, moments[..., 0], np.nan)
    from_center = moments[..., 1] / n
    mean = center + from_center
    variance = np.maximum(moments[..., 2] / n - from_center**2, 0) * n / np.maximum(n - 1, 1)
    deviation = np.sqrt(variance)
    return np.divide(mean, deviation, out=np.full_like(mean, np.nan), where=deviation > 1e-9 * (np.abs(mean) + 1e-3))


# Comparisons as tables: two systems with their differences, and pairs of several.

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


# ``Comparison``: the differences between two systems.


@dataclass(frozen=True)
class Difference:
    """The difference between two systems in one output, b minus a.

    Attributes:
        name: the output.
        score_a, score_b: corpus scores.
        difference: score_b - score_a.
        interval: paired bootstrap interval of the difference at the comparison's level.
        effect_size: Cohen's d of paired caption scores: mean difference divided by its standard deviation; nan if all
            differences are equal.
        effect_interval: paired bootstrap interval of the effect size.
        p_bootstrap: two-sided p value of the paired bootstrap.
        p_randomization: two-sided p value of approximate randomization.
        lower_is_better: whether a negative difference means that b is better; None if neither direction is better.
        signature: everything that the scores depend on besides the captions.
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


@dataclass(frozen=True)
class Example:
    """An image on which two systems differ strongly. Several candidates are joined by " | "."""

    id: ImageId
    candidate_a: str
    candidate_b: str
    score_a: float
    score_b: float


class Comparison(DisplayedMapping[str, Difference]):
    """Differences between two systems by output name: ``comparison["cider-d"].p_randomization``.

    Attributes:
        a, b: the reports of the two systems.
        level, resamples, seed: confidence level, resamples and seed of intervals and tests; ``sampling`` holds all
            three.
    """

    _unknown = ("{name!r} was not compared", "this comparison has")

    def __init__(self, a: Report, b: Report, differences: Mapping[str, Difference], sampling: Sampling) -> None:
        self.a = a
        self.b = b
        self.sampling = sampling
        self.level, self.resamples, self.seed = sampling.level, sampling.resamples, sampling.seed
        self._parts = dict(differences)

    def label_of(self, name: object) -> str | None:
        """Return the label of a difference; see ``Report.label_of``."""
        label = self.a.label_of(name)
        return label if label in self._parts else None

    def summary(self) -> str:
        """Return one line with the differences: "improved - baseline: bleu-4 +0.0392"."""
        differences = ", ".join(f"{d.name} {d.difference:+.4f}" for d in self._parts.values())
        return f"{self.b.system} - {self.a.system}: {differences}"

    def examples(self, n: int = 5, *, by: str | None = None) -> list[Example]:
        """Return the images on which the two systems differ most, largest difference first.

        Args:
            n: number of images.
            by: the output to sort by; None for cider-d if it was compared, otherwise the last one.

        Raises:
            ParameterError: a negative number of examples.
        """
        if n < 0:
            raise ParameterError(f"{counted(n, 'example')} cannot be shown", hint="ask for 0 or more")
        by = self.examples_by if by is None else by
        scores_a, scores_b = self.a[by].per_caption, self.b[by].per_caption
        order = np.argsort(-np.nan_to_num(np.abs(scores_b - scores_a), nan=-1.0), kind="stable")[:n].tolist()
        a, b = ([_one_text(text) for text in report.candidates] for report in (self.a, self.b))
        return [Example(self.a.ids[i], a[i], b[i], float(scores_a[i]), float(scores_b[i])) for i in order]

    @property
    def examples_by(self) -> str:
        """The default output for ``examples``."""
        return "cider-d" if "cider-d" in self._parts else [*self._parts][-1]

    def to_table(self, *, examples: int = 0) -> Table:
        """Return the differences as a table.

        Args:
            examples: number of images to show below, those on which the systems differ most.
        """
        return difference_table(self, examples=examples)

    def to_dict(self, *, examples: int = 0) -> dict[str, Any]:
        """Return JSON values, as printed by ``captious compare --format json``."""
        out: dict[str, Any] = {
            "version": __version__,
            "systems": [self.a.system, self.b.system],
            "n_images": self.a.n_images,
            "level": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "metrics": {},
        }
        for name, difference in self._parts.items():
            values = asdict(difference)
            del values["name"]
            out["metrics"][name] = values
        if examples:
            out["examples"] = {self.examples_by: [asdict(example) for example in self.examples(examples)]}
        if self.a.left_out or self.b.left_out:
            out["left_out"] = {report.system: report.left_out for report in (self.a, self.b)}
        if self.warnings:
            out["warnings"] = self.warnings
        return json_document(out)

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the comparison, one sentence each."""
        return [
            *warnings_by_system([(report.system, report.warnings) for report in (self.a, self.b)]),
            *self.own_warnings,
        ]

    @property
    def own_warnings(self) -> list[CaptionWarning]:
        """Warnings about the comparison itself, without those of the systems."""
        sentences = few_images_warning(self.a.n_images)
        if self.a.description is not None and self.b.description is not None:
            description_a, description_b = self.a.description, self.b.description
            if (description_a.fewest, description_a.most) != (description_b.fewest, description_b.most):
                text = (
                    "the systems have different numbers of candidates per image, on which diversity and scores of the "
                    "best candidate depend."
                )
                sentences.append(CaptionWarning(text, "different-numbers"))
        return sentences


@overload
def compare(
    a: Reports, *, level: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> PairwiseComparison: ...
@overload
def compare(
    a: object,
    b: object,
    references: object = None,
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    *,
    settings: Settings | None = None,
    names: tuple[str, str] | None = None,
    match: Match = "all",
    ids: Ids = "exact",
    several: Several = None,
    clean: str | Sequence[str] = (),
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Comparison: ...
def compare(
    a: object,
    b: object = None,
    references: object = None,
    metrics: MetricLike | Iterable[MetricLike] | None = None,
    *,
    settings: Settings | None = None,
    names: tuple[str, str] | None = None,
    match: Match = "all",
    ids: Ids = "exact",
    several: Several = None,
    clean: str | Sequence[str] = (),
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Comparison | PairwiseComparison:
    """Compare the captions of two systems on the same images, or all pairs of several systems.

    To compare more systems, score them together: ``compare(captious.score_systems({"mine": ..., "other": ...},
    references))``.

    Args:
        a, b: candidates of the two systems, in any form that ``score`` takes; or two reports, with ``names``,
            ``level``, ``resamples`` and ``seed`` only; or as ``a`` alone the ``Reports`` of several systems, with
            ``level``, ``resamples`` and ``seed`` only.
        references: in any form that ``read_references`` takes. None if candidates have references (``Captions``), or
            metrics need none.
        names: names of the systems; by default those of their files without extensions, or "a" and "b".
        metrics, settings, match, ids, several, clean: as for ``score``.
        level, resamples, seed: confidence level, number of resamples and random seed of the intervals and tests.

    Returns:
        The differences between the two systems; for ``Reports``, those between all pairs, with Holm's correction for
        the number of pairs and outputs.

    Raises:
        InputError, UnknownNameError, ParameterError: as ``score`` does.
        ParameterError: the systems do not have the same images (with ``match="common"``); other arguments with reports;
            fewer than two systems.
    """
    Sampling(resamples, seed, level)  # refuses what is not valid before any work
    if isinstance(a, Reports) or (isinstance(a, Report) and isinstance(b, Report)):
        given = {
            "b": isinstance(a, Reports) and b is not None,
            "references": references is not None,
            "metrics": metrics is not None,
            "settings": settings is not None,
            "names": isinstance(a, Reports) and names is not None,
            "match": match != "all",
            "several": several is not None,
            "clean": bool(clean),
            "ids": ids != "exact",
        }
        if unused := [name for name, is_given in given.items() if is_given]:
            raise ParameterError("reports are already scored", hint=f"leave out {', '.join(unused)}")
    if isinstance(a, Reports):
        return pairwise_comparison(a, level=level, resamples=resamples, seed=seed)
    if isinstance(a, Report) and isinstance(b, Report):
        name_a, name_b = _pair(names, (a.system, b.system))
        a, b = a.named(name_a), b.named(name_b)
        comparison = compare_reports(a, b, level=level, resamples=resamples, seed=seed)
        issue(comparison.warnings)
        return comparison
    if b is None:
        raise ParameterError(
            "two systems are needed", hint="give the captions of both, or what captious.score_systems returned"
        )
    names = _pair(names, pair_names(a, b))
    ways = ways_of(several, a, b)
    selection = select(metrics, settings, several=bool(ways))
    tables = [candidates for candidates in (a, b) if isinstance(candidates, Captions | CaptionSets)]
    table = None if references is None else read_references(references)
    if table is None and len(tables) < 2:
        if not tables:
            a = read_rows(a, "candidates", several=bool(ways))
        table = tables[0].references if tables else absent_references(a)
    systems = [
        read_captions(candidates, table, match=match, several=ways or None, clean=clean, ids=ids)
        for candidates in (a, b)
    ]
    selection, slow = selection.without_slow(systems)
    issue(slow)
    report_a, report_b = (
        evaluate(captions, selection, system=name, several=ways) for name, captions in zip(names, systems, strict=True)
    )
    comparison = compare_reports(report_a, report_b, level=level, resamples=resamples, seed=seed)
    issue(comparison.warnings)
    return comparison


def _pair(names: tuple[str, str] | None, default: tuple[str, str]) -> tuple[str, str]:
    """Return two different names: those given, or the default, or "a" and "b"."""
    if names is None:
        return default if default[0] != default[1] else ("a", "b")
    if isinstance(names, str) or len(set(names)) != 2 or len(names) != 2:
        raise ParameterError(f"{names!r} is not a pair of names", hint="give two names: names=('a', 'b')")
    return names


def compare_reports(
    a: Report, b: Report, *, level: float = 0.95, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
) -> Comparison:
    """Compare two reports on the same images and outputs.

    Raises:
        ParameterError: images, references or signatures differ.
    """
    sampling = Sampling(resamples, seed, level)
    if not same_images(a.ids, b.ids):
        raise ParameterError(
            f"{a.system} and {b.system} were not scored on the same images",
            where=f"{a.n_images:,} and {counted(b.n_images, 'image')}",
            hint="compare systems on the same images; remove the others from both files",
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
    differences: dict[str, Difference] = {}
    with steps([*a], lambda name: f"testing {name}") as compared:
        for name in compared:
            if name not in b or a[name].signature != b[name].signature:
                raise ParameterError(
                    f"{name} was not computed the same way for both systems",
                    where=f"{a[name].signature}; {b[name].signature if name in b else 'absent'}",
                    hint="score both with the same metrics and settings",
                )
            if a[name].statistics.rows.shape[1] != b[name].statistics.rows.shape[1]:
                raise ParameterError(
                    f"{name} compares systems with the same number of candidates per image",
                    where=f"{a.system}, {b.system}",
                    hint="score as many candidates per image of both, or use mbleu@mean",
                )
            differences[name] = _difference(a[name], b[name], sampling)
    return Comparison(a, b, differences, sampling)


def _difference(a: Result, b: Result, sampling: Sampling) -> Difference:
    tests = resampled_difference(a, b, sampling.resamples, sampling.seed).significance(sampling)
    of_captions = b.per_caption - a.per_caption
    return Difference(
        name=a.name,
        score_a=a.score,
        score_b=b.score,
        difference=tests.difference,
        interval=tests.interval,
        effect_size=effect_size(of_captions),
        effect_interval=effect_interval(of_captions, sampling),
        p_bootstrap=tests.p_bootstrap,
        p_randomization=tests.p_randomization,
        lower_is_better=a.lower_is_better,
        signature=a.signature,
    )


def _one_text(candidates: str | list[str]) -> str:
    """Format the candidates of an image for an example."""
    return candidates if isinstance(candidates, str) else " | ".join(candidates)


# ``PairwiseComparison``: the differences between all pairs of systems, tested together.


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
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the comparison, one sentence each."""
        sentences = self.reports.warnings + [warning for pair in self.values() for warning in pair.own_warnings]
        smallest = self.n_tests / (self.resamples + 1)
        if smallest > SIGNIFICANT:
            text = (
                f"with {self.resamples:,} resamples and {counted(self.n_tests, 'test')} no corrected p value is below "
                f"{min(smallest, 1):.2f}: use at least {self.n_tests / SIGNIFICANT:,.0f} resamples, or "
                "fewer metrics."
            )
            sentences.append(CaptionWarning(text, "few-resamples"))
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
            f"{counted(len(reports), 'system')} cannot be compared", hint=f"give 2 to {len(ascii_lowercase)} systems"
        )
    return PairwiseComparison(
        reports,
        {
            (a.system, b.system): compare_reports(a, b, level=level, resamples=resamples, seed=seed)
            for a, b in combinations(reports.values(), 2)
        },
    )
