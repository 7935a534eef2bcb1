"""Turns and workers in the database."""

from __future__ import annotations

from django.db import models


class QueueTurn(models.Model):
    """The end of the last turn of a party or challenge in the queue; see scoring/turns.py."""

    party = models.CharField(max_length=40, unique=True)
    ended = models.DateTimeField()


class WorkerSeen(models.Model):
    """The last heartbeat of a worker, for the health page."""

    name = models.CharField(max_length=120, unique=True)
    seen = models.DateTimeField()
