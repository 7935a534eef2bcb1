"""Which teams a challenge admits: how large they are, since when, approved, under its terms, and not banned."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import transaction

from captious.report.numbers import counted
from captious.server.boards.standings import board_changed
from captious.server.local_times import local_time
from captious.server.models import Challenge, Membership, Submission, Team, TeamBan
from captious.server.people.approval import why_not_approved
from captious.server.people.terms import why_terms_refuse
from captious.server.scoring import queue


def why_not_admitted(submission: Submission) -> str:
    """Why a challenge does not take a submission from its team, one sentence; empty if it does."""
    if submission.is_baseline:
        return ""
    team, challenge = submission.team, submission.challenge
    banned = TeamBan.objects.filter(challenge=challenge, team=team).first()
    if banned is not None:
        return str(banned)
    definition, memberships = challenge.definition, Membership.objects.filter(team=team)
    if definition.team_size and (n := memberships.count()) > definition.team_size:
        return f"Teams of this challenge may have {counted(definition.team_size, 'member')}; {team} has {n:,}."
    closed = definition.teams_close
    if closed is not None and memberships.filter(user=submission.user, joined__gt=closed).exists():
        return f"Teams of this challenge closed on {local_time(closed)}, and you joined {team} later."
    return why_not_approved(submission) or why_terms_refuse(submission)


def bans_of(challenge: Challenge, teams: Iterable[Team]) -> dict[int, TeamBan]:
    """The bans of these teams, by the number of the team."""
    rows = TeamBan.objects.filter(challenge=challenge, team__in=[*teams]).select_related("team")
    return {row.team_id: row for row in rows}


def is_banned(challenge: Challenge, user: Any) -> bool:
    """Whether a challenge takes submissions from none of a user's teams because all of them are banned."""
    if not user.is_authenticated:
        return False
    banned = TeamBan.objects.filter(challenge=challenge, team__members=user).count()
    return bool(banned) and banned == Membership.objects.filter(user=user).count()


def ban(challenge: Challenge, team: Team, reason: str) -> int:
    """Take no more submissions of a team, cancel those that wait, and hide the others; returns how many are hidden.

    A ban that is lifted shows none of them again: organizers do that.
    """
    TeamBan.objects.update_or_create(challenge=challenge, team=team, defaults={"reason": reason})
    own = Submission.objects.filter(phase__challenge=challenge, team=team)
    for submission in own.filter(status=Submission.Status.QUEUED):
        queue.cancel(submission)
    with transaction.atomic():
        n = own.filter(is_hidden=False).update(is_hidden=True)
        for phase in {*own.values_list("phase", flat=True)}:
            board_changed(phase)
    return n
