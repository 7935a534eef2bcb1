"""The result of scoring: a ``Report`` of one system, with a ``Result`` for every requested output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, CaptionSets, ImageId
from captious.errors import CaptiousError, ParameterError, option
from captious.evaluation.inference.exact_sums import column_sums
from captious.evaluation.inference.resampling import DEFAULT_RESAMPLES, Sampling, bootstrap_sums, exchange_sums
from captious.evaluation.tables.score_tables import score_table
from captious.metrics.contract.metric import BaseMetric
from captious.metrics.contract.request import Request
from captious.phrases import counted
from captious.random_seed import DEFAULT_SEED
from captious.results.displayed import DisplayedMapping
from captious.results.table import Table, json_document
from captious.version import __version__

if TYPE_CHECKING:
    from captious.evaluation.description import Description


class Statistics:
    """Statistics of one metric on one system, and everything computed from them for all its outputs, cached.

    Args:
        metric: the metric.
        rows: float64[n_images, k].
    """

    def __init__(self, metric: BaseMetric, rows: NDArray[np.float64]) -> None:
        self.metric = metric
        self.rows = rows
        self._sums: dict[tuple[int, int], NDArray[np.float64]] = {}
        self._exchanged: dict[tuple[Statistics, int, int], NDArray[np.float64]] = {}

    @cached_property
    def sums(self) -> NDArray[np.float64]:
        """Sums of the statistics, exact, float64[k]."""
        return column_sums(self.rows)

    @cached_property
    def scores(self) -> NDArray[np.float64]:
        """Corpus scores, float64[m]."""
        return self.metric.aggregate(self.sums)

    @cached_property
    def per_caption(self) -> NDArray[np.float64]:
        """Caption scores, float64[n_images, m]."""
        scores = self.metric.aggregate(self.rows)
        scores.flags.writeable = False
        return scores

    def resampled(self, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return corpus scores of resampled images, float64[resamples, m]."""
        key = (resamples, seed)
        if key not in self._sums:
            self._sums[key] = bootstrap_sums(self.rows, resamples=resamples, seed=seed)
        return self.metric.aggregate(self._sums[key])

    def exchanged_difference(self, other: Statistics, resamples: int, seed: int) -> NDArray[np.float64]:
        """Return corpus scores of another system minus its own, with each image's candidates exchanged with probability
        one half: float64[resamples, m].
        """
        key = (other, resamples, seed)
        if key not in self._exchanged:
            moved = exchange_sums(other.rows - self.rows, resamples=resamples, seed=seed)
            scores, other_scores = map(self.metric.aggregate, (self.sums + moved, other.sums - moved))
            self._exchanged[key] = other_scores - scores
        return self._exchanged[key]


