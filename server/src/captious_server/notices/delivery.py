"""Notices by mail and webhook: the events that are reported, calls of webhooks, and the thread that sends them."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import ipaddress
import json
import logging
import secrets
import smtplib
import socket
import ssl
import threading
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from captious.version import __version__
from captious_server.models import Challenge, Notice, Phase, Submission, TeamApproval, User, Webhook
from captious_server.people.access import may_see
from captious_server.people.accounts import record
from captious_server.people.teams import teams_in
from captious_server.settings import BackgroundThread, local_time, utc_time

# Events that are reported: submissions that ended, phases about to close, teams that ask for approval.
#
# Each becomes a row for every user who asked for mail about it, and for every webhook of the challenge. Workers look
# for events, so that none is lost if a process is killed. Mail and webhooks contain no scores.

_CLOSING_PERIOD = timedelta(hours=24)  # period before the close of a phase
_RESULT_PERIOD = timedelta(days=1)  # older results are not reported
_BATCH_SUBMISSIONS = 100  # submissions per batch
_Status = Submission.Status


def absolute(path: str) -> str:
    """The address of a page for mail and webhooks; the path alone if the settings do not name the site."""
    return f"{settings.CAPTIOUS.address}{path}"


def ended_submissions() -> int:
    """Create notices of first results and failures of submissions, and of held ones; return their number."""
    since = timezone.now() - _RESULT_PERIOD
    ended = Q(finished__gte=since, status__in=[_Status.DONE, _Status.FAILED])
    rows = Submission.objects.filter(ended | Q(created__gte=since, status=_Status.HELD), is_noticed=False)
    n = 0
    for submission in rows.select_related("phase__challenge", "team").order_by("finished")[:_BATCH_SUBMISSIONS]:
        with transaction.atomic():
            if Submission.objects.filter(pk=submission.pk, is_noticed=False).update(is_noticed=True) == 0:
                continue  # another worker was faster
            n += 1
            if submission.status == _Status.HELD:
                _add_submission(f"held:{submission.pk}", "submission.held", submission)
            elif not submission.is_baseline:
                _add_result(submission)
    return n


def _add_result(submission: Submission) -> None:
    challenge, phase, is_done = submission.challenge, submission.phase, submission.status == _Status.DONE
    verb = "was scored" if is_done else "could not be scored"
    text = f"{submission.method}, which {submission.team} submitted to {challenge} ({phase}), {verb}."
    text += f"\n{submission.reason}" * bool(submission.reason and not is_done)
    members = User.objects.filter(mail_ended=True, memberships__team=submission.team)
    _add_mail(f"ended:{submission.pk}", members, challenge, f"{submission.method} {verb}", text, submission.url)
    _add_submission(f"ended:{submission.pk}", "submission.ended", submission)


def _add_submission(key: str, event: str, submission: Submission) -> None:
    values = {
        "id": submission.pk,
        "method": submission.method,
        "team": submission.team.name,
        "phase": submission.phase.name,
        "status": submission.status,
        "reason": submission.reason,
        "url": absolute(submission.url),
    }
    _add_hooks(key, submission.challenge, event, {"submission": values})


def phases_that_close(now: datetime) -> None:
    """Create notices of phases that close within a day, for participants and webhooks."""
    rows = Phase.objects.filter(Q(opens=None) | Q(opens__lte=now), is_retired=False, closes__gt=now)
    for phase in rows.filter(closes__lte=now + _CLOSING_PERIOD).select_related("challenge"):
        assert phase.closes is not None
        challenge, key = phase.challenge, f"closing:{phase.pk}:{phase.closes:%Y%m%d%H%M%S}"
        closes = local_time(phase.closes)
        takes_part = Q(participations__challenge=challenge) | Q(teams__in=teams_in(challenge).values("pk"))
        users = User.objects.filter(takes_part, mail_closing=True).distinct()
        text = f"The phase {phase} of {challenge} closes on {closes}."
        _add_mail(key, users, challenge, f"{challenge}: {phase} closes on {closes}", text, challenge.url)
        values = {"name": phase.name, "closes": utc_time(phase.closes), "url": absolute(challenge.url)}
        _add_hooks(key, challenge, "phase.closing", {"phase": values})


def team_asked(row: TeamApproval) -> None:
    """Tell webhooks that a team waits for approval."""
    values = {"name": row.team.name, "slug": row.team.slug, "message": row.message}
    values["url"] = absolute(f"{row.challenge.url}teams")
    _add_hooks(f"asked:{row.pk}:{row.asked:%Y%m%d%H%M%S%f}", row.challenge, "team.asked", {"team": values})


def message(challenge: Challenge, users: QuerySet[User], subject: str, text: str) -> int:
    """Create mail of the organizers to users who take part; return the number of those whose address is confirmed."""
    why = f"You get this mail because your team takes part in {challenge}."
    key = f"message:{challenge.pk}:{timezone.now():%Y%m%d%H%M%S%f}"
    return _add_mail(key, users, challenge, f"{challenge}: {subject}", text, challenge.url, why)


def ping(webhook: Webhook) -> None:
    """Send a test event to a webhook."""
    key = f"ping:{webhook.pk}:{timezone.now():%Y%m%d%H%M%S%f}"
    _add_hooks(key, webhook.challenge, "ping", {}, [webhook])


def _add_mail(
    key: str, users: QuerySet[User], challenge: Challenge, subject: str, text: str, path: str, why: str = ""
) -> int:
    """Create mail for those users who have verified their address and may see the challenge; return their number.

    Args:
        why: a sentence that ends the mail; by default, how to change the settings of mail.
    """
    if not settings.CAPTIOUS.email_url:
        return 0
    users = users.filter(is_active=True, emailaddress__primary=True, emailaddress__verified=True)
    users = users.exclude(notices__key__startswith=f"{key}:")
    why = why or f"Change the settings of your mail on your account page: {absolute('/account/')}"
    text += f"\n\n{absolute(path)}\n\n{why}"
    rows = [
        {"key": f"{key}:user:{user.pk}", "event": "mail", "user": user, "address": user.email, "body": text}
        | {"subject": _line(f"[{_site()}] {subject}")}
        for user in users
        if may_see(user, challenge)
    ]
    _add(rows)
    return len(rows)


def _add_hooks(
    key: str, challenge: Challenge, event: str, values: dict[str, Any], webhooks: Iterable[Webhook] | None = None
) -> None:
    webhooks = challenge.webhooks.all() if webhooks is None else webhooks
    body = {"event": event, "challenge": challenge.slug, "time": utc_time(timezone.now()), **values}
    _add(
        {"key": f"{key}:webhook:{webhook.pk}", "event": event, "webhook": webhook, "body": json.dumps(body)}
        for webhook in webhooks
    )


def _add(rows: Iterable[dict[str, Any]]) -> None:
    now = timezone.now()
    Notice.objects.bulk_create([Notice(**row, not_before=now) for row in rows], ignore_conflicts=True)


def _site() -> str:
    return str(settings.CAPTIOUS.site_name)


def _line(text: str) -> str:
    return " ".join(text.split())[:300]


# One call of a webhook: signed, to public addresses only, without redirects, within a fixed time.
#
# Organizers choose the address, so it is untrusted: a server that fetches it could be made to reach hosts that only it
# can. The name is resolved once, every address that it has must be public, and the connection is made to the address
# that was checked. Only the status of the answer is read.

_TIMEOUT = 10.0  # seconds without data
_MAX_SECONDS = 20.0  # seconds for the whole call
#: Addresses that lead to IPv4 addresses within them, public or not; of a site; and of documentation.
_OTHER_NETWORKS = [*map(ipaddress.ip_network, ("64:ff9b::/96", "fec0::/10", "2001:db8::/32", "3fff::/20"))]


class WebhookError(Exception):
    """A failed call, with a short message for organizers."""


def signature(secret: str, timestamp: int, body: bytes) -> str:
    """``v1=`` and the HMAC-SHA256 of the timestamp, a dot and the body."""
    return "v1=" + hmac.new(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hexdigest()


def url_problem(url: str, trusted_hosts: Collection[str]) -> str:
    """The reason why an address cannot be a webhook, in one sentence; empty if it can. Names are not resolved.

    Args:
        trusted_hosts: host names that the settings of the server always allow, even without TLS.
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
        host.encode("idna")
    except ValueError:
        return "This is not a valid address."
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url or not host:
        return "This is not a valid address."
    if parts.scheme != "https" and not (parts.scheme == "http" and host in trusted_hosts):
        return "The address must begin with https://."
    if parts.username is not None or parts.password is not None or parts.fragment:
        return "The address must not have a user name or a fragment."
    with suppress(ValueError):
        if host not in trusted_hosts and not is_public(str(ipaddress.ip_address(host))):
            return "The address is not on the public internet."
    return ""


