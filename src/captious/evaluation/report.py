"""``Report``, ``Reports`` and ``Result``: the scores of systems, with their descriptions and their tables."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, ImageId, same_images
from captious.data.formats import is_standard_input
from captious.data.ids import ByImage
from captious.errors import (
    CaptionWarning,
    CaptiousError,
    ParameterError,
    UnknownImageError,
    UnknownNameError,
    as_warning,
    either,
    option,
)
from captious.evaluation.checks import LENGTH, warnings_by_system
from captious.evaluation.description import Description
from captious.files import write_csv
from captious.metrics.contract.metric import Result as Result
from captious.metrics.contract.metric import Statistics
from captious.metrics.contract.registry import Request, labels_called
from captious.resources.grammar import BUNDLED
from captious.statistics import DEFAULT_RESAMPLES, Sampling, differences
from captious.tables import (
    LOWER_IS_BETTER,
    PAGE,
    SCREEN,
    ByValue,
    Cell,
    Column,
    DisplayedMapping,
    Form,
    Row,
    Table,
    json_document,
    labeled,
    score_pictures,
)
from captious.version import __version__
from captious.words import DEFAULT_SEED, counted, listed, percentage

if TYPE_CHECKING:
    from captious.evaluation.explanations import Explanation
    from captious.tables import Picture


# Scores of parts: of all images, of a group, or the mean over groups.

#: The images of a number: one group, the mean over groups, or all images together.
Part: TypeAlias = Literal["group", "macro", "micro"]

#: Averages over groups, as tables and as papers call them.
AVERAGES = {"macro": ("mean of groups (macro)", "macro"), "micro": ("all images (micro)", "all")}


@dataclass(frozen=True, eq=False)
class GroupScore(ByValue):
    """A score of one group, or of all images.

    Attributes:
        part: "group", "macro" or "micro".
        group: name of the group; empty for averages.
        n_images: number of images.
        metric: the output.
        score: corpus score of these images, or mean over groups.
        interval: 95% bootstrap interval; None unless requested.
        lower_is_better: whether lower scores are better; None if neither higher nor lower scores are.
        signature: everything that the score depends on besides the captions.
    """

    part: Part
    group: str
    n_images: int
    metric: str
    score: float
    interval: tuple[float, float] | None
    lower_is_better: bool | None
    signature: str


@dataclass(frozen=True)
class ScoredPart:
    """The report of a part: of one group, of their mean, or of all images; ``number`` is added to the random seed."""

    part: Part
    group: str
    report: Report
    number: int = 0


def part_scores(parts: Sequence[ScoredPart], sampling: Sampling | None) -> list[GroupScore]:
    """Return the scores of all parts, output by output, with 95% intervals if there is a sampling."""
    by_part = []
    for one in parts:
        spans: dict[str, tuple[float, float]] = {}
        if sampling is not None:
            settings = {"resamples": sampling.resamples, "seed": sampling.seed + one.number}
            spans = {name: result.confidence_interval(**settings) for name, result in one.report.items()}
        about = one.part, one.group, one.report.n_images
        by_part.append(
            [
                GroupScore(*about, name, result.score, spans.get(name), result.lower_is_better, result.signature)
                for name, result in one.report.items()
            ]
        )
    return [*chain.from_iterable(zip(*by_part, strict=True))]


# Reports as tables: systems side by side.

_DESCRIBED = {
    "words": "words per candidate",
    "vocabulary": "vocabulary",
    "bigrams": "distinct bigrams per word",
    "distinct": "distinct candidates",
    "novel": "distinct novel candidates",
}
_BEST = "◀ best."
#: The bundled grammar in a signature.
_BUNDLED = re.compile(rf"\|parser:({BUNDLED}-\d+)")


def score_table(reports: Sequence[Report], sampling: Sampling | None = None) -> Table:
    """Return a table of systems side by side, one row per output, with the best of several marked.

    Args:
        reports: systems that were scored with the same metrics. Scores on different images are not ranked.
        sampling: show bootstrap intervals from these resamples.
    """
    documents = [report.to_dict(**interval_options(sampling)) for report in reports]
    parts = [[ScoredPart("micro", "", report)] for report in reports]
    table = side_by_side(parts, documents, sampling, reports[0].resampled)
    return replace(table, description=_descriptions([report.description for report in reports]))


def interval_options(sampling: Sampling | None) -> dict[str, Any]:
    """Return options of methods that may compute intervals."""
    return {} if sampling is None else {"intervals": True, **sampling.settings}


def side_by_side(
    parts: Sequence[Sequence[ScoredPart]],
    documents: Sequence[dict[str, Any]],
    sampling: Sampling | None,
    over: str,
    by: str = "",
) -> Table:
    """Return a table with a column for each system.

    Args:
        parts: those of each system, all images last.
        documents: the document of each system.
        sampling: that of the intervals; None without intervals.
        over: what is resampled.
        by: the name of the grouping of images, if there is one.
    """
    reports = [of_system[-1].report for of_system in parts]
    scores = [part_scores(of_system, sampling) for of_system in parts]
    several = len(reports) > 1
    rows = [_score_row(reports, of_systems, by) for of_systems in zip(*scores, strict=True)]
    records = [
        _score_record(report.system, score, by)
        for report, of_system in zip(reports, scores, strict=True)
        for score in of_system
    ]
    columns = [Column(report.system, marked=several) for report in reports]
    pictures: Mapping[str, Picture] = {}
    about_intervals: list[str] = []
    if sampling is not None:
        level, method = percentage(sampling.level), reports[0].interval_method
        pictures = score_pictures(columns, rows, level)
        about_intervals = [f"{level} {method} over {over}, {sampling.resamples:,} resamples, seed {sampling.seed}."]
    marked = any(cell is not None and cell.best for row in rows for cell in row.cells)
    systems = [{name: value for name, value in document.items() if name != "version"} for document in documents]
    legend = [*about_intervals, *[_BEST] * marked, *lower_is_better_note(rows)]
    title = subject(reports)
    caption = images_text(reports[0])
    about_groups: list[str] = []
    if by:
        columns = [Column("images", "count", media=(SCREEN, PAGE)), *columns]
        title += f" · by {by}"
        caption = f"{reports[0].system}: {counted(reports[0].n_images, 'image')} by {by}"
        sizes = (f"  {one.group}: {counted(one.report.n_images, 'image')}" for one in parts[0] if one.part == "group")
        about_groups = [f"by {by}; macro: mean over groups", *sizes]
    return Table(
        columns=columns,
        rows=rows,
        records=records,
        document={"version": __version__, "systems": systems},
        title="\n".join([*_about_lengths(reports), title]),
        caption="" if several else caption,
        notes=[*exclusions(reports), *([" ".join(legend)] if legend else [])],
        comments=[
            f"captious {__version__}",
            *map(images_text, reports),
            *about_intervals,
            *about_groups,
            *signature_lines(reports[0]),
        ],
        across=True,
        pictures=pictures,
    )


def _about_lengths(reports: Sequence[Report]) -> list[CaptionWarning]:
    """Return the warning about captions far longer than references, which concerns the whole table."""
    return [
        warning
        for warning in warnings_by_system([(report.system, report.warnings) for report in reports])
        if warning.kind == LENGTH
    ]


def _score_row(reports: Sequence[Report], scores: Sequence[GroupScore], by: str) -> Row:
    """Return the row of an output, or of a part of it; the best of the systems is marked if they are ranked."""
    first = scores[0]
    name, lower_is_better = labeled(first.metric, first.lower_is_better), first.lower_is_better
    top = best_of([score.score for score in scores], lower_is_better) if are_ranked(reports, first.metric) else np.nan
    form: Form | None = None if lower_is_better is not None else "number"  # lengths are never in hundredths
    cells = [Cell(score.score, score.interval, best=not differences(score.score, top), form=form) for score in scores]
    if not by:
        return Row(name, cells, signature=first.signature)
    label, in_papers = AVERAGES.get(first.part, (first.group, first.group))
    images = Cell(first.n_images) if have_same_images(reports) else None
    return Row(label, [images, *cells], name, in_papers, first.signature)


def best_of(scores: Sequence[float], lower_is_better: bool | None) -> float:
    """Return the best of several scores; nan if all are equal, or if neither direction is better."""
    low, high = min(scores), max(scores)
    if lower_is_better is None or not differences(low, high):
        return np.nan
    return low if lower_is_better else high


def _score_record(system: str, score: GroupScore, by: str) -> dict[str, object]:
    """Return a score as a flat record: what it is about, its value, the bounds of its interval, its signature."""
    low, high = score.interval or (None, None)
    part = {"part": score.part, "group": score.group} if by else {}
    about = {"system": system, **part, "n_images": score.n_images, "metric": score.metric}
    values = {"score": score.score, "ci95_low": low, "ci95_high": high}
    return {**about, **values, "lower_is_better": score.lower_is_better, "signature": score.signature}


def subject(reports: Sequence[Report]) -> str:
    """Return a line about the data: images, references, tokens, and the grammar if it is the bundled one."""
    first = reports[0]
    if have_same_images(reports):
        images = counted(first.n_images, first.of)
    else:
        images = ", ".join(f"{report.system} {counted(report.n_images, report.of)}" for report in reports)
    tokenizers = dict.fromkeys(
        tokenizer for result in first.values() for tokenizer in result.statistics.metric.tokens.split(", ")
    )
    references = f"{first.n_references / first.n_images:.1f} references each" if first.n_references else "no references"
    joined = ", concatenated" * all("|references:cat-" in result.signature for result in first.values())
    candidates = _candidates([report.description for report in reports])
    parsers = {found[1] for result in first.values() if (found := _BUNDLED.search(result.signature))}
    grammar = "".join(f" · grammar: {parser} (official: captious resources get spice-grammar)" for parser in parsers)
    return f"{images}{candidates} · {references}{joined} · tokens: {', '.join(tokenizers)}{grammar}"


def images_text(report: Report) -> str:
    """Return the name of a system with the size of the data: "mine: 5,000 images, 25,010 references"."""
    return f"{report.system}: {counted(report.n_images, report.of)}, {counted(report.n_references, 'reference')}"


def signature_lines(report: Report) -> list[str]:
    """Return the signatures of a report under a heading, for comments in papers."""
    return ["signatures", *(f"  {result.signature}" for result in report.values())]


def exclusions(reports: Iterable[Report]) -> list[str]:
    """Return the numbers of captions that ``match="common"`` excluded, one sentence per system."""
    return [
        f"{report.system}: common images; excluded {listed(_excluded(**report.left_out))}."
        for report in reports
        if report.left_out
    ]


def _excluded(candidates: int, images: int, another_lacks: int = 0) -> list[str]:
    unmatched = [
        f"{counted(candidates, 'candidate')} without references",
        f"{counted(images, 'image')} without a candidate",
    ]
    unshared = [f"{counted(another_lacks, 'image')} that another system lacks"]
    return unmatched * bool(candidates or images) + unshared * bool(another_lacks)


def lower_is_better_note(rows: Iterable[Row]) -> list[str]:
    """Return the meaning of the arrow in labels, if there is one."""
    marked = any(LOWER_IS_BETTER in (row.section or row.label)[-1:] for row in rows)
    return [f"{LOWER_IS_BETTER} lower is better."] * marked


def are_ranked(reports: Sequence[Report], name: str) -> bool:
    """Return whether systems are ranked by an output, which must mean something for the captions of all of them."""
    return have_same_images(reports) and not any(name in report.unranked for report in reports)


def have_same_images(reports: Sequence[Report]) -> bool:
    """Return whether systems were scored on the same images, so that they can be ranked."""
    return all(same_images(report.ids, reports[0].ids) for report in reports[1:])


def _descriptions(descriptions: Sequence[Description | None]) -> list[Row]:
    """Return rows that describe several candidates per image."""
    rows = []
    for attribute, label in _DESCRIBED.items():
        values = [getattr(description, attribute, None) for description in descriptions]
        if any(value is not None for value in values):
            rows.append(Row(label, [None if value is None else Cell(value, form="number") for value in values]))
    return rows


def _candidates(descriptions: Sequence[Description | None]) -> str:
    """Return the numbers of candidates per image, if there may be several."""
    several = [description for description in descriptions if description is not None]
    if not several:
        return ""
    fewest = min(description.fewest for description in several)
    most = max(description.most for description in several)
    if fewest < most:
        return f" · {fewest:,} to {most:,} candidates each"
    return f" · {counted(most, 'candidate')} each"


# The result of scoring: a ``Report`` of one system, with a ``Result`` for every requested output.


def no_captions() -> ParameterError:
    """Return the error for requests of captions or caption scores if only sums are kept."""
    return ParameterError(
        "captions and their scores are not kept when shards are scored",
        hint=f"write them as shards are scored, with {option('per_caption', 'FOLDER')}",
    )


class Report(DisplayedMapping[str, Result]):
    """Scores of one system, by output name: ``report["cider-d"].score``.

    Attributes:
        system: name of the system.
        warnings: warnings about misleading scores, one sentence each.
        unranked: names of results that mean nothing for these captions, of which none is marked as the best.
        description: descriptive statistics of several candidates per image; otherwise None.
        resampled: what intervals resample.
        interval_method: how they do.
    """

    resampled = "images"
    interval_method = "bootstrap"
    _unknown = ("{name!r} was not scored", "this report has")

    def __init__(
        self,
        system: str,
        captions: Captions | CaptionSets | None,
        results: Mapping[str, Result],
        warnings: Sequence[str],
        description: Description | None = None,
        unranked: frozenset[str] = frozenset(),
    ) -> None:
        self.system = system
        self._captions = captions
        self.warnings = [*map(as_warning, warnings)]
        self.unranked = unranked
        self.description = description
        self._parts = dict(results)

    def named(self, system: str) -> Report:
        """Return this report with another name of the system."""
        return Report(system, self._captions, self._parts, self.warnings, self.description, self.unranked)

    @property
    def of(self) -> str:
        """What has captions, as far as the files say: "image", "video" or "sound"."""
        return "image" if self._captions is None else self._captions.references.of

    @property
    def captions(self) -> Captions | CaptionSets:
        """The captions that were scored; ``CaptionSets`` if images have several candidates.

        Raises:
            ParameterError: shards were scored, whose captions are not in memory.
        """
        if self._captions is None:
            raise no_captions()
        return self._captions

    @property
    def ids(self) -> tuple[ImageId, ...]:
        """The images, in the order of the references; caption scores are in this order."""
        return self.captions.ids

    @property
    def n_images(self) -> int:
        return len(self.captions)

    @property
    def n_references(self) -> int:
        """Total number of references of all images."""
        return len(self.captions.references.texts) if self.captions.references.present else 0

    @property
    def single_captions(self) -> Captions:
        """``captions``, for functions that require one candidate per image.

        Raises:
            ParameterError: images have several candidates.
        """
        if not isinstance(self.captions, Captions):
            raise ParameterError(
                f"{self.system} has several candidates per image, and only one can be shown",
                hint="score one candidate per image",
            )
        return self.captions

    @property
    def candidates(self) -> Sequence[str] | Sequence[list[str]]:
        """The candidate of each image, or a list of several."""
        return self.captions.texts if isinstance(self.captions, CaptionSets) else self.captions.candidates

    @property
    def left_out(self) -> dict[str, int]:
        """What ``match="common"`` left out: numbers of candidates without references, of images without a candidate,
        and of those that another system lacks, if there are any.
        """
        captions = self._captions
        if captions is None:
            return {}
        unmatched = {"candidates": captions.n_candidates_left_out, "images": captions.n_references_left_out}
        if captions.n_unshared_left_out:
            return {**unmatched, "another_lacks": captions.n_unshared_left_out}
        return unmatched if any(unmatched.values()) else {}

    def label_of(self, name: object) -> str | None:
        """Return the label of a result, given the label itself, its output, its request, or another name for these.

        "cider-d" stands for "cider-d:sigma=3" if there is no other result of CIDEr-D, "cider-d:sigma=6" for "cider-d";
        "Bleu_4" and "B@4" stand for "bleu-4". "CIDEr", which is the toolkit's name of cider-d, stands for cider if that
        was scored.
        """
        if not isinstance(name, str):
            return None
        for label, is_output in ((name, True), *_spellings(name)):
            if label in self._parts:
                return label
            labels = [own for own, item in self._parts.items() if item.output == label]
            if is_output and len(labels) == 1:
                return labels[0]
        return None

    def unknown(self, name: object) -> UnknownNameError:
        """Return the error for a name that has no result, or for that of a metric with several outputs."""
        family = name.lower().replace("_", "-") if isinstance(name, str) else None
        outputs = [label for label, item in self._parts.items() if item.statistics.metric.name == family]
        if not outputs and any(name in item.statistics.metric.outputs for item in self._parts.values()):
            request = either(python=f"metrics=[..., {name!r}]", command=f"-m {name}")
            return UnknownNameError(f"{name!r} was not requested", hint=f"request it, too: {request}")
        if not outputs:
            return super().unknown(name)
        return UnknownNameError(f"{name!r} is a metric, not one of its outputs", hint=f"name one: {', '.join(outputs)}")

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return self._content() == other._content() and self._parts == other._parts

    __hash__ = None  # type: ignore[assignment]

    def _content(self) -> tuple[object, ...]:
        """Return what was scored, for comparison with another report."""
        about = (self.system, [*self.warnings], self.description)
        if self._captions is None:
            return about
        references = self._captions.references
        return (*about, self.ids, [*self.candidates], references.texts, references.offsets.tolist())

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the results."""
        return tuple(self._parts)

    def worst(self, metric: str, n: int = 1) -> list[ImageId]:
        """Return the images whose captions have the worst scores, the worst first; those without a score come last.

        Args:
            metric: the name of a result that has a better direction.
            n: number of images, at least 1; all if there are fewer.

        Raises:
            UnknownNameError: there is no such result.
            ParameterError: no direction is better, or ``n`` is below 1.
        """
        result = self[metric]
        if result.lower_is_better is None:
            raise ParameterError(
                f"neither higher nor lower values of {result.name} are better, so none is the worst",
                hint=f"sort by report[{result.name!r}].per_caption",
            )
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise ParameterError(f"n is {n!r}", hint="give a number of images, 1 or more")
        scores = -result.per_caption if result.lower_is_better else result.per_caption
        order = np.argsort(np.nan_to_num(scores, nan=np.inf), kind="stable")[:n].tolist()
        return [self.ids[row] for row in order]

    def explain(self, metric: str, image: ImageId) -> Explanation:
        """Explain the score of a caption, as it was computed: with the document frequencies of all references.

        Args:
            metric: the name of a result whose metric can be explained, such as "cider-d" or "meteor".
            image: an image id; an integer and its decimal digits as text are the same.

        Raises:
            UnknownNameError: there is no such result.
            UnknownImageError: there is no such image.
            ParameterError: the metric cannot be explained, or images have several candidates.
        """
        from captious.evaluation.explanations import explained_row  # few readers of scores ask for explanations

        result, captions = self[metric], self.single_captions
        row = ByImage(captions.ids, range(len(captions.ids))).get(image)
        if row is None:
            raise UnknownImageError(
                f"there is no image {image}", where=self.system, hint="give an image id of the candidates"
            )
        return explained_row(result, captions, row)

    def summary(self) -> str:
        """Return one line with the scores: "improved: 24 images, bleu-4 0.4856"."""
        scores = ", ".join(f"{name} {result.score:.4f}" for name, result in self._parts.items())
        return f"{self.system}: {counted(self.n_images, self.of)}, {scores}"

    def to_table(self, *, intervals: bool = False) -> Table:
        """Return the corpus scores as a table.

        Args:
            intervals: show 95% intervals.
        """
        return score_table([self], Sampling() if intervals else None)

    def to_dict(
        self, *, intervals: bool = False, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> dict[str, Any]:
        """Return corpus scores as JSON values: one of the ``systems`` in ``captious score --format json``.

        Args:
            intervals: compute 95% intervals; otherwise ``ci95`` is None.
            resamples, seed: number of resamples and random seed of the intervals.
        """
        sampling = Sampling(resamples, seed)
        out: dict[str, Any] = {
            "version": __version__,
            "name": self.system,
            "n_images": self.n_images,
            **({"level": sampling.level, **sampling.settings} if intervals else {}),
            "metrics": {
                name: {
                    "score": result.score,
                    "ci95": result.confidence_interval(sampling.level, **sampling.settings) if intervals else None,
                    "lower_is_better": result.lower_is_better,
                    "signature": result.signature,
                }
                for name, result in self._parts.items()
            },
        }
        if self.description is not None:
            out["description"] = self.description.to_dict()
        if self.left_out:
            out["left_out"] = self.left_out
        if self.warnings:
            out["warnings"] = self.warnings
        return json_document(out)

    def select(self, rows: NDArray[np.int64]) -> Report:
        """Return the report for some of the images: their statistics and caption scores, with the same signatures.

        Args:
            rows: positions of images, each at most once.
        """
        statistics: dict[int, Statistics] = {}  # outputs of one metric share theirs
        results = {}
        for name, result in self._parts.items():
            whole = result.statistics
            if id(whole) not in statistics:
                ids = [self.ids[row] for row in rows.tolist()]
                statistics[id(whole)] = Statistics(whole.metric, whole.rows[rows], ids)
            results[name] = Result(name, result.signature, statistics[id(whole)], result.column)
        return Report(self.system, self.captions.select(rows), results, [], unranked=self.unranked)

    def to_records(self) -> list[Mapping[str, Any]]:
        """Return caption scores, one record per image: id, candidate, and the score in each output.

        With several candidates per image the second field is ``candidates``, a list.
        """
        column = "candidates" if isinstance(self.captions, CaptionSets) else "candidate"
        scores = zip(*(result.per_caption.tolist() for result in self._parts.values()), strict=True)
        return [
            {"id": image, column: candidate, **dict(zip(self._parts, of_image, strict=True))}
            for image, candidate, of_image in zip(self.ids, self.candidates, scores, strict=True)
        ]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write caption scores, one row per image as in ``to_records``, to a file that programs read back.

        Captions are as they are, several of an image as a JSON list; an undefined score is empty. The file appears
        complete or not at all.

        Raises:
            OutputError: the file cannot be written.
        """
        write_csv(path, self.to_records())


def _spellings(name: str) -> Iterator[tuple[str, bool]]:
    """Yield labels that a name may mean, as a request or in another naming scheme, and whether each is an output alone,
    without variant and parameters.
    """
    with suppress(CaptiousError):
        request = Request.from_text(name)
        yield request.label, not request.variant and not request.parameters
    for label in labels_called(name):
        yield label, ":" not in label and "@" not in label


# Names of systems, detection of several systems in the arguments of ``score``, and ``Reports``, their scores.


class Reports(DisplayedMapping[str, Report]):
    """Scores of several systems, by name of system: ``reports["mine"]["cider-d"].score``.

    Args:
        reports: systems with different names, scored with the same metrics.

    Raises:
        ParameterError: no systems, or two with the same name.
    """

    _unknown = ("{name!r} was not scored", "the systems are")

    def __init__(self, reports: Sequence[Report]) -> None:
        self._parts = {report.system: report for report in reports}
        if not reports:
            raise ParameterError("there are no systems", hint="give the captions of at least one")
        if len(self._parts) < len(reports):
            raise ParameterError("two systems have the same name", hint="give them different names")

    @property
    def warnings(self) -> list[CaptionWarning]:
        """Warnings about misleading scores, one sentence each; those of only some systems begin with their names."""
        return [
            *warnings_by_system([(system, report.warnings) for system, report in self.items()]),
            *self.different_images,
        ]

    @property
    def different_images(self) -> list[CaptionWarning]:
        """The warning about systems that were scored on different images; empty if all have the same."""
        first = next(iter(self.values()))
        if all(same_images(report.ids, first.ids) for report in self.values()):
            return []
        sentence = "the systems were scored on different images, so their scores cannot be compared."
        return [CaptionWarning(sentence, "different-images")]

    def to_table(self, *, intervals: bool = False) -> Table:
        """Return the corpus scores as a table, the best of each metric marked.

        Args:
            intervals: show 95% intervals.
        """
        return score_table([*self.values()], Sampling() if intervals else None)

    def to_dict(
        self, *, intervals: bool = False, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> dict[str, Any]:
        """Return corpus scores as JSON values, as printed by ``captious score --format json``.

        Args:
            intervals, resamples, seed: as for ``Report.to_dict``.
        """
        return dict(score_table([*self.values()], Sampling(resamples, seed) if intervals else None).document)

    def to_records(self) -> list[Mapping[str, Any]]:
        """Return caption scores, one record per system and image: system, id, candidate, and the scores."""
        return [{"system": system, **record} for system, report in self.items() for record in report.to_records()]

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write caption scores, one row per system and image as in ``to_records``; see ``Report.to_csv``.

        Raises:
            OutputError: the file cannot be written.
        """
        write_csv(path, self.to_records())


#: Characters of a name of a system, above which tables become wide.
_LONG_NAME = 32


def system_names(files: Sequence[str | os.PathLike[str]]) -> list[str]:
    """Return a name for each system: its file's without extensions, or the part of the path in which they differ.

    If the names of files are the same, long, or begin with dates, as those of logs do, systems are called by the
    nearest folder in which they differ, or else by all of their paths between the parts that they share. Pipes are
    numbered.

    Raises:
        ParameterError: a file is given twice.
    """
    texts = [os.fsencode(file).decode(errors="replace") for file in files]  # names of files need not be text
    if duplicates := [text for text in dict.fromkeys(texts) if texts.count(text) > 1]:
        raise ParameterError(f"{duplicates[0]} is given twice", hint="give each system once")
    pipes = [text for text in texts if text.startswith(("/dev/fd/", "/proc/self/fd/"))]  # of <(command)
    stems = [f"pipe {pipes.index(text) + 1}" if text in pipes else _stem(text) for text in texts]
    if _differ(stems) and not any(len(stem) > _LONG_NAME or re.match(r"\d{8}", stem) for stem in stems):
        return stems
    paths = [[*Path(text).parts[:-1], stem] for text, stem in zip(texts, stems, strict=True)]
    folders = [[*level] for level in zip(*(reversed(path[:-1]) for path in paths), strict=False)]
    for names in folders if len(files) > 1 else []:
        if _differ(names):
            return names
    if _differ(stems):
        return stems
    parts = [path[_n_shared(paths) :] for path in paths]
    end = _n_shared([path[::-1] for path in parts])
    names = ["/".join(path[: len(path) - end]) for path in parts]
    return names if _differ(names) and all(names) else texts


def _n_shared(paths: Sequence[Sequence[str]]) -> int:
    """Return the number of parts with which all paths begin."""
    return len([*takewhile(lambda level: len({*level}) == 1, zip(*paths, strict=False))])


def _differ(names: Sequence[str]) -> bool:
    return len({*names}) == len(names)


def name_of(candidates: object, default: str) -> str:
    """Return the name of the system of these candidates: that of their file, or else the default."""
    is_path = isinstance(candidates, str | os.PathLike)
    return system_names([Path(candidates)])[0] if is_path else default  # type: ignore[arg-type]


def _stem(file: str | os.PathLike[str]) -> str:
    if is_standard_input(file):
        return "standard input"
    name = os.path.basename(file)
    return name.removesuffix(".gz").rsplit(".", 1)[0] or name
