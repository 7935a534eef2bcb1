"""Ranks: the entry of each team, tests between entries, rounding of scores, and boards as they are stored."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import F
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from captious.statistics import can_vary
from captious_server.models import Phase, Scores, Standing, Submission
from captious_server.scoring.queue import BoardOutputs
from captious_server.scoring.results import read_resampled
from captious_server.settings import locked

# Entries: the submission of each team that counts on the board of a phase.
#
# A team chooses it while the phase is open; until then it is the best in the output that ranks. The entry is the same
# in every column and on every reference set, so that a row is one system.
#
# Nothing reveals the team of an anonymous submission: its place on the board never depends on the
# named submissions of the team.
# In phases that show all submissions, each of them is an entry.


#: A submission, and when it was scored, in microseconds.
Record: TypeAlias = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Member:
    """The properties of a submission that determine its place on a board.

    Args:
        fields: its values of fields, as ``Submission.fields`` has them.
        outputs: its scores, as ``Scores.outputs`` has them.
        results: the file of its results.
    """

    record: Record
    team: int
    anonymous: bool
    is_baseline: bool
    is_chosen: bool
    fields: Mapping[str, Any]
    outputs: Mapping[str, Mapping[str, Mapping[str, Any]]]
    results: Path


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """The members that have scores on a reference set, and these by output: float64[n], and float32[n, resamples].

    Args:
        numbers: rounded scores by output, and numbers of fields that break ties; nan where there are none.
        lower: whether lower numbers are better.
        n_images: number of images of the reference set.
    """

    members: list[Member]
    scores: dict[str, NDArray[np.float64]]
    resampled: dict[str, NDArray[np.float32]]
    numbers: dict[str, NDArray[np.float64]]
    lower: dict[str, bool | None]
    n_images: int

    def keys(self, *names: str) -> list[NDArray[np.float64]]:
        """Numbers that are lower for better scores, and infinite for missing ones; unknown names are left out."""
        pairs = [(self.numbers[name], self.lower[name]) for name in names if name in self.numbers]
        return [np.where(np.isnan(numbers), np.inf, numbers if lower else -numbers) for numbers, lower in pairs]


def entries_of(phase: Phase, members: Sequence[Member], best_first: Iterable[Member]) -> set[int]:
    """The ids of entries: the chosen or else the best submission of each team, and every baseline.

    Args:
        members: all submissions that can be on the board.
        best_first: the same submissions in the order of the ranking output.
    """
    entries: dict[object, int] = {}
    for member in (*(member for member in members if member.is_chosen), *best_first):
        stands_alone = member.is_baseline or (member.anonymous and phase.entries == "all")
        entries.setdefault(member.record if stands_alone else (member.team, member.anonymous), member.record[0])
    return {*entries.values()}


# Ranks with ties: a submission's rank is 1 plus the number of submissions that are significantly better.
#
# Two submissions are compared with the paired bootstrap: both have been resampled with the same images. p values are
# those of the normal approximation, because the smallest one that can be counted in 1,000 resamples would not survive
# the correction for the many pairs of a leaderboard.
#
# The correction controls the probability of a single wrong order anywhere on the board. Up to ``HOLM_ROWS`` rows it is
# Holm's (1979), which needs the p values of all pairs. Larger boards have Bonferroni's for all pairs of as many rows as
# the next power of two: it decides each pair alone, so that a new submission needs only its own tests. It is stricter,
# but not by much: where Holm's needs a difference of 5.6 standard errors, it needs 6.0.

#: The level of significance.
SIGNIFICANCE = 0.05
#: Boards with more rows are ranked with Bonferroni's correction.
HOLM_ROWS = 500
_BLOCK_ROWS = 512  # rows compared with all others at a time


@dataclass(frozen=True, eq=False)
class RankedScores:
    """Submissions with their scores in one output. Higher is better: negate outputs where lower is better.

    Args:
        scores: float64[n], all finite.
        rounded: the same, rounded as on pages. Submissions with equal rounded scores are tied.
        resampled: the scores on resampled images, floating[n, resamples]; undefined ones are nan.
        n_images: number of resampled images. A single image distinguishes nothing.
    """

    scores: NDArray[np.float64]
    rounded: NDArray[np.float64]
    resampled: NDArray[np.floating]
    n_images: int

    def __len__(self) -> int:
        return len(self.scores)

    def take(self, places: NDArray[np.integer]) -> RankedScores:
        """A selection of the rows."""
        return RankedScores(self.scores[places], self.rounded[places], self.resampled[places], self.n_images)


def corrected_rows(n: int) -> int:
    """The rows for whose pairs the correction of a board with n rows is made: n, or the next power of two."""
    return n if n <= HOLM_ROWS else 1 << (n - 1).bit_length()


def rank_rows(rows: RankedScores, known: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
    """The rank of each row, int64[n].

    Args:
        known: the ranks that rows have without those whose rank is 0 here, with the same ``corrected_rows``. Where
            there are more than ``HOLM_ROWS``, only the latter are compared with all; by default, all are.
    """
    if not can_vary(rows.n_images):
        return np.ones(len(rows), dtype=np.int64)
    if len(rows) <= HOLM_ROWS:
        return _holm(rows)
    known = np.zeros(len(rows), dtype=np.int64) if known is None else known
    ranks, critical = np.maximum(known, 1), _critical_errors(len(rows))
    new = _parts(np.flatnonzero(known == 0))
    parts = [*new, *_parts(np.flatnonzero(known))]
    for i, part in enumerate(new):
        block = _Block(rows.take(part))
        ranks[part] += _is_better(block, block, critical)[0].sum(axis=0)
        for other in parts[i + 1 :]:
            better, worse = _is_better(block, _Block(rows.take(other)), critical)
            ranks[other] += better.sum(axis=0)
            ranks[part] += worse.sum(axis=1)
    return ranks


def _parts(places: NDArray[np.integer]) -> list[NDArray[np.integer]]:
    """Places of rows that are compared at a time, so that memory is bounded."""
    return [places[begin : begin + _BLOCK_ROWS] for begin in range(0, len(places), _BLOCK_ROWS)]


def _holm(rows: RankedScores) -> NDArray[np.int64]:
    n = len(rows)
    block = _Block(rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        errors = np.abs(rows.scores[:, None] - rows.scores) / block.deviations(block)
    p_values = np.where(np.isnan(errors), 1.0, 2 * ndtr(-errors))
    sorted_p = np.sort(p_values[np.triu_indices(n, 1)])
    # Step down: the smallest p values are significant, up to the first one that is not.
    fails = sorted_p > SIGNIFICANCE / np.arange(len(sorted_p), 0, -1)
    n_significant = int(np.argmax(fails)) if fails.any() else len(sorted_p)
    if n_significant == 0:
        return np.ones(n, dtype=np.int64)
    better = (rows.rounded[:, None] > rows.rounded) & (p_values <= sorted_p[n_significant - 1])
    return np.asarray(1 + better.sum(axis=0))


def _critical_errors(n: int) -> float:
    """The number of standard errors that a difference must have on a board of n rows."""
    n_rows = corrected_rows(n)
    return float(-ndtri(SIGNIFICANCE / (n_rows * (n_rows - 1))))  # two sides of n (n - 1) / 2 pairs


def _is_better(a: _Block, b: _Block, critical: float) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return whether rows of a are significantly better than those of b, and worse, bool[n_a, n_b] each."""
    difference = a.rows.scores[:, None] - b.rows.scores
    is_far = np.abs(difference) >= critical * a.deviations(b)
    rounded_a = a.rows.rounded[:, None]
    return is_far & (rounded_a > b.rows.rounded), is_far & (rounded_a < b.rows.rounded)