def is_public(address: str) -> bool:
    """Return whether an IP address is one of the public internet, and leads to no other."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        if ip.ipv4_mapped is not None:
            return is_public(str(ip.ipv4_mapped))
        if ip.sixtofour is not None or ip.teredo is not None or any(ip in network for network in _OTHER_NETWORKS):
            return False
    return ip.is_global and not ip.is_multicast and not ip.is_reserved


def post(url: str, body: bytes, headers: dict[str, str], trusted_hosts: Collection[str]) -> int:
    """Send a body; return the status of the answer.

    Raises:
        WebhookError: it did not arrive.
    """
    if problem := url_problem(url, trusted_hosts):
        raise WebhookError(problem)
    parts = urlsplit(url)
    host = parts.hostname or ""
    try:
        connection = socket.create_connection(_address(parts, host in trusted_hosts), timeout=_TIMEOUT)
    except OSError as error:
        raise WebhookError(f"no connection: {_reason(error)}") from None
    timer = threading.Timer(_MAX_SECONDS, _shut_down, [connection])
    timer.start()
    try:
        with connection:
            return _status(connection, parts, body, headers)
    except ssl.SSLCertVerificationError:
        raise WebhookError("its certificate is not valid") from None
    except (OSError, http.client.HTTPException) as error:
        raise WebhookError(f"no answer: {_reason(error)}") from None
    finally:
        timer.cancel()


def _address(parts: SplitResult, is_trusted: bool) -> tuple[str, int]:
    """The address and the port to connect to."""
    port = parts.port or (443 if parts.scheme == "https" else 80)
    entries = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    addresses = [str(entry[4][0]) for entry in entries]
    if not is_trusted and not all(map(is_public, addresses)):
        raise WebhookError("its address is not on the public internet")
    return addresses[0], port


def _status(raw: socket.socket, parts: SplitResult, body: bytes, headers: dict[str, str]) -> int:
    host = parts.hostname or ""
    is_tls = parts.scheme == "https"
    sock = ssl.create_default_context().wrap_socket(raw, server_hostname=host) if is_tls else raw
    with sock:
        connection = http.client.HTTPConnection(host)
        connection.sock = sock
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        base_headers = {
            "Host": parts.netloc,
            "User-Agent": f"captious/{__version__}",
            "Content-Type": "application/json",
        }
        connection.request("POST", target, body, {**base_headers, "Connection": "close", **headers})
        return connection.getresponse().status


def _shut_down(sock: socket.socket) -> None:
    with suppress(OSError):
        sock.shutdown(socket.SHUT_RDWR)


def _reason(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    return str(getattr(error, "strerror", None) or type(error).__name__)[:100]


# Webhooks that organizers add to a challenge, and remove.

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


def add_webhook(request: HttpRequest, challenge: Challenge, form: forms.Form) -> Webhook | None:
    """Add the webhook of a form to a challenge; None, and errors in the form, if that is not possible."""
    if form.is_valid() and challenge.webhooks.count() >= _MAX_WEBHOOKS:
        form.add_error(None, f"A challenge has at most {_MAX_WEBHOOKS} webhooks: remove one first.")
    if not form.is_valid():
        return None
    url = form.cleaned_data["url"]
    webhook = Webhook.objects.create(challenge=challenge, url=url, secret=f"whsec_{secrets.token_urlsafe(32)}")
    record("add webhook", str(webhook), request=request, challenge=challenge)
    return webhook


def remove_webhook(request: HttpRequest, webhook: Webhook) -> None:
    """Remove a webhook."""
    Webhook.objects.filter(pk=webhook.pk).delete()
    record("remove webhook", str(webhook), request=request, challenge=webhook.challenge)


# Sending notices: a thread of each worker takes due notices, and retries until they arrive.

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
                ended_submissions()
                if time.monotonic() - check_time > _PHASE_CHECK_SECONDS:
                    check_time = time.monotonic()
                    phases_that_close(timezone.now())
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
            row = Notice.objects.filter(pk=notice.pk)
            row.delete() if notice.event == Notice.ACCOUNT else row.update(sent=timezone.now())
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
    if user is not None and (not user.is_active or user.confirmed_email != notice.address):
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
