"""``judge_pairwise``: which system's captions a model prefers, image by image, in both orders of presentation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from captious.data import Captions, Ids, Match, same_images
from captious.data.matching import on_shared_images
from captious.errors import CaptionWarning, EmptyInputError, ParameterError
from captious.evaluation.checks import few_images_warning, issue
from captious.evaluation.report import best_of
from captious.evaluation.scoring import check_systems, read_systems
from captious.metrics.contract.metric import reference_counts, run_signatures, scored
from captious.metrics.shared.judges import Judgments, PairwiseJudge
from captious.models.chat import ChatModel
from captious.statistics import DEFAULT_RESAMPLES, Sampling, bootstrap_sums
from captious.tables import Cell, Column, Displayed, Row, Table, json_document
from captious.version import __version__
from captious.words import DEFAULT_SEED, counted, counted_of, percentage


@dataclass(frozen=True, eq=False)
class Preference:
    """The preferences between two systems.

    Args:
        a, b: names of the systems.
        points: float64[n_images]: 1 if a is preferred in both orders, 0 if b is, .5 for a tie; nan for an invalid
            answer.
        changed: bool[n_images]: whether the verdict changed with the order, which counts as a tie.
        win_rate: the mean of the points.
        interval: bootstrap interval of the win rate over images.
    """

    a: str
    b: str
    points: NDArray[np.float64]
    changed: NDArray[np.bool_]
    win_rate: float
    interval: tuple[float, float]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of images: wins of a, ties, wins of b, verdicts that changed with the order, invalid answers."""
        wins, ties, losses = (int((self.points == value).sum()) for value in (1.0, 0.5, 0.0))
        invalid = int(np.isnan(self.points).sum())
        return {"wins": wins, "ties": ties, "losses": losses, "changed": int(self.changed.sum()), "invalid": invalid}


