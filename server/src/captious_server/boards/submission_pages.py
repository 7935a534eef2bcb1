"""The scores of submissions on their own pages: their place on the board, a team's own scores, and earlier versions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import Any, TypeAlias

import numpy as np
from django.db.models import Count, Max, Min, QuerySet
from django.db.models.fields.json import KeyTransform

from captious_server.boards.captions import CaptionView, positions_of, rows_of
from captious_server.boards.leaderboard import ROWS_PER_PAGE, BoardRow, rows_at, scales_of
from captious_server.boards.query import Query, rounded_outputs, shown_sets, standing_of, visible_scores
from captious_server.boards.ranking import HOLM_ROWS, ranks_in, rounded, rounded_array
from captious_server.challenges.definition import directions_of
from captious_server.models import Phase, RefusedUpload, Scores, Standing, Submission
from captious_server.people.access import Visitor, may_browse, may_see_board
from captious_server.scoring.queue import BoardOutputs
from captious_server.scoring.results import read_results
from captious_server.submissions.intake import why_not_chosen

# The place of a submission in its phase: neighbors on the board, the leader, the team's previous best.

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
    def comparisons(self) -> list[Submission]:
        """The submissions to compare with, without duplicates."""
        others = [other for other in (self.leader, self.previous_best) if other is not None]
        return others[:1] if len(others) == 2 and others[0] == others[1] else others


def query_of(submission: Submission, key: str = "") -> Query | None:
    """The board that lists a submission: that of entries, or else that of all submissions. None if it has no scores.

    Args:
        key: key of a reference set; by default, the one that is shown first.
    """
    outputs = BoardOutputs.of_board(submission.phase)
    key, by = key or outputs.first_set(submission.phase), outputs.rank_by
    if key not in outputs.sets or by not in submission.outputs(key):
        return None
    return Query(submission.phase, key, by, ascending=by in outputs.lower_is_better, everything=not submission.is_entry)


def places_of(user: Visitor, submission: Submission, *, own: bool) -> dict[str, Place]:
    """The places of a submission on the boards of the reference sets that the user sees, by key, the first one first.

    Args:
        own: whether the user sees all submissions of the team.
    """
    outputs = BoardOutputs.of_board(submission.phase)
    first, sets = outputs.first_set(submission.phase), shown_sets(user, submission.phase, outputs.sets)
    queries = [query_of(submission, key) for key in sorted(sets, key=lambda key: key != first)]
    return {query.key: place_of(user, submission, query, own=own) for query in queries if query is not None}


def place_of(user: Visitor, submission: Submission, query: Query, *, own: bool) -> Place:
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
    return Place(
        submission=submission,
        query=query,
        rank=rank,
        n=len(standing.submissions),
        neighbors=[*rows_at(query, standing, window)],
        leader=_leader(standing, query, submission),
        previous_best=before,
        scales=_scales(query),
    )


def _scales(query: Query) -> Scale:
    """``Place.scales``, from the leaderboard of entries."""
    query = replace(query, everything=False)
    return scales_of(rows_at(query, standing_of(query), range(ROWS_PER_PAGE)))


def _leader(standing: Standing, query: Query, submission: Submission) -> Submission | None:
    row = next(rows_at(query, standing, range(1)), None)
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


def images_of(user: Visitor, submission: Submission, query: Query) -> dict[str, Any] | None:
    """The scores of single images, for captions files that are public: ``counts`` is their histogram, with equal bins.

    None if the user may not see them, or the references have changed.
    """
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
    return {
        "query": query,
        "counts": np.histogram(scores, _HISTOGRAM_BARS)[0].tolist(),
        "low": float(scores.min()),
        "median": float(np.median(scores)),
        "high": float(scores.max()),
        "worst": rows_of(view, positions[:n]),
        "best": rows_of(view, positions[::-1][:n]),
        "url": f"{query.url('captions')}&systems={submission.pk}",
    }


# A team's submissions with ranking scores, their changes from the previous best, and refused uploads.

#: Sort keys of a list of submissions, with the initial direction of each.
SORTS = {"date": True, "method": False, "score": True}


@dataclass(frozen=True)
class OwnScore:
    """A submission in a list.

    Attributes:
        submission: a submission, or a refused upload, which has no other attributes.
        output: the ranking output of its phase; "" where no score is shown.
        references: the reference set that ranks, if its phase has several.
        change: difference from the best score of earlier submissions of the team in the phase; None for the first.
        is_better: whether the change is an improvement.
    """

    submission: Submission | RefusedUpload
    output: str = ""
    references: str = ""
    score: float | None = None
    change: float | None = None
    is_better: bool = False

    @property
    def is_refused(self) -> bool:
        return isinstance(self.submission, RefusedUpload)

    @property
    def can_choose(self) -> bool:
        """Whether the team can now choose it as its final entry, or undo the choice."""
        if isinstance(self.submission, RefusedUpload):
            return False
        return not why_not_chosen(self.submission, chosen=not self.submission.is_chosen, manages=False)


def own_scores(user: Visitor, submissions: Collection[Submission]) -> list[OwnScore]:
    """The submissions in their order, with the scores visible to the user."""
    best: dict[tuple[int, int, str], float] = {}
    rows_by_id: dict[int, OwnScore] = {}
    for submission in sorted(submissions, key=lambda submission: submission.pk):
        row, query = main_score(user, submission), query_of(submission)
        score = row.score
        if query is not None and score is not None:
            place = (submission.phase_id, submission.team_id, query.key)
            previous = best.get(place)
            sign = -1 if query.lower_is_better else 1
            change = None if previous is None else round(score - previous, submission.phase.digits)
            row = replace(row, change=change, is_better=change is not None and sign * change > 0)
            best[place] = score if previous is None else sign * max(sign * score, sign * previous)
        rows_by_id[submission.pk] = row
    return [rows_by_id[submission.pk] for submission in submissions]


def main_score(user: Visitor, submission: Submission) -> OwnScore:
    """A submission with its ranking score, if visible to the user."""
    query = query_of(submission)
    scores = {} if query is None else visible_scores(user, submission).get(query.key, {})
    score = None if query is None else scores.get(query.output, {}).get("score")
    if query is None or score is None:
        return OwnScore(submission)
    return OwnScore(submission, query.output, query.references_label if len(query.outputs.sets) > 1 else "", score)


def sorted_scores(rows: Sequence[OwnScore], by: str, *, descending: bool) -> list[OwnScore]:
    """Sorted by one of ``SORTS``; those without a score are last."""
    keys = {
        "date": lambda row: (row.submission.created, row.submission.pk),
        "method": lambda row: row.submission.method.casefold(),
        "score": lambda row: row.score,
    }
    scored = [row for row in rows if by != "score" or row.score is not None]
    unscored = [row for row in rows if by == "score" and row.score is None]
    return [*sorted(scored, key=keys[by], reverse=descending), *unscored]


# The scores of submissions before and after the references, metrics or program of their phase have changed.

#: Submissions of a phase that are ranked in both versions while a page is made.
MAX_RANKED = HOLM_ROWS


@dataclass(frozen=True)
class ComparedVersions:
    """Two versions of a phase.

    Attributes:
        before, after: version numbers; 0 if there is none.
        scored_versions: all versions in which something was scored, the latest first: its number ``version``, ``n``
            submissions, the time of the ``first`` scoring, and the version of captious that it was done ``by``.
        submissions: those with scores of either version, newest first.
    """

    before: int
    after: int
    scored_versions: Sequence[Mapping[str, Any]]
    submissions: QuerySet[Submission]

    def n_scored(self, version: int) -> int:
        """The number of submissions with scores of a version."""
        return next((row["n"] for row in self.scored_versions if row["version"] == version), 0)

    @property
    def programs(self) -> tuple[str, str] | None:
        """The versions of captious before and after, if they differ."""
        by = {row["version"]: row["by"] for row in self.scored_versions}
        before, after = by.get(self.before, ""), by.get(self.after, "")
        return (before, after) if before and before != after else None


@dataclass(frozen=True)
class VersionRow:
    """An output of a submission in two versions; None where it has no score.

    Attributes:
        rank_before, rank_after: as on leaderboards, among all public submissions with scores of that version.
    """

    submission: Submission
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None

    @property
    def difference(self) -> float | None:
        return None if self.before is None or self.after is None else self.after - self.before

    @property
    def rank_gain(self) -> int | None:
        """The improvement of the rank; negative if it is worse."""
        if self.rank_before is None or self.rank_after is None:
            return None
        return self.rank_before - self.rank_after


def compare_versions(phase: Phase, before: int = 0, after: int = 0) -> ComparedVersions:
    """Two versions of the scores of a phase.

    Args:
        before, after: their numbers. By default, or if there are no such scores, the last one and the one that the
            board shows, or the last two.
    """
    scores = Scores.objects.filter(submission__phase=phase)
    rows = scores.order_by("-version").values("version")
    scored_versions = [*rows.annotate(n=Count("pk"), first=Min("finished"), by=Max("program"))]
    numbers = [row["version"] for row in scored_versions]
    after = after if after in numbers else max(numbers, default=0)
    earlier_numbers = [number for number in numbers if number < after]
    default = phase.shown_version if phase.shown_version < after else next(iter(earlier_numbers), 0)
    before = before if before in numbers else default
    with_scores = scores.filter(version__in=[before, after]).values("submission")
    submissions = Submission.objects.filter(pk__in=with_scores).select_related("team")
    return ComparedVersions(before, after, scored_versions, submissions)


def outputs_of(query: Query, versions: ComparedVersions) -> list[str]:
    """The outputs of either version on a reference set: those of the board, then those that only another one has."""
    names = [*query.outputs.names]
    for version in (versions.after, versions.before):
        row = Scores.objects.filter(submission__phase=query.phase, version=version).order_by("pk").first()
        names += [] if row is None else row.outputs.get(query.key, {})
    return [*dict.fromkeys(names)]


def lower_is_better(query: Query) -> bool:
    """Return whether lower scores of the output are better, also if the board no longer has it."""
    if query.output in query.outputs.names:
        return query.lower_is_better
    try:
        return directions_of(query.output).get(query.output) is True
    except ValueError:  # this version of captious does not have it
        return False


def rows_of_versions(query: Query, versions: ComparedVersions) -> list[VersionRow]:
    """The output of a query for all submissions, the best after the change first, then the best before."""
    lower, numbers = lower_is_better(query), (versions.before, versions.after)
    before, after = (_scores(query, version) for version in numbers)
    ranks: list[dict[int, int]] = [{}, {}]
    if len(before | after) <= MAX_RANKED:
        ranks = [ranks_in(query.phase, version, query.key, query.output, lower=lower) for version in numbers]
    rows = [
        VersionRow(row, before.get(row.pk), after.get(row.pk), *(of_version.get(row.pk) for of_version in ranks))
        for row in versions.submissions
    ]
    sign = 1 if lower else -1
    return sorted(rows, key=lambda row: (_order(row.after, sign), _order(row.before, sign), -row.submission.pk))


def _order(score: float | None, sign: int) -> float:
    return inf if score is None else sign * score


def signatures_of(query: Query, versions: ComparedVersions) -> list[tuple[int, list[str]]]:
    """The signatures of the output in each version: several if it changed without a new version."""
    entry = KeyTransform("signature", KeyTransform(query.output, KeyTransform(query.key, "outputs")))
    changes = []
    for version in (versions.before, versions.after):
        rows = Scores.objects.filter(submission__phase=query.phase, version=version).order_by("pk")
        changes.append((version, [text for text in dict.fromkeys(rows.values_list(entry, flat=True)) if text]))
    return changes


def _scores(query: Query, version: int) -> dict[int, float]:
    """The rounded scores of a version, by submission."""
    entry = KeyTransform("score", KeyTransform(query.output, KeyTransform(query.key, "outputs")))
    rows = Scores.objects.filter(submission__phase=query.phase, version=version).values_list("submission", entry)
    scores = {pk: rounded(score, query.phase.digits) for pk, score in rows if score is not None}
    return {pk: score for pk, score in scores.items() if score is not None}
