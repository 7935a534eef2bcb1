"""Uploads in the database."""

from __future__ import annotations

from django.db import models


class Attempt(models.Model):
    """An upload that counted as an attempt, whether or not its captions were valid. Dry runs are not attempts."""

    phase = models.ForeignKey("Phase", models.CASCADE, related_name="attempts")
    team = models.ForeignKey("Team", models.CASCADE, related_name="attempts")
    user = models.ForeignKey("User", models.SET_NULL, null=True, related_name="+")
    submission = models.OneToOneField("Submission", models.CASCADE, null=True, related_name="attempt")
    time = models.DateTimeField(db_index=True)
    #: It was read to the end. One that never is, because the server was stopped, ceases to count.
    is_complete = models.BooleanField(default=False)
    #: Names the upload, so that one that is repeated because an answer was lost is not another; may be empty.
    key = models.CharField(max_length=64, blank=True, db_index=True)
    #: SHA-256 of the request with this key.
    fingerprint = models.CharField(max_length=64, blank=True)
