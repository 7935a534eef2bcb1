"""What teams do with their submissions: edit, choose, delete and download them."""

from __future__ import annotations

import os

from django.db import transaction
from django.http import FileResponse, Http404, HttpRequest, HttpResponse

from captious.server.actions.forms import EditForm
from captious.server.models import Submission
from captious.server.people.access import may_manage
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.scoring import queue, versions
from captious.server.submissions import storage, team_entry
from captious.server.submissions.board_changes import board_changed
from captious.server.submissions.team_entry import of_team, why_not_chosen


def edit_submission(request: HttpRequest, submission: Submission, form: EditForm) -> None:
    """Save the values of a valid form."""
    limit(request, "change")
    changes = {name: form.cleaned_data[name] for name in form.changed_data}
    if not changes:
        return
    with transaction.atomic():  # these fields only: a worker may be writing others
        Submission.objects.filter(pk=submission.pk).update(**changes)
        if "anonymous" in changes and submission.phase.entries == "one":
            of_team(submission).update(anonymous=changes["anonymous"])
        if changes.keys() & {"public", "anonymous"}:
            board_changed(submission.phase_id)
    record("edit", submission.method, request=request, submission=submission, detail=", ".join(changes))


def choose_submission(request: HttpRequest, submission: Submission, *, chosen: bool) -> str:
    """Choose or unchoose the entry of a team; return the reason if that is not possible, else an empty text."""
    limit(request, "change")
    manages = may_manage(request.user, submission.challenge)
    reason = why_not_chosen(submission, chosen=chosen, manages=manages)
    if not reason:
        team_entry.choose(submission, chosen=chosen)
        record("choose" if chosen else "release", submission.method, request=request, submission=submission)
    return reason


def delete_submission(request: HttpRequest, submission: Submission) -> bool:
    """Delete a submission and its files; False while it is being scored."""
    limit(request, "change")
    queue.cancel(submission)  # one that waits to be scored is free
    rows = Submission.objects.filter(pk=submission.pk).exclude(
        status__in=[Submission.Status.RUNNING, Submission.Status.DELETED]
    )
    if storage.delete(rows) == 0:
        return False
    versions.show_complete()
    record("delete", submission.method, request=request, submission=submission)
    return True


def upload_of(submission: Submission) -> HttpResponse:
    """The file of a submission as it was uploaded.

    Raises:
        Http404: it was deleted.
    """
    path = storage.upload_file(submission.folder)
    if not path.exists():
        raise Http404
    name = os.path.basename(submission.filename) or "submission"
    response = FileResponse(path.open("rb"), as_attachment=True, filename=name)
    response["Content-Type"] = "application/octet-stream"
    return response
