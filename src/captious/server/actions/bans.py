"""Bans of teams from a challenge."""

from __future__ import annotations

from django.db import transaction

from captious.server.models import Challenge, Submission, Team, TeamBan
from captious.server.scoring import queue
from captious.server.submissions.board_changes import board_changed


def ban(challenge: Challenge, team: Team, reason: str) -> int:
    """Ban a team and its members, cancel its queued submissions, and hide its others.

    Returns the number of hidden submissions.

    Lifting the ban does not show them again; organizers can.
    """
    row, _ = TeamBan.objects.update_or_create(challenge=challenge, team=team, defaults={"reason": reason})
    row.users.add(*team.members.all())
    submissions = Submission.objects.filter(phase__challenge=challenge, team=team)
    for submission in submissions.filter(status=Submission.Status.QUEUED):
        queue.cancel(submission)
    with transaction.atomic():
        n = submissions.filter(is_hidden=False).update(is_hidden=True)
        for phase in {*submissions.values_list("phase", flat=True)}:
            board_changed(phase)
    return n
