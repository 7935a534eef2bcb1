"""Challenges in the database, with their phases, drafts, versions, news, terms, approvals and bans."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import cached_property
from pathlib import Path

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from captious.server.challenges.definition import ChallengeDefinition, ReferencesDefinition
from captious.server.people.models import Team, User

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
    #: The pages of the organizers: [{"title", "slug", "html"}], sanitized.
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
        return settings.CAPTIOUS.data / "challenges" / str(self.slug) / str(self.version)

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
    #: The columns of its board, which change with ``shown_version``; see scoring/board_outputs.py.
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

        No more uploads can arrive by then: one that began before the phase closed may take a while.
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


class Draft(models.Model):
    """A challenge, new or existing, that is edited on the site. Its files are in a folder."""

    slug = models.SlugField(max_length=80, unique=True)
    #: The user who created it.
    user = models.ForeignKey(User, models.CASCADE, related_name="drafts")
    #: The version of the challenge when the draft was created; 0 for a new challenge.
    version = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=200)
    #: The result of the last check: problems and warnings, a sentence each, and rows of a heading and a text.
    problems = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    summary = models.JSONField(default=list)
    #: The contents of its preview, see challenges/shown_values.py; empty while there are problems.
    shown = models.JSONField(default=dict)
    #: Whether publishing it would change anything.
    is_changed = models.BooleanField(default=True)
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-changed"]

    def __str__(self) -> str:
        return str(self.title)

    @property
    def why_not_published(self) -> str:
        """The reason why it cannot be published, in one sentence; empty if it can."""
        if self.problems:
            return "Fix its problems first."
        return "" if self.is_changed else "There are no changes since it was published."

    @property
    def url(self) -> str:
        return reverse("captious:draft", args=[self.slug])

    @property
    def folder(self) -> Path:
        """The folder of its files, which is never served."""
        return settings.CAPTIOUS.data / "drafts" / str(self.slug)


class ChallengeVersion(models.Model):
    """The contents of a challenge when it was loaded. Versions are only ever added."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="versions")
    #: ``Challenge.version``.
    number = models.PositiveIntegerField()
    #: challenge.toml as plain values, without user names, which would outlive accounts.
    definition_values = models.JSONField()
    #: sha256 of every file by its path in the folder.
    files = models.JSONField()
    #: ``Phase.scoring_version`` of each phase, by name.
    scoring_versions = models.JSONField()

    class Meta:
        ordering = ["-number"]
        constraints = [models.UniqueConstraint(fields=["challenge", "number"], name="one_load")]


class TermsAcceptance(models.Model):
    """A version of the terms of a challenge that a team has accepted. Acceptances are only ever added."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="acceptances")
    team = models.ForeignKey(Team, models.CASCADE, related_name="acceptances")
    #: The user who accepted them for the team; the name outlives the account.
    user = models.CharField(max_length=150)
    #: ``Challenge.terms_version``.
    version = models.CharField(max_length=16)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-time"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team", "version"], name="accepted_once")]


class TeamApproval(models.Model):
    """A request for approval of a team in a challenge, and the decision of the organizers."""

    class Status(models.TextChoices):
        ASKED = "asked"
        APPROVED = "approved"
        REFUSED = "refused"

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="approvals")
    team = models.ForeignKey(Team, models.CASCADE, related_name="approvals")
    status = models.CharField(max_length=10, choices=Status, default=Status.ASKED)
    #: The message of the team.
    message = models.CharField(max_length=500, blank=True)
    #: The reason of a refusal, which is shown to the team.
    reason = models.CharField(max_length=500, blank=True)
    asked = models.DateTimeField()
    decided = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked", "-pk"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team"], name="one_approval")]


class TeamBan(models.Model):
    """A team that is banned from a challenge with its members, and the reason, which is shown to them."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="bans")
    team = models.ForeignKey(Team, models.CASCADE, related_name="bans")
    #: The members of the team when it was banned.
    users = models.ManyToManyField(User, related_name="bans")
    reason = models.CharField(max_length=500)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-time"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team"], name="one_ban")]

    def __str__(self) -> str:
        members = "" if self.team.is_personal else " and its members"
        return f"{self.team}{members} may not submit to this challenge: {self.reason}"


class News(models.Model):
    """News from organizers to everybody who sees a challenge, as Markdown."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="news")
    title = models.CharField(max_length=200)
    text = models.TextField(max_length=20_000, blank=True)
    created = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-created", "-pk"]

    def __str__(self) -> str:
        return str(self.title)