class _Block:
    """Rows, prepared for standard deviations of their differences.

    Attributes:
        rows: the rows.
        centered: resampled scores minus their means, float64[n, resamples]; 0 where undefined.
        defined: where they are defined, 0 or 1, float64[n, resamples]; None if they are everywhere.
    """

    def __init__(self, rows: RankedScores) -> None:
        self.rows = rows
        self.defined: NDArray[np.float64] | None = None
        values = rows.resampled.astype(np.float64)
        if not np.isfinite(values.sum()):
            is_defined = np.isfinite(values)
            self.defined = is_defined.astype(np.float64)
            values[~is_defined] = 0
            values -= values.sum(axis=1, keepdims=True) / np.maximum(self.defined.sum(axis=1, keepdims=True), 1)
            values[~is_defined] = 0
        elif values.size:
            values -= values.mean(axis=1, keepdims=True)
        self.centered = values

    def deviations(self, other: _Block) -> NDArray[np.float64]:
        """Standard deviations of all differences over the resamples that both rows have, float64[n, n_other].

        nan where these are fewer than two.
        """
        x, y = self.centered, other.centered
        squares = -2 * (x @ y.T)
        if self.defined is None and other.defined is None:
            n: Any = x.shape[1]
            squares += np.einsum("ij,ij->i", x, x)[:, None]
            squares += np.einsum("ij,ij->i", y, y)
        else:
            has_x = np.ones_like(x) if self.defined is None else self.defined
            has_y = np.ones_like(y) if other.defined is None else other.defined
            n = has_x @ has_y.T
            squares += (x**2) @ has_y.T + has_x @ (y**2).T
            squares -= (x @ has_y.T - has_x @ y.T) ** 2 / np.maximum(n, 1)
        variances = np.maximum(squares, 0) / np.maximum(n - 1, 1)
        return np.sqrt(np.where(n > 1, variances, np.nan))


