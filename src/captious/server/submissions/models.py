"""Submissions in the database, with their leases and scores, and uploads that were refused."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import models
from django.db.models import F
from django.urls import reverse

from captious.server.people.models import Team, User
from captious.server.submissions.upload import Problem, printable

if TYPE_CHECKING:
    from captious.server.models import Challenge

#: Refused uploads of a team that a challenge keeps, and problems of each.
MAX_REFUSALS, MAX_REFUSAL_PROBLEMS = 20, 20


class SubmissionQuerySet(models.QuerySet["Submission"]):
    """Submissions, with the queries of boards."""

    def competing(self) -> SubmissionQuerySet:
        """The submissions that can be on the board of their phase, with their scores."""
        return self.scored().filter(public=True, is_hidden=False)

    def scored(self) -> SubmissionQuerySet:
        """The submissions with scores of the version that the board of their phase shows, with these scores."""
        return self.filter(shown_scores__version=F("phase__shown_version")).select_related("shown_scores")


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
        CANCELED = "canceled"
        DELETED = "deleted"

    phase = models.ForeignKey("Phase", models.PROTECT, related_name="submissions")
    team = models.ForeignKey(Team, models.PROTECT, related_name="submissions")
    user = models.ForeignKey(User, models.SET_NULL, null=True, related_name="submissions")
    method = models.CharField(max_length=120)
    link = models.URLField(max_length=500, blank=True)
    description = models.TextField(max_length=5000, blank=True)
    public = models.BooleanField(default=True)
    anonymous = models.BooleanField(default=False)
    #: The team lets the organizers publish its captions in an archive.
    may_publish = models.BooleanField(default=False)
    is_baseline = models.BooleanField(default=False)
    is_human = models.BooleanField(default=False)
    #: An organizer has hidden it.
    is_hidden = models.BooleanField(default=False)
    #: The team has chosen it as its entry.
    is_chosen = models.BooleanField(default=False)
    #: It is the entry of its team on the board; see boards/entries.py. Stored with the board.
    is_entry = models.BooleanField(default=False)

    filename = models.CharField(max_length=255)
    size = models.BigIntegerField()
    #: Bytes of the file and of the captions that were read from it.
    stored = models.BigIntegerField(default=0)
    #: Folder of its files below the data folder.
    folder_name = models.CharField(max_length=64, unique=True)
    created = models.DateTimeField(db_index=True)

    status = models.CharField(max_length=12, choices=Status, default=Status.QUEUED, db_index=True)
    #: Whether it counts towards the quota of scored submissions. A failure of the server does not.
    counts = models.BooleanField(default=True)
    lease = models.PositiveIntegerField(default=0)
    lease_until = models.DateTimeField(null=True)
    #: Not retried before this time, after a failure of the server.
    not_before = models.DateTimeField(null=True)
    #: Number of times that scoring has begun since it was queued.
    tries = models.PositiveIntegerField(default=0)
    worker = models.CharField(max_length=120, blank=True)
    progress = models.PositiveSmallIntegerField(default=0)
    doing = models.CharField(max_length=200, blank=True)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)
    #: Users and webhooks have been notified of its end.
    is_noticed = models.BooleanField(default=False)
    #: Why it failed, for the submitter.
    reason = models.TextField(blank=True)
    #: Why it failed, for the organizer.
    traceback = models.TextField(blank=True)
    #: The scores on pages: those of the board's version or, if there are none, the latest.
    shown_scores = models.ForeignKey("Scores", models.SET_NULL, null=True, related_name="+")

    objects = SubmissionQuerySet.as_manager()

    class Meta:
        ordering = ["-created", "-id"]
        indexes = [
            models.Index(fields=["status", "id"]),
            models.Index(fields=["finished"], condition=models.Q(is_noticed=False), name="to_notice"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["phase", "team"], condition=models.Q(is_chosen=True), name="one_choice")
        ]

    def __str__(self) -> str:
        return str(self.method)

    @property
    def challenge(self) -> Challenge:
        return self.phase.challenge

    @property
    def url(self) -> str:
        return reverse("captious:submission", args=[self.pk])

    @property
    def folder(self) -> Path:
        return settings.CAPTIOUS.data / "submissions" / str(self.folder_name)

    @property
    def team_shown(self) -> str:
        """The name of the team for everybody."""
        return "Anonymous" if self.anonymous else str(self.team.name)

    @property
    def is_on_board(self) -> bool:
        """Whether everybody sees it on the board of its phase.

        The best submission of a team is not revealed while scores are withheld.
        """
        scores, phase = self.shown_scores, self.phase
        is_scored = scores is not None and scores.version == phase.shown_version
        is_shown = phase.entries == "all" or (self.is_entry and phase.has_scores_open)
        return is_scored and self.public and not self.is_hidden and is_shown

    @property
    def was_ended(self) -> bool:
        """Whether scoring has ended before, so that it counts."""
        return self.finished is not None

    def outputs(self, key: str) -> dict[str, dict[str, Any]]:
        """The shown scores on a reference set, output -> {"score", "low", "high", "signature"}; may be empty."""
        return self.shown_scores.outputs.get(key, {}) if self.shown_scores else {}

    def is_current(self, key: str) -> bool:
        """Return whether the shown scores of a reference set come from its current references and metrics."""
        keys = self.shown_scores.set_keys if self.shown_scores else {}
        return key in keys and keys[key] == self.phase.set_keys.get(key)

    @property
    def results_path(self) -> Path | None:
        """The file of the shown scores, for ``read_results``; None if it has no scores."""
        return None if self.shown_scores is None else self.folder / self.shown_scores.results_file


class Scores(models.Model):
    """The scores of a submission in one version of its phase. They stay when there are newer ones."""

    submission = models.ForeignKey(Submission, models.CASCADE, related_name="all_scores")
    #: ``Phase.scoring_version``, ``Phase.program`` and ``Phase.set_keys`` when it was scored.
    version = models.PositiveIntegerField()
    program = models.CharField(max_length=40)
    set_keys = models.JSONField()
    #: key of a reference set -> output -> {"score", "low", "high", "signature"}; see scoring/stored_results.py.
    outputs = models.JSONField()
    #: key of a reference set -> reader -> warnings about misleading scores, a sentence each. All warnings are
    #: for readers of "public" captions; "organizers", the "team" and "others" get fewer otherwise.
    set_warnings = models.JSONField()
    #: Name of the file with its statistics, in the folder of the submission.
    results_file = models.CharField(max_length=80)
    finished = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["submission", "version"], name="one_version")]
        ordering = ["version"]


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

    Whether it counted as an attempt is recorded in ``Attempt``.
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
        """Keep the refusal of an unsaved submission, and delete the oldest ones if there are many."""
        cls.objects.create(
            phase=submission.phase,
            team=submission.team,
            user=submission.user,
            method=submission.method,
            filename=printable(submission.filename),
            size=size,
            created=submission.created,
            reason=reason,
            problems=[problem.to_dict() for problem in problems[:MAX_REFUSAL_PROBLEMS]],
            n_problems=len(problems),
        )
        refusals = cls.objects.filter(team=submission.team, phase__challenge=submission.challenge)
        cls.objects.filter(pk__in=[*refusals.values_list("pk", flat=True)[MAX_REFUSALS:]]).delete()
