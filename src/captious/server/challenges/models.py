"""Drafts, versions, news, terms, approvals and bans of challenges; the challenges are in ``server.models``."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import models
from django.urls import reverse

from captious.server.people.models import Team, User


class Draft(models.Model):
    """A challenge that is edited on the site: a new one, or changes of one that is there. It is in a folder."""

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
        data: Path = settings.CAPTIOUS.data
        return data / "drafts" / str(self.slug)


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
