"""Webhooks that organizers add to a challenge, and remove."""

from __future__ import annotations

import secrets

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.http import HttpRequest

from captious.server.models import Challenge, Webhook
from captious.server.notices.webhook_calls import url_problem
from captious.server.people.audit import record

_MAX_WEBHOOKS = 5  # per challenge


class WebhookForm(forms.Form):
    """A new webhook."""

    url = forms.CharField(
        label="Address", max_length=500, help_text="https://… It gets a POST when something happens in the challenge."
    )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        if problem := url_problem(url, settings.CAPTIOUS.webhook_hosts):
            raise ValidationError(problem)
        return url


def add_webhook(request: HttpRequest, challenge: Challenge, form: WebhookForm) -> Webhook | None:
    """Add the webhook of a form to a challenge; None, and errors in the form, if that is not possible."""
    if form.is_valid() and challenge.webhooks.count() >= _MAX_WEBHOOKS:
        form.add_error(None, f"A challenge has at most {_MAX_WEBHOOKS} webhooks: remove one first.")
    if not form.is_valid():
        return None
    url = form.cleaned_data["url"]
    webhook: Webhook = Webhook.objects.create(challenge=challenge, url=url, secret=f"whsec_{secrets.token_urlsafe(32)}")
    record("add webhook", webhook.shown_url, request=request, challenge=challenge)
    return webhook


def remove_webhook(request: HttpRequest, webhook: Webhook) -> None:
    """Remove a webhook."""
    Webhook.objects.filter(pk=webhook.pk).delete()
    record("remove webhook", webhook.shown_url, request=request, challenge=webhook.challenge)
