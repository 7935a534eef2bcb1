"""Terms of a challenge: a team accepts each version once before it submits; user and time are recorded."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db.models import QuerySet

from captious.server.models import Challenge, Submission, Team, TermsAcceptance


def terms_of(challenge: Challenge) -> dict[str, str] | None:
    """The text of the terms, as pages show it; None if there are none."""
    title = challenge.definition.terms
    return next((text for text in challenge.texts if text["title"] == title), None) if title else None


def accepted_by(challenge: Challenge, teams: Iterable[Team]) -> QuerySet[TermsAcceptance]:
    """The terms that teams have accepted, all versions, the latest first."""
    return TermsAcceptance.objects.filter(challenge=challenge, team__in=[*teams]).select_related("team")


def teams_without(challenge: Challenge, teams: Iterable[Team]) -> list[Team]:
    """The teams that have not accepted the present terms."""
    if not challenge.terms_version:
        return []
    teams = [*teams]
    ids = {row.team_id for row in accepted_by(challenge, teams) if row.version == challenge.terms_version}
    return [team for team in teams if team.pk not in ids]


def accept(challenge: Challenge, team: Team, user: Any) -> TermsAcceptance:
    """Accept the present terms for a team; the first acceptance of a version counts."""
    row, _ = TermsAcceptance.objects.get_or_create(
        challenge=challenge, team=team, version=challenge.terms_version, defaults={"user": user.username}
    )
    return row


def why_terms_refuse(submission: Submission) -> str:
    """The reason why terms prevent a submission, in one sentence; empty if they do not."""
    if submission.is_baseline or not teams_without(submission.challenge, [submission.team]):
        return ""
    return f"{submission.team} must accept the terms first: {submission.challenge.url}terms"
