"""Boards in the database."""

from __future__ import annotations

from django.db import models


class Standing(models.Model):
    """A board as it is shown: the submissions of a phase in the order of one output, the best first, with ranks.

    The lists have an item for each row. Those without a score are last; their score and rank are None.
    """

    phase = models.ForeignKey("Phase", models.CASCADE, related_name="standings")
    #: The key of the reference set.
    references = models.CharField(max_length=200)
    output = models.CharField(max_length=200)
    #: All submissions, not only the entry of each team.
    everything = models.BooleanField()
    #: ``Scores.version`` of its rows.
    version = models.PositiveIntegerField()
    #: ``Phase.digits`` to which its scores are rounded.
    digits = models.PositiveSmallIntegerField()
    #: Ids of submissions, and when they were scored, in microseconds.
    submissions = models.JSONField()
    finished = models.JSONField()
    scores = models.JSONField()
    ranks = models.JSONField()
    #: output -> the best score of the rows, rounded; None if there is none or no direction.
    best = models.JSONField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["phase", "references", "output", "everything"], name="one_standing")
        ]
