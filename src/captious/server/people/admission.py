"""Conditions for admitting a team to a challenge: size, date, approval, terms and bans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import Exists, OuterRef, Q

from captious.phrases import counted
from captious.server.local_times import local_time
from captious.server.models import Challenge, Membership, Submission, Team, TeamBan
from captious.server.people.approval import why_not_approved
from captious.server.people.terms import why_terms_refuse


def why_not_admitted(submission: Submission) -> str:
    """The reason why a challenge refuses a submission of a team, in one sentence; empty if it does not."""
    if submission.is_baseline:
        return ""
    team, challenge = submission.team, submission.challenge
    if bans := bans_of(challenge, [team], submission.user):
        return str(bans[team.pk])
    definition, memberships = challenge.definition, Membership.objects.filter(team=team)
    if definition.team_size and (n := memberships.count()) > definition.team_size:
        return f"Teams of this challenge may have {counted(definition.team_size, 'member')}; {team} has {n:,}."
    deadline = definition.teams_close
    if deadline is not None and memberships.filter(user=submission.user, joined__gt=deadline).exists():
        return f"Teams of this challenge closed on {local_time(deadline)}, before you joined {team}."
    return why_not_approved(submission) or why_terms_refuse(submission)


def bans_of(challenge: Challenge, teams: Sequence[Team], user: Any) -> dict[int, TeamBan]:
    """The bans that keep a user from submitting for these teams, by team number.

    A ban applies to the team, or to another team that the user was a member of.
    """
    is_member = TeamBan.users.through.objects.filter(teamban=OuterRef("pk"), user=user)
    rows = challenge.bans.select_related("team").annotate(bars_user=Exists(is_member))
    bans = [*rows.filter(Q(team__in=teams) | Q(bars_user=True))]
    if not bans:  # the usual case, which needs no query of teams
        return {}
    team_bans = {ban.team_id: ban for ban in bans}
    user_ban = next((ban for ban in bans if ban.bars_user), None)
    pairs = ((team.pk, team_bans.get(team.pk, user_ban)) for team in teams)
    return {team: ban for team, ban in pairs if ban is not None}


def is_banned(challenge: Challenge, user: Any) -> bool:
    """Return whether a user is banned from a challenge, for any team."""
    if not user.is_authenticated:
        return False
    teams = Team.objects.filter(members=user)
    bans = bans_of(challenge, teams, user)
    return bool(bans) and len(bans) == len(teams)
