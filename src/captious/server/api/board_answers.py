"""Answers of the API about leaderboards: rows, and comparisons of two submissions."""

from __future__ import annotations

from datetime import datetime

from typing_extensions import TypedDict

from captious.server.api.answers import answer_from, exact
from captious.server.boards.submission_comparison import ComparedOutput


@exact
class BoardRow(TypedDict):
    """A row of a leaderboard; ``id`` identifies the submission."""

    id: int
    method: str
    team: str
    rank: int | None
    scores: dict[str, float | None]
    intervals: dict[str, list[float | None]]
    signatures: dict[str, str]
    lower_is_better: list[str]
    baseline: bool
    human: bool
    submitted: datetime
    url: str
    phase: str
    references: str


@exact
class ComparisonAnswer(TypedDict):
    """The difference between two submissions in one output, b minus a, by the paired bootstrap."""

    output: str
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    effect_size: float | None
    lower_is_better: bool
    signature: str


def comparison_answer(row: ComparedOutput) -> ComparisonAnswer:
    """A difference between two submissions."""
    return answer_from(ComparisonAnswer, row, output=row.name, a=row.score_a, b=row.score_b)
