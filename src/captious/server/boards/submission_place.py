"""The place of a submission in its phase: neighbors on the board, the leader, the team's previous best."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from captious.server.boards.caption_browser import CaptionRow, CaptionView, positions_of, rows_of
from captious.server.boards.leaderboard import ROWS_PER_PAGE, BoardRow, rows_at
from captious.server.boards.leaderboard_query import Query, standing_of
from captious.server.boards.shown_digits import rounded_array, rounded_ends
from captious.server.boards.visible_scores import rounded_outputs
from captious.server.models import Scores, Standing, Submission
from captious.server.people.access import may_browse, may_see_board
from captious.server.scoring.board_outputs import BoardOutputs
from captious.server.scoring.stored_results import read_results

_NEIGHBORS = 2  # neighbors on each side
_HISTOGRAM_BARS = 20
_EXAMPLE_IMAGES = 3  # the best, and the worst


#: Output -> the ends of an axis.
Scale: TypeAlias = dict[str, tuple[float, float]]


@dataclass(frozen=True)
class Place:
    """The place of a submission on the board of its phase.

    Attributes:
        rank: None if it is not ranked.
        n: submissions on the board.
        neighbors: nearby rows of the board, including its own if it is on the board.
        leader: the first of the board, None if it is the first itself.
        previous_best: the best of the team's earlier submissions, for the team and organizers; None if there is none.
        scales: output -> the ends of all intervals on the first page of the leaderboard, so that the pages of all its
            submissions have the same axes. Empty where the leaderboard is not shown.
    """

    submission: Submission
    query: Query
    rank: int | None
    n: int
    neighbors: list[BoardRow]
    leader: Submission | None
    previous_best: Submission | None
    scales: Scale

    @property
    def compare_leader_url(self) -> str:
        return self._compare_url(self.leader)

    @property
    def compare_previous_url(self) -> str:
        return self._compare_url(self.previous_best)

    def _compare_url(self, other: Submission | None) -> str:
        """The address of a comparison, in which a better submission has positive differences."""
        return "" if other is None else f"{self.query.url('compare')}&a={other.pk}&b={self.submission.pk}"

    @property
    def comparisons(self) -> list[Submission]:
        """The submissions to compare with, without duplicates."""
        others = [other for other in (self.leader, self.previous_best) if other is not None]
        return others[:1] if len(others) == 2 and others[0] == others[1] else others


@dataclass(frozen=True)
class Images:
    """The scores of single images, for captions files that are public.

    Attributes:
        query: the board whose output they are.
        counts: histogram of image scores, with equal bins from ``low`` to ``high``.
    """

    query: Query
    counts: Sequence[int]
    low: float
    median: float
    high: float
    worst: list[CaptionRow]
    best: list[CaptionRow]
    url: str


def query_of(submission: Submission, key: str = "") -> Query | None:
    """The board that lists a submission: that of entries, or else that of all submissions. None if it has no scores.

    Args:
        key: key of a reference set; by default, the main one.
    """
    outputs = BoardOutputs.of_board(submission.phase)
    key, by = key or outputs.main_set, outputs.rank_by
    if key not in outputs.sets or by not in submission.outputs(key):
        return None
    return Query(submission.phase, key, by, ascending=by in outputs.lower_is_better, everything=not submission.is_entry)


def places_of(user: Any, submission: Submission, *, own: bool) -> dict[str, Place]:
    """The places of a submission on the boards of all its reference sets, by key, the main set first.

    Args:
        own: whether the user sees all submissions of the team.
    """
    outputs = BoardOutputs.of_board(submission.phase)
    queries = [query_of(submission, key) for key in sorted(outputs.sets, key=lambda key: key != outputs.main_set)]
    return {query.key: place_of(user, submission, query, own=own) for query in queries if query is not None}


def place_of(user: Any, submission: Submission, query: Query, *, own: bool) -> Place:
    """The place, if the user sees the board.

    Args:
        own: whether the user sees all submissions of the team.
    """
    before = _previous_best(submission, query) if own and not submission.is_baseline else None
    if not may_see_board(user, submission.phase):
        return Place(submission, query, None, 0, [], None, before, {})
    standing = standing_of(query)
    index = standing.submissions.index(submission.pk) if submission.pk in standing.submissions else None
    rank = None if index is None else standing.ranks[index]
    window = range(5) if index is None else range(max(index - _NEIGHBORS, 0), index + _NEIGHBORS + 1)
    rows = [*rows_at(query, standing, [i for i in window if i < len(standing.submissions)])]
    return Place(
        submission=submission,
        query=query,
        rank=rank,
        n=len(standing.submissions),
        neighbors=rows,
        leader=_leader(standing, query, submission),
        previous_best=before,
        scales=_scales(query),
    )


def _scales(query: Query) -> Scale:
    """``Place.scales``, from the leaderboard of entries, cached until the board changes."""
    phase, standing = query.phase, standing_of(replace(query, everything=False))
    rows = tuple(zip(standing.submissions, standing.finished, strict=True))[:ROWS_PER_PAGE]
    return _scales_of(phase.pk, query.key, phase.digits, standing.version, phase.board_changes, rows)


@lru_cache(maxsize=256)
def _scales_of(
    phase: int, key: str, digits: int, version: int, changes: int, records: tuple[tuple[int, int], ...]
) -> Scale:
    """The ends of the intervals of submissions, those that are shown.

    Args:
        first: submissions and the times of their scoring.
        changes: change counter of the board, which increases when a submission is hidden.
    """
    scores = Scores.objects.filter(version=version, submission__in=[pk for pk, _ in records])
    rows = scores.filter(submission__phase=phase, submission__public=True, submission__is_hidden=False)
    ends: dict[str, list[float]] = {}
    for sets in rows.values_list("outputs", flat=True):
        for name, entry in sets.get(key, {}).items():
            low, high = rounded_ends(entry["low"], entry["high"], digits)
            if low is not None and high is not None:
                ends.setdefault(name, []).extend((low, high))
    return {name: (min(values), max(values)) for name, values in ends.items()}


def _leader(standing: Standing, query: Query, submission: Submission) -> Submission | None:
    row = next(rows_at(query, standing, range(min(len(standing.submissions), 1))), None)
    if row is None or row.submission == submission:
        return None
    return Submission.objects.select_related("phase__challenge", "team", "shown_scores").get(pk=row.submission.pk)


def _previous_best(submission: Submission, query: Query) -> Submission | None:
    rows = Submission.objects.scored().select_related("phase__challenge", "team", "shown_scores")
    rows = rows.filter(phase=query.phase, team=submission.team, is_baseline=False, pk__lt=submission.pk)
    pairs = [(row, entry["score"]) for row in rows if (entry := row.outputs(query.key).get(query.output))]
    sign = -1 if query.lower_is_better else 1
    return max((pair for pair in pairs if pair[1] is not None), key=lambda pair: sign * pair[1], default=(None, None))[
        0
    ]


def compared_outputs(place: Place) -> list[Mapping[str, Any]]:
    """The rounded outputs of the submissions that a place compares with, on its reference set."""
    return [rounded_outputs(other.outputs(place.query.key), other.phase) for other in place.comparisons]


def images_of(user: Any, submission: Submission, query: Query) -> Images | None:
    """The scores of single images; None if the user may not see them, or the references have changed."""
    if not may_browse(user, submission, query.references.captions) or not submission.is_current(query.key):
        return None
    results = read_results(submission.results_path, query.key)
    if results is None or query.output not in results.outputs or query.key not in query.phase.reference_sets:
        return None
    scores = rounded_array(results.per_caption[:, results.outputs.index(query.output)], query.phase.digits)
    scores = scores[np.isfinite(scores)]
    if not len(scores):
        return None
    view = CaptionView(query, [submission], query.output, "highest" if query.lower_is_better else "lowest")
    positions = positions_of(view)[: len(scores)].tolist()
    n = min(_EXAMPLE_IMAGES, len(positions) // 2)
    return Images(
        query=query,
        counts=np.histogram(scores, _HISTOGRAM_BARS)[0].tolist(),
        low=float(scores.min()),
        median=float(np.median(scores)),
        high=float(scores.max()),
        worst=rows_of(view, positions[:n]),
        best=rows_of(view, positions[::-1][:n]),
        url=f"{query.url('captions')}&systems={submission.pk}",
    )
