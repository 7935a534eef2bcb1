"""Deleting an account, and the copy of a user's own data."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.admin.models import LogEntry
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import F, Q, QuerySet

from captious_server.boards.fields import fields_of_teams
from captious_server.boards.query import visible_scores
from captious_server.models import (
    Attempt,
    AuditEvent,
    Draft,
    Membership,
    Notice,
    RefusedUpload,
    Submission,
    Team,
    TeamApproval,
    TermsAcceptance,
    User,
)
from captious_server.people.access import may_see
from captious_server.people.accounts import record
from captious_server.people.teams import is_free, leave_team
from captious_server.scoring import queue
from captious_server.submissions import storage
from captious_server.submissions.storage import content, zip_blocks

# Deleting an account, with anonymization of the parts that stay.
#
# Submissions for teams with other members belong to the team and stay. If a team has no other members, its submissions
# that count on boards stay as well, so that the ranks of others do not change, but without user, link and description,
# and under another team name. Everything else is deleted.

_Status = Submission.Status


@dataclass(frozen=True)
class Departure:
    """A deleted account: its name in the log from now on, and the numbers of submissions kept and deleted."""

    name: str
    n_kept: int
    n_deleted: int


def why_not_deleted(user: User) -> str:
    """Why an account cannot be deleted now, one sentence; empty if it can."""
    titles = ", ".join(user.organized.order_by("title").values_list("title", flat=True))
    if titles:
        return f"{user.username} is an organizer of {titles}: add another organizer to the challenge first."
    administrators = User.objects.filter(is_superuser=True, is_active=True).exclude(pk=user.pk)
    if user.is_superuser and not administrators.exists():
        return f"{user.username} is the only administrator. Make another user an administrator first."
    return ""


def kept_submissions(user: User) -> QuerySet[Submission]:
    """The submissions that stay because boards count them, although their team has no other members."""
    rows: QuerySet[Submission] = Submission.objects.competing().filter(team__in=_sole_teams(user))
    return rows.exclude(status=_Status.DELETED)


def delete_account(user: User, *, submissions: bool = False) -> Departure:
    """Delete an account that can be deleted, with the data that belongs to it alone.

    Args:
        submissions: whether to delete submissions that boards count as well.
    """
    name, teams = f"deleted user {user.pk}", [*_sole_teams(user)]
    lasting_ids = [] if submissions else [*kept_submissions(user).values_list("pk", flat=True)]
    rows = Submission.objects.filter(team__in=teams).exclude(pk__in=lasting_ids)
    # A worker that scores one of them loses its lease.
    rows.filter(status=_Status.RUNNING).update(status=_Status.CANCELED, lease=F("lease") + 1, lease_until=None)
    n_deleted = storage.delete(rows.exclude(status=_Status.DELETED))
    with transaction.atomic():
        list(User.objects.select_for_update().filter(pk=user.pk))
        for team in Team.objects.filter(memberships__user=user).exclude(pk__in=[team.pk for team in teams]):
            leave_team(team, user)
        names: dict[str, str] = {}
        for team in teams:
            names |= _anonymize_team(team)
        names[user.username] = name  # also the name of the personal team
        folders = _hand_over_drafts(user)
        _forget(user, names)
        user.delete()
    for folder in folders:
        storage.remove_files(folder)
    storage.reading_lock(int(name.rpartition(" ")[2])).unlink(missing_ok=True)
    queue.show_complete()
    record("delete account", name, detail=f"submissions: {len(lasting_ids):,} kept, {n_deleted:,} deleted")
    return Departure(name, len(lasting_ids), n_deleted)


def _sole_teams(user: User) -> QuerySet[Team]:
    """The teams of a user without other members."""
    team_ids = Membership.objects.exclude(user=user).values("team")
    return Team.objects.filter(memberships__user=user).exclude(pk__in=team_ids)


def _anonymize_team(team: Team) -> dict[str, str]:
    """Delete a team without remaining submissions, or else rename it; return {former name: name in logs}."""
    list(Team.objects.select_for_update().filter(pk=team.pk))
    former, rows = str(team.name), Submission.objects.filter(team=team)
    rows.filter(status=_Status.DELETED).delete()
    if not rows.exists():
        number = team.pk
        team.delete()
        return {former: f"deleted team {number}"}
    name = f"Deleted team {team.pk}"
    while not is_free(name):
        name = f"Deleted team {team.pk} {secrets.token_hex(3)}"
    Team.objects.filter(pk=team.pk).update(name=name, slug=name.lower().replace(" ", "-"), is_personal=False)
    for row in rows:
        filename = f"submission{''.join(Path(row.filename).suffixes[-2:])}"[:60]
        texts = {field.name for field in fields_of_teams(row.challenge).values() if field.kind == "text"}
        fields = {name: value for name, value in row.fields.items() if name not in texts}
        rows.filter(pk=row.pk).update(user=None, link="", description="", filename=filename, fields=fields)
    TeamApproval.objects.filter(team=team).update(message="", reason="")
    RefusedUpload.objects.filter(team=team).delete()
    return {former: name}


def _hand_over_drafts(user: User) -> list[Path]:
    """Hand drafts over to organizers of their challenges; return the folders of the other drafts, to be deleted."""
    folders = []
    for draft in Draft.objects.filter(user=user):
        heir = None if (challenge := draft.challenge) is None else challenge.organizers.first()
        if heir is None:
            folders.append(draft.folder)
        else:
            Draft.objects.filter(pk=draft.pk).update(user=heir)
    return folders


def _forget(user: User, names: dict[str, str]) -> None:
    """Replace names in the log, accepted terms and entries of the administration pages."""
    new_name = names[user.username]
    AuditEvent.objects.filter(actor=user.username).update(actor=new_name, address="")
    for former, name in names.items():
        AuditEvent.objects.filter(target=former).update(target=name)
    AuditEvent.objects.filter(detail=user.username).update(detail=new_name)
    TermsAcceptance.objects.filter(user=user.username).update(user=new_name)
    Notice.objects.filter(event=Notice.ACCOUNT, address__iexact=user.email).delete()
    LogEntry.objects.filter(content_type__model="user", object_id=str(user.pk)).update(object_repr=new_name)


# A user's own data, as JSON and as a zip file with the uploaded captions.


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
        "addresses": [*user.emailaddress_set.values("email", "verified", "primary")],
        "sites": [*user.socialaccount_set.values("provider", "uid", "extra_data", "date_joined", "last_login")],
        "second_step": [*user.authenticator_set.values("type", "created_at", "last_used_at")],
        "sessions": [*user.usersession_set.values("created_at", "ip", "user_agent")],
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
    *("username", "email", "first_name", "last_name", "date_joined", "last_login"),
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
    names = ["method", "link", "description", "public", "anonymous", "may_publish", "fields"]
    names += ["filename", "size", "created", "finished"]
    context = {"id": row.pk, "challenge": row.challenge.slug, "phase": row.phase.name, "team": row.team.name}
    values = {name: getattr(row, name) for name in names}
    return {**context, **values, "status": row.status, "reason": row.reason, "scores": visible_scores(user, row)}
