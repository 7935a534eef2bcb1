"""Quotas: how many submissions a phase scores per day and in total, how many uploads are tried per day, and how much
is stored.

What counts toward them: a team's submissions, and those that the user made for any other team. Canceled submissions
and failures of the server do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, Sum
from django.utils import timezone

from captious.server.models import Attempt, Phase, Submission, Team, User

#: An unfinished upload older than this was interrupted by the server, and does not count.
READING_MINUTES = 15


@dataclass(frozen=True)
class Quota:
    """The use of the quotas of a phase, and the limits; a limit of 0 means unlimited.

    ``stored`` is in bytes, and includes all challenges.
    """

    phase: Phase
    scored_today: int
    scored: int
    attempts_today: int
    stored: int

    @property
    def scored_left_today(self) -> int | None:
        """The rest of a quota; None, here and below, if it is unlimited."""
        return _remainder(self.phase.scored_per_day, self.scored_today)

    @property
    def scored_left(self) -> int | None:
        return _remainder(self.phase.scored_in_total, self.scored)

    @property
    def attempts_left_today(self) -> int | None:
        return _remainder(self.phase.attempts_per_day, self.attempts_today)

    @property
    def exhausted(self) -> str:
        """The reason why no upload is accepted, in one sentence; empty if one is."""
        return self.scored_exhausted or self.attempts_exhausted or self.stored_exhausted

    @property
    def scored_exhausted(self) -> str:
        """The reason why no more submissions are scored, in one sentence; empty if they are."""
        if self.phase.scored_in_total and self.scored >= self.phase.scored_in_total:
            return f"The quota of this phase is exhausted: {self.phase.scored_in_total:,} scored submissions in total."
        if self.phase.scored_per_day and self.scored_today >= self.phase.scored_per_day:
            return f"Today's quota is exhausted: {self.phase.scored_per_day:,} scored submissions per day."
        return ""

    @property
    def attempts_exhausted(self) -> str:
        """The reason why no more uploads are accepted, in one sentence; empty if they are."""
        if self.phase.attempts_per_day and self.attempts_today >= self.phase.attempts_per_day:
            return f"Today's quota is exhausted: {self.phase.attempts_per_day:,} uploads per day."
        return ""

    @property
    def stored_exhausted(self) -> str:
        """The reason why no more files are stored, in one sentence; empty if they are."""
        mebibytes = settings.CAPTIOUS.stored_mebibytes
        if self.stored >= mebibytes << 20:
            return (
                f"The submissions of your account or team take up {mebibytes:,} MiB, which is the limit. Delete some."
            )
        return ""


def _remainder(limit: int, used: int) -> int | None:
    return max(limit - used, 0) if limit else None


def quota(phase: Phase, team: Team, user: User | None, now: datetime) -> Quota:
    """The quotas that a team and a user have used up."""
    by_party = Q(team=team) | Q(user=user) if user is not None else Q(team=team)
    today = timezone.localtime(now).replace(hour=0, minute=0, second=0, microsecond=0)
    scored = Submission.objects.filter(by_party, phase=phase, counts=True)
    reading_since = now - timedelta(minutes=READING_MINUTES)
    attempts = Attempt.objects.filter(by_party, phase=phase, time__gte=today).filter(
        Q(is_complete=True) | Q(time__gte=reading_since)
    )
    submissions = Submission.objects.filter(by_party).exclude(status=Submission.Status.DELETED)
    return Quota(
        phase=phase,
        scored_today=scored.filter(created__gte=today).count(),
        scored=scored.count(),
        attempts_today=attempts.count(),
        stored=submissions.aggregate(stored=Sum("stored"))["stored"] or 0,
    )
