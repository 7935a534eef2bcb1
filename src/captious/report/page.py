"""``write_report``: the pages of systems, judgments and studies, each as one self-contained HTML file."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious import drawing
from captious.errors import Front, ParameterError, shown
from captious.evaluation import (
    Comparison,
    GroupedReport,
    GroupedReports,
    Report,
    Reports,
    by_group,
    compare_reports,
)
from captious.evaluation.checks import few_images_warning, warnings_by_system
from captious.evaluation.comparison import RULE, difference_table
from captious.evaluation.groups import grouped_score_table
from captious.evaluation.report import are_ranked, exclusions, lower_is_better_note, score_table
from captious.files import is_pipe_or_device, whole_file
from captious.metrics.contract.registry import NamingScheme
from captious.report.formats import Presentation
from captious.report.html import details, html_table, note, scrolling, signature_list, text
from captious.report.images import ImageFolder, ImageUrls, image_source
from captious.report.page_data import Columns, caption_words, document
from captious.report.page_explanations import Explained, explanations_of
from captious.statistics import DEFAULT_RESAMPLES, Sampling
from captious.tables import Clouds, Curves, Displayed, Dot, Dots, Matrix, Picture, Ranking, Table
from captious.words import DEFAULT_SEED, counted, listed, percentage, shortened, with_article

if TYPE_CHECKING:
    from captious.judgment import Judgment, Study


# The page of one or more systems: scores, tests, distributions, and every caption with its explanations.

_LEVEL = 0.95
_COMMAND = re.compile(r"(?P<warning>.+\.) (?P<advice>[^.]*:) (?P<command>captious [a-z].*?)\.?")


@dataclass(frozen=True)
class SystemsPage:
    """A page of systems.

    Args:
        reports: systems that were scored with the same metrics on the same images.
        title, image_url, explain, groups, resamples, seed, percent, naming: as for ``write_report``.
        folder: the folder of the page.
        front: who reads the names of options in warnings.

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
    naming: NamingScheme = "captious"
    folder: Path = Path()
    front: Front = "python"

    def __post_init__(self) -> None:
        if not self.reports:
            raise ParameterError("a report needs at least one system", hint="give results of captious.score")
        names = [report.system for report in self.reports]
        if repeated := next((name for name in names if names.count(name) > 1), None):
            raise ParameterError(
                f"two systems are called {shortened(repeated)}", hint="give them names: captious.score(..., system=...)"
            )
        for report in self.reports:
            _ = report.single_captions  # several candidates per image are refused before any work is done
        if self.explain is not None and self.explain < 0:
            raise ParameterError(f"{self.explain} images cannot be explained", hint="give 0 or more")
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
    def compared(self) -> Comparison | None:
        """The differences between systems, if there are several."""
        if len(self.reports) == 1:
            return None
        return compare_reports(*self.reports, level=_LEVEL, resamples=self.resamples, seed=self.seed)

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
            "systems": [drawing.single_line(report.system) for report in self.reports],
            "images": first.n_images,
            "ids": self._ids(columns),
            "outputs": [
                {
                    "name": name,
                    "scores": [columns.numbers(report[name].per_caption) for report in self.reports],
                    "corpus": [_finite(report[name].score) for report in self.reports],
                    "lower": first[name].lower_is_better,
                    "ranked": first[name].lower_is_better is not None and are_ranked(self.reports, name),
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
        systems = [report.system for report in self.reports]
        n_images = self.reports[0].n_images
        names = counted(len(systems), "system") if len(systems) > 3 else listed(systems)
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
            "by": drawing.single_line(first.by),
            "names": [drawing.single_line(name) for name in numbers_of],
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
        return Presentation(percent=self.percent, naming=self.naming)

    # ---- the parts that need no script

    def _content(self, rows: NDArray[np.int64]) -> str:
        table = score_table(self.reports, Sampling(self.resamples, self.seed))
        scores = self._presentation.apply(table)
        sampling = f"{self.resamples:,} resamples of images, seed {self.seed}"
        warnings = [*map(_parted, self._warnings())]
        commands = [*dict.fromkeys(advice for _, advice in warnings if advice)]
        if len(rows) < self.reports[0].n_images:
            commands.append(("To explain more images:", "captious report --explain NUMBER"))
        n_best = self._best(scores)
        best = " The best score of each row is underlined." if n_best else ""
        lower = "".join(f" {sentence}" for sentence in lower_is_better_note(scores.rows))
        parts = [
            f"<h1>{text(self._title)}</h1>",
            n_best,
            f'<p class="where">{text(scores.title)}</p>',
            note((sentence for sentence, _ in warnings), [report.system for report in self.reports]),
            "<section><h2>Scores</h2>",
            scrolling(html_table(scores, drawn=True), "Scores"),
            f'<p class="explained">Below each score is its {percentage(_LEVEL)} bootstrap interval ({text(sampling)})'
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
        grouped = grouped_score_table([*self.grouped.values()], Sampling(self.resamples, self.seed))
        table = self._presentation.apply(grouped)
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
        several = len(compared.pairs) > 1
        yield '<section id="differences"><h2>Differences</h2>'
        for (a, b), pair in zip(combinations(range(len(self.reports)), 2), compared.pairs, strict=True):
            name = f"{pair[1]} − {pair[0]}"
            table = difference_table(compared.between(*pair), corrected=several)
            content = scrolling(html_table(self._presentation.apply(table)), name)
            yield f'<div class="pair" data-a="{a}" data-b="{b}"><h3>{text(name)}</h3>{content}</div>'
        correction = (
            f" Corrected: Holm’s correction for {compared.n_tests:,} tests, all pairs and metrics." if several else ""
        )
        corrected = "corrected " * several
        yield (
            f'<p class="explained">Each difference has its {percentage(_LEVEL)} interval below it'
            '<span class="of-drawings">, drawn on '
            f"its own scale around zero</span>; it is bold where {corrected}{text(RULE)}. "
            f"Intervals and p values: {text(sampling)}. Effect size: Cohen’s d of caption scores.{correction}"
            "</p></section>"
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
        parts: Iterable[Report | GroupedReport] = self.reports if self.grouped is None else self.grouped.values()
        named = [(system.system, report.warnings) for system, report in zip(self.reports, parts, strict=True)]
        yield from (shown(warning, self.front) for warning in warnings_by_system(named))
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


# Pages of judgments and studies: a table, its pictures as charts, and everything that the numbers depend on.


def table_page(table: Table, title: str = "") -> str:
    """Return the table, and a chart for each of its pictures."""
    title = title or table.title or "Agreement of metrics with human judgments"
    figures = [_figure(picture) for picture in table.pictures.values()]
    content = scrolling(html_table(table), "Results") + details(table)
    if table.below is not None:
        content += f"<h2>{text(table.below.title)}</h2>{scrolling(html_table(table.below), table.below.title)}"
    for part in table.following:
        content += f"<h2>{text(part.title)}</h2>{scrolling(html_table(part), part.title)}{details(part)}"
    parts = [
        f"<h1>{text(title)}</h1>",
        note(table.warnings),
        f"<section>{content}</section>",
        '<section id="figures"><p class="needs-script">Charts need JavaScript.</p></section>' if figures else "",
    ]
    return document(title, "\n".join(filter(None, parts)), {"kind": "figures", "figures": figures})


def _figure(picture: Picture) -> dict[str, Any]:
    """Return the data that ``assets/results.js`` draws."""
    kind, content = _CHARTS[type(picture)]
    return {"kind": kind, "title": drawing.single_line(picture.title), **content(picture)}


def _ranking(picture: Ranking) -> dict[str, Any]:
    """Return the data of a ranking. Values of one rank share a color."""
    places = {rank: place for place, rank in enumerate(dict.fromkeys(picture.ranks))}
    shared = "; metrics of one rank share a color" if any(picture.ranks) else ""
    rows = _dots(picture.rows, [places[rank] for rank in picture.ranks])
    return {"x": drawing.single_line(picture.x_label) + shared, "rows": rows}


def _values(picture: Dots) -> dict[str, Any]:
    rows = _dots(picture.rows, [0] * len(picture.rows))
    line = None if picture.marked is None else _numbers([picture.marked])[0]
    return {"x": drawing.single_line(picture.x_label), "rows": rows, "line": line}


def _dots(dots: Mapping[str, Dot], series: Sequence[int]) -> list[dict[str, Any]]:
    rows = []
    for (label, dot), number in zip(dots.items(), series, strict=True):
        value, low, high = _numbers([dot.value, *(dot.interval or (np.nan, np.nan))])
        rows.append({"label": drawing.single_line(label), "value": value, "low": low, "high": high, "series": number})
    return rows


def _matrix(picture: Matrix) -> dict[str, Any]:
    return {"labels": [*map(drawing.single_line, picture.labels)], "values": _numbers(picture.values)}


def _clouds(picture: Clouds) -> dict[str, Any]:
    clouds = [
        {"label": drawing.single_line(label)}
        | {"points": _numbers(cloud.points), "outline": _numbers(cloud.outline), "center": _numbers(cloud.center)}
        for label, cloud in picture.clouds.items()
    ]
    return {"x": drawing.single_line(picture.x_label), "y": drawing.single_line(picture.y_label), "clouds": clouds}


def _curves(picture: Curves) -> dict[str, Any]:
    lines = []
    for label, curve in picture.lines.items():
        arrays = {"x": curve.x, "y": curve.y, "low": curve.low, "high": curve.high}
        packed = {name: None if values is None else _numbers(values) for name, values in arrays.items()}
        line = {"label": drawing.single_line(label), "points": curve.points, **packed}
        lines.append(line | ({"names": [*map(drawing.single_line, curve.names)]} if curve.names else {}))
    axes = {"x": drawing.single_line(picture.x_label), "y": drawing.single_line(picture.y_label)}
    return {**axes, "lines": lines, "logarithmic": picture.logarithmic}


def _numbers(values: Any) -> Any:
    """Convert an array to lists of numbers with six significant digits, as no chart shows more; None if not finite."""
    array = np.asarray(values, np.float64)
    if array.ndim > 1:
        return [_numbers(row) for row in array]
    return [float(f"{value:.6g}") if np.isfinite(value) else None for value in array.tolist()]


#: Kind of picture -> kind of chart, and what the chart needs.
_CHARTS: Mapping[type[Picture], tuple[str, Callable[[Any], dict[str, Any]]]] = {
    Curves: ("curves", _curves),
    Matrix: ("matrix", _matrix),
    Clouds: ("clouds", _clouds),
    Dots: ("dots", _values),
    Ranking: ("dots", _ranking),
}


# Results as files.


def write_report(
    result: Report | Reports | Comparison | Judgment | Study | Sequence[Report],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    image_url: str | os.PathLike[str] | None = None,
    explain: int | None = None,
    groups: object = None,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
    percent: bool = False,
    naming: NamingScheme = "captious",
) -> None:
    """Write a result as a self-contained HTML file. The same result gives the same bytes.

    Args:
        result: the result to show: one system or several that were scored with the same metrics on the same images, a
            comparison, a judgment or a study.
        path: the file, whose name ends in .html.
        title: title of the page. By default, the systems and the number of images, or the name of the result.
        image_url: the images of captions: a URL such as
            ``https://images.example.org/{id:012d}.jpg``, a path relative to the page, such as ``images/{id}.jpg``, or a
            folder of image files that are named by image id. By default, it shows no images.
        explain: number of images for which the page has alignments, scene graphs and transport plans: those with the
            largest differences between systems, or the worst scores of one system. By default, all images.
        groups: for systems: the group of each image, as ``captious.by_group`` takes it.
        resamples, seed: for systems: number of resamples and random seed of intervals and tests.
        percent: for systems: multiply scores by 100 and show one decimal, as papers do. Explanations are not changed.
        naming: for systems: names of metrics in tables: those of captious, of the COCO toolkit (Bleu_4, CIDEr), or the
            abbreviations of papers (B@4, C).

    Raises:
        ParameterError: a file with another ending; systems that cannot be reported together, or an option out of range.
        InputError: images without a file in the folder, or with more than one.
        OutputError: the file cannot be written.
    """
    check_page(path)
    page = report_page(
        result,
        title=title,
        image_url=image_url,
        explain=explain,
        groups=groups,
        resamples=resamples,
        seed=seed,
        percent=percent,
        naming=naming,
        folder=Path(path).parent,
    )
    with whole_file(path) as file:
        file.write(page)


def check_page(path: str | os.PathLike[str]) -> None:
    """Check that a page can be written to a path.

    Raises:
        ParameterError: it is not a path, or its name does not end in .html.
    """
    if not isinstance(path, str | os.PathLike):
        raise ParameterError(
            f"{with_article(type(path).__name__)} is not a path", hint="give the result first, then the path"
        )
    if Path(path).suffix.lower() not in (".html", ".htm") and not is_pipe_or_device(path):
        raise ParameterError(
            f"{Path(path).name} is not the name of a page", where=str(path), hint=f"name it {Path(path).stem}.html"
        )


def report_page(result: object, *, title: str = "", **options: Any) -> str:
    """Return the page that ``write_report`` writes."""
    if isinstance(result, Report):
        result = [result]
    elif isinstance(result, Reports):
        result = [*result.values()]
    elif isinstance(result, Comparison):
        options |= {"resamples": result.resamples, "seed": result.seed}
        result = [*result.reports.values()]
    if (
        isinstance(result, Sequence)
        and not isinstance(result, str)
        and all(isinstance(report, Report) for report in result)
    ):
        return SystemsPage(result, title, **options).html()
    if isinstance(result, Displayed):
        return table_page(result.to_table(), title)
    raise ParameterError(
        f"{with_article(type(result).__name__)} is not a result",
        hint="give a Report, several of them, a Comparison, Judgment or Study",
    )
