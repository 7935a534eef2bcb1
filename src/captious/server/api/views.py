"""Views of the API. A call names its user with ``Authorization: Bearer TOKEN``; /api/ describes all calls."""

from __future__ import annotations

import re
import uuid

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from prometheus_client import CONTENT_TYPE_LATEST

from captious.server.actions.archives import archive_answer
from captious.server.actions.forms import EditForm
from captious.server.actions.leaderboards import json_file, query_of
from captious.server.actions.submission_changes import choose_submission, delete_submission, edit_submission, upload_of
from captious.server.api.board_answers import BoardRow
from captious.server.api.calls import Failure, Operation, Parameter, call, is_true
from captious.server.api.challenge_answers import ChallengeAnswer, ChallengeSummary, challenge_answer, challenge_summary
from captious.server.api.submission_answers import SubmissionAnswer, submission_answer
from captious.server.api.uploads import new_submission, receive, upload_key, valid
from captious.server.boards.leaderboard_query import DATE
from captious.server.models import Submission
from captious.server.operations.prometheus import prometheus_text
from captious.server.people.access import (
    challenge_for,
    managed_challenge,
    may_see_submission,
    own_submissions,
    submission_for,
    visible_challenges,
)
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.scoring import queue
from captious.server.submissions import intake
from captious.server.submissions.storage import incoming_folder

_ROWS_PER_PAGE = 100


@call(GET=Operation("The challenges that you may see, newest first.", list[ChallengeSummary], everywhere=True))
def challenges(request: HttpRequest) -> HttpResponse:
    """The challenges that a user, or a visitor, may see; with a token for one challenge, that one."""
    rows = visible_challenges(request.user).prefetch_related("phases")
    if request.token is not None and request.token.challenge is not None:
        rows = rows.filter(pk=request.token.challenge_id)
    return JsonResponse([challenge_summary(request, row) for row in rows], safe=False)


@call(GET=Operation("A challenge: its phases, metrics, and the contents of submissions.", ChallengeAnswer))
def challenge(request: HttpRequest, slug: str) -> HttpResponse:
    """A challenge: its phases and the contents of submissions."""
    return JsonResponse(challenge_answer(request, challenge_for(request.user, slug)))


@call(
    GET=Operation(
        "A leaderboard, with the entry of each team or all submissions.",
        list[BoardRow],
        parameters=[
            Parameter("phase", "The name of the phase; defaults to the open one."),
            Parameter("references", "A reference set, such as c5, or val2014/c5."),
            Parameter("sort", "An output or date; a leading - sorts in descending order."),
            Parameter("all", "All submissions, not only entries.", "boolean"),
        ],
        errors=[400, 403],
    )
)
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """A leaderboard as JSON, the same as on the site."""
    output = request.GET.get("sort", "").removeprefix("-")
    query = query_of(request, slug)
    names = query.outputs.names
    if output and output not in (*names, DATE):
        raise Failure(400, f"sort must be one of {', '.join([*names, DATE])}; a leading - sorts in descending order.")
    return json_file(query)


@call(
    GET=Operation(
        f"Your teams' submissions, newest first, {_ROWS_PER_PAGE} per page.",
        list[SubmissionAnswer],
        parameters=[
            Parameter("page", "The page number, 1 by default. A page that is not full is the last one.", "integer")
        ],
        needs_user=True,
        errors=[400],
    ),
    POST=Operation(
        "Submit the file that is the body of the request.",
        SubmissionAnswer,
        status=201,
        parameters=[
            Parameter("method", "The name of the method on the leaderboard.", is_required=True),
            Parameter("filename", "The name of the file, with its extension. Defaults to captions.json."),
            Parameter("phase", "The phase; defaults to the open one."),
            Parameter("team", "Defaults to your only team."),
            Parameter("link", "The address of a paper or repository."),
            Parameter("description", "A few sentences about the method."),
            Parameter("public", "Whether to show the submission on the leaderboard; true by default.", "boolean"),
            Parameter("anonymous", "Hide the name of the team.", "boolean"),
            Parameter("may_publish", "Let the organizers publish the captions in an archive.", "boolean"),
            Parameter("dry_run", "Only check the file: the answer is a CheckAnswer, and nothing counts.", "boolean"),
            Parameter("Idempotency-Key", "Uploads with the same key create only one submission.", place="header"),
        ],
        body="application/octet-stream",
        errors=[400, 409, 411, 413, 422],
    ),
)
def submissions(request: HttpRequest, slug: str) -> HttpResponse:
    """POST submits the body of the request; GET lists the submissions of the user's teams.

    A POST that is repeated with the same ``Idempotency-Key`` is answered with the submission that was made before.
    """
    challenge = challenge_for(request.user, slug)
    if request.method == "GET":
        first = _ROWS_PER_PAGE * (_page(request) - 1)
        rows = own_submissions(request.user, challenge)[first : first + _ROWS_PER_PAGE]
        places = queue.places()
        return JsonResponse([submission_answer(row, request.user, places) for row in rows], safe=False)
    limit(request, "upload")
    is_dry = is_true(request, "dry_run", default=False)
    key = "" if is_dry else upload_key(request)
    path = incoming_folder() / f"api-{uuid.uuid4().hex}"
    try:
        fingerprint = receive(request, path)
        if (submission := intake.earlier_submission(request.user, challenge, key, fingerprint)) is not None:
            raise intake.AlreadySubmittedError(submission)
        submission = new_submission(request, challenge)
        if is_dry:
            findings = intake.check(submission, path)
            answer = {**findings._asdict(), "problems": [problem.to_dict() for problem in findings.problems]}
            return JsonResponse(answer, status=422 if findings.problems else 200)
        intake.submit(submission, path, request=request, key=key, fingerprint=fingerprint)
    except intake.KeyReusedError:
        raise Failure(422, "This Idempotency-Key was used for a different upload. Use a new key.") from None
    except intake.AlreadySubmittedError as repetition:
        if not may_see_submission(request.user, repetition.submission):
            raise Failure(409, "You no longer have access to the submission with this Idempotency-Key.") from None
        return JsonResponse(submission_answer(repetition.submission, request.user))
    except intake.RefusedError as refusal:
        problems = [problem.to_dict() for problem in refusal.problems]
        raise Failure(422 if problems else 409, refusal.message, problems=problems) from None
    finally:
        path.unlink(missing_ok=True)
    return JsonResponse(submission_answer(submission, request.user), status=201)


