"""The database: challenges, submissions with their leases and scores, and people."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F
from django.urls import reverse
from django.utils import timezone

from captious.server.boards.models import Standing
from captious.server.challenges.definition import ChallengeDefinition, ReferencesDefinition
from captious.server.challenges.models import ChallengeVersion, Draft, News, TeamApproval, TeamBan, TermsAcceptance
from captious.server.notices.models import Notice, Webhook
from captious.server.people.models import (
    AuditEvent,
    Identity,
    Invitation,
    KnownDevice,
    Membership,
    Participant,
    RateCount,
    RecoveryCode,
    Team,
    Token,
    User,
)
from captious.server.scoring.models import Turn, WorkerSeen
from captious.server.submissions.models import Attempt, RefusedUpload

__all__ = [
    "IDS_FOLDER",
    "Attempt",
    "AuditEvent",
    "Challenge",
    "ChallengeVersion",
    "Draft",
    "Identity",
    "Invitation",
    "KnownDevice",
    "Membership",
    "News",
    "Notice",
    "Participant",
    "Phase",
    "RateCount",
    "RecoveryCode",
    "RefusedUpload",
    "Scores",
    "Standing",
    "Submission",
    "Team",
    "TeamApproval",
    "TeamBan",
    "TermsAcceptance",
    "Token",
    "Turn",
    "User",
    "Webhook",
    "WorkerSeen",
]

#: Where the image ids of captions files are, in the folder of a challenge; no organizer has a folder of this name.
IDS_FOLDER = ".captious-ids"


class Challenge(models.Model):
    """A challenge. The contents of its folder are in ``definition``; each version has a folder of files."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    summary = models.TextField(blank=True)
    access = models.CharField(max_length=20, default="public")
    #: challenge.toml as plain values.
    definition_values = models.JSONField()
    #: The pages of the organizers: [{"title", "slug", "html"}], sanitised.
    texts = models.JSONField(default=list)
    #: Downloads: [{"title", "file", "size", "sha256"}].
    downloads = models.JSONField(default=list)
    #: A checksum of the terms that teams accept; empty if there are none.
    terms_version = models.CharField(max_length=16, blank=True)
    #: Number of images of each reference set.
    counts = models.JSONField(default=dict)
    #: Increases whenever the challenge is loaded; names the folder of its files.
    version = models.PositiveIntegerField(default=1)
    organizers = models.ManyToManyField(User, related_name="organized", blank=True)
    participants = models.ManyToManyField(User, through="Participant", related_name="challenges")
    created = models.DateTimeField(auto_now_add=True)
    loaded = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-created"]

    def __str__(self) -> str:
        return str(self.title)

    @cached_property
    def definition(self) -> ChallengeDefinition:
        return ChallengeDefinition.model_validate(self.definition_values)

    @property
    def url(self) -> str:
        return reverse("captious:challenge", args=[self.slug])

    @property
    def folder(self) -> Path:
        """The folder of the files of this version, which is never served."""
        data: Path = settings.CAPTIOUS.data
        return data / "challenges" / str(self.slug) / str(self.version)

    @property
    def logo_url(self) -> str:
        """The address of the logo, which changes with every version; empty if there is none."""
        logo = self.definition_values.get("logo")
        return f"{reverse('captious:logo', args=[self.slug])}?v={self.version}" if logo else ""

    def is_public(self, captions: str) -> bool:
        """Return whether captions, references and scores per image of a captions file may be seen."""
        return any(file.public for file in self.definition.captions if file.name == captions)

    def ids_file(self, captions: str) -> Path:
        """The file with the image ids of a captions file, which a submission must have."""
        return self.folder / IDS_FOLDER / f"{captions}.json"

    @cached_property
    def phase_list(self) -> list[Phase]:
        return [phase for phase in self.phases.all() if not phase.is_retired]

    @property
    def is_open(self) -> bool:
        return any(phase.state == "open" for phase in self.phase_list)