class Preferences(Displayed):
    """The result of ``judge_pairwise``.

    Attributes:
        pairs: the comparison of each pair of systems, in the order of the systems.
        strengths: for three or more systems: Bradley-Terry strengths by name, as natural logarithms with a mean of 0.
        strength_intervals: their bootstrap intervals over images.
        signature: everything that the verdicts depend on besides the captions.
        n_images: number of images.
        warnings: warnings about misleading numbers, one sentence each.
    """

    def __init__(
        self,
        systems: Sequence[str],
        pairs: Sequence[Preference],
        signature: str,
        warnings: Sequence[str],
        sampling: Sampling,
    ) -> None:
        self.systems, self.pairs = [*systems], [*pairs]
        self.signature, self.sampling = signature, sampling
        self.warnings = [*map(CaptionWarning, warnings)]
        self.n_images = len(pairs[0].points)
        self.strengths: dict[str, float] = {}
        self.strength_intervals: dict[str, tuple[float, float]] = {}
        if len(self.systems) > 2:
            self._add_strengths()

    def _add_strengths(self) -> None:
        """Compute strengths from points per ordered pair, and those of resampled images."""
        n = len(self.systems)
        places = {name: place for place, name in enumerate(self.systems)}
        points = np.zeros((self.n_images, n, n))
        for pair in self.pairs:
            a, b = places[pair.a], places[pair.b]
            points[:, a, b] = np.nan_to_num(pair.points, nan=0.0)
            points[:, b, a] = np.nan_to_num(1 - pair.points, nan=0.0)
        resampled = bootstrap_sums(points.reshape(self.n_images, -1), **self.sampling.settings)
        values = strengths(np.vstack([points.sum(axis=0).reshape(1, -1), resampled]).reshape(-1, n, n))
        for place, name in enumerate(self.systems):
            self.strengths[name] = float(values[0, place])
            self.strength_intervals[name] = self.sampling.interval(values[1:, place])

    def to_table(self) -> Table:
        """Return a table with a row per pair, followed by the strengths of three or more systems."""
        columns = [Column("win rate", drawn=True), *(Column(name, form="count") for name in self.pairs[0].counts)]
        rows = [
            Row(f"{pair.a} / {pair.b}", [Cell(pair.win_rate, pair.interval), *map(Cell, pair.counts.values())])
            for pair in self.pairs
        ]
        level, resamples, seed = self.sampling.level, self.sampling.resamples, self.sampling.seed
        notes = [
            f"Win rate of the first: wins and half of the ties. {percentage(level)} bootstrap over images, "
            f"{resamples:,} resamples, seed {seed}."
        ]
        title = f"{counted(self.n_images, 'image')} · judge-pairwise"
        return Table(
            columns,
            rows,
            [self._flat_record(pair) for pair in self.pairs],
            self.to_dict(),
            title=title,
            caption=title,
            notes=notes,
            signatures=[self.signature],
            comments=[f"captious {__version__}", title, *notes, "signatures", f"  {self.signature}"],
            following=[self._strength_table()] if self.strengths else [],
            warnings=self.warnings,
        )

    def _strength_table(self) -> Table:
        ranked = sorted(self.strengths, key=lambda name: -self.strengths[name])
        values = {name: round(value, _SURE_DIGITS) for name, value in self.strengths.items()}
        top = best_of([*values.values()], lower_is_better=False)
        rows = [
            Row(name, [Cell(self.strengths[name], self.strength_intervals[name], best=values[name] == top)])
            for name in ranked
        ]
        title = "Bradley-Terry strengths: natural logarithms, with a mean of 0"
        return Table([Column("strength", form="number", marked=True)], rows, [], {}, title=title, comments=[title])

    def _record(self, pair: Preference) -> dict[str, object]:
        low, high = pair.interval
        return {
            "a": pair.a,
            "b": pair.b,
            "win_rate": pair.win_rate,
            "win_rate_low": low,
            "win_rate_high": high,
            **pair.counts,
        }

    def _flat_record(self, pair: Preference) -> dict[str, object]:
        """Return a record with all that files hold: also the strengths of both systems, and the signature."""
        record = self._record(pair)
        for side, name in (("a", pair.a), ("b", pair.b)):
            low, high = self.strength_intervals.get(name, (None, None))
            strength = {"": self.strengths.get(name), "_low": low, "_high": high}
            record |= {f"strength_{side}{end}": value for end, value in strength.items()}
        return record | {"n_images": self.n_images, "signature": self.signature}

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values, as printed by ``captious judge-pairwise --format json``."""
        return json_document(
            {
                "version": __version__,
                "systems": self.systems,
                "n_images": self.n_images,
                "signature": self.signature,
                "level": self.sampling.level,
                **self.sampling.settings,
                "pairs": [self._record(pair) for pair in self.pairs],
                "strengths": {
                    name: {"strength": value, "interval": [*self.strength_intervals[name]]}
                    for name, value in self.strengths.items()
                },
                "warnings": self.warnings,
            }
        )


def judge_pairwise(
    systems: Mapping[str, object],
    references: object = None,
    judge: PairwiseJudge | ChatModel | str | os.PathLike[str] | None = None,
    *,
    match: Match = "all",
    ids: Ids = "exact",
    clean: str | Sequence[str] = (),
    level: float = 0.95,
    resamples: int = DEFAULT_RESAMPLES,
    seed: int = DEFAULT_SEED,
) -> Preferences:
    """Ask a model which of two systems' captions it prefers, for every image and every pair of systems, in both orders.

    A verdict that changes with the order is a tie, and so are equal captions, which are not sent to the model. An image
    without a valid answer in one of the orders has no verdict.

    Args:
        systems: the captions of two or more systems by name, each in any form that ``score`` takes.
        references: as for ``score``; None if the model is shown only images.
        judge: a ``captious.PairwiseJudge``, or the model of one with default parameters: a name, a file, or a
            ``ChatModel``.
        match: which images: "common" compares only the images that references and all systems have; otherwise, a
            difference is an error.
        ids, clean: as for ``score``.
        level, resamples, seed: confidence level, number of resamples and random seed of the intervals.

    Raises:
        InputError: invalid captions.
        ParameterError: fewer than two systems, or systems with different images; no model.
        EndpointError: the endpoint does not answer, or no answer can be read.
    """
    sampling = Sampling(resamples, seed, level)
    metric = judge if isinstance(judge, PairwiseJudge) else PairwiseJudge(judge=judge)
    check_systems(systems, references, hint='write judge_pairwise({"a": candidates, "b": candidates}, references)')
    if len(systems) < 2:
        raise ParameterError("two systems are needed", hint="give the captions of two or more systems by name")
    if references is None and metric.needs_references:
        raise ParameterError(
            "judge-pairwise@references needs references", hint="give references, or show images: variant='images'"
        )
    captions: Any = read_systems(systems, references, match=match, ids=ids, clean=clean)
    images = next(iter(captions.values())).ids
    if not images:
        raise EmptyInputError("there are no captions", hint="give the captions of at least one image")
    if match != "common" and not all(same_images(side.ids, images) for side in captions.values()):
        raise ParameterError("the systems have captions of different images", hint="give captions of the same images")
    captions = on_shared_images(captions)
    first = next(iter(captions.values()))
    warnings: list[str] = []
    asked: list[Judgments] = []
    pairs = [
        _judged(metric, a, b, captions[a], captions[b], sampling, asked, warnings) for a, b in combinations(systems, 2)
    ]
    metric.asking.check_read(asked)
    [signature] = run_signatures(metric, None, reference_counts(first.references))
    warnings += few_images_warning(len(first))
    result = Preferences([*systems], pairs, signature, [*dict.fromkeys(warnings)], sampling)
    issue(result.warnings)
    return result


def _judged(
    metric: PairwiseJudge,
    a: str,
    b: str,
    of_a: Captions,
    of_b: Captions,
    sampling: Sampling,
    asked: list[Judgments],
    warnings: list[str],
) -> Preference:
    """Return the verdicts about two systems with the same images in the same order; add what was asked."""
    texts = [*zip(of_a.candidates, of_b.candidates, strict=True)]
    points = np.full(len(texts), 0.5)
    changed = np.zeros(len(texts), bool)
    rows = np.array([row for row, (first, second) in enumerate(texts) if first != second], np.int64)
    if len(rows):
        references = of_a.references.select(rows)
        orders = [
            metric.asking.judgments([{"a": pair[a], "b": pair[b]} for pair in (texts[row] for row in rows)], references)
            for a, b in ((0, 1), (1, 0))
        ]
        asked += orders
        if len(rows) >= _ENOUGH:  # no others are wasted
            metric.asking.check_read(asked)
        forth, back = orders[0].scores, 1 - orders[1].scores
        points[rows] = np.where(np.isnan(forth + back), np.nan, np.where(forth == back, forth, 0.5))
        changed[rows] = ~np.isnan(forth + back) & (forth != back)
        for judged in orders:
            warnings += metric.other_models(judged)
    pair = Preference(a, b, points, changed, *_win_rate(metric, points, sampling))
    if invalid := pair.counts["invalid"]:
        share = f"{counted_of(invalid, len(points), 'image')} ({invalid / len(points):.1%})"
        warnings.append(f"{metric.name} has no verdict on {a} and {b} for {share}, for lack of a valid answer.")
    return pair


def _win_rate(
    metric: PairwiseJudge, points: NDArray[np.float64], sampling: Sampling
) -> tuple[float, tuple[float, float]]:
    statistics = scored(points[:, None])
    resampled = metric.aggregate(bootstrap_sums(statistics, **sampling.settings))[:, 0]
    return float(metric.aggregate(statistics.sum(axis=0))[0]), sampling.interval(resampled)


_ENOUGH = 10  # images by which it is known whether a model's answers can be read
_MOST_STEPS = 10_000
_CLOSE = 1e-10  # tolerance for logarithms of strengths
_SURE_DIGITS = 6  # decimal places of strengths that their steps have settled


def strengths(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return maximum-likelihood strengths, as natural logarithms with a mean of 0.

    Half a point is added to both sides of each pair, so that a system that wins all comparisons, or none, has a finite
    strength.

    Args:
        points: float64[..., n, n]: points of system i against system j, 1 for a win and .5 for a tie.

    Returns:
        float64[..., n]: the odds of i against j are exp(strength of i - strength of j).
    """
    n = points.shape[-1]
    points = (points + 0.5) * (1 - np.eye(n))
    played = points + np.swapaxes(points, -1, -2)
    won = points.sum(axis=-1)
    logarithms = np.zeros(points.shape[:-1])
    for _ in range(_MOST_STEPS):  # Hunter 2004: each step increases the likelihood
        values = np.exp(logarithms)
        new = np.log(won) - np.log((played / (values[..., :, None] + values[..., None, :])).sum(axis=-1))
        new -= new.mean(axis=-1, keepdims=True)
        moved = np.abs(new - logarithms).max(initial=0.0)
        logarithms = new
        if moved < _CLOSE:
            break
    return logarithms
