"""Uploads in the database; submissions are in ``server.models``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import models

from captious.server.people.models import Team, User
from captious.server.submissions.upload import Problem, printable

#: Refused uploads of a team that a challenge keeps, and problems of each.
KEPT, KEPT_PROBLEMS = 20, 20


class Attempt(models.Model):
    """An upload that counted as an attempt, whether or not its captions were valid. Dry runs are not attempts."""

    phase = models.ForeignKey("Phase", models.CASCADE, related_name="attempts")
    team = models.ForeignKey("Team", models.CASCADE, related_name="attempts")
    user = models.ForeignKey("User", models.SET_NULL, null=True, related_name="+")
    submission = models.OneToOneField("Submission", models.CASCADE, null=True, related_name="attempt")
    time = models.DateTimeField(db_index=True)
    #: It was read to the end. One that is not, because the server was stopped, no longer counts.
    is_complete = models.BooleanField(default=False)
    #: The idempotency key, with which a retry after a lost answer is recognized; may be empty.
    key = models.CharField(max_length=64, blank=True, db_index=True)
    #: SHA-256 of the request with this key.
    fingerprint = models.CharField(max_length=64, blank=True)


class RefusedUpload(models.Model):
    """A refused upload and the reason. Its file is not kept, and it is not a submission.

    Whether it counts as an attempt is not told by it, see ``Attempt``.
    """

    phase = models.ForeignKey("Phase", models.CASCADE, related_name="refused")
    team = models.ForeignKey(Team, models.CASCADE, related_name="refused")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    method = models.CharField(max_length=120)
    filename = models.CharField(max_length=255)
    size = models.BigIntegerField()
    created = models.DateTimeField()
    #: One sentence.
    reason = models.TextField()
    #: The first things that were wrong with its captions, as ``Problem.to_dict`` gives them, and how many there were.
    problems = models.JSONField(default=list)
    n_problems = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["-created", "-id"]

    def __str__(self) -> str:
        return str(self.method)

    @classmethod
    def keep(cls, submission: Any, size: int, reason: str, problems: Sequence[Problem]) -> None:
        """Keep the refusal of a submission that has no row, in place of the oldest one if there are many."""
        cls.objects.create(
            phase=submission.phase,
            team=submission.team,
            user=submission.user,
            method=submission.method,
            filename=printable(submission.filename),
            size=size,
            created=submission.created,
            reason=reason,
            problems=[problem.to_dict() for problem in problems[:KEPT_PROBLEMS]],
            n_problems=len(problems),
        )
        ours = cls.objects.filter(team=submission.team, phase__challenge=submission.challenge)
        cls.objects.filter(pk__in=[*ours.values_list("pk", flat=True)[KEPT:]]).delete()