class Phase(models.Model):
    """A phase of a challenge: when submissions are taken, and how many."""

    challenge = models.ForeignKey(Challenge, models.CASCADE, related_name="phases")
    name = models.SlugField(max_length=80)
    title = models.CharField(max_length=200)
    position = models.PositiveIntegerField()
    opens = models.DateTimeField(null=True)
    closes = models.DateTimeField(null=True)
    scored_per_day = models.PositiveIntegerField(default=0)
    scored_in_total = models.PositiveIntegerField(default=0)
    attempts_per_day = models.PositiveIntegerField(default=0)
    board = models.CharField(max_length=20, default="public")
    #: Decimal places of the scores that are shown.
    digits = models.PositiveSmallIntegerField(default=4)
    #: "at-once", "at-end" or "never": when scores are shown to others than organizers.
    scores_shown = models.CharField(max_length=20, default="at-once")
    #: The largest share of images that may have the same caption.
    equal_captions = models.FloatField(default=0.1)
    #: "all" or "one": which submissions of a team everybody can see.
    entries = models.CharField(max_length=20, default="all")
    #: Names of the captions files that its submissions contain.
    captions = models.JSONField(default=list)
    #: The phase is no longer in the challenge's folder; its submissions stay.
    is_retired = models.BooleanField(default=False)
    #: Increases when ``set_keys`` or ``program``, which scores depend on, change; see scoring/versions.py.
    scoring_version = models.PositiveIntegerField(default=1)
    #: The version of the scores on its board: an older one until all of the new one is there.
    shown_version = models.PositiveIntegerField(default=1)
    #: The columns of its board, which change with ``shown_version``; see boards/board_outputs.py.
    board_values = models.JSONField(default=dict)
    #: key of a reference set -> checksum of its references, the metrics and their settings.
    set_keys = models.JSONField(default=dict)
    #: The version of captious that scores it.
    program = models.CharField(max_length=40, blank=True)
    #: Increases with every change to its board, in the same transaction; see boards/standings.py.
    board_changes = models.PositiveBigIntegerField(default=0)
    #: The change whose board is stored. Less than ``board_changes`` until ranks are computed.
    board_stored = models.PositiveBigIntegerField(default=0)

    class Meta:
        ordering = ["position"]
        constraints = [models.UniqueConstraint(fields=["challenge", "name"], name="one_phase")]

    def __str__(self) -> str:
        return str(self.title or self.name)

    def state_at(self, time: datetime) -> str:
        """ "upcoming", "open" or "closed"."""
        if self.is_retired:
            return "closed"
        if self.opens is not None and time < self.opens:
            return "upcoming"
        return "closed" if self.closes is not None and time > self.closes else "open"

    @property
    def state(self) -> str:
        return self.state_at(timezone.now())

    @property
    def scores_open_at(self) -> datetime | None:
        """The time at which withheld scores are shown; None for phases that were removed early, which have no end.

        That is when nothing more can arrive: an upload that began before the phase closed may take a while.
        """
        if self.scores_shown != "at-end" or self.closes is None:
            return None
        return self.closes + timedelta(seconds=settings.CAPTIOUS.upload_seconds)

    @property
    def has_scores_open(self) -> bool:
        """Whether scores are now shown to others than organizers."""
        end = self.scores_open_at
        return self.scores_shown == "at-once" or (end is not None and timezone.now() > end)

    @property
    def is_board_open(self) -> bool:
        """Whether the leaderboard is now shown to everybody who sees the challenge."""
        return self.board == "public" and self.has_scores_open

    @property
    def reference_sets(self) -> dict[str, ReferencesDefinition]:
        """The reference sets of this phase, by key, in the order of the challenge's folder."""
        definition = self.challenge.definition
        return {definition.key(row): row for row in definition.references if row.captions in self.captions}


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
    #: Whether it counts toward the quota of scored submissions. A failure of the server does not.
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
    #: Users and webhooks have been told that it ended.
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
        outputs: dict[str, dict[str, Any]] = self.shown_scores.outputs.get(key, {}) if self.shown_scores else {}
        return outputs

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
