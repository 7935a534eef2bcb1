"""Challenges and their phases, as they were loaded from a challenge folder."""

from __future__ import annotations

from datetime import datetime
from functools import cached_property
from pathlib import Path

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone

from captious.server.challenges.definition import ChallengeDefinition, ReferencesDefinition
from captious.server.models.people import User

__all__ = ["IDS_FOLDER", "Challenge", "Phase", "key_of"]

#: Where the image ids of captions files are, in the folder of a challenge; no organiser has a folder of this name.
IDS_FOLDER = ".captious-ids"


def key_of(challenge: Challenge, references: ReferencesDefinition) -> str:
    """How scores and addresses name a reference set: "c5", or "val2014/c5" where there are several captions files."""
    several = len(challenge.definition.captions) > 1
    return f"{references.captions}/{references.name}" if several else references.name


class Challenge(models.Model):
    """A challenge. What its folder says is in ``definition``; files are in a folder for each version."""

    slug = models.SlugField(max_length=80, unique=True)
    title = models.CharField(max_length=200)
    summary = models.TextField(blank=True)
    access = models.CharField(max_length=20, default="public")
    #: challenge.toml as plain values.
    definition_values = models.JSONField()
    #: The pages of the organisers: [{"title", "slug", "html"}], sanitised.
    texts = models.JSONField(default=list)
    #: Number of images of each reference set.
    counts = models.JSONField(default=dict)
    #: Increases whenever the challenge is loaded; names the folder of its files.
    version = models.PositiveIntegerField(default=1)
    #: Increases when references or metrics change, so that submissions must be scored again.
    scoring_version = models.PositiveIntegerField(default=1)
    #: What scores depend on: checksums of the references, metrics and their settings.
    scoring_key = models.CharField(max_length=64)
    organisers = models.ManyToManyField(User, related_name="organised", blank=True)
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
        """Where the files of this version are. Never served."""
        data: Path = settings.CAPTIOUS.data
        return data / "challenges" / str(self.slug) / str(self.version)

    def is_public(self, captions: str) -> bool:
        """Whether captions, references and scores per image of a captions file may be seen."""
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
    #: Names of the captions files that its submissions contain.
    captions = models.JSONField(default=list)
    #: The phase is no longer in the challenge's folder; its submissions stay.
    is_retired = models.BooleanField(default=False)

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
    def reference_sets(self) -> list[ReferencesDefinition]:
        """What submissions of this phase are scored against, in the order of the challenge's folder."""
        return [row for row in self.challenge.definition.references if row.captions in self.captions]
