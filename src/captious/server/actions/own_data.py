"""A user's own data, as JSON and as a zip file with the uploaded captions."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db.models import Q

from captious.server.boards.visible_scores import visible_scores
from captious.server.models import Attempt, AuditEvent, RefusedUpload, Submission, TeamApproval, TermsAcceptance, User
from captious.server.people.access import may_see
from captious.server.streamed_zip import content, zip_blocks
from captious.server.submissions import storage


def data_json(user: User) -> bytes:
    """All data about a user. Former members have no access to their contributions to a team or challenge."""
    teams = user.memberships.select_related("team")
    submissions = [_submission(user, row) for row in _submissions_of(user)]
    attempts = Attempt.objects.filter(user=user).order_by("time")
    refusals = RefusedUpload.objects.filter(user=user, team__members=user).order_by("created")
    log = AuditEvent.objects.filter(Q(actor=user.username) | Q(target=user.username)).order_by("time")
    approvals = TeamApproval.objects.filter(team__members=user)
    values: dict[str, Any] = {
        "account": {name: getattr(user, name) for name in _ACCOUNT_FIELDS},
        "teams": [
            {"name": row.team.name, "captain": row.is_captain, "joined": row.joined}
            for row in teams.order_by("team__name")
        ],
        "tokens": [
            *user.tokens.values("name", "prefix", "created", "last_used", "scopes", "challenge__slug", "expires")
        ],
        "identities": [*user.identities.values("issuer", "subject", "label", "created", "last_used")],
        "second_step": bool(user.totp_salt),
        "known_devices": [*user.known_devices.order_by("used").values("used")],
        "submissions": submissions,
        "uploads": [*attempts.values("phase__challenge__slug", "phase__name", "team__name", "time")],
        "refused": [*refusals.values("phase__challenge__slug", "phase__name", "team__name", *_REFUSAL_FIELDS)],
        "terms": [*TermsAcceptance.objects.filter(user=user.username).values("challenge__slug", "version", "time")],
        "approvals": [*approvals.values("challenge__slug", "team__name", "status", "message", "reason", "asked")],
        "organizes": [*user.organized.values_list("slug", flat=True)],
        "participates": [*user.challenges.values_list("slug", flat=True)],
        "drafts": [*user.drafts.values("slug", "title", "created", "changed")],
        "mail": [*user.notices.values("address", "subject", "body", "created", "sent")],
        "log": [*log.values("time", "actor", "address", "action", "target", "detail")],
    }
    return json.dumps(values, cls=DjangoJSONEncoder, ensure_ascii=False, indent=1).encode()


_ACCOUNT_FIELDS = (
    *("username", "email", "verified_email", "first_name", "last_name", "date_joined", "last_login"),
    *("is_active", "is_superuser", "mail_ended", "mail_closing"),
)
_REFUSAL_FIELDS = ("method", "filename", "size", "created", "reason", "problems")


def data_zip(user: User) -> Iterator[bytes]:
    """A zip file, sent while it is made."""
    return zip_blocks(_files(user))


def _files(user: User) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "account.json", [data_json(user)]
    for submission in _submissions_of(user):
        path = storage.upload_file(submission.folder)
        if path.is_file():
            name = os.path.basename(submission.filename) or "submission"
            yield f"submissions/{submission.pk}/{name}", content(path)


def _submissions_of(user: User) -> list[Submission]:
    rows = Submission.objects.filter(user=user, team__members=user).exclude(status=Submission.Status.DELETED)
    rows = rows.select_related("phase__challenge", "team", "shown_scores").order_by("pk")
    return [row for row in rows if may_see(user, row.challenge)]


def _submission(user: User, row: Submission) -> dict[str, Any]:
    names = ["method", "link", "description", "public", "anonymous", "may_publish"]
    names += ["filename", "size", "created", "finished"]
    context = {"id": row.pk, "challenge": row.challenge.slug, "phase": row.phase.name, "team": row.team.name}
    values = {name: getattr(row, name) for name in names}
    return {**context, **values, "status": row.status, "reason": row.reason, "scores": visible_scores(user, row)}
