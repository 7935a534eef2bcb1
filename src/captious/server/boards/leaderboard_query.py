"""The leaderboard that an address requests, and its submissions."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.urls import reverse

from captious.server.models import Challenge, Phase, Standing, Submission
from captious.server.people.access import may_see_board
from captious.server.request_values import flag, row_id
from captious.server.scoring.board_outputs import BoardOutputs, ReferenceSet

#: The word in addresses that sorts by the time of submission.
DATE = "date"
_MAX_CHOICES = 100
_SEARCH_LENGTH = 100  # characters


@dataclass(frozen=True)
class Query:
    """The request for a leaderboard, read from its address and checked.

    Args:
        phase: a phase of the challenge.
        key: key of the reference set in the scores of submissions.
        output: the output that sorts and ranks.
        ascending: whether the lowest score comes first.
        by_date: sorted by the time of submission, the newest first, or with ``ascending`` the oldest: the history.
        everything: whether all submissions are shown, not only the entry of each team.
        find: only rows whose method or team has this text, or that are tagged with it; "" for all.
        reader: the id of the user whose submissions are tagged as theirs; 0 for a visitor.
    """

    phase: Phase
    key: str
    output: str
    ascending: bool = False
    by_date: bool = False
    everything: bool = False
    find: str = ""
    reader: int = 0

    @property
    def challenge(self) -> Challenge:
        return self.phase.challenge

    @cached_property
    def outputs(self) -> BoardOutputs:
        """The columns of the board."""
        return BoardOutputs.of_board(self.phase)

    @property
    def lower_is_better(self) -> bool:
        """Whether lower scores of the output are better."""
        return self.output in self.outputs.lower_is_better

    @property
    def references(self) -> ReferenceSet:
        """The reference set."""
        return self.outputs.sets[self.key]

    @property
    def references_label(self) -> str:
        """The label of the reference set on pages."""
        return self.challenge.definition.label(self.references.captions, self.references.name)

    @property
    def parameters(self) -> str:
        """The query string of an address."""
        values = {
            "phase": self.phase.name,
            "references": self.key,
            "sort": ("" if self.ascending else "-") + (DATE if self.by_date else self.output),
        }
        optional = {"all": "1" if self.everything else "", "find": self.find}
        return urlencode(values | {name: value for name, value in optional.items() if value})

    def url(self, page: str = "leaderboard") -> str:
        """The address of a page with this query."""
        return f"{reverse(f'captious:{page}', args=[self.challenge.slug])}?{self.parameters}"


def phase_from(phases: Sequence[Phase], parameters: Mapping[str, str]) -> Phase | None:
    """The requested phase: by default the last open one, or the last one. None if there is none."""
    if "phase" in parameters:
        return next((phase for phase in phases if phase.name == parameters["phase"]), None)
    return next((phase for phase in reversed(phases) if phase.state == "open"), phases[-1] if phases else None)


def query_from(challenge: Challenge, parameters: Mapping[str, str], user: Any) -> Query | None:
    """The leaderboard requested by an address, with defaults for missing parameters.

    Returns:
        None if there is no such phase or reference set, or the user may not see its leaderboard.
    """
    phase = phase_from([phase for phase in challenge.phase_list if may_see_board(user, phase)], parameters)
    if phase is None:
        return None
    outputs = BoardOutputs.of_board(phase)
    key = parameters.get("references") or outputs.main_set
    if key not in outputs.sets:
        return None
    sort = parameters.get("sort", "")
    output = sort.removeprefix("-")
    is_output = output in outputs.names
    rank_by = outputs.rank_by
    return Query(
        phase=phase,
        key=key,
        output=output if is_output else rank_by,
        ascending=(not sort.startswith("-") if is_output or output == DATE else rank_by in outputs.lower_is_better),
        by_date=output == DATE,
        everything=flag(parameters.get("all", "")) is True,
        find=parameters.get("find", "").strip()[:_SEARCH_LENGTH],
        reader=user.pk or 0,
    )


def standing_of(query: Query) -> Standing:
    """The stored board; an empty one if nothing has been scored."""
    rows = Standing.objects.filter(
        phase=query.phase, references=query.key, output=query.output, everything=query.everything
    )
    empty: dict[str, Any] = {"submissions": [], "finished": [], "scores": [], "ranks": [], "best": {}}
    return rows.first() or Standing(version=query.phase.shown_version, **empty)


def own_places(query: Query, standing: Standing, user: Any) -> set[int]:
    """The places of the user's teams in a standing."""
    if not user.is_authenticated:
        return set()
    own = set(Submission.objects.filter(phase=query.phase, team__members=user).values_list("pk", flat=True))
    return {i for i, pk in enumerate(standing.submissions) if pk in own}


def matching_submissions(query: Query) -> set[int] | None:
    """The submissions of the phase that match the search text; None if there is no text.

    Teams of anonymous submissions are not searched.
    """
    text = query.find
    if not text:
        return None
    tags = {
        "human": Q(is_human=True),
        **dict.fromkeys(("baseline", "baselines"), Q(is_baseline=True)),
        "anonymous": Q(anonymous=True),
        "yours": Q(team__members=query.reader) if query.reader else Q(),
    }
    by_team = Q(team__name__icontains=text, anonymous=False, is_baseline=False)
    by_tag = tags.get(text.lower(), Q())
    rows = Submission.objects.filter(Q(method__icontains=text) | by_team | by_tag, phase=query.phase)
    return set(rows.values_list("pk", flat=True))


def histories(query: Query, teams: Collection[int]) -> dict[int, list[float]]:
    """The scores of teams' submissions on the board in the order of submission, without anonymous ones, by team."""
    standing = standing_of(replace(query, everything=True))
    scores = dict(zip(standing.submissions, standing.scores, strict=True))
    rows = Submission.objects.filter(phase=query.phase, team__in=teams, public=True, is_hidden=False, anonymous=False)
    scores_by_team: dict[int, list[float]] = {}
    for pk, team in rows.filter(is_baseline=False).order_by("created", "pk").values_list("pk", "team_id"):
        if scores.get(pk) is not None:
            scores_by_team.setdefault(team, []).append(scores[pk])
    return scores_by_team


def choices(query: Query, user: Any, ids: Collection[str]) -> list[Submission]:
    """The submissions that can be compared and browsed: the first of the board, the user's own, and those wanted.

    Args:
        wanted: ids; those that the user may not see are left out.
    """
    leaders = standing_of(query).submissions[:_MAX_CHOICES]
    by_id = Q(pk__in=[*map(row_id, ids)])
    rows = Submission.objects.scored().filter(phase=query.phase).select_related("phase__challenge", "team")
    on_board = Q(public=True, is_hidden=False) & (Q() if query.phase.entries == "all" else Q(is_entry=True))
    visible = on_board & (Q(pk__in=leaders) | by_id)
    own: list[Submission] = []
    if user.is_authenticated:
        own = list(rows.filter(team__members=user).order_by("-pk")[:_MAX_CHOICES])
        visible |= by_id & Q(team__members=user)
    places = {pk: place for place, pk in enumerate(leaders)}
    by_pk = {row.pk: row for row in rows.filter(visible).distinct()}
    own_only = [row for row in own if row.pk not in by_pk]
    on_board_rows = sorted(by_pk.values(), key=lambda row: (places.get(row.pk, len(leaders)), row.pk))
    return [row for row in [*own_only, *on_board_rows] if query.key in row.shown_scores.outputs]