class Result:
    """One output of one metric on one system.

    Attributes:
        name: the label by which it was requested, such as "bleu-4" or "cider-d@paper".
        signature: everything that the score depends on besides the captions.
    """

    def __init__(self, name: str, signature: str, statistics: Statistics, column: int) -> None:
        self.name = name
        self.signature = signature
        self.statistics = statistics
        self.column = column

    @property
    def score(self) -> float:
        """The corpus score."""
        return float(self.statistics.scores[self.column])

    def __float__(self) -> float:
        return self.score

    def __format__(self, form: str) -> str:
        return format(self.score, form) if form else str(self)

    @property
    def lower_is_better(self) -> bool | None:
        """Whether lower scores are better; None if neither higher nor lower scores are."""
        metric = self.statistics.metric
        output = metric.outputs[self.column]
        return None if output in metric.no_direction else output in metric.lower_is_better

    @property
    def per_caption(self) -> NDArray[np.float64]:
        """Caption scores, float64[n_images], in the order of the report's ids."""
        return self.statistics.per_caption[:, self.column]

    def confidence_interval(
        self, level: float = 0.95, *, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> tuple[float, float]:
        """Return the percentile bootstrap interval of the corpus score over images.

        It estimates how the score would vary with other images of the same kind. Document frequencies are held fixed.

        Args:
            level: confidence level, in (0, 1).
            resamples: number of bootstrap samples.
            seed: random seed; the same seed and images give the same interval.

        Raises:
            ParameterError: a level outside (0, 1), or no resamples.
        """
        sampling = Sampling(resamples, seed, level)
        return sampling.interval(self.statistics.resampled(sampling.resamples, sampling.seed)[:, self.column])

    def __repr__(self) -> str:
        return f"<Result {self.name} {self.score:.4f}>"


def no_captions() -> ParameterError:
    """Return the error for requests of captions or caption scores if only sums are kept."""
    return ParameterError(
        "captions and their scores are not kept when shards are scored",
        help=f"write them as shards are scored, with {option('per_caption', 'FOLDER')}",
    )


class Report(DisplayedMapping[str, Result]):
    """Scores of one system, by output name: ``report["cider-d"].score``.

    Attributes:
        system: name of the system.
        warnings: warnings about misleading scores, one sentence each.
        description: descriptive statistics of several candidates per image; otherwise None.
    """

    _unknown = ("{name!r} was not scored", "this report has")

    def __init__(
        self,
        system: str,
        captions: Captions | CaptionSets | None,
        results: Mapping[str, Result],
        warnings: list[str],
        description: Description | None = None,
    ) -> None:
        self.system = system
        self._captions = captions
        self.warnings = warnings
        self.description = description
        self._parts = dict(results)

    def named(self, system: str) -> Report:
        """Return this report with another name of the system."""
        return Report(system, self._captions, self._parts, self.warnings, self.description)

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
                help="score one candidate per image: captious.score without several=True",
            )
        return self.captions

    @property
    def candidates(self) -> Sequence[str] | Sequence[list[str]]:
        """The candidate of each image, or a list of several."""
        return self.captions.texts if isinstance(self.captions, CaptionSets) else self.captions.candidates

    @property
    def left_out(self) -> dict[str, int]:
        """Numbers left out by ``subset``: candidates without references, images without a candidate. May be empty."""
        captions = self._captions
        if captions is None or not (captions.n_candidates_left_out or captions.n_references_left_out):
            return {}
        return {"candidates": captions.n_candidates_left_out, "images": captions.n_references_left_out}

    def label_of(self, name: object) -> str | None:
        """Return the label of a result, given the label itself, its output, or its request.

        "cider-d" stands for "cider-d:sigma=3" if there is no other result of CIDEr-D, "cider-d:sigma=6" for "cider-d".
        """
        if not isinstance(name, str) or name in self._parts:
            return name if isinstance(name, str) else None
        labels = [label for label, item in self._parts.items() if item.statistics.metric.outputs[item.column] == name]
        if len(labels) == 1:
            return labels[0]
        try:
            label = Request.from_text(name).label
        except CaptiousError:
            return None
        return label if label in self._parts else None

    def summary(self) -> str:
        """Return one line with the scores: "improved: 24 images, bleu-4 0.4856"."""
        scores = ", ".join(f"{name} {result.score:.4f}" for name, result in self._parts.items())
        return f"{self.system}: {counted(self.n_images, 'image')}, {scores}"

    def to_table(self, *, intervals: bool = False) -> Table:
        """Return the corpus scores as a table.

        Args:
            intervals: show 95% intervals.
        """
        return score_table([self], intervals=intervals)

    def _pictured(self) -> Table:
        return self.to_table(intervals=True)

    def to_dict(
        self, *, intervals: bool = False, resamples: int = DEFAULT_RESAMPLES, seed: int = DEFAULT_SEED
    ) -> dict[str, Any]:
        """Return corpus scores as JSON values: one of the ``systems`` in ``captious score --format json``.

        Args:
            intervals: compute 95% intervals; otherwise ``ci95`` is None.
            resamples, seed: number of resamples and random seed of the intervals.
        """
        sampling: dict[str, Any] = {"resamples": resamples, "seed": seed}
        out: dict[str, Any] = {
            "version": __version__,
            "name": self.system,
            "n_images": self.n_images,
            **({"level": 0.95, **sampling} if intervals else {}),
            "metrics": {
                name: {
                    "score": result.score,
                    "ci95": result.confidence_interval(**sampling) if intervals else None,
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
                statistics[id(whole)] = Statistics(whole.metric, whole.rows[rows])
            results[name] = Result(name, result.signature, statistics[id(whole)], result.column)
        return Report(self.system, self.captions.select(rows), results, [])

    def columns(self) -> dict[str, Any]:
        """Return caption scores as columns for a data frame: id, candidate, and one per output; one entry per image.

        With several candidates per image the second column is ``candidates`` and contains lists.
        """
        scores = {name: result.per_caption for name, result in self._parts.items()}
        column = "candidates" if isinstance(self.captions, CaptionSets) else "candidate"
        return {"id": list(self.ids), column: list(self.candidates), **scores}
