"""The page of one or more systems: scores, tests, distributions, and every caption with its explanations."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.errors import ParameterError
from captious.evaluation import GroupedReport, GroupedReports, PairwiseComparison, Report, Reports, by_group, compare
from captious.evaluation.caption_checks.caption_warnings import few_images_warning, warnings_by_system
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES
from captious.evaluation.tables.difference_tables import difference_table
from captious.evaluation.tables.score_tables import exclusions, lower_is_better_note, score_table
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED
from captious.report import numbers
from captious.report.formats import Presentation
from captious.report.html import html_table, note, scrolling, signature_list, text
from captious.report.image_folder import ImageFolder, image_source
from captious.report.image_urls import ImageUrls
from captious.report.page.caption_words import caption_words
from captious.report.page.document import document
from captious.report.page.explanations.explained import Explained
from captious.report.page.explanations.manifest import explanations_of
from captious.report.page.packed_columns import Columns
from captious.results.table import Table

_LEVEL = 0.95
_COMMAND = re.compile(r"(?P<warning>.+\.) (?P<advice>[^.]*:) (?P<command>captious [a-z].*?)\.?")


@dataclass(frozen=True)
class SystemsPage:
    """A page of systems.

    Args:
        reports: systems that were scored with the same metrics on the same images.
        title, image_url, explain, groups, resamples, seed, percent: as for ``write_report``.
        folder: the folder of the page.

    Raises:
        ParameterError: no systems, different images, references or metrics, two systems with the same name, or a
            negative number of images.
    """

    reports: Sequence[Report]
    title: str = ""
    image_url: str | os.PathLike[str] | None = None
    explain: int | None = None
    groups: object = None
    resamples: int = DEFAULT_RESAMPLES
    seed: int = DEFAULT_SEED
    percent: bool = False
    folder: Path = Path()

    def __post_init__(self) -> None:
        if not self.reports:
            raise ParameterError("a report needs at least one system", help="give results of captious.score")
        names = [report.system for report in self.reports]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise ParameterError(
                f"two systems are called {repeated!r:.60}", help="give them names: captious.score(..., system=...)"
            )
        for report in self.reports:
            _ = report.single_captions  # several candidates per image are refused before any work is done
        if self.explain is not None and self.explain < 0:
            raise ParameterError(f"{self.explain} images cannot be explained", help="give 0 or more")
        if self.images is not None:
            self.images.check(self.reports[0].ids)

    @cached_property
    def images(self) -> ImageUrls | ImageFolder | None:
        """The source of images."""
        return None if self.image_url is None else image_source(self.image_url, self.folder)

    @cached_property
    def grouped(self) -> GroupedReports | None:
        """The systems by group of images, if there are groups."""
        return None if self.groups is None else by_group(Reports(self.reports), self.groups)

    @cached_property
    def compared(self) -> PairwiseComparison | None:
        """The differences between systems, if there are several."""
        if len(self.reports) == 1:
            return None
        return compare(Reports(self.reports), level=_LEVEL, resamples=self.resamples, seed=self.seed)

    def html(self) -> str:
        """Return the page."""
        first = self.reports[0]
        _ = self.compared  # systems that cannot be compared are refused before any work is done
        columns = Columns()
        rows = self._explained()
        references = first.captions.references
        words = caption_words([references.texts, *(report.single_captions.candidates for report in self.reports)])
        manifest = {
            "kind": "systems",
            "systems": [numbers.single_line(report.system) for report in self.reports],
            "images": first.n_images,
            "ids": self._ids(columns),
            "outputs": [
                {
                    "name": name,
                    "scores": [columns.numbers(report[name].per_caption) for report in self.reports],
                    "corpus": [_finite(report[name].score) for report in self.reports],
                    "lower": first[name].lower_is_better,
                }
                for name in first
            ],
            "by": self._sort_output,
            "percent": self.percent,
            "groups": self._grouped(columns),
            "references": columns.integers(np.diff(references.offsets)),
            "captions": words.pack(columns),
            "explanations": explanations_of(Explained(self.reports, rows, words, columns)),
            "url": self.images.pieces if isinstance(self.images, ImageUrls) else None,
            "files": columns.strings(self.images.addresses(first.ids))
            if isinstance(self.images, ImageFolder)
            else None,
        }
        return document(self._title, self._content(rows), manifest, columns, images=self.images)

    @property
    def _title(self) -> str:
        if self.title:
            return self.title
        *before, last = [report.system for report in self.reports]
        n_images = self.reports[0].n_images
        names = (
            counted(len(before) + 1, "system")
            if len(before) > 2
            else " and ".join([", ".join(before)] * bool(before) + [last])
        )
        return f"{names} on {counted(n_images, 'image')}"

    @property
    def _sort_output(self) -> str:
        """The output that captions are initially sorted by."""
        first = self.reports[0]
        return first["cider-d"].name if "cider-d" in first else [*first][-1]  # it may have parameters: cider-d:idf=coco

    def _grouped(self, columns: Columns) -> dict[str, Any] | None:
        """Return the groups, and that of each image."""
        if self.grouped is None:
            return None
        first = next(iter(self.grouped.values()))
        numbers_of = {name: number for number, name in enumerate(first)}
        group_of = {image: numbers_of[name] for name, report in first.items() for image in report.ids}
        return {
            "by": numbers.single_line(first.by),
            "names": [numbers.single_line(name) for name in numbers_of],
            "of_images": columns.integers([group_of[image] for image in self.reports[0].ids]),
        }

    def _ids(self, columns: Columns) -> dict[str, Any]:
        """Return image ids: numbers, or text and which of them are numbers."""
        ids = self.reports[0].ids
        if all(isinstance(image, int) and -(2**31) < image < 2**31 for image in ids):
            return {"numbers": columns.integers([*ids])}
        return {
            "texts": columns.strings([str(image) for image in ids]),
            "are_numbers": columns.integers([isinstance(image, int) for image in ids]),
        }

    def _explained(self) -> NDArray[np.int64]:
        """Return the images to explain: those on which caption scores differ most, or the worst of one system."""
        first = self.reports[0]
        n = first.n_images
        if self.explain is None or self.explain >= n:
            return np.arange(n)
        scores = np.nan_to_num(np.stack([report[self._sort_output].per_caption for report in self.reports]))
        worst = scores[0] if first[self._sort_output].lower_is_better else -scores[0]
        spread = worst if len(scores) == 1 else scores.max(axis=0) - scores.min(axis=0)
        return np.sort(np.argsort(-spread, kind="stable")[: self.explain])

    @property
    def _presentation(self) -> Presentation:
        """The presentation of tables."""
        return Presentation(percent=self.percent)

    # ---- the parts that need no script

    def _content(self, rows: NDArray[np.int64]) -> str:
        table = score_table(self.reports, intervals=True, resamples=self.resamples, seed=self.seed)
        scores = self._presentation.apply(table)
        sampling = f"{self.resamples:,} resamples of images, seed {self.seed}"
        warnings = [*map(_parted, self._warnings())]
        commands = [*dict.fromkeys(advice for _, advice in warnings if advice)]
        if len(rows) < self.reports[0].n_images:
            commands.append(("To explain more images:", "captious report --explain NUMBER"))
        best = " The best score of each row is underlined." if len(self.reports) > 1 else ""
        lower = "".join(f" {sentence}" for sentence in lower_is_better_note(scores.rows))
        parts = [
            f"<h1>{text(self._title)}</h1>",
            self._best(scores),
            f'<p class="where">{text(scores.title)}</p>',
            note(sentence for sentence, _ in warnings),
            "<section><h2>Scores</h2>",
            scrolling(html_table(scores, drawn=True), "Scores"),
            f'<p class="explained">Below each score is its 95% bootstrap interval ({text(sampling)})'
            f'<span class="of-drawings">, drawn at the end of the row on a scale of its own</span>.{best}{lower}</p>',
            signature_list(scores),
            "</section>",
            *self._group_tables(),
            *self._differences(sampling),
            '<section id="distributions"><h2>Distributions</h2></section>',
            '<section id="captions"><h2>Captions</h2>',
            '<p class="needs-script">Distributions and captions need JavaScript.</p>',
            self._limit(rows),
            "</section>",
            *(f'<p class="explained">{text(advice)} <code>{text(command)}</code></p>' for advice, command in commands),
        ]
        return "\n".join(filter(None, parts))

    def _group_tables(self) -> Iterator[str]:
        """Return a table of groups for each output."""
        if self.grouped is None:
            return
        table = self._presentation.apply(self.grouped.to_table(intervals=True))
        yield f'<section id="groups"><h2>Scores by {text(self.grouped.by)}</h2>'
        for name, section in zip(self.reports[0], dict.fromkeys(row.section for row in table.rows), strict=True):
            content = scrolling(html_table(table, section=section), f"{name} by group")
            yield f'<div class="output" data-name="{text(name)}"><h3>{text(name)}</h3>{content}</div>'
        yield (
            '<p class="explained">Macro: the mean of the groups. Micro: all images together. Images are resampled '
            "within their groups.</p></section>"
        )

    def _differences(self, sampling: str) -> Iterator[str]:
        """Return a table of differences for each pair of systems."""
        compared = self.compared
        if compared is None:
            return
        several = len(compared) > 1
        yield '<section id="differences"><h2>Differences</h2>'
        for (a, b), pair in zip(combinations(range(len(self.reports)), 2), compared, strict=True):
            name = f"{pair[1]} − {pair[0]}"
            table = difference_table(compared[pair], corrected=compared.corrected[pair] if several else None)
            content = scrolling(html_table(self._presentation.apply(table)), name)
            yield f'<div class="pair" data-a="{a}" data-b="{b}"><h3>{text(name)}</h3>{content}</div>'
        correction = (
            f" Corrected: Holm’s correction for {compared.n_tests:,} tests, all pairs and metrics." if several else ""
        )
        corrected = "corrected " * several
        yield (
            '<p class="explained">Each difference has its 95% interval below it<span class="of-drawings">, drawn on '
            f"its own scale around zero</span>; it is bold where {corrected}p of the paired bootstrap is below .05. "
            "Intervals and p values: "
            f"{text(sampling)}. Effect size: Cohen’s d of caption scores.{correction}</p></section>"
        )

    def _best(self, scores: Table) -> str:
        """Return the number of metrics in which each of several systems has the best score."""
        best = [[cell is not None and cell.best for cell in row.cells] for row in scores.rows]
        n_rows = sum(map(any, best))
        counts = {
            report.system: sum(marks) for report, marks in zip(self.reports, zip(*best, strict=True), strict=True)
        }
        systems = [f"{system} in {n:,}" for system, n in sorted(counts.items(), key=lambda item: -item[1]) if n]
        if not systems:
            return ""
        systems[0] += f" of {counted(n_rows, 'metric')}"
        return f'<p class="lead">Best score: {text(", ".join(systems))}.</p>'

    def _warnings(self) -> Iterator[str]:
        shown: Iterable[Report | GroupedReport] = self.reports if self.grouped is None else self.grouped.values()
        yield from warnings_by_system(
            [(system.system, report.warnings) for system, report in zip(self.reports, shown, strict=True)]
        )
        yield from few_images_warning(self.reports[0].n_images)
        yield from exclusions(self.reports)

    def _limit(self, rows: NDArray[np.int64]) -> str:
        n = self.reports[0].n_images
        if len(rows) == n:
            return ""
        which = "the worst scores" if len(self.reports) == 1 else "the largest differences between systems"
        return (
            f'<p class="explained">Explanations other than n-grams are in this file for {len(rows):,} of {n:,} images, '
            f"those with {which}.</p>"
        )


def _parted(warning: str) -> tuple[str, tuple[str, str] | None]:
    """Split a warning into the problem and the advice about a command, which pages show at their end."""
    parts = _COMMAND.fullmatch(warning)
    return (warning, None) if parts is None else (parts["warning"], (parts["advice"], parts["command"]))


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None