@call(GET=Operation("A submission: its status and, when it is done, its scores.", SubmissionAnswer))
def submission(request: HttpRequest, pk: int) -> HttpResponse:
    """A submission: its status and, when it is done, its scores."""
    return JsonResponse(submission_answer(submission_for(request.user, pk), request.user))


@call(
    GET=Operation(
        "All submissions with their scores as a zip file; organizers and administrators only.",
        "application/zip",
        parameters=[
            Parameter("phase", "Only this phase; all phases by default."),
            Parameter("public", "Only public data; 403 while the leaderboard is not shown.", "boolean"),
            Parameter("anonymous", "Replace the names of teams by numbers.", "boolean"),
        ],
        needs_user=True,
        errors=[400, 403],
    )
)
def archive(request: HttpRequest, slug: str) -> HttpResponse:
    """The archive of all submissions of a challenge or of a phase."""
    challenge = managed_challenge(request.user, slug)
    return archive_answer(request, challenge)


@call(
    GET=Operation("Download the uploaded file.", "application/octet-stream", needs_user=True),
)
def file(request: HttpRequest, pk: int) -> HttpResponse:
    """The file as it was uploaded, for the team and the organizers."""
    return upload_of(submission_for(request.user, pk, own=True))


@call(
    POST=Operation(
        "Edit the description of a submission, and show or hide it on the leaderboard.",
        SubmissionAnswer,
        parameters=[
            Parameter(name, "Parameters that are not given stay unchanged.", kind)
            for name, kind in (
                ("method", "string"),
                ("link", "string"),
                ("description", "string"),
                ("public", "boolean"),
                ("anonymous", "boolean"),
                ("may_publish", "boolean"),
            )
        ],
        errors=[400],
    )
)
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the description of a submission. Baselines are changed in the folder of their challenge."""
    submission = submission_for(request.user, pk, own=True)
    if submission.is_baseline:
        raise Http404
    values = {name: getattr(submission, name) for name in EditForm.Meta.fields}
    flags = {name: is_true(request, name, default=values[name]) for name in ("public", "anonymous", "may_publish")}
    texts = {name: request.GET.get(name, values[name]) for name in ("method", "link", "description")}
    edit_submission(request, submission, valid(EditForm({**texts, **flags}, instance=submission)))
    return JsonResponse(submission_answer(submission_for(request.user, pk, own=True), request.user))


@call(
    POST=Operation(
        "Delete a submission and its files. If it was scored, it still counts.", SubmissionAnswer, errors=[409]
    )
)
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a submission and its files."""
    submission = submission_for(request.user, pk, own=True)
    if not delete_submission(request, submission):
        raise Failure(409, "This submission is being scored. Delete it when scoring has ended.")
    submission = Submission.objects.select_related("phase__challenge", "team").get(pk=pk)
    return JsonResponse(submission_answer(submission, request.user))


@call(
    GET=Operation(
        "The state of the server for Prometheus; organizers and administrators only.",
        "text/plain",
        needs_user=True,
        errors=[404],
    ),
)
def metrics(request: HttpRequest) -> HttpResponse:
    """The state of the server, for Prometheus; only for organizers and administrators."""
    if not (request.user.is_superuser or request.user.organized.exists()):
        raise Http404
    return HttpResponse(prometheus_text(request.user), content_type=CONTENT_TYPE_LATEST)


@call(POST=Operation("Cancel a queued submission. It does not count toward any quota.", SubmissionAnswer, errors=[409]))
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a submission that waits in the queue."""
    limit(request, "change")
    submission = submission_for(request.user, pk, own=True)
    if not queue.cancel(submission):
        raise Failure(409, "The submission could not be canceled because scoring has begun.")
    record("cancel", submission.method, request=request, submission=submission)
    submission.refresh_from_db()
    return JsonResponse(submission_answer(submission, request.user))


@call(
    POST=Operation(
        "Choose a submission as the entry of its team.",
        SubmissionAnswer,
        parameters=[Parameter("chosen", "false to let the best submission count again.", "boolean")],
        errors=[400, 409],
    )
)
def choose(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a submission the entry of its team; with ``chosen=0``, let the best one count again."""
    submission = submission_for(request.user, pk, own=True)
    if reason := choose_submission(request, submission, chosen=is_true(request, "chosen", default=True)):
        raise Failure(409, reason)
    return JsonResponse(submission_answer(submission_for(request.user, pk, own=True), request.user))


def _page(request: HttpRequest) -> int:
    text = request.GET.get("page", "1")
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise Failure(400, "page must be a positive number.")
    return int(text)
