"""Webhooks of a challenge, on the organizers' page."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest
from django.shortcuts import get_object_or_404

from captious.server.actions.webhooks import WebhookForm, add_webhook, remove_webhook
from captious.server.models import Challenge, Webhook
from captious.server.notices.events import ping
from captious.server.people.rate_limits import limit
from captious.server.request_values import row_id


def act_on_webhooks(request: HttpRequest, challenge: Challenge, action: str, form: WebhookForm) -> bool:
    """Perform the action of a button; False if the form is not valid."""
    limit(request, "change")
    if action == "webhook":
        if add_webhook(request, challenge, form) is None:
            return False
        messages.success(request, "Webhook added. Its secret is shown below.")
        return True
    webhook = webhook_of(request, challenge)
    if action == "test_webhook":
        ping(webhook)
        messages.success(request, "A test event will be sent within seconds. Reload this page to see the answer.")
    else:
        remove_webhook(request, webhook)
        messages.success(request, f"{webhook.shown_url} was removed.")
    return True


def webhook_of(request: HttpRequest, challenge: Challenge) -> Webhook:
    """The webhook that a form names."""
    return get_object_or_404(challenge.webhooks, pk=row_id(request.POST.get("webhook", "")))
