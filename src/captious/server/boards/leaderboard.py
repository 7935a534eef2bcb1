"""A leaderboard: the submissions of a phase on one reference set, ranked and sorted, with links to other views."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.core.cache import cache
from django.urls import reverse

from captious.report import numbers
from captious.server.boards.leaderboard_query import Query, submissions_on
from captious.server.boards.ranking import rank_submissions
from captious.server.boards.shown_digits import interval_digits
from captious.server.boards.visible_scores import rounded_outputs
from captious.server.models import Phase, Submission
from captious.server.people.access import may_see_board
from captious.server.scoring.stored_results import read_results

__all__ = ["Board", "Cell", "Column", "Row", "as_json", "as_table", "board"]

NO_SCORE = "–"


@dataclass(frozen=True)
class Column:
    """An output as the head of a column."""

    name: str
    url: str
    sorted: str
    signature: str
    is_rank: bool
    lower_is_better: bool


@dataclass(frozen=True)
class Cell:
    """A score as text, with its interval."""

    name: str
    score: float | None
    text: str
    interval: str
    low: float | None
    high: float | None
    best: bool


@dataclass(frozen=True)
class Row:
    """A submission on the board; the rank is None where it has no score."""

    rank: int | None
    submission: Submission
    cells: list[Cell]


@dataclass(frozen=True)
class Board:
    """A leaderboard as its page shows it."""

    query: Query
    phases: list[dict[str, Any]]
    sets: list[dict[str, Any]]
    columns: list[Column]
    rows: list[Row]
    n_images: int
    caption: str

    @property
    def phase(self) -> Phase:
        return self.query.phase

    @property
    def lower_is_better(self) -> str:
        """The outputs of which lower scores are better, separated by commas."""
        return ", ".join(column.name for column in self.columns if column.lower_is_better)

    @property
    def is_all(self) -> bool:
        return self.query.everything

    @property
    def all_url(self) -> str:
        return replace(self.query, everything=True).url()

    @property
    def best_url(self) -> str:
        return replace(self.query, everything=False).url()

    @property
    def date_url(self) -> str:
        """The history: by the time of submission, the newest first, and the other way round when that is shown."""
        return replace(self.query, by_date=True, ascending=self.query.by_date and not self.query.ascending).url()

    @property
    def date_sorted(self) -> str:
        return "" if not self.query.by_date else "ascending" if self.query.ascending else "descending"

    @property
    def json_url(self) -> str:
        return self.query.url("leaderboard_json")

    @property
    def csv_url(self) -> str:
        return self.query.url("leaderboard_csv")

    @property
    def compare_url(self) -> str:
        return self.query.url("compare")

    @property
    def browse_url(self) -> str:
        """The captions of single images; empty if they are private."""
        public = self.query.challenge.is_public(self.query.references.captions)
        return self.query.url("captions") if public else ""


def board(query: Query, user: Any) -> Board:
    """The leaderboard. Submissions without a score are last, whichever way it is sorted."""
    challenge = query.challenge
    submissions = submissions_on(query, user)
    if not query.everything:
        submissions = _best_of_each_team(submissions, query)
    ranks = _ranks(submissions, query)
    submissions = _sorted(submissions, query)
    outputs = challenge.definition.outputs
    directions = challenge.definition.directions
    best = {name: _best(submissions, query, name) if directions[name] is not None else None for name in outputs}
    rows = [
        Row(ranks.get(submission.pk), submission, [_cell(submission, query, name, best[name]) for name in outputs])
        for submission in submissions
    ]
    columns = [_column(name, query, submissions) for name in outputs]
    direction = " (lower is better)" if query.lower_is_better else ""
    return Board(
        query=query,
        phases=[
            {
                "name": phase.name,
                "title": str(phase),
                "url": f"{reverse('captious:leaderboard', args=[challenge.slug])}?{urlencode({'phase': phase.name})}",
                "current": phase == query.phase,
            }
            for phase in challenge.phase_list
            if may_see_board(user, phase)
        ],
        sets=[
            {
                "label": challenge.definition.label(references.captions, references.name),
                "url": replace(query, references=references).url(),
                "current": references == query.references,
            }
            for references in query.phase.reference_sets
        ],
        columns=columns,
        rows=rows,
        n_images=int(challenge.counts.get(query.key, 0)),
        caption=f"Ranked by {query.output}{direction}: a rank is 1 plus the number of submissions that are "
        "significantly better (paired bootstrap over images, 5%, Holm's correction).",
    )


def as_json(board: Board) -> list[dict[str, Any]]:
    """The leaderboard as plain values."""
    return [
        {
            "method": row.submission.method,
            "team": row.submission.team_shown,
            "rank": row.rank,
            "scores": {cell.name: cell.score for cell in row.cells},
            "intervals": {
                cell.name: [entry.get("low"), entry.get("high")]
                for cell in row.cells
                if (entry := _entry(row.submission, board.query, cell.name))
            },
            "signatures": {column.name: column.signature for column in board.columns},
            "lower_is_better": [column.name for column in board.columns if column.lower_is_better],
            "baseline": row.submission.is_baseline,
            "human": row.submission.is_human,
            "submitted": row.submission.created.isoformat(),
            "url": row.submission.url,
            "phase": board.phase.name,
            "references": board.query.key,
        }
        for row in board.rows
    ]


def as_table(board: Board) -> list[list[Any]]:
    """The leaderboard as rows of a table, heads first."""
    outputs = [column.name for column in board.columns]
    bounds = [f"{name}_{side}" for name in outputs for side in ("low", "high")]
    heads = ["rank", "method", "team", "submitted", "baseline", "human", *outputs, *bounds]
    heads += [f"{name}_signature" for name in outputs]
    rows = []
    for row in board.rows:
        entries = [_entry(row.submission, board.query, name) for name in outputs]
        rows.append(
            [
                row.rank,
                row.submission.method,
                row.submission.team_shown,
                row.submission.created.isoformat(),
                row.submission.is_baseline,
                row.submission.is_human,
                *(entry.get("score") for entry in entries),
                *(entry.get(side) for entry in entries for side in ("low", "high")),
                *(entry.get("signature") for entry in entries),
            ]
        )
    return [heads, *rows]


def _entry(submission: Submission, query: Query, output: str) -> dict[str, Any]:
    outputs = submission.outputs(query.key)
    return rounded_outputs({output: outputs[output]}, query.phase)[output] if output in outputs else {}


def _score(submission: Submission, query: Query, output: str) -> float | None:
    return _entry(submission, query, output).get("score")


def _best(submissions: Iterable[Submission], query: Query, output: str) -> float | None:
    scores = [score for submission in submissions if (score := _score(submission, query, output)) is not None]
    return (min if query.challenge.definition.directions[output] else max)(scores, default=None)


def _sorted(submissions: Iterable[Submission], query: Query) -> list[Submission]:
    """By score, missing ones last; equal ones by time of submission."""
    sign = 1.0 if query.ascending else -1.0

    def key(submission: Submission) -> tuple[bool, float, int]:
        if query.by_date:
            return (False, sign * submission.created.timestamp(), submission.pk)
        score = _score(submission, query, query.output)
        return (score is None, 0.0 if score is None else sign * score, submission.pk)

    return sorted(submissions, key=key)


def _best_of_each_team(submissions: Iterable[Submission], query: Query) -> list[Submission]:
    """The best submission of each team; every baseline.

    A team's anonymous submissions are taken as those of another team: one that disappeared in favour of a submission
    with the team's name, or the other way round, would tell whose it is.
    """
    kept: list[Submission] = []
    teams: set[tuple[int, bool]] = set()
    for submission in _sorted(submissions, replace(query, ascending=query.lower_is_better, by_date=False)):
        team = (submission.team_id, submission.anonymous)
        if submission.is_baseline or team not in teams:
            kept.append(submission)
            teams.add(team)
    return kept


def _ranks(submissions: list[Submission], query: Query) -> dict[int, int]:
    """Ranks in the output that is sorted by. They depend only on files that never change, so they are remembered."""
    versions = ",".join(sorted(str(submission.results_path) for submission in submissions))
    key = f"ranks {query.phase.pk} {query.key} {query.output} {hash(versions)}".replace(" ", ":")
    ranks: dict[int, int] | None = cache.get(key)
    if ranks is None:
        scores: dict[int, float] = {}
        resampled = {}
        for submission in submissions:
            score = _score(submission, query, query.output)
            stored = read_results(submission.results_path, query.key)
            if score is not None and stored is not None and query.output in stored.outputs:
                scores[submission.pk] = score
                resampled[submission.pk] = stored.resampled[:, stored.outputs.index(query.output)]
        ranks = rank_submissions(scores, resampled, lower_is_better=query.lower_is_better)
        cache.set(key, ranks, 3600)
    return ranks


def _cell(submission: Submission, query: Query, name: str, best: float | None) -> Cell:
    entry = _entry(submission, query, name)
    score, low, high = (entry.get(key) for key in ("score", "low", "high"))
    return Cell(
        name=name,
        score=score,
        text=NO_SCORE if score is None else numbers.score(score, query.phase.digits),
        interval="" if low is None or high is None else numbers.span(low, high, interval_digits(query.phase.digits)),
        low=low,
        high=high,
        best=score is not None and score == best,
    )


def _column(name: str, query: Query, submissions: Iterable[Submission]) -> Column:
    is_sorted = name == query.output and not query.by_date
    lower = name in query.challenge.definition.lower_is_better
    flipped = replace(query, output=name, by_date=False, ascending=not query.ascending if is_sorted else lower)
    signatures = (_entry(submission, query, name).get("signature", "") for submission in submissions)
    return Column(
        name=name,
        url=flipped.url(),
        sorted="" if not is_sorted else "ascending" if query.ascending else "descending",
        signature=next(filter(None, signatures), ""),
        is_rank=name == query.challenge.definition.rank_by,
        lower_is_better=lower,
    )
