"""Which leaderboard an address asks for, and the submissions on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse

from captious.server.challenges.definition import ReferencesDefinition
from captious.server.models import Challenge, Phase, Submission, key_of
from captious.server.people.access import may_see_board

__all__ = ["Query", "query_from", "submissions_on"]

#: What sorts by the time of submission, in addresses.
DATE = "date"


@dataclass(frozen=True)
class Query:
    """Which leaderboard: what the address says, checked.

    Args:
        phase, references: of the challenge.
        output: what is sorted and ranked by.
        ascending: lowest first.
        by_date: sorted by the time of submission, the newest first, or with ``ascending`` the oldest: the history.
        everything: all submissions, not only the best of each team.
    """

    phase: Phase
    references: ReferencesDefinition
    output: str
    ascending: bool = False
    by_date: bool = False
    everything: bool = False

    @property
    def challenge(self) -> Challenge:
        challenge: Challenge = self.phase.challenge
        return challenge

    @property
    def lower_is_better(self) -> bool:
        """Whether lower scores of the output are better."""
        return self.output in self.challenge.definition.lower_is_better

    @property
    def key(self) -> str:
        """How the scores of submissions name the reference set."""
        return key_of(self.challenge, self.references)

    @property
    def parameters(self) -> str:
        """As the part of an address behind the question mark."""
        values = {
            "phase": self.phase.name,
            "references": self.key,
            "sort": ("" if self.ascending else "-") + (DATE if self.by_date else self.output),
        }
        return urlencode({**values, **({"all": "1"} if self.everything else {})})

    def url(self, page: str = "leaderboard") -> str:
        """The address of a page about this."""
        return f"{reverse(f'captious:{page}', args=[self.challenge.slug])}?{self.parameters}"


def query_from(challenge: Challenge, parameters: Mapping[str, str], user: Any) -> Query | None:
    """The leaderboard that an address asks for; what it does not say is the default.

    Returns:
        None if there is no such phase or reference set, or the user may not see its leaderboard.
    """
    phases = [phase for phase in challenge.phase_list if may_see_board(user, phase)]
    if not phases:
        return None
    default = next((phase for phase in reversed(phases) if phase.state == "open"), phases[-1])
    name = parameters.get("phase", default.name)
    phase = next((phase for phase in phases if phase.name == name), None)
    if phase is None:
        return None
    sets = phase.reference_sets
    key = parameters.get("references")
    # The last captions file is usually the one that counts: val2014 before test2014.
    first_of_last = next(candidate for candidate in sets if candidate.captions == sets[-1].captions)
    references = next(
        (candidate for candidate in sets if key_of(challenge, candidate) == key), None if key else first_of_last
    )
    if references is None:
        return None
    sort = parameters.get("sort", "")
    output = sort.removeprefix("-")
    outputs = challenge.definition.outputs
    is_known = output in outputs
    rank_by = challenge.definition.rank_by
    return Query(
        phase=phase,
        references=references,
        output=output if is_known else rank_by,
        ascending=(
            not sort.startswith("-") if is_known or output == DATE else rank_by in challenge.definition.lower_is_better
        ),
        by_date=output == DATE,
        everything=parameters.get("all") == "1",
    )


def submissions_on(query: Query, user: Any) -> list[Submission]:
    """The submissions on a leaderboard, with scores of the version that it shows, the newest first."""
    submissions = (
        Submission.objects.on_board()
        .filter(phase=query.phase)
        .select_related("phase__challenge", "team")
        .defer("traceback", "description")
    )
    return [submission for submission in submissions if submission.outputs(query.key)]
