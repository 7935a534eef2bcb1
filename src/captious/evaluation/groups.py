"""Scores and differences by group of images: nocaps domains, data sets, languages, lengths of references.

Nothing is scored again: the score of a group is ``aggregate`` of the sum of the statistics of its images. Quantities
that a metric computes from all references (CIDEr's document frequencies) remain those of all images, as the signature
says.

The macro average is the mean of the scores of the groups, the micro average the score of all images together. Groups
are resampled independently of each other: group i, counted from 0, with the random seed ``seed + i``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from captious.data import Groups, read_groups, read_references
from captious.errors import CaptionWarning, ParameterError
from captious.evaluation.checks import FEW_IMAGES
from captious.evaluation.comparison import (
    Comparison,
    comparison_comments,
    corrected,
    difference_cells,
    difference_columns,
    difference_record,
    example_table,
    p_value_cells,
    p_value_columns,
    significance,
)
from captious.evaluation.report import (
    AVERAGES,
    GroupScore,
    Part,
    Report,
    Reports,
    Result,
    ScoredPart,
    exclusions,
    interval_options,
    lower_is_better_note,
    part_scores,
    side_by_side,
    signature_lines,
    subject,
)
from captious.metrics.contract.metric import Statistics
from captious.progress import steps
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.tables import (
    PAGE,
    SCREEN,
    ByValue,
    Cell,
    Column,
    Displayed,
    DisplayedMapping,
    Row,
    Table,
    json_document,
    labeled,
    section_pictures,
)
from captious.text import Tokenizer, WordLayer, as_tokenizer
from captious.words import DEFAULT_SEED, counted, counted_of, percentage, sample_of, with_article


@dataclass(frozen=True, eq=False)
class GroupDifference(ByValue):
    """A difference between two systems in one group, or in all images, b minus a.

    Attributes:
        part, group, n_images, metric, lower_is_better, signature: as in ``GroupScore``.
        score_a, score_b, difference, interval, p_bootstrap, p_randomization: as in ``Difference``.
        corrected_bootstrap, corrected_randomization: the p values with Holm's correction for the number of groups; the
            tests of one output are one family. None for averages.
    """

    part: Part
    group: str
    n_images: int
    metric: str
    score_a: float
    score_b: float
    difference: float
    interval: tuple[float, float]
    p_bootstrap: float
    p_randomization: float
    corrected_bootstrap: float | None
    corrected_randomization: float | None
    lower_is_better: bool | None
    signature: str


class MacroStatistics(Statistics):
    """The mean of a metric's scores over groups of images, which are resampled independently of each other.

    Its rows are those of the largest group, without which resampling says nothing.

    Args:
        groups: the statistics of each group, of one metric.
    """

    def __init__(self, groups: Sequence[Statistics]) -> None:
        super().__init__(groups[0].metric, max((group.rows for group in groups), key=len))
        self.groups = groups

    @property
    def scores(self) -> NDArray[np.float64]:
        """Mean scores, float64[m]."""
        return np.asarray(np.mean([group.scores for group in self.groups], axis=0))

    def resampled(self, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return mean scores of resampled groups, float64[resamples, m]; group i has the seed ``seed + i``."""
        groups = [group.resampled(resamples, seed + i) for i, group in enumerate(self.groups)]
        return np.asarray(np.mean(groups, axis=0))

    def exchanged_difference(self, other: Statistics, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return the mean of the differences within groups, float64[resamples, m]; seeds are as in ``resampled``."""
        assert isinstance(other, MacroStatistics)
        pairs = enumerate(zip(self.groups, other.groups, strict=True))
        return np.asarray(np.mean([a.exchanged_difference(b, resamples, seed + i) for i, (a, b) in pairs], axis=0))


class GroupedReport(DisplayedMapping[str, Report]):
    """Scores of one system by group: ``grouped["in-domain"]["cider-d"].score``. Displayed as a table.

    Attributes:
        by: the name of the grouping.
        whole: the report for all images.
    """

    _unknown = ("there is no group {name!r}", "the groups are")

    def __init__(self, by: str, whole: Report, groups: Mapping[str, Report]) -> None:
        self.by = by
        self.whole = whole
        self._parts = dict(groups)

    def summary(self) -> str:
        """Return one line with the groups: "improved by kind: indoor, outdoor"."""
        return f"{self.whole.system} by {self.by}: {', '.join(self)}"

    def macro(self, name: str) -> float:
        """Return the mean of an output over groups; nan if a group has no score."""
        return self._mean[name].score

    def macro_interval(
        self, name: str, level: float = 0.95, *, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> tuple[float, float]:
        """Return the percentile bootstrap interval of the macro average; images are resampled within their groups.

        Args:
            name: the output.
            level, resamples, seed: as for ``Result.confidence_interval``.

        Raises:
            ParameterError: a level outside (0, 1), or no resamples.
        """
        return self._mean[name].confidence_interval(level, resamples=resamples, seed=seed)

    @cached_property
    def _mean(self) -> Report:
        """The means of outputs over groups, as results."""
        results = {}
        for name, whole in self.whole.items():
            statistics = MacroStatistics([report[name].statistics for report in self.values()])
            results[name] = Result(name, whole.signature, statistics, whole.column)
        return Report(self.whole.system, self.whole.captions, results, [])

    def scores(
        self, *, intervals: bool = False, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> list[GroupScore]:
        """Return every score, output by output: the groups, then their mean (macro), then all images (micro).

        Args:
            intervals: compute 95% intervals, with seed ``seed + i`` for group i.
            resamples, seed: number of resamples and random seed.
        """
        return part_scores(_parts_of(self), Sampling(resamples, seed) if intervals else None)

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the whole report, then about the groups, one sentence each."""
        return [*self.whole.warnings, *self.own_warnings]

    @property
    def own_warnings(self) -> list[CaptionWarning]:
        """Warnings about the groups, without those of the whole report."""
        return _small_groups(self._parts)

    def to_table(self, *, intervals: bool = False) -> Table:
        """Return the scores as a table.

        Args:
            intervals: show 95% intervals.
        """
        return grouped_score_table([self], Sampling() if intervals else None)

    def to_dict(
        self, *, intervals: bool = False, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> dict[str, Any]:
        """Return JSON values: those of ``Report.to_dict``, with the scores of groups under "groups".

        Args:
            intervals, resamples, seed: as for ``Report.to_dict``; group i has the seed ``seed + i``.
        """
        sampling: dict[str, Any] = {"intervals": intervals, "resamples": resamples, "seed": seed}
        whole = self.whole.to_dict(**sampling)
        parts = [
            (score, {"score": score.score, "ci95": score.interval})
            for score in self.scores(**sampling)
            if score.part != "micro"  # which is the score of the whole report
        ]
        warned = {"warnings": self.warnings} if self.warnings else {}
        return json_document(whole | {"groups": _nested(self.by, parts)} | warned)


def _parts_of(grouped: GroupedReport) -> list[ScoredPart]:
    """Return the groups, then their mean (macro), then all images (micro)."""
    groups = [ScoredPart("group", name, report, number) for number, (name, report) in enumerate(grouped.items())]
    return [*groups, ScoredPart("macro", "", grouped._mean), ScoredPart("micro", "", grouped.whole)]


class GroupedReports(DisplayedMapping[str, GroupedReport]):
    """Scores of several systems by group: ``grouped["mine"]["in-domain"]["cider-d"].score``. Displayed as a table.

    Args:
        reports: systems that were scored with the same metrics, by the same groups.

    Attributes:
        by: the name of the grouping.
        whole: the reports for all images.
    """

    _unknown = ("{name!r} was not scored", "the systems are")

    def __init__(self, reports: Sequence[GroupedReport]) -> None:
        self.whole = Reports([grouped.whole for grouped in reports])
        self.by = reports[0].by
        self._parts = {grouped.whole.system: grouped for grouped in reports}

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the systems, then about their groups, one sentence each."""
        return [*self.whole.warnings, *(warning for grouped in self.values() for warning in grouped.own_warnings)]

    def to_table(self, *, intervals: bool = False) -> Table:
        """Return the scores as a table, the best of each metric and group marked.

        Args:
            intervals: show 95% intervals.
        """
        return grouped_score_table([*self.values()], Sampling() if intervals else None)

    def to_dict(self, *, intervals: bool = False) -> dict[str, Any]:
        """Return JSON values, as printed by ``captious score --group-by GROUPS --format json``.

        Args:
            intervals: compute 95% intervals.
        """
        return dict(self.to_table(intervals=intervals).document)


class GroupedComparison(Displayed):
    """Differences between two systems by group of images. Displayed as a table.

    Attributes:
        by: the name of the grouping.
        whole: the comparison for all images.
        differences: output by output the groups, then their mean (macro), then all images (micro).
    """

    def __init__(self, by: str, whole: Comparison, differences: Sequence[GroupDifference]) -> None:
        self.by = by
        self.whole = whole
        self.differences = list(differences)

    def summary(self) -> str:
        """Return one line with the groups: "improved - baseline by kind: indoor, outdoor"."""
        return f"{self.whole.b.system} - {self.whole.a.system} by {self.by}: {', '.join(self.group_sizes)}"

    @property
    def group_sizes(self) -> dict[str, int]:
        """Number of images by group."""
        return {part.group: part.n_images for part in self.differences if part.part == "group"}

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about the comparison and its groups, one sentence each."""
        sizes = self.group_sizes
        sentences = [*self.whole.warnings, *_small_groups(sizes)]
        if (smallest := len(sizes) / (self.whole.resamples + 1)) > 0.05:
            text = (
                f"with {self.whole.resamples:,} resamples and {counted(len(sizes), 'group')} no corrected p value is "
                f"below {min(smallest, 1):.2f}: use more resamples."
            )
            sentences.append(CaptionWarning(text, "few-resamples"))
        return sentences

    def to_table(self, *, examples: int = 0) -> Table:
        """Return the differences as a table.

        Args:
            examples: number of images to show below, those on which the systems differ most.
        """
        return grouped_difference_table(self, examples=examples)

    def to_dict(self, *, examples: int = 0) -> dict[str, Any]:
        """Return JSON values: those of ``Comparison.to_dict``, with the differences within groups under "groups"."""
        parts = []
        for difference in self.differences:
            if difference.part == "micro":
                continue
            values = asdict(difference)
            for key in ("part", "group", "n_images", "metric", "lower_is_better", "signature"):
                del values[key]
            parts.append((difference, values))
        groups = {"groups": _nested(self.by, parts) | {"correction": "holm"}}
        warned = {"warnings": self.warnings} if self.warnings else {}
        return json_document(self.whole.to_dict(examples=examples) | groups | warned)


@overload
def by_group(result: Report, groups: object, *, column: str | None = None) -> GroupedReport: ...
@overload
def by_group(result: Reports, groups: object, *, column: str | None = None) -> GroupedReports: ...
@overload
def by_group(result: Comparison, groups: object, *, column: str | None = None) -> GroupedComparison: ...
def by_group(
    result: Report | Reports | Comparison, groups: object, *, column: str | None = None
) -> GroupedReport | GroupedReports | GroupedComparison:
    """Return scores, or the differences of a comparison, by group of images, computed from the same statistics.

    Quantities that a metric computes from all references, such as CIDEr's document frequencies, do not change.
    Differences are tested with Holm's correction for the number of groups.

    Args:
        result: what ``captious.score`` returned, or the comparison of two systems.
        groups: the group of each image: a path or a mapping ``{image_id: group}``, or the result of
            ``captious.read_groups`` or ``captious.length_groups``.
        column: the field or column of the groups in the file.

    Raises:
        InputError, UnknownNameError: as ``captious.read_groups`` does; an image without a group.
        ParameterError: another kind of result.
    """
    if isinstance(result, Comparison) and len(result.reports) > 2:
        raise ParameterError(
            f"a comparison of {len(result.reports)} systems has no differences by group",
            hint=f"choose a pair: comparison.between{result.pairs[0]}",
        )
    if not isinstance(result, Report | Reports | Comparison):
        raise ParameterError(
            f"{with_article(type(result).__name__)} has no scores by group",
            hint="give a Report, Reports of several systems, or the Comparison of two",
        )
    read = read_groups(groups, column=column)
    if isinstance(result, Report):
        return _grouped_report(result, read)
    if isinstance(result, Reports):
        return GroupedReports([_grouped_report(report, read) for report in result.values()])
    return _grouped_comparison(result, read)


def _grouped_report(report: Report, groups: Groups) -> GroupedReport:
    rows = groups.rows(report.captions.references)
    return GroupedReport(groups.by, report, {name: report.select(indices) for name, indices in rows.items()})


def _grouped_comparison(comparison: Comparison, groups: Groups) -> GroupedComparison:
    a, b = (_grouped_report(report, groups) for report in (comparison.a, comparison.b))
    by_part: list[list[GroupDifference]] = []
    with steps(
        [*zip(_parts_of(a), _parts_of(b), strict=True)], lambda pair: f"testing {pair[0].group or pair[0].part}"
    ) as parts:
        for of_a, of_b in parts:
            sampling = replace(comparison.sampling, seed=comparison.seed + of_a.number)
            by_part.append([_difference(of_a, of_b, name, sampling) for name in comparison.a])
    differences: list[GroupDifference] = []
    for of_output in zip(*by_part, strict=True):
        differences += [*corrected(of_output[: len(a)]), *of_output[len(a) :]]  # averages are not corrected
    return GroupedComparison(groups.by, comparison, differences)


def _difference(of_a: ScoredPart, of_b: ScoredPart, name: str, sampling: Sampling) -> GroupDifference:
    """Return the difference between two systems in a part, with p values that are not corrected yet."""
    a, b = of_a.report[name], of_b.report[name]
    return GroupDifference(
        part=of_a.part,
        group=of_a.group,
        n_images=of_a.report.n_images,
        metric=name,
        score_a=a.score,
        score_b=b.score,
        **asdict(significance(a, b, sampling)),
        corrected_bootstrap=None,
        corrected_randomization=None,
        lower_is_better=a.lower_is_better,
        signature=a.signature,
    )


def grouped_score_table(grouped: Sequence[GroupedReport], sampling: Sampling | None = None) -> Table:
    """Return a table of systems side by side, with a row per output and group, and per average; the best of several is
    marked.

    Args:
        grouped: systems that were scored with the same metrics, by the same groups.
        sampling: show bootstrap intervals from these resamples, with seed ``seed + i`` for group i.
    """
    documents = [system.to_dict(**interval_options(sampling)) for system in grouped]
    return side_by_side([*map(_parts_of, grouped)], documents, sampling, "images, within groups", grouped[0].by)


def grouped_difference_table(grouped: GroupedComparison, *, examples: int = 0) -> Table:
    """Return a table of two systems and their differences, with a row per output and group, and per average."""
    whole = grouped.whole
    rows = []
    for d in grouped.differences:
        label, in_papers = AVERAGES.get(d.part, (d.group, d.group))
        cells = [Cell(d.n_images), *difference_cells(d), *p_value_cells(d, corrected=True)]
        rows.append(Row(label, cells, labeled(d.metric, d.lower_is_better), in_papers, d.signature))
    correction = f"Holm's correction for {counted(len(grouped.group_sizes), 'group')}, for each metric"
    note = (
        f"{percentage(whole.level)} intervals and p values from {whole.resamples:,} resamples of the images of each "
        f"group, seed {whole.seed}. Corrected: {correction}."
    )
    return Table(
        columns=[
            Column("images", "count", media=[SCREEN, PAGE]),
            *difference_columns(whole),
            *p_value_columns(corrected=True),
        ],
        rows=rows,
        records=[difference_record(whole, asdict(d)) for d in grouped.differences],
        document=grouped.to_dict(examples=examples),
        title=f"{subject([whole.a, whole.b])} · by {grouped.by}",
        caption=f"{counted(whole.a.n_images, 'image')} by {grouped.by}; below each difference its "
        f"{percentage(whole.level)} interval; corrected: {correction}",
        notes=[*exclusions([whole.a, whole.b]), " ".join([note, *lower_is_better_note(rows)])],
        comments=[
            *comparison_comments(whole),
            *signature_lines(whole.a),
            f"by {grouped.by}; macro: mean over groups",
            f"p values of groups have {correction}",
            *(f"  {name}: {counted(n, 'image')}" for name, n in grouped.group_sizes.items()),
        ],
        pictures=section_pictures(
            rows, 3, f"{whole.b.system} − {whole.a.system}; {percentage(whole.level)} intervals", line=0.0
        ),
        below=example_table(whole, examples) if examples else None,
    )


def length_groups(
    references: object,
    bounds: Sequence[float] | None = None,
    *,
    tokenizer: str | Tokenizer | Callable[[str], Sequence[str]] = "ptb",
) -> Groups:
    """Group images by the mean number of words of their references.

    Args:
        references: any form that ``captious.read_references`` reads.
        bounds: the maximum length of each group but the last; by default the quartiles, rounded to a tenth of a word.
        tokenizer: see ``captious.text.as_tokenizer``.

    Returns:
        Up to ``len(bounds) + 1`` groups, shortest first. Groups without images are left out.

    Raises:
        ParameterError: bounds that do not increase, or no references.
        UnknownNameError: an unknown tokenizer.
    """
    table = read_references(references)
    if not table.present:
        raise ParameterError(
            "there are no references whose lengths images could be grouped by",
            where=table.name,
            hint="give references, or group by a file or a column",
        )
    words = table.layer(WordLayer(as_tokenizer(tokenizer))).lengths
    means = np.add.reduceat(words, table.offsets[:-1]) / np.diff(table.offsets)
    if bounds is None:
        ends = np.unique(np.quantile(means, (0.25, 0.5, 0.75)).round(1))
        ends = ends[ends < means.max()]
    else:
        ends = np.array(bounds, dtype=np.float64)
        if not ends.size or not np.isfinite(ends).all() or (np.diff(ends) <= 0).any():
            raise ParameterError(
                f"{list(bounds)} are not bounds of lengths",
                hint="give numbers of words that increase, such as 8, 10, 12",
            )
    texts = [f"{end:g}" for end in ends]
    names = [f"up to {texts[0]} words"] if texts else ["all lengths"]
    names += [f"{low} to {high} words" for low, high in pairwise(texts)]
    names += [f"over {texts[-1]} words"] if texts else []
    places = np.searchsorted(ends, means).tolist()
    group_of = {image: names[place] for image, place in zip(table.ids, places, strict=True)}
    return Groups("length of references", group_of, tuple(names), source="length", id_form=table.id_form)


def _small_groups(groups: Mapping[str, Report] | Mapping[str, int]) -> list[CaptionWarning]:
    """Return a warning if groups have too few images."""
    sizes = {name: group if isinstance(group, int) else group.n_images for name, group in groups.items()}
    small = [f"{name} ({n})" for name, n in sizes.items() if n < FEW_IMAGES]
    if not small:
        return []
    text = (
        f"{counted_of(len(small), len(sizes), 'group', 'have')} fewer than {FEW_IMAGES} images: {sample_of(small)}. "
        "Scores of so few images are unreliable, intervals are too narrow and p values too small."
    )
    return [CaptionWarning(text, "small-groups")]


def _nested(by: str, parts: Sequence[tuple[GroupScore | GroupDifference, dict[str, Any]]]) -> dict[str, Any]:
    """Return numbers of groups and macro averages, by group and metric."""
    groups: dict[str, dict[str, Any]] = {}
    macro: dict[str, Any] = {}
    for number, values in parts:
        if number.part == "macro":
            macro[number.metric] = values
        else:
            group = groups.setdefault(number.group, {"name": number.group, "n_images": number.n_images, "metrics": {}})
            group["metrics"][number.metric] = values
    return {"by": by, "groups": [*groups.values()], "macro": macro}
