"""Approval of teams: in some challenges, a team asks to take part, and the organizers approve or refuse it."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import F, QuerySet
from django.utils import timezone

from captious.server.local_times import local_time
from captious.server.models import Challenge, Submission, Team, TeamApproval

_Status = TeamApproval.Status


def approvals_of(challenge: Challenge, teams: Iterable[Team] | None = None) -> QuerySet[TeamApproval]:
    """Requests and decisions of some teams or all; pending requests come first, then the latest decisions."""
    rows = TeamApproval.objects.filter(challenge=challenge).select_related("team")
    if teams is not None:
        rows = rows.filter(team__in=[*teams])
    return rows.prefetch_related("team__members").order_by(F("decided").desc(nulls_first=True), "-asked", "-pk")


def teams_to_approve(challenge: Challenge, teams: Iterable[Team]) -> list[Team]:
    """The teams that are not approved, in a challenge that asks for it."""
    if not challenge.definition.team_approval:
        return []
    teams = [*teams]
    rows = TeamApproval.objects.filter(challenge=challenge, team__in=teams, status=_Status.APPROVED)
    approved_ids = {*rows.values_list("team", flat=True)}
    return [team for team in teams if team.pk not in approved_ids]


def ask(challenge: Challenge, team: Team, message: str = "") -> TeamApproval:
    """Request approval, also after a refusal; an approved team stays approved."""
    values = {"status": _Status.ASKED, "message": message, "asked": timezone.now(), "decided": None}
    row, is_new = TeamApproval.objects.get_or_create(challenge=challenge, team=team, defaults=values)
    if not is_new:
        TeamApproval.objects.filter(pk=row.pk).exclude(status=_Status.APPROVED).update(**values)
        row.refresh_from_db()
    return row


def decide(row: TeamApproval, *, approved: bool, reason: str = "") -> None:
    """Approve or refuse a team. What it has submitted before stays."""
    row.status = _Status.APPROVED if approved else _Status.REFUSED
    row.reason = "" if approved else reason
    row.decided = timezone.now()
    row.save(update_fields=["status", "reason", "decided"])


def why_not_approved(submission: Submission) -> str:
    """The reason why an unapproved team cannot submit, in one sentence; empty if it can."""
    team, challenge = submission.team, submission.challenge
    if submission.is_baseline or not teams_to_approve(challenge, [team]):
        return ""
    row = TeamApproval.objects.filter(challenge=challenge, team=team).first()
    if row is None:
        return f"This challenge requires approval of teams. Request approval for {team}: {challenge.url}teams"
    if row.status == _Status.ASKED:
        return f"{team} requested approval on {local_time(row.asked)} and is waiting for the organizers."
    return f"The organizers did not approve {team}: {row.reason}"
