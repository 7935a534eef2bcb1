"""Sending notices: a thread of each worker takes due notices, and retries until they arrive."""

from __future__ import annotations

import logging
import smtplib
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection
from django.db.models import F
from django.utils import timezone

from captious.server.background_thread import BackgroundThread
from captious.server.models import Notice, Webhook
from captious.server.notices import events
from captious.server.notices.webhook_calls import WebhookError, post, signature

_log = logging.getLogger(__name__)
_POLL_SECONDS = 2.0  # seconds between checks for events
_PHASE_CHECK_SECONDS = 60.0  # seconds between checks for closing phases
_NOTICE_LEASE = timedelta(minutes=2)  # seconds for which other workers skip a notice
_BATCH_NOTICES = 50  # notices at a time
_NOTICE_LIFETIME = timedelta(days=7)
#: Seconds between attempts to send a notice; after the last one it is given up.
_RETRY_SECONDS = (10, 60, 600, 3600, 6 * 3600, 24 * 3600)


class Deliveries(BackgroundThread):
    """A thread that finds events and sends notices. A context manager."""

    def __init__(self) -> None:
        super().__init__("notices", join_seconds=1.0)  # a call may take longer; other workers deliver the rest

    def run(self) -> None:
        check_time = -_PHASE_CHECK_SECONDS
        while not self.stop.wait(_POLL_SECONDS):
            try:
                events.ended_submissions()
                if time.monotonic() - check_time > _PHASE_CHECK_SECONDS:
                    check_time = time.monotonic()
                    events.phases_that_close(timezone.now())
                deliver_due()
            except Exception:  # scoring continues, whatever happens here
                _log.exception("notices cannot be sent; trying again")
            connection.close()


def deliver_due() -> int:
    """Send all due notices; return their number. If mail cannot be sent, the rest of the mail waits."""
    n, mail_works = 0, True
    due = Notice.objects.filter(sent=None, not_before__lte=timezone.now()).order_by("webhook_id", "not_before")
    for notice in due.select_related("user", "webhook")[:_BATCH_NOTICES]:
        if notice.webhook is None and not mail_works:
            continue
        lease = Notice.objects.filter(pk=notice.pk, sent=None, not_before=notice.not_before)
        if lease.update(not_before=timezone.now() + _NOTICE_LEASE, tries=F("tries") + 1) == 0:
            continue  # another worker has it, or its webhook waits
        is_sent = _send_mail(notice) if notice.webhook is None else _call(notice, notice.webhook)
        if is_sent:
            Notice.objects.filter(pk=notice.pk).update(sent=timezone.now())
            n += 1
        else:
            _try_later(notice)
            mail_works = mail_works and notice.webhook is not None
    return n


def remove_old_notices() -> None:
    """Delete notices that were sent or given up days ago."""
    Notice.objects.filter(created__lt=timezone.now() - _NOTICE_LIFETIME).delete()


def _try_later(notice: Notice) -> None:
    """Postpone all calls of a webhook, so that one that hangs does not delay those of others."""
    wait = _RETRY_SECONDS[notice.tries] if notice.tries < len(_RETRY_SECONDS) else None
    time = None if wait is None else timezone.now() + timedelta(seconds=wait)
    Notice.objects.filter(pk=notice.pk).update(not_before=time)
    if notice.webhook is not None and time is not None:
        Notice.objects.filter(webhook=notice.webhook, sent=None, not_before__lt=time).update(not_before=time)


def _send_mail(notice: Notice) -> bool:
    user = notice.user
    address = user.email if notice.event == events.VERIFY else user.verified_email
    if not user.is_active or user.email != notice.address or address != notice.address:
        return True  # the address has changed
    headers = {"Auto-Submitted": "auto-generated"}
    try:
        EmailMessage(notice.subject, notice.body, to=[notice.address], headers=headers).send()
    except (OSError, smtplib.SMTPException):
        _log.exception("mail cannot be sent", extra={"notice": notice.pk})
        return False
    return True


def _call(notice: Notice, webhook: Webhook) -> bool:
    body, now = str(notice.body).encode(), timezone.now()
    timestamp = int(now.timestamp())
    headers = {
        "Captious-Event": notice.event,
        "Captious-Delivery": str(notice.pk),
        "Captious-Timestamp": str(timestamp),
        "Captious-Signature": signature(webhook.secret, timestamp, body),
    }
    values: dict[str, Any] = {"tried": now}
    try:
        status = post(webhook.url, body, headers, settings.CAPTIOUS.webhook_hosts)
        values["result"], is_sent = f"answered {status}", 200 <= status < 300
    except WebhookError as error:
        values["result"], is_sent = str(error)[:200], False
    Webhook.objects.filter(pk=webhook.pk).update(**values)
    return is_sent
