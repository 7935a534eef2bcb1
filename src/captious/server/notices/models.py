"""Webhooks and notices in the database."""

from __future__ import annotations

from urllib.parse import urlsplit

from django.db import models

from captious.server.people.models import User


class Webhook(models.Model):
    """An address that receives the events of a challenge."""

    challenge = models.ForeignKey("Challenge", models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    #: Signs the calls, so it is stored in clear.
    secret = models.CharField(max_length=80)
    created = models.DateTimeField(auto_now_add=True)
    #: The time of the last call, and the status of the answer or the error.
    tried = models.DateTimeField(null=True)
    result = models.CharField(max_length=200, blank=True)

    class Meta:
        ordering = ["pk"]

    @property
    def shown_url(self) -> str:
        """The address for logs and lists. What follows the host is often a secret."""
        parts = urlsplit(str(self.url))
        return f"{parts.scheme}://{parts.netloc}/{'…' * bool(parts.path.strip('/') or parts.query)}"


class Notice(models.Model):
    """A mail to a user, or a call of a webhook. It is kept for some days, so that no event is reported twice."""

    #: Names the event and the receiver.
    key = models.CharField(max_length=200, unique=True)
    event = models.CharField(max_length=40)
    user = models.ForeignKey(User, models.CASCADE, null=True, related_name="notices")
    #: Where mail goes.
    address = models.EmailField(blank=True)
    webhook = models.ForeignKey(Webhook, models.CASCADE, null=True, related_name="notices")
    subject = models.CharField(max_length=300, blank=True)
    body = models.TextField()
    created = models.DateTimeField(auto_now_add=True)
    sent = models.DateTimeField(null=True)
    #: The time of the next attempt; None once it is given up.
    not_before = models.DateTimeField(null=True)
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        indexes = [models.Index(fields=["not_before"], condition=models.Q(sent=None), name="notices_to_send")]