# Rounding of numbers on pages of phases that limit the decimal places of their scores.


def interval_digits(digits: int) -> int:
    """Decimal places of the ends of intervals, where scores have ``digits``.

    One fewer: the end of the interval of a score to which one image contributes lies about four times as far from 0.
    """
    return max(digits - 1, 1)


def p_digits(digits: int) -> int:
    """Decimal places of p values, where scores have ``digits``."""
    return min(digits, 3)


def effect_digits(digits: int) -> int:
    """Decimal places of effect sizes, where scores have ``digits``."""
    return min(digits, 2)


def rounded(value: float | None, digits: int) -> float | None:
    """A number with this many decimal places; None if there is none or it is not finite."""
    if value is None or not math.isfinite(value):
        return None
    return round(value, digits) + 0.0  # no negative zero


def rounded_ends(low: float | None, high: float | None, digits: int) -> tuple[float | None, float | None]:
    """The ends of an interval around a number with this many decimal places: with one fewer, away from the number."""
    return _towards(low, ROUND_FLOOR, digits), _towards(high, ROUND_CEILING, digits)


def _towards(end: float | None, direction: str, digits: int) -> float | None:
    if end is None or not math.isfinite(end):
        return None
    step = Decimal(1).scaleb(-interval_digits(digits))
    return float(Decimal(repr(float(end))).quantize(step, direction)) + 0.0


