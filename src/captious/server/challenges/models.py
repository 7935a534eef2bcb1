"""Drafts of challenges in the database; what is published is in ``server.models``."""

from __future__ import annotations

from pathlib import Path

from django.conf import settings
from django.db import models
from django.urls import reverse

from captious.server.people.models import User

__all__ = ["Draft"]


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
    created = models.DateTimeField(auto_now_add=True)
    changed = models.DateTimeField(auto_now=True)

    class Meta:
        ordering = ["-changed"]

    def __str__(self) -> str:
        return str(self.title)

    @property
    def url(self) -> str:
        return reverse("captious:draft", args=[self.slug])

    @property
    def folder(self) -> Path:
        """Where its files are. Never served."""
        data: Path = settings.CAPTIOUS.data
        return data / "drafts" / str(self.slug)
