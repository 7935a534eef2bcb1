"""The entry of a team: its choice, and the separation of anonymous teams; see boards/entries.py for the rule.

In phases that show one entry of each team, either all submissions of a team are anonymous or none are.
"""

from __future__ import annotations

from django.db import transaction
from django.db.models import QuerySet

from captious.server.models import Submission, Team
from captious.server.submissions.board_changes import board_changed

_Status = Submission.Status


def of_team(submission: Submission) -> QuerySet[Submission]:
    """The submissions of the same team to the same phase that are not deleted."""
    rows = Submission.objects.filter(phase=submission.phase, team=submission.team, is_baseline=False)
    return rows.exclude(status=_Status.DELETED)


def mixed_names(submission: Submission) -> str:
    """The reason why a new submission cannot be (or must be) anonymous, in one sentence; else empty."""
    if submission.phase.entries == "all" or submission.is_baseline:
        return ""
    if not of_team(submission).filter(anonymous=not submission.anonymous).exists():
        return ""
    form = "named" if submission.anonymous else "anonymous"
    return (
        f"Your other submissions to this phase are {form}. It shows one entry for each team, so either all of a "
        "team's submissions are anonymous or none are: change one of them first."
    )


def why_not_chosen(submission: Submission, *, chosen: bool = True, manages: bool) -> str:
    """The reason why a submission cannot be chosen as the entry of its team now, in one sentence; empty if it can.

    Args:
        chosen: False to let the best submission count again.
        manages: organizers may do it at any time.
    """
    if submission.phase.state != "open" and not manages:
        return f"The phase {submission.phase} is {submission.phase.state}: teams choose their entry while it is open."
    if not chosen:
        return ""
    if submission.is_baseline:
        return "Baselines are always on the leaderboard."
    if submission.status not in {_Status.QUEUED, _Status.RUNNING, _Status.DONE}:
        return "Only scored or queued submissions can be the entry of a team."
    if not submission.public:
        return "Show it on the leaderboard first. A private submission cannot be the entry of a team."
    if submission.is_hidden and not manages:
        return "An organizer has hidden it, so it cannot be the entry of a team."
    if submission.anonymous and submission.phase.entries == "all":
        return "Anonymous submissions are all on the leaderboard. Choosing one would reveal its team."
    return ""


def choose(submission: Submission, *, chosen: bool) -> None:
    """Make a submission the entry of its team, or let the best one count again."""
    with transaction.atomic():
        list(Team.objects.select_for_update().filter(pk=submission.team_id))
        rows = Submission.objects.filter(phase=submission.phase, team=submission.team, is_chosen=True)
        rows.exclude(pk=submission.pk if chosen else 0).update(is_chosen=False)
        if chosen:
            Submission.objects.filter(pk=submission.pk).update(is_chosen=True)
        board_changed(submission.phase_id)
