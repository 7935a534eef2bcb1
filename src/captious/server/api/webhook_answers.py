"""Answers of the API about webhooks."""

from __future__ import annotations

from datetime import datetime

from typing_extensions import TypedDict

from captious.server.api.answers import answer_from, exact
from captious.server.models import Webhook


@exact
class WebhookAnswer(TypedDict):
    """A webhook with the host of its address and its last answer."""

    id: int
    url: str
    created: datetime
    tried: datetime | None
    result: str


@exact
class NewWebhookAnswer(WebhookAnswer):
    """A new webhook with its full address and the secret that signs its calls."""

    secret: str


def webhook_answer(row: Webhook) -> WebhookAnswer:
    """A webhook without its secret, for those who manage the challenge."""
    return answer_from(WebhookAnswer, row, url=row.shown_url)