def rounded_array(values: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Numbers rounded like a single one by ``rounded``, except that those that are not finite stay."""
    return np.asarray(np.round(values, digits) + 0.0)


def rounded_values(value: Any, digits: int) -> Any:
    """A JSON-compatible value with all its numbers rounded as by ``rounded``."""
    if isinstance(value, dict):
        return {key: rounded_values(entry, digits) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [rounded_values(entry, digits) for entry in value]
    return rounded(value, digits) if isinstance(value, float) else value


# Boards as they are stored: computed when a submission is scored, changed, hidden or deleted, and only shown by pages.
#
# Code that changes a board counts the change in the same transaction, and computes the board once that is
# committed. If the process is killed between the two, a worker sees that the board is older than its last change.
# A new submission is compared with all others; others are compared with each other again only where one of them is
# no longer there, or was scored again, or the correction for their number asks for it, see ``corrected_rows``.

_log = logging.getLogger(__name__)


def refresh_stale() -> None:
    """Compute boards that are older than their last change, unless another process is computing them.

    They are large ones, or were left behind by a process that ended.
    """
    for pk in Phase.objects.filter(board_stored__lt=F("board_changes")).values_list("pk", flat=True):
        with suppress(BlockingIOError):
            refresh(pk, wait=False)


def refresh(pk: int, *, wait: bool = True) -> None:
    """Compute and store the board of a phase, if it has changed.

    Raises:
        BlockingIOError: without ``wait``, if another process computes it.
        OSError, OutputError: the data folder cannot be used. A worker tries again.
    """
    with locked(settings.CAPTIOUS.data / "boards" / f"{pk}.lock", wait=wait):  # one process at a time
        phase = Phase.objects.select_related("challenge").get(pk=pk)
        changes = phase.board_changes
        if phase.board_stored == changes:
            return  # another process was faster
        board, members = BoardOutputs.of_board(phase), _members(phase, phase.shown_version)
        tables = {key: _table(phase, key, board.directions, members) for key in board.sets}
        entries = entries_of(phase, members, _by_rank_output(phase, board, members, tables))
        standings = [row for key, table in tables.items() for row in _standings(phase, key, table, entries)]
        with transaction.atomic():
            is_stored = Phase.objects.filter(pk=pk, board_stored__lt=changes).update(board_stored=changes)
            if is_stored:
                Standing.objects.filter(phase=phase).delete()
                Standing.objects.bulk_create(standings, batch_size=16)
                previous = {*Submission.objects.filter(phase=phase, is_entry=True).values_list("pk", flat=True)}
                Submission.objects.filter(pk__in=previous - entries).update(is_entry=False)
                Submission.objects.filter(pk__in=entries - previous).update(is_entry=True)


def ranks_in(phase: Phase, version: int, key: str, output: str, *, lower: bool) -> dict[int, int]:
    """The ranks of public submissions in a version of the scores on a reference set, as on a board of them all."""
    table = _table(phase, key, {output: lower}, _members(phase, version))
    ranks = _ranks(phase, table, [output], np.arange(len(table.members)))
    return {table.members[i].record[0]: rank for i, rank in ranks.items()}


def _members(phase: Phase, version: int) -> list[Member]:
    """The submissions that can be on the board in a version of the scores, in the order of submission."""
    columns = (
        *("submission", "finished", "submission__team", "submission__anonymous", "submission__is_baseline"),
        *("submission__is_chosen", "submission__fields", "outputs", "submission__folder_name", "results_file"),
    )
    rows = Scores.objects.filter(submission__phase=phase, version=version)
    rows = rows.filter(submission__public=True, submission__is_hidden=False)
    members = []
    for row in rows.order_by("submission").values_list(*columns):
        pk, finished, team, anonymous, is_baseline, is_chosen, fields, outputs, folder, file = row
        record = pk, round(1e6 * finished.timestamp())
        results = Submission(folder_name=folder).folder / file
        members.append(Member(record, team, anonymous, is_baseline, is_chosen, fields, outputs, results))
    return members


def _table(phase: Phase, key: str, directions: Mapping[str, bool | None], members: Sequence[Member]) -> ScoreTable:
    """The scores of members in these outputs on a reference set."""
    members = [member for member in members if key in member.outputs]
    scores = np.full((len(directions), len(members)), np.nan)
    resampled = np.full((len(directions), len(members), settings.CAPTIOUS.resamples), np.nan, np.float32)
    for i, member in enumerate(members):
        columns = _resampled(member, key)
        for j, name in enumerate(directions):
            if (score := member.outputs[key].get(name, {}).get("score")) is not None:
                scores[j, i] = score
            if (column := columns.get(name)) is not None:
                n = min(len(column), resampled.shape[2])
                resampled[j, i, :n] = column[:n]
    by_output = dict(zip(directions, scores, strict=True))
    definition = phase.challenge.definition
    fields = [field for field in definition.fields if field.name in definition.tie_breaks]
    return ScoreTable(
        members,
        by_output,
        dict(zip(directions, resampled, strict=True)),
        {name: _rounded_scores(of_name, phase.digits) for name, of_name in by_output.items()}
        | {field.name: np.array([float(m.fields.get(field.name, "nan")) for m in members]) for field in fields},
        {**directions, **{field.name: field.lower_is_better for field in fields}},
        BoardOutputs.of_board(phase).counts[key],
    )


def _resampled(member: Member, key: str) -> Mapping[str, NDArray[np.floating]]:
    """The resampled scores of a member by output; none if they are lost, so that others are ranked without it."""
    if not member.results.is_file():  # it may be deleted
        return {}
    try:
        return read_resampled(member.results, key)
    except (OSError, MemoryError):
        raise
    except Exception:  # it may be damaged in any way
        _log.exception("results cannot be read", extra={"submission": member.record[0]})
        return {}


def _by_rank_output(
    phase: Phase, board: BoardOutputs, members: list[Member], tables: Mapping[str, ScoreTable]
) -> list[Member]:
    """Members in the order of the output that ranks, on the main reference set; those without a score are last."""
    table = tables.get(board.main_set)
    if table is None:
        return members
    order = _order(table.keys(board.rank_by, *phase.challenge.definition.tie_breaks))
    return [*(dict.fromkeys(table.members[i] for i in order.tolist()) | dict.fromkeys(members))]


def _order(keys: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
    """Places in the order of keys, the first of which decides most; equal ones in their order."""
    return np.lexsort(keys[::-1])


def strict_ranks(keys: Sequence[NDArray[np.float64]]) -> NDArray[np.int64]:
    """Ranks by keys without tests, int64[n]: 1 plus the number of those with better ones."""
    order = _order(keys)
    table = np.stack(keys, axis=1)[order]
    is_new = np.ones(len(order), dtype=bool)
    is_new[1:] = (table[1:] != table[:-1]).any(axis=1)  # no differences: those of infinite keys are nan
    ranks = np.empty(len(order), dtype=np.int64)
    ranks[order] = 1 + np.maximum.accumulate(np.where(is_new, np.arange(len(order)), 0))
    return ranks


def _standings(phase: Phase, key: str, table: ScoreTable, entries: Set[int]) -> Iterator[Standing]:
    board, records = BoardOutputs.of_board(phase), [member.record for member in table.members]
    is_entry = np.array([pk in entries for pk, _ in records], dtype=bool)
    comparable = Standing.objects.filter(phase=phase, references=key, version=phase.shown_version, digits=phase.digits)
    previous = {(row.output, row.everything): row for row in comparable}
    is_tested = phase.challenge.definition.ranks != "scores"
    for output in board.directions:
        by = [output, *(phase.challenge.definition.tie_breaks if output == board.rank_by else ())]
        order = _order(table.keys(*by))
        for everything in (False, True):
            rows = order if everything and phase.entries == "all" else order[is_entry[order]]
            ranks = _ranks(phase, table, by, rows, previous.get((output, everything)))
            yield Standing(
                phase=phase,
                references=key,
                output=output,
                everything=everything,
                version=phase.shown_version,
                digits=phase.digits,
                submissions=[records[i][0] for i in rows],
                finished=[records[i][1] if is_tested else 0 for i in rows],
                scores=[None if np.isnan(score) else score for score in table.numbers[output][rows].tolist()],
                ranks=[ranks.get(i) for i in rows.tolist()],
                best=_best(table.numbers, board.directions, rows),
            )


def _ranks(
    phase: Phase, table: ScoreTable, by: Sequence[str], rows: NDArray[np.int64], before: Standing | None = None
) -> dict[int, int]:
    """The ranks of those rows of a table that can be ranked, by an output and, without tests, by what breaks ties.

    Args:
        before: the previous board, with scores of the same version and digits.
    """
    if phase.challenge.definition.ranks == "scores":
        keys = table.keys(*by)
        rows = rows[np.isfinite(keys[0][rows])]
        ranks = strict_ranks([key[rows] for key in keys])
        return dict(zip(rows.tolist(), ranks.tolist(), strict=True))
    scores, resampled = (-1.0 if table.lower[by[0]] else 1.0) * table.scores[by[0]], table.resampled[by[0]]
    rows = rows[np.isfinite(scores[rows]) & np.isfinite(resampled[rows]).any(axis=1)]
    old = [] if before is None else zip(before.submissions, before.finished, before.ranks, strict=True)
    rank_of = {(submission, finished): rank for submission, finished, rank in old if rank is not None}
    known = np.array([rank_of.pop(table.members[i].record, 0) for i in rows.tolist()], dtype=np.int64)
    if rank_of or corrected_rows(int(np.count_nonzero(known))) != corrected_rows(len(rows)):
        known[:] = 0
    rounded_scores = _rounded_scores(scores[rows], phase.digits)
    ranks = rank_rows(RankedScores(scores[rows], rounded_scores, resampled[rows], table.n_images), known)
    return dict(zip(rows.tolist(), ranks.tolist(), strict=True))


def _rounded_scores(scores: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    return np.array([np.nan if (score := rounded(value, digits)) is None else score for value in scores.tolist()])


def _best(
    rounded_scores: Mapping[str, NDArray[np.float64]], directions: Mapping[str, bool | None], rows: NDArray[np.int64]
) -> dict[str, float | None]:
    best: dict[str, float | None] = {}
    for output, lower in directions.items():
        scores = rounded_scores[output][rows]
        scores = scores[~np.isnan(scores)]
        best[output] = None if lower is None or not len(scores) else float(scores.min() if lower else scores.max())
    return best
