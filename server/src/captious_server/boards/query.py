"""Requests of leaderboards: the phase and submissions that an address asks for, and the scores that may be shown."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from django.db.models import Q
from django.http import Http404
from django.urls import reverse

from captious.drawing import shortened
from captious_server.boards.ranking import rounded, rounded_ends
from captious_server.models import Challenge, Phase, Standing, Submission
from captious_server.people.access import (
    ExplainedError,
    Visitor,
    is_own,
    may_manage,
    may_see_board,
    may_see_scores,
    why_hidden,
)
from captious_server.scoring.queue import BoardOutputs, ReferenceSet, sets_of
from captious_server.settings import flag, row_id

# The leaderboard that an address requests, and its submissions.

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


class HiddenBoardError(ExplainedError):
    """A leaderboard that is hidden from the reader, who may know that its phase exists."""

    status = 403

    def __init__(self, phase: Phase) -> None:
        super().__init__(f"The leaderboard of {phase} is not shown. {why_hidden(phase)}")
        self.phase = phase


class UnknownNameError(ExplainedError):
    """An address with an unknown phase or reference set."""

    status = 404

    def __init__(self, kind: str, name: str, names: Iterable[str], where: str = "") -> None:
        super().__init__(f"There is no {kind} {shortened(name)}{where}; known are {', '.join(names) or 'none'}.")


def query_from(challenge: Challenge, parameters: Mapping[str, str], user: Visitor) -> Query:
    """The leaderboard requested by an address, with defaults for missing parameters.

    Raises:
        HiddenBoardError: it is not shown to the user.
        UnknownNameError: there is no such phase or reference set.
        Http404: the challenge has no phases.
    """
    phases = challenge.phase_list
    phase = phase_from([phase for phase in phases if may_see_board(user, phase)], parameters)
    if phase is None:
        if (hidden := phase_from(phases, parameters)) is not None:
            raise HiddenBoardError(hidden)
        if "phase" in parameters:
            raise UnknownNameError("phase", parameters["phase"], (phase.name for phase in phases))
        raise Http404
    outputs = BoardOutputs.of_board(phase)
    key, sets = parameters.get("references") or outputs.first_set(phase), shown_sets(user, phase, outputs.sets)
    if key not in sets:
        raise UnknownNameError("reference set", key, sets, f" in the phase {phase.name}")
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


def shown_sets(user: Visitor, phase: Phase, sets: Mapping[str, ReferenceSet]) -> dict[str, ReferenceSet]:
    """The reference sets, by key, whose scores a user may see where the phase shows scores."""
    sees_all = may_manage(user, phase.challenge)
    return {key: row for key, row in sets.items() if sees_all or phase.shows(row.at_end)}


def choosers(query: Query, user: Visitor, page: str = "leaderboard", parameters: str = "") -> dict[str, list[Any]]:
    """Links to a page about the other ``phases`` and reference ``sets`` that a user sees, for templates.

    Args:
        parameters: further parameters of the addresses about sets.
    """
    definition, address = query.challenge.definition, reverse(f"captious:{page}", args=[query.challenge.slug])
    phases = [phase for phase in query.challenge.phase_list if may_see_board(user, phase)]
    sets = shown_sets(user, query.phase, query.outputs.sets).items()
    return {
        "phases": [
            {
                "text": str(phase),
                "url": f"{address}?{urlencode({'phase': phase.name})}",
                "current": phase == query.phase,
            }
            for phase in phases
        ],
        "sets": [
            {
                "text": definition.label(references.captions, references.name),
                "url": replace(query, key=key).url(page) + parameters,
                "current": key == query.key,
            }
            for key, references in sets
        ],
    }


def standing_of(query: Query) -> Standing:
    """The stored board; an empty one if nothing has been scored."""
    rows = Standing.objects.filter(
        phase=query.phase, references=query.key, output=query.output, everything=query.everything
    )
    empty: dict[str, Any] = {"submissions": [], "finished": [], "scores": [], "ranks": [], "best": {}}
    return rows.first() or Standing(version=query.phase.shown_version, **empty)


def own_places(query: Query, standing: Standing, user: Visitor) -> set[int]:
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


def choices(query: Query, user: Visitor, ids: Collection[str]) -> list[Submission]:
    """The submissions that can be compared and browsed: the first of the board, the user's own, and those asked for.

    Args:
        ids: their ids; those that the user may not see are left out.
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
    return [row for row in [*own_only, *on_board_rows] if row.shown_scores and query.key in row.shown_scores.outputs]


# The scores that may leave the server: rounded as their phase demands, and not before it allows.
#
# Private references can be probed with scores: a submission that differs from another in one caption reveals how well
# that caption fits. Pages, files and the API therefore take scores from here, and none has more digits than another.


def rounded_outputs(outputs: Mapping[str, Mapping[str, Any]], phase: Phase) -> dict[str, dict[str, Any]]:
    """The scores on one reference set, output -> {"score", "low", "high", "signature"}, rounded."""
    return {
        name: {
            "score": rounded(entry["score"], phase.digits),
            **dict(zip(("low", "high"), rounded_ends(entry["low"], entry["high"], phase.digits), strict=True)),
            "signature": entry["signature"],
        }
        for name, entry in outputs.items()
    }


def visible_scores(user: Visitor, submission: Submission) -> dict[str, dict[str, dict[str, Any]]]:
    """The scores of a submission that a user may see, by the key of the reference set.

    Empty if it has none, or its phase shows scores later or never. Sets and outputs are in the order of the challenge,
    which databases may not keep.
    """
    phase = submission.phase
    if submission.shown_scores is None or not may_see_scores(user, phase):
        return {}
    all_scores = submission.shown_scores.outputs
    names = dict.fromkeys([*BoardOutputs.of_board(phase).names, *phase.challenge.definition.outputs])
    scores = {}
    for key in shown_sets(user, phase, sets_of(phase)):
        if key in all_scores:
            outputs = all_scores[key]
            in_order = {name: outputs[name] for name in names if name in outputs}
            scores[key] = rounded_outputs(in_order | outputs, phase)
    return scores


def warnings_for(user: Visitor, submission: Submission) -> list[str]:
    """The warnings of a submission, each once."""
    return [*dict.fromkeys(warning for warnings in set_warnings_for(user, submission).values() for warning in warnings)]


def set_warnings_for(user: Visitor, submission: Submission) -> dict[str, list[str]]:
    """The warnings of a submission on each reference set, by key.

    Unless captions are public, warnings reveal nothing about references, and only the team and organizers see ids.
    Only those who manage its challenge read about commands of the server.
    """
    if submission.shown_scores is None or not may_see_scores(user, submission.phase):
        return {}
    manages = may_manage(user, submission.challenge)
    reader = "organizers" if manages else "team" if is_own(user, submission) else "others"
    warnings: dict[str, list[str]] = {}
    for key, references in shown_sets(user, submission.phase, sets_of(submission.phase)).items():
        warnings_by_reader = submission.shown_scores.set_warnings.get(key, {})
        is_public = submission.challenge.is_public(references.captions)
        all_warnings = warnings_by_reader.get("public" if is_public else reader, [])
        warnings[key] = [
            text for warning in all_warnings if (text := warning if manages else without_commands(warning))
        ]
    return warnings


def without_commands(warning: str) -> str:
    """The sentences of a warning before the one that names a command of captious, which only operators can run."""
    head, command, _ = warning.partition("captious ")
    if not command:
        return warning
    ends = [match.end() for match in re.finditer(r"[.!?](?=\s)", head)]
    return head[: ends[-1]] if ends else ""
