"""A challenge on the list of challenges: its phase, its teams, its leader and the best score over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import accumulate
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from captious_server.boards.leaderboard import BoardRow, rows_at
from captious_server.boards.query import query_from, standing_of
from captious_server.models import Challenge, Phase, Standing, Submission

_CURVE_POINTS = 60  # points of a curve


@dataclass(frozen=True)
class ChallengeCard:
    """A challenge in the list of challenges.

    Attributes:
        phase: the open one that closes next, else the next that opens, else the last one; None if there is none.
        board_phase: this phase if its board and scores are public, else the one of those with public boards that
            follows the same rule; None, also for organizers, if there is none.
        n_teams: teams with submissions on this board, without anonymous ones.
        leader: the first row of this board, and its ``score``; None if it is empty.
        output: the ranking output of this board.
        board_url: this leaderboard, or else another one that the user sees; "" if there is none.
        curve: the best score so far, after each submission that was better.
        is_mine: the user organizes it or has submitted.
    """

    challenge: Challenge
    phase: Phase | None
    board_phase: Phase | None
    n_teams: int
    leader: BoardRow | None
    output: str
    score: str
    board_url: str
    curve: Sequence[float]
    is_mine: bool


def cards(challenges: Sequence[Challenge], user: Any) -> list[ChallengeCard]:
    """The cards of challenges, those of the user first."""
    own_ids: set[int] = set()
    if user.is_authenticated:
        own_ids |= {*Submission.objects.filter(team__members=user).values_list("phase__challenge_id", flat=True)}
        own_ids |= {*user.organized.values_list("pk", flat=True)}
    rows = [_card(challenge, user, challenge.pk in own_ids) for challenge in challenges]
    return sorted(rows, key=lambda card: not card.is_mine)


def _card(challenge: Challenge, user: Any, is_mine: bool) -> ChallengeCard:
    phase = _main_phase(challenge.phase_list)
    default = query_from(challenge, {}, user)
    boards = [row for row in challenge.phase_list if row.is_board_open]
    board_phase = phase if phase in boards else _main_phase(boards)
    query = None if board_phase is None else query_from(challenge, {"phase": board_phase.name}, user)
    standing = None if query is None else standing_of(query)
    places = [0] if standing is not None and standing.submissions else []
    leader = None if query is None or standing is None else next(rows_at(query, standing, places), None)
    cells = {} if leader is None else {cell.name: cell.text for cell in leader.cells}
    board = reverse("captious:leaderboard", args=[challenge.slug])
    if query is not None and default is not None and query.phase != default.phase:
        board += f"?{urlencode({'phase': query.phase.name})}"
    teams = Submission.objects.competing().filter(phase=board_phase, is_baseline=False, anonymous=False)
    return ChallengeCard(
        challenge=challenge,
        phase=phase,
        board_phase=board_phase,
        n_teams=0 if query is None else teams.values("team").distinct().count(),
        leader=leader,
        output="" if query is None else query.output,
        score="" if query is None else cells.get(query.output, ""),
        board_url="" if default is None else board,
        curve=[] if query is None or standing is None else _curve(standing, lower_is_better=query.lower_is_better),
        is_mine=is_mine,
    )


def _main_phase(phases: Sequence[Phase]) -> Phase | None:
    """The open phase that closes next, else the next that opens, else the last one; the first in case of a tie."""
    forever = datetime.max.replace(tzinfo=UTC)
    states = [phase.state for phase in phases]
    open_phases = [phase for phase, state in zip(phases, states, strict=True) if state == "open"]
    upcoming = [phase for phase, state in zip(phases, states, strict=True) if state == "upcoming"]
    if open_phases:
        return min(open_phases, key=lambda phase: phase.closes or forever)
    return min(upcoming, key=lambda phase: phase.opens) if upcoming else phases[-1] if phases else None


def _curve(standing: Standing, *, lower_is_better: bool | None) -> list[float]:
    """The best score on the board after each submission that improved it, in the order of submission."""
    pairs = sorted(zip(standing.submissions, standing.scores, strict=True))
    scores = [score for _, score in pairs if score is not None]
    best = [*accumulate(scores, min if lower_is_better else max)]
    records = [score for i, score in enumerate(best) if i == 0 or score != best[i - 1]]
    return records[-_CURVE_POINTS:]
