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
    #: Who began it.
    user = models.ForeignKey(User, models.CASCADE, related_name="drafts")
    #: The version of the challenge when it was begun; 0 for a new one.
    version = models.PositiveIntegerField(default=0)
    title = models.CharField(max_length=200)
    #: What its last check has found: problems and warnings, a sentence each, and rows of a heading and a text.
    problems = models.JSONField(default=list)
    warnings = models.JSONField(default=list)
    summary = models.JSONField(default=list)
    #: What its preview shows, see challenges/shown_values.py; empty while there are problems.
    shown = models.JSONField(default=dict)
    #: Whether publishing it would change something.
    is_changed = models.BooleanField(default=True)
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-changed"]

    def __str__(self) -> str:
        return str(self.title)

    @property
    def why_not_published(self) -> str:
        """Why it cannot be published as it is, one sentence; empty if it can."""
        if self.problems:
            return "Its problems have to be solved first."
        return "" if self.is_changed else "Nothing has changed since it was published."

    @property
    def url(self) -> str:
        return reverse("captious:draft", args=[self.slug])

    @property
    def folder(self) -> Path:
        """The folder of its files, which is never served."""
        data: Path = settings.CAPTIOUS.data
        return data / "drafts" / str(self.slug)


class ChallengeVersion(models.Model):
    """What a challenge said when it was loaded. Versions are only ever added."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="versions")
    #: ``Challenge.version``.
    number = models.PositiveIntegerField()
    #: challenge.toml as plain values, without user names, which would stay when accounts go.
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
    #: Who accepted them for the team; the name stays when the account goes.
    user = models.CharField(max_length=150)
    #: ``Challenge.terms_version``.
    version = models.CharField(max_length=16)
    time = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-time"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team", "version"], name="accepted_once")]


class TeamApproval(models.Model):
    """A team that asked to take part in a challenge whose organizers approve teams, and what they decided."""

    class Status(models.TextChoices):
        ASKED = "asked"
        APPROVED = "approved"
        REFUSED = "refused"

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="approvals")
    team = models.ForeignKey(Team, models.CASCADE, related_name="approvals")
    status = models.CharField(max_length=10, choices=Status, default=Status.ASKED)
    #: What the team says about itself.
    message = models.CharField(max_length=500, blank=True)
    #: Why it was refused, which the team reads.
    reason = models.CharField(max_length=500, blank=True)
    asked = models.DateTimeField()
    decided = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-asked", "-pk"]
        constraints = [models.UniqueConstraint(fields=["challenge", "team"], name="one_approval")]


class TeamBan(models.Model):
    """A team that may not submit to a challenge any more, nor may its members with others, and why, which they read."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="bans")
    team = models.ForeignKey(Team, models.CASCADE, related_name="bans")
    #: Who was in the team when it was banned.
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
