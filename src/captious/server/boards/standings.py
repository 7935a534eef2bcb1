"""Boards as they are stored: computed when a submission is scored, changed, hidden or deleted, and only shown by pages.

Code that changes a board counts the change in the same transaction, and computes the board once that is
committed. If the process is killed between the two, a worker sees that the board is older than its last change.
A new submission is compared with all others; others are compared with each other again only where the correction for
their number asks for it, see ranking.py.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from django.conf import settings
from django.db import transaction
from django.db.models import F
from numpy.typing import NDArray

from captious.server.boards.entries import Member, entries_of
from captious.server.boards.ranking import HOLM_ROWS, RankedScores, corrected_rows, rank_rows, update_ranks
from captious.server.boards.resampled_scores import Record, ResampledScores
from captious.server.boards.shown_digits import rounded
from captious.server.file_locks import locked
from captious.server.models import Phase, Scores, Standing, Submission
from captious.server.scoring.board_outputs import BoardOutputs
from captious.server.scoring.stored_results import read_results

_log = logging.getLogger(__name__)
_MAX_CHANGES = 100  # changed rows; if there are more, all pairs are compared again


def refresh_stale() -> None:
    """Compute boards that are older than their last change, left behind by a process that ended."""
    for pk in Phase.objects.filter(board_stored__lt=F("board_changes")).values_list("pk", flat=True):
        refresh(pk)


def refresh(pk: int) -> None:
    """Compute and store the board of a phase, if it has changed.

    Raises:
        OSError, OutputError: the data folder cannot be used. A worker tries again.
    """
    folder = settings.CAPTIOUS.data / "boards" / str(pk)
    with locked(folder / ".lock"):  # one process at a time
        phase = Phase.objects.select_related("challenge").get(pk=pk)
        changes = phase.board_changes
        if phase.board_stored == changes:
            return  # another process was faster
        outputs, members = BoardOutputs.of_board(phase), _members(phase)
        sets = {key: _set_scores(phase, key, members, folder) for key in outputs.sets}
        entries = entries_of(phase, members, _by_rank_output(phase, outputs, members, sets))
        standings = [
            row
            for key, members_and_table in sets.items()
            for row in _standings(phase, key, *members_and_table, entries)
        ]
        with transaction.atomic():
            is_stored = Phase.objects.filter(pk=pk, board_stored__lt=changes).update(board_stored=changes)
            if is_stored:
                Standing.objects.filter(phase=phase).delete()
                Standing.objects.bulk_create(standings, batch_size=16)
                previous = {*Submission.objects.filter(phase=phase, is_entry=True).values_list("pk", flat=True)}
                Submission.objects.filter(pk__in=previous - entries).update(is_entry=False)
                Submission.objects.filter(pk__in=entries - previous).update(is_entry=True)


def _members(phase: Phase) -> list[Member]:
    """The submissions that can be on the board, in the order of submission."""
    rows = Submission.objects.competing().filter(phase=phase).order_by("pk")
    values = rows.values_list("pk", "shown_scores__finished", "team_id", "anonymous", "is_baseline", "is_chosen")
    return [Member((pk, round(1e6 * finished.timestamp())), *properties) for pk, finished, *properties in values]


def _set_scores(phase: Phase, key: str, members: list[Member], folder: Path) -> tuple[list[Member], ResampledScores]:
    """The members that have scores on a reference set, and these scores."""
    outputs = BoardOutputs.of_board(phase).names
    table = ResampledScores(folder / f"{key.replace('/', '_')}.scores", outputs, settings.CAPTIOUS.resamples)
    members = _add_records(phase, key, members, table, outputs)
    table.compact([member.record for member in members])
    return members, table


def _by_rank_output(
    phase: Phase,
    outputs: BoardOutputs,
    members: list[Member],
    sets: Mapping[str, tuple[list[Member], ResampledScores]],
) -> list[Member]:
    """Members in the order of the output that ranks, on the main reference set; those without a score are last."""
    members_with_scores, table = sets.get(outputs.main_set, ([], None))
    if table is None:
        return members
    scores = _rounded_scores(
        table.scores([member.record for member in members_with_scores], outputs.rank_by), phase.digits
    )
    order = _order(scores, outputs.rank_by in outputs.lower_is_better)
    ranked = [members_with_scores[i] for i in order.tolist()]
    ranked_set = {*ranked}
    return [*ranked, *(member for member in members if member not in ranked_set)]


def _order(rounded_scores: NDArray[np.float64], lower: bool | None) -> NDArray[np.int64]:
    """Places of scores, the best first; equal ones in their order, missing ones last."""
    return np.argsort(
        np.where(np.isnan(rounded_scores), np.inf, rounded_scores if lower else -rounded_scores), kind="stable"
    )


def _standings(
    phase: Phase, key: str, members: list[Member], table: ResampledScores, entries: Set[int]
) -> Iterator[Standing]:
    board = BoardOutputs.of_board(phase)
    directions, n_images = board.directions, board.counts[key]
    records = [member.record for member in members]
    is_entry = np.array([member.record[0] in entries for member in members], dtype=bool)
    exact = {output: table.scores(records, output) for output in directions}
    rounded_scores = {output: _rounded_scores(exact[output], phase.digits) for output in directions}
    previous = {(row.output, row.everything): row for row in Standing.objects.filter(phase=phase, references=key)}
    for output, lower in directions.items():
        sign = -1.0 if lower else 1.0
        order = _order(rounded_scores[output], lower)
        for everything in (False, True):
            rows = order if everything and phase.entries == "all" else order[is_entry[order]]
            board_before = previous.get((output, everything))
            if board_before is not None and (board_before.version, board_before.digits) != (
                phase.shown_version,
                phase.digits,
            ):
                board_before = None
            output_ranks = _OutputRanks(table, output, sign, phase.digits, n_images)
            ranks = output_ranks.ranks([records[i] for i in rows], board_before)
            yield Standing(
                phase=phase,
                references=key,
                output=output,
                everything=everything,
                version=phase.shown_version,
                digits=phase.digits,
                submissions=[records[i][0] for i in rows],
                finished=[records[i][1] for i in rows],
                scores=[None if np.isnan(score) else score for score in rounded_scores[output][rows].tolist()],
                ranks=[ranks.get(records[i]) for i in rows],
                best=_best(rounded_scores, directions, rows),
            )


def _add_records(
    phase: Phase, key: str, members: list[Member], table: ResampledScores, outputs: Sequence[str]
) -> list[Member]:
    """The members that have scores on the reference set; new ones are added to the table."""
    missing = {member.record[0]: member for member in members if member.record not in table}
    scores = Scores.objects.filter(version=phase.shown_version, submission__in=[*missing]).select_related("submission")
    unscored: set[Record] = set()
    for row in scores.iterator(chunk_size=100):
        member = missing.pop(row.submission_id)
        if key not in row.outputs:
            unscored.add(member.record)
            continue
        results = read_results(row.submission.folder / row.results_file, key)
        resampled = {} if results is None else dict(zip(results.outputs, results.resampled.T, strict=True))
        table.append(member.record, {name: entry["score"] for name, entry in row.outputs[key].items()}, resampled)
    unscored |= {member.record for member in missing.values()}  # deleted meanwhile
    return [member for member in members if member.record not in unscored]


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


@dataclass(frozen=True)
class _OutputRanks:
    """Ranks in one output, from the table."""

    table: ResampledScores
    output: str
    sign: float
    digits: int
    n_images: int

    def ranks(self, records: Sequence[Record], old: Standing | None) -> dict[Record, int]:
        """The rank of each record that has a score, and resampled scores.

        Args:
            old: the previous board, with scores of the same version and digits.
        """
        rows, ranked_records = self._rows(records)
        if old is not None and len(ranked_records) > HOLM_ROWS:
            old_rank_of = {
                (submission, finished): rank
                for submission, finished, rank in zip(old.submissions, old.finished, old.ranks, strict=True)
                if rank is not None
            }
            is_stable = np.array([record in old_rank_of for record in ranked_records])
            old_records = [*old_rank_of.keys() - {*ranked_records}]
            n_changes = len(old_records) + int((~is_stable).sum())
            if n_changes == 0:
                return old_rank_of
            if (
                n_changes <= _MAX_CHANGES
                and corrected_rows(len(old_rank_of)) == corrected_rows(len(ranked_records))
                and all(record in self.table for record in old_records)
            ):
                ranks = np.empty(len(ranked_records), dtype=np.int64)
                old_ranks = np.array(
                    [old_rank_of[record] for record in ranked_records if record in old_rank_of], dtype=np.int64
                )
                new_rows = rows.take(np.flatnonzero(~is_stable))
                stable_ranks, new_ranks = update_ranks(
                    rows.take(np.flatnonzero(is_stable)), old_ranks, new_rows, self._rows(old_records)[0]
                )
                ranks[is_stable], ranks[~is_stable] = stable_ranks, new_ranks
                return dict(zip(ranked_records, ranks.tolist(), strict=True))
        return dict(zip(ranked_records, rank_rows(rows).tolist(), strict=True))

    def _rows(self, records: Sequence[Record]) -> tuple[RankedScores, list[Record]]:
        """The rows of the records that can be ranked, and these."""
        scores, resampled = self.table.scores(records, self.output), self.table.resampled(records, self.output)
        usable = np.flatnonzero(np.isfinite(scores) & np.isfinite(resampled).any(axis=1))
        scores, resampled = self.sign * scores[usable], resampled[usable]
        rows = RankedScores(scores, _rounded_scores(scores, self.digits), resampled, self.n_images)
        return rows, [records[i] for i in usable.tolist()]
