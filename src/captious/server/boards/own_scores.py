"""A team's submissions with ranking scores, their changes from the previous best, and refused uploads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from captious.server.boards.submission_place import query_of
from captious.server.boards.visible_scores import visible_scores
from captious.server.models import RefusedUpload, Submission
from captious.server.submissions.team_entry import why_not_chosen

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


def own_scores(user: Any, submissions: Sequence[Submission]) -> list[OwnScore]:
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


def main_score(user: Any, submission: Submission) -> OwnScore:
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
