"""Submissions with the lease of the worker that scores them, attempts that count towards quotas, and workers."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import models
from django.urls import reverse

from captious.server.models.challenges import Challenge, Phase
from captious.server.models.people import Team, User

__all__ = ["Attempt", "Submission", "WorkerSeen"]


class Submission(models.Model):
    """The captions of one method, valid and complete. One row is the job, the lease and the result.

    A worker that takes it raises ``lease`` and must be heard from before ``lease_until``; everything it writes is
    written on the condition that ``lease`` is still its number, so there is exactly one result.
    """

    class Status(models.TextChoices):
        QUEUED = "queued"
        RUNNING = "running"
        DONE = "done"
        FAILED = "failed"
        CANCELLED = "cancelled"
        DELETED = "deleted"

    phase = models.ForeignKey(Phase, models.PROTECT, related_name="submissions")
    team = models.ForeignKey(Team, models.PROTECT, related_name="submissions")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="submissions")
    method = models.CharField(max_length=120)
    link = models.URLField(max_length=500, blank=True)
    description = models.TextField(max_length=5000, blank=True)
    public = models.BooleanField(default=True)
    anonymous = models.BooleanField(default=False)
    is_baseline = models.BooleanField(default=False)
    is_human = models.BooleanField(default=False)
    #: An organiser has taken it off the board.
    is_hidden = models.BooleanField(default=False)

    filename = models.CharField(max_length=255)
    size = models.BigIntegerField()
    #: Folder of its files below the data folder.
    folder_name = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(db_index=True)

    status = models.CharField(max_length=12, choices=Status, default=Status.QUEUED, db_index=True)
    #: Whether it counts towards the quota of scored submissions. A failure of the server does not.
    counts = models.BooleanField(default=True)
    lease = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    #: Not to be tried before this time, after a failure of the server.
    not_before = models.DateTimeField(null=True)
    #: How often scoring was begun since it was queued.
    tries = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    progress = models.PositiveSmallIntegerField(default=0)
    doing = models.CharField(max_length=200, blank=True)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    #: Why it failed, for the submitter.
    reason = models.TextField(blank=True)
    #: The same for the organiser.
    traceback = models.TextField(blank=True)
    #: label of a reference set -> output -> {"score", "low", "high", "signature"}; see scoring/results.py.
    scores = models.JSONField(default=dict)
    #: What is legal but misleading about the scores, a sentence each.
    warnings = models.JSONField(default=list)
    #: ``Challenge.scoring_version`` that the scores are from.
    scoring_version = models.PositiveIntegerField(default=0)
    #: Name of the file with its statistics, in its folder.
    results_file = models.CharField(max_length=80, blank=True)

    class Meta:
        ordering = ["-created", "-id"]
        indexes = [models.Index(fields=["status", "id"])]

    def __str__(self) -> str:
        return str(self.method)

    @property
    def challenge(self) -> Challenge:
        challenge: Challenge = self.phase.challenge
        return challenge

    @property
    def url(self) -> str:
        return reverse("captious:submission", args=[self.pk])

    @property
    def folder(self) -> Path:
        data: Path = settings.CAPTIOUS.data
        return data / "submissions" / str(self.folder_name)

    @property
    def team_shown(self) -> str:
        """The name of the team for everybody."""
        return "Anonymous" if self.anonymous else str(self.team.name)

    @property
    def place(self) -> int | None:
        """Its place in the queue, 1 for the next; None unless it is queued."""
        if self.status != self.Status.QUEUED:
            return None
        return 1 + Submission.objects.filter(status=self.Status.QUEUED, pk__lt=self.pk).count()


class Attempt(models.Model):
    """An upload that counted as an attempt, whether or not its captions were valid. Dry runs are not attempts."""

    phase = models.ForeignKey(Phase, models.CASCADE, related_name="attempts")
    team = models.ForeignKey(Team, models.CASCADE, related_name="attempts")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")
    submission = models.OneToOneField(Submission, models.CASCADE, null=True, related_name="attempt")
    time = models.DateTimeField(db_index=True)
    #: It was read to the end. One that never is, because the server was stopped, ceases to count.
    is_complete = models.BooleanField(default=False)


class WorkerSeen(models.Model):
    """When a worker was last heard from, for the health page."""

    name = models.CharField(max_length=120, unique=True)
    seen = models.DateTimeField()
