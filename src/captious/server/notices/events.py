"""Events that are reported: submissions that ended, phases about to close, teams that ask for approval.

Each becomes a row for every user who asked for mail about it, and for every webhook of the challenge. Workers look for
events, so that none is lost if a process is killed. Mail and webhooks contain no scores.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core import signing
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from captious.server.local_times import local_time, utc_time
from captious.server.models import Challenge, Notice, Phase, Submission, TeamApproval, User, Webhook
from captious.server.people.access import may_see

#: The event of mail that verifies an address.
VERIFY = "verify"
_CLOSING_PERIOD = timedelta(hours=24)  # period before the close of a phase
_RESULT_PERIOD = timedelta(days=1)  # older results are not reported
_VERIFICATION_INTERVAL = timedelta(minutes=10)  # minimum time between two verification mails to one address
_TOKEN_LIFETIME = timedelta(days=3)
_BATCH_SUBMISSIONS = 100  # submissions per batch
_TOKEN_SALT = "captious.email"
_Status = Submission.Status


def absolute(path: str) -> str:
    """The address of a page for mail and webhooks; the path alone if the settings do not name the site."""
    return f"{settings.CAPTIOUS.address}{path}"


def ended_submissions() -> int:
    """Create notices of first results and failures of submissions; return the number of submissions."""
    since = timezone.now() - _RESULT_PERIOD
    rows = Submission.objects.filter(is_noticed=False, finished__gte=since, status__in=[_Status.DONE, _Status.FAILED])
    n = 0
    for submission in rows.select_related("phase__challenge", "team").order_by("finished")[:_BATCH_SUBMISSIONS]:
        with transaction.atomic():
            if Submission.objects.filter(pk=submission.pk, is_noticed=False).update(is_noticed=True) == 0:
                continue  # another worker was faster
            n += 1
            if not submission.is_baseline:
                _add_result(submission)
    return n


def _add_result(submission: Submission) -> None:
    challenge, phase, is_done = submission.challenge, submission.phase, submission.status == _Status.DONE
    verb = "was scored" if is_done else "could not be scored"
    text = f"{submission.method}, which {submission.team} submitted to {challenge} ({phase}), {verb}."
    text += f"\n{submission.reason}" * bool(submission.reason and not is_done)
    members = User.objects.filter(mail_ended=True, memberships__team=submission.team)
    _add_mail(f"ended:{submission.pk}", members, challenge, f"{submission.method} {verb}", text, submission.url)
    values = {
        "id": submission.pk,
        "method": submission.method,
        "team": submission.team.name,
        "phase": phase.name,
        "status": submission.status,
        "reason": submission.reason,
        "url": absolute(submission.url),
    }
    _add_hooks(f"ended:{submission.pk}", challenge, "submission.ended", {"submission": values})


def phases_that_close(now: datetime) -> None:
    """Create notices of phases that close within a day, for participants and webhooks."""
    rows = Phase.objects.filter(Q(opens=None) | Q(opens__lte=now), is_retired=False, closes__gt=now)
    for phase in rows.filter(closes__lte=now + _CLOSING_PERIOD).select_related("challenge"):
        challenge, key = phase.challenge, f"closing:{phase.pk}:{phase.closes:%Y%m%d%H%M%S}"
        closes = local_time(phase.closes)
        takes_part = (
            Q(participations__challenge=challenge)
            | Q(teams__attempts__phase__challenge=challenge)
            | Q(teams__approvals__challenge=challenge)
            | Q(teams__acceptances__challenge=challenge)
        )
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


def ping(webhook: Webhook) -> None:
    """Send a test event to a webhook."""
    key = f"ping:{webhook.pk}:{timezone.now():%Y%m%d%H%M%S%f}"
    _add_hooks(key, webhook.challenge, "ping", {}, [webhook])


def verification(user: User, make_link: Any) -> bool:
    """Create a mail that verifies the address of a user; False if one was sent to it recently.

    Args:
        make_link: path token -> address of the page.
    """
    since = timezone.now() - _VERIFICATION_INTERVAL
    if Notice.objects.filter(event=VERIFY, address__iexact=user.email, created__gte=since).exists():
        return False
    token = signing.dumps([user.pk, user.email], salt=_TOKEN_SALT)
    text = f"Open this page to confirm the mail address of {user.username}:\n\n{make_link(token)}"
    text += "\n\nThe link is valid for 3 days. If you did not request it, ignore this mail."
    now = timezone.now()
    row = {"event": VERIFY, "user": user, "address": user.email, "not_before": now, "body": text}
    Notice.objects.create(
        key=f"verify:{user.pk}:{now:%Y%m%d%H%M%S%f}", subject=_line(f"[{_site()}] Confirm your address"), **row
    )
    return True


def verified_user(token: str) -> User | None:
    """The user whose address a token verifies, if it is still the address of the user."""
    try:
        pk, email = signing.loads(token, salt=_TOKEN_SALT, max_age=_TOKEN_LIFETIME)
    except signing.BadSignature:
        return None
    return User.objects.filter(pk=pk, email=email, is_active=True).first()


def _add_mail(key: str, users: Any, challenge: Challenge, subject: str, text: str, path: str) -> None:
    """Create mail for those users who have verified their address and may see the challenge."""
    if not settings.CAPTIOUS.email_url:
        return
    users = users.filter(is_active=True, verified_email=F("email")).exclude(email="")
    users = users.exclude(notices__key__startswith=f"{key}:")
    text += f"\n\n{absolute(path)}\n\nChange the settings of your mail on your account page: {absolute('/account/')}"
    _add(
        {"key": f"{key}:user:{user.pk}", "event": "mail", "user": user, "address": user.email, "body": text}
        | {"subject": _line(f"[{_site()}] {subject}")}
        for user in users
        if may_see(user, challenge)
    )


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
