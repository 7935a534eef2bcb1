"""The audit log, and counts of requests for rate limits."""

from __future__ import annotations

from django.db import models

__all__ = ["AuditEvent", "RateCount"]


class AuditEvent(models.Model):
    """Who did what to what, when, from which address. Events are only ever added."""

    time = models.DateTimeField(auto_now_add=True, db_index=True)
    #: The user name: it stays when the account goes.
    actor = models.CharField(max_length=150)
    address = models.CharField(max_length=45, blank=True)
    action = models.CharField(max_length=60)
    target = models.CharField(max_length=200)
    detail = models.TextField(blank=True)
    challenge = models.ForeignKey("Challenge", models.SET_NULL, null=True, related_name="events")
    submission = models.ForeignKey("Submission", models.SET_NULL, null=True, related_name="events")

    class Meta:
        ordering = ["-time", "-id"]


class RateCount(models.Model):
    """How often somebody did something within a minute."""

    key = models.CharField(max_length=200)
    minute = models.BigIntegerField()
    count = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["key", "minute"], name="one_count")]
