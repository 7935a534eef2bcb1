"""Answers of the API about submissions: checks, scores and quotas."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from typing_extensions import TypedDict

from captious.server.api.answers import ProblemAnswer, answer_from, exact
from captious.server.boards.visible_scores import visible_scores, warnings_for
from captious.server.models import RefusedUpload, Submission
from captious.server.people.access import is_own, may_manage, may_see_scores, why_withheld
from captious.server.scoring import queue
from captious.server.scoring.board_outputs import BoardOutputs
from captious.server.submissions.quotas import Quota


@exact
class RefusedAnswer(TypedDict):
    """A refused upload and the reason. ``problems`` are the first of ``n_problems``; the file is not kept."""

    phase: str
    team: str
    method: str
    filename: str
    size: int
    created: datetime
    reason: str
    problems: list[ProblemAnswer]
    n_problems: int


@exact
class CheckAnswer(TypedDict):
    """The result of a dry run: problems of the captions, why a submission would be refused now, and what may be a
    mistake.
    """

    problems: list[ProblemAnswer]
    remarks: list[str]
    warnings: list[str]


@exact
class ScoreAnswer(TypedDict):
    """A score with the ends of its interval, rounded to the digits of the phase."""

    score: float | None
    low: float | None
    high: float | None
    signature: str


@exact
class SubmissionAnswer(TypedDict):
    """A submission. ``scores`` belong to ``references``, the ranking reference set; ``all_scores`` has every set.

    ``withheld`` says why and until when the phase does not show scores; empty if it does.
    """

    id: int
    challenge: str
    phase: str
    method: str
    link: str
    description: str
    team: str
    filename: str
    status: str
    place: int | None
    progress: int
    doing: str
    reason: str
    created: datetime
    finished: datetime | None
    public: bool
    anonymous: bool
    may_publish: bool
    references: str
    scores: dict[str, float | None]
    all_scores: dict[str, dict[str, ScoreAnswer]]
    digits: int
    chosen: bool
    entry: bool
    withheld: str
    warnings: list[str]
    url: str


@exact
class QuotaAnswer(TypedDict):
    """The used and remaining quotas of a team in a phase.

    A limit of 0 means that there is none, so that null is left. ``exhausted`` says why no more uploads are accepted; it
    is empty if they are.
    """

    phase: str
    scored_today: int
    scored_per_day: int
    scored_left_today: int | None
    scored: int
    scored_in_total: int
    scored_left: int | None
    attempts_today: int
    attempts_per_day: int
    attempts_left_today: int | None
    exhausted: str


def submission_answer(submission: Submission, user: Any, places: Mapping[int, int] | None = None) -> SubmissionAnswer:
    """A submission, as a user may see it.

    The team of an anonymous submission is named only to its members and to those who manage the challenge.
    """
    knows_team = is_own(user, submission) or may_manage(user, submission.challenge)
    scores: Any = visible_scores(user, submission)
    main_set = BoardOutputs.of_board(submission.phase).main_set
    return answer_from(
        SubmissionAnswer,
        submission,
        challenge=submission.challenge.slug,
        phase=submission.phase.name,
        team=submission.team.name if knows_team else submission.team_shown,
        filename=submission.filename if knows_team else "",
        place=queue.place(submission) if places is None else places.get(submission.pk),
        references=main_set,
        scores={name: entry["score"] for name, entry in scores.get(main_set, {}).items()},
        all_scores=scores,
        digits=submission.phase.digits,
        chosen=submission.is_chosen and knows_team,
        entry=submission.is_entry and may_see_scores(user, submission.phase),
        withheld=why_withheld(user, submission.phase),
        warnings=warnings_for(user, submission),
    )


def refused_answer(row: RefusedUpload) -> RefusedAnswer:
    """An upload that was refused."""
    return answer_from(RefusedAnswer, row, phase=row.phase.name, team=row.team.name)


def quota_answer(quota: Quota) -> QuotaAnswer:
    """The use of the quotas of a phase, and what remains."""
    phase = quota.phase
    limits = {name: getattr(phase, name) for name in ("scored_per_day", "scored_in_total", "attempts_per_day")}
    return answer_from(QuotaAnswer, quota, phase=phase.name, **limits)
