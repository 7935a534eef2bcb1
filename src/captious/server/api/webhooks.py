"""Calls of the API about the webhooks of a challenge, for organizers and administrators."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404

from captious.server.actions.webhooks import WebhookForm, add_webhook, remove_webhook
from captious.server.api.calls import Failure, Operation, Parameter, call
from captious.server.api.webhook_answers import NewWebhookAnswer, WebhookAnswer, webhook_answer
from captious.server.models import Webhook
from captious.server.notices.events import ping
from captious.server.people.access import managed_challenge
from captious.server.people.rate_limits import limit


@call(
    GET=Operation(
        "The webhooks of a challenge; organizers and administrators only.", list[WebhookAnswer], needs_user=True
    ),
    POST=Operation(
        "Add a webhook. The answer has its secret.",
        NewWebhookAnswer,
        status=201,
        form=[Parameter("url", "The https:// address that receives the events of the challenge.", is_required=True)],
        scope="organize",
        errors=[400],
    ),
)
def webhooks(request: HttpRequest, slug: str) -> HttpResponse:
    """The webhooks of a challenge, without their secrets and addresses, which often contain secrets."""
    challenge = managed_challenge(request.user, slug)
    if request.method == "GET":
        return JsonResponse([webhook_answer(row) for row in challenge.webhooks.all()], safe=False)
    limit(request, "change")
    form = WebhookForm(request.POST)
    row = add_webhook(request, challenge, form)
    if row is None:
        raise Failure(400, " ".join(message for messages in form.errors.values() for message in messages))
    return JsonResponse({**webhook_answer(row), "url": row.url, "secret": row.secret}, status=201)


@call(POST=Operation("Send a test event to a webhook.", WebhookAnswer, scope="organize"))
def test_webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Queue a test event, which is sent within seconds."""
    row = _webhook(request, slug, pk)
    ping(row)
    return JsonResponse(webhook_answer(row))


@call(POST=Operation("Remove a webhook.", WebhookAnswer, scope="organize"))
def delete_webhook(request: HttpRequest, slug: str, pk: int) -> HttpResponse:
    """Remove a webhook."""
    row = _webhook(request, slug, pk)
    remove_webhook(request, row)
    return JsonResponse(webhook_answer(row))


def _webhook(request: HttpRequest, slug: str, pk: int) -> Webhook:
    limit(request, "change")
    return get_object_or_404(managed_challenge(request.user, slug).webhooks, pk=pk)
