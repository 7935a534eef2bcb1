"""A challenge on the list of challenges: its phase, its teams, its leader and the best score over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from captious.server.boards.leaderboard import Row, rows_at
from captious.server.boards.leaderboard_query import query_from, standing_of
from captious.server.models import Challenge, Phase, Standing, Submission

_MOST_POINTS = 60  # of a curve


@dataclass(frozen=True)
class ChallengeCard:
    """What the list shows of a challenge.

    Attributes:
        phase: the one that is open, the next one, or the last one; None if there is none.
        n_teams: teams with submissions on the board that is shown, without anonymous ones.
        leader: the first row of the board, and its ``score``; None where the user sees no board, or it is empty.
        curve: the best score so far, after each submission that was better.
        is_mine: the user organizes it or has submitted.
    """

    challenge: Challenge
    phase: Phase | None
    n_teams: int
    leader: Row | None
    output: str
    score: str
    curve: Sequence[float]
    is_mine: bool


def cards(challenges: Sequence[Challenge], user: Any) -> list[ChallengeCard]:
    """The cards of challenges, those of the user first."""
    mine: set[int] = set()
    if user.is_authenticated:
        mine |= {*Submission.objects.filter(team__members=user).values_list("phase__challenge_id", flat=True)}
        mine |= {*user.organized.values_list("pk", flat=True)}
    made = [_card(challenge, user, challenge.pk in mine) for challenge in challenges]
    return sorted(made, key=lambda card: not card.is_mine)


def _card(challenge: Challenge, user: Any, is_mine: bool) -> ChallengeCard:
    phases = challenge.phase_list
    states = [phase.state for phase in phases]
    shown = next((i for state in ("open", "upcoming") for i, own in enumerate(states) if own == state), len(phases) - 1)
    query = query_from(challenge, {}, user)
    standing = None if query is None else standing_of(query)
    places = [0] if standing is not None and standing.submissions else []
    leader = None if query is None or standing is None else next(rows_at(query, standing, places), None)
    cells = {} if leader is None else {cell.name: cell.text for cell in leader.cells}
    phase = None if query is None else query.phase
    teams = Submission.objects.competing().filter(phase=phase, is_baseline=False, anonymous=False)
    return ChallengeCard(
        challenge=challenge,
        phase=phases[shown] if phases else None,
        n_teams=0 if query is None else teams.values("team").distinct().count(),
        leader=leader,
        output="" if query is None else query.output,
        score="" if query is None else cells.get(query.output, ""),
        curve=[] if query is None or standing is None else _curve(standing, lower_is_better=query.lower_is_better),
        is_mine=is_mine,
    )


def _curve(standing: Standing, *, lower_is_better: bool | None) -> list[float]:
    """The best score on the board after each submission that improved it, in the order of submission."""
    scored = sorted(zip(standing.submissions, standing.scores, strict=True))
    scores = [score for _, score in scored if score is not None]
    best = [*accumulate(scores, min if lower_is_better else max)]
    better = [score for i, score in enumerate(best) if i == 0 or score != best[i - 1]]
    return better[-_MOST_POINTS:]
