"""Views of the API: challenges, leaderboards, submissions, approval of teams, material and webhooks.

A call names its user with ``Authorization: Bearer TOKEN``; /api/ describes all calls.
"""

from __future__ import annotations

import hashlib
import os
import re
import uuid
from collections.abc import Sequence
from pathlib import Path

from django.conf import settings
from django.db.models import QuerySet
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils import timezone
from prometheus_client import CONTENT_TYPE_LATEST

from captious_server import actions
from captious_server.actions.downloads import archive_answer, captions_template, published_file, scores_of_images
from captious_server.api import Failure
from captious_server.api.schemas import (
    Answer,
    FilledAnswer,
    NewWebhookAnswer,
    TermsAnswer,
    TermsTextAnswer,
    answer_from,
    challenge_answer,
    challenge_summary,
    submission_answer,
    submission_answers,
)
from captious_server.boards.fields import TableError, as_text, fields_of_teams
from captious_server.boards.leaderboard import ComparedOutput, json_file, query_of, requested_comparison
from captious_server.boards.query import DATE
from captious_server.models import (
    Challenge,
    Phase,
    RefusedUpload,
    Submission,
    Team,
    TeamApproval,
    TermsAcceptance,
    Webhook,
)
from captious_server.notices.delivery import WebhookForm, add_webhook, ping, remove_webhook
from captious_server.operations.health import prometheus_text
from captious_server.people.access import (
    Call,
    UserCall,
    challenge_for,
    managed_challenge,
    may_manage,
    may_see_submission,
    own_refused,
    own_submissions,
    submission_for,
    visible_challenges,
)
from captious_server.people.teams import accept, accepted_by, approvals_of, teams_of, terms_of
from captious_server.settings import REQUEST_BYTES
from captious_server.submissions import intake
from captious_server.submissions.storage import incoming_folder

# An upload through the API: its parameters, and its body, which is streamed to a file.

_CHUNK_BYTES = 256 * 1024
_KEY_LENGTH = 64


def new_submission(request: UserCall, challenge: Challenge) -> Submission:
    """An unsaved submission, made from the parameters of a call."""
    values = {name: request.GET.get(name, "") for name in ("method", "link", "description")}
    flags = {"public": True, **request.flags}
    form = actions.EditForm({**values, **flags, **field_parameters(request, challenge)}, challenge=challenge)
    submission: Submission = valid(form).instance
    submission.phase = _phase(request, challenge)
    submission.team = team_of(request)
    submission.user, submission.created = request.user, request.arrival_time
    submission.filename = os.path.basename(actions.one_line(request.GET.get("filename", ""))) or "captions.json"
    return submission


def field_parameters(request: UserCall, challenge: Challenge) -> dict[str, str]:
    """The values that parameters ``field=NAME=VALUE`` give to fields of the challenge, as a form takes them."""
    pairs = [text.partition("=") for text in request.GET.getlist("field")]
    known = fields_of_teams(challenge)
    of_organizers = {field.name for field in challenge.definition.fields}.difference(known)
    for name, equals, _ in pairs:
        if name in of_organizers:
            raise Failure(400, f"Organizers fill in the field {name!r}, with a table.")
        if not equals or name not in known:
            raise Failure(400, f"field must be NAME=VALUE, not {name!r}; names: {', '.join(known) or 'none'}.")
    return {f"{actions.FIELD}{name}": value for name, _, value in pairs}


def valid(form: actions.EditForm) -> actions.EditForm:
    """The form, if it is valid."""
    if not form.is_valid():
        errors = form.errors.items()
        problems = "; ".join(
            f"{name.removeprefix(actions.FIELD)}: {' '.join(map(str, messages))}" for name, messages in errors
        )
        raise Failure(400, f"The submission is not valid. {problems}")
    return form


def upload_key(request: UserCall) -> str:
    """The idempotency key of an upload; empty if the request has none."""
    key = request.headers.get("Idempotency-Key", "")
    if len(key) > _KEY_LENGTH or not (key.isascii() and key.isprintable()):
        raise Failure(400, f"Idempotency-Key may have up to {_KEY_LENGTH} ASCII characters.")
    return key


def _phase(request: UserCall, challenge: Challenge) -> Phase:
    name, phases = request.GET.get("phase", ""), challenge.phase_list
    if name:
        for phase in phases:
            if phase.name == name:
                return phase
        raise Failure(400, f"There is no phase {name!r}; phases: {', '.join(phase.name for phase in phases)}.")
    phases = actions.open_phases(challenge, request.arrival_time)
    if not phases:
        raise Failure(409, "No phase of this challenge is open.")
    if len(phases) > 1:
        raise Failure(400, f"Choose a phase: {', '.join(phase.name for phase in phases)}.")
    return phases[0]


def team_of(request: UserCall) -> Team:
    """The team that a call names, or the only one that the user is in."""
    name, teams = request.GET.get("team", ""), teams_of(request.user)
    if name:
        for team in teams:
            if name in (team.slug, team.name):
                return team
        raise Failure(400, f"You are not in a team {name!r}; your teams: {', '.join(team.slug for team in teams)}.")
    if len(teams) > 1:
        raise Failure(400, f"Choose a team: {', '.join(team.slug for team in teams)}.")
    return teams[0]


def receive(request: HttpRequest, path: Path) -> str:
    """Stream the body to a file; a body that is too large is refused before it is read.

    Returns:
        SHA-256 of parameters and body.
    """
    size = request.META.get("CONTENT_LENGTH") or ""
    if not (size.isascii() and size.isdecimal()):
        raise Failure(411, "Send the size of the file in the Content-Length header.")
    length = int(size)
    if length > settings.CAPTIOUS.upload_bytes:
        raise Failure(413, f"Uploads may have up to {settings.CAPTIOUS.upload_mebibytes:,} MiB.")
    size_so_far, digest = 0, hashlib.sha256(repr(sorted(request.GET.lists())).encode())
    with path.open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
        while chunk := request.read(_CHUNK_BYTES):
            size_so_far += len(chunk)
            digest.update(chunk)
            file.write(chunk)
    if size_so_far != length:
        raise Failure(400, "The upload was interrupted.")
    return digest.hexdigest()


# Calls of the API about the approval of teams.


def approvals(request: UserCall, slug: str) -> TeamApproval | QuerySet[TeamApproval]:
    """Teams that asked for approval, and the decisions."""
    challenge = _challenge(request, slug)
    if request.method == "GET":
        teams = None if may_manage(request.user, challenge) else teams_of(request.user)
        return approvals_of(challenge, teams)
    form = actions.AskForm(request.GET)
    if not form.is_valid():
        raise Failure(400, "The message may have up to 500 characters.")
    return actions.ask_for(request, challenge, team_of(request), form.cleaned_data["message"])


def decide(request: UserCall, slug: str, team: str) -> TeamApproval:
    """Approve or refuse a team."""
    challenge = _challenge(request, slug)
    if not may_manage(request.user, challenge):
        raise Http404
    if "approved" not in request.flags:
        raise Failure(400, "Set approved to true or false.")
    reason = request.GET.get("reason", "")
    if problem := actions.decide_on(request, challenge, team, approved=request.flags["approved"], reason=reason):
        raise Failure(400, problem)
    return approvals_of(challenge).get(team__slug=team)


def _challenge(request: UserCall, slug: str) -> Challenge:
    challenge = challenge_for(request.user, slug)
    if not challenge.definition.team_approval:
        raise Http404
    return challenge


def _with_addresses(request: HttpRequest, challenge: Challenge, message: str) -> str:
    """A message in which the address of a page of the challenge, at the end, is complete."""
    return message.replace(f": {challenge.url}", f": {request.build_absolute_uri(challenge.url)}")


# Calls of the API about material for teams: files, templates, terms, quotas, comparisons.


def files(request: HttpRequest, slug: str) -> FileResponse:
    """A file that the organizers publish."""
    return published_file(challenge_for(request.user, slug), request.GET.get("file", ""))


def template(request: Call, slug: str) -> StreamingHttpResponse:
    """A template of a captions file."""
    return captions_template(request, challenge_for(request.user, slug))


def terms(request: UserCall, slug: str) -> TermsAcceptance | Answer:
    """Read the terms, or accept them for a team."""
    challenge = challenge_for(request.user, slug)
    text = terms_of(challenge)
    if text is None:
        raise Http404
    if request.method == "GET":
        accepted = [answer_from(TermsAnswer, row) for row in accepted_by(challenge, teams_of(request.user))]
        version = challenge.terms_version
        return TermsTextAnswer(version=version, title=text["title"], html=text["html"], accepted=accepted)
    if request.GET.get("version") != challenge.terms_version:
        message = f"The current version of the terms is {challenge.terms_version}: {challenge.url}terms"
        raise Failure(409, _with_addresses(request, challenge, message))
    return accept(request, challenge, team_of(request))


def quotas(request: UserCall, slug: str) -> list[intake.Quota]:
    """The quotas of a team: used, limits, and remaining."""
    challenge = challenge_for(request.user, slug)
    team, now = team_of(request), timezone.now()
    return [intake.quota(phase, team, request.user, now) for phase in challenge.phase_list]


def refused(request: UserCall, slug: str) -> QuerySet[RefusedUpload]:
    """The refused uploads. Their files are not kept."""
    return own_refused(request.user, challenge_for(request.user, slug))


def compare(request: HttpRequest, slug: str) -> list[ComparedOutput]:
    """Two submissions, compared as on the page."""
    *_, rows = requested_comparison(request, slug)
    if not rows:
        raise Failure(404, "Set a and b to the ids of two submissions on this leaderboard, or of yours.")
    return rows


def scores(request: HttpRequest, pk: int) -> StreamingHttpResponse:
    """Scores of single images."""
    names = (request.GET.get(name, "") for name in ("captions", "references"))
    return scores_of_images(request.user, submission_for(request.user, pk), *names)


# Calls of the API about challenges, leaderboards and submissions.

_ROWS_PER_PAGE = 100  # as calls.toml says


def challenges(request: Call) -> Sequence[Answer]:
    """The challenges that a user, or a visitor, may see; with a token for one challenge, that one."""
    rows = visible_challenges(request.user).prefetch_related("phases")
    if request.token is not None and request.token.challenge is not None:
        rows = rows.filter(pk=request.token.challenge.pk)
    return [challenge_summary(request, row) for row in rows]


def challenge(request: HttpRequest, slug: str) -> Answer:
    """A challenge: its phases and the contents of submissions."""
    return challenge_answer(request, challenge_for(request.user, slug))


def leaderboard(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """A leaderboard as JSON, the same as on the site."""
    output = request.GET.get("sort", "").removeprefix("-")
    query = query_of(request, slug)
    names = query.outputs.names
    if output and output not in (*names, DATE):
        raise Failure(400, f"sort must be one of {', '.join([*names, DATE])}; a leading - sorts in descending order.")
    return json_file(query)


def submissions(request: UserCall, slug: str) -> Answer | Sequence[Answer] | JsonResponse:
    """POST submits the body of the request; GET lists the submissions of the user's teams.

    A POST that is repeated with the same ``Idempotency-Key`` is answered with the submission that was made before.
    """
    challenge = challenge_for(request.user, slug)
    if request.method == "GET":
        first = _ROWS_PER_PAGE * (_page(request) - 1)
        rows = own_submissions(request.user, challenge)[first : first + _ROWS_PER_PAGE]
        return submission_answers(rows, request.user)
    is_dry = request.flags.get("dry_run", False)
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
            answer["remarks"] = [_with_addresses(request, challenge, remark) for remark in findings.remarks]
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
        message = _with_addresses(request, challenge, refusal.message)
        return JsonResponse({"error": message, "problems": problems}, status=422 if problems else 409)
    finally:
        path.unlink(missing_ok=True)
    return submission_answer(submission, request.user)


def submission(request: HttpRequest, pk: int) -> Answer:
    """A submission: its status and, when it is done, its scores."""
    return submission_answer(submission_for(request.user, pk), request.user)


def archive(request: UserCall, slug: str) -> StreamingHttpResponse:
    """The archive of all submissions of a challenge or of a phase."""
    return archive_answer(request, managed_challenge(request.user, slug))


def file(request: UserCall, pk: int) -> FileResponse:
    """The file as it was uploaded, for the team and the organizers."""
    return actions.upload_of(submission_for(request.user, pk, own=True))


def edit(request: UserCall, pk: int) -> Answer:
    """Change the description of a submission. Baselines are changed in the folder of their challenge."""
    submission = submission_for(request.user, pk, own=True)
    if submission.is_baseline:
        raise Http404
    values = {name: getattr(submission, name) for name in actions.EditForm.Meta.fields}
    texts = {name: request.GET[name] for name in ("method", "link", "description") if name in request.GET}
    challenge = submission.challenge
    fields = {f"{actions.FIELD}{name}": as_text(submission.fields.get(name)) for name in fields_of_teams(challenge)}
    fields |= field_parameters(request, challenge)
    form = actions.EditForm({**values, **texts, **request.flags, **fields}, instance=submission, challenge=challenge)
    actions.edit_submission(request, submission, valid(form))
    return submission_answer(submission_for(request.user, pk, own=True), request.user)


def delete(request: UserCall, pk: int) -> Answer:
    """Delete a submission and its files."""
    submission = submission_for(request.user, pk, own=True)
    actions.delete_submission(request, submission)
    submission = Submission.objects.select_related("phase__challenge", "team").get(pk=pk)
    return submission_answer(submission, request.user)


def metrics(request: UserCall) -> HttpResponse:
    """The state of the server, for Prometheus; only for organizers and administrators."""
    if not (request.user.is_superuser or request.user.organized.exists()):
        raise Http404
    return HttpResponse(prometheus_text(request.user), content_type=CONTENT_TYPE_LATEST)


def cancel(request: UserCall, pk: int) -> Answer:
    """Cancel a submission that waits in the queue or is held."""
    submission = submission_for(request.user, pk, own=True)
    actions.cancel_submission(request, submission)
    submission.refresh_from_db()
    return submission_answer(submission, request.user)


def choose(request: UserCall, pk: int) -> Answer:
    """Make a submission the entry of its team; with ``chosen=0``, let the best one count again."""
    submission = submission_for(request.user, pk, own=True)
    actions.choose_submission(request, submission, chosen=request.flags.get("chosen", True))
    return submission_answer(submission_for(request.user, pk, own=True), request.user)


def _page(request: HttpRequest) -> int:
    text = request.GET.get("page", "1")
    if not re.fullmatch("[1-9][0-9]{0,5}", text):
        raise Failure(400, "page must be a positive number.")
    return int(text)


def fields(request: UserCall, slug: str) -> Answer:
    """Set the fields of submissions that are the body of the request."""
    challenge = managed_challenge(request.user, slug)
    table = request.read(REQUEST_BYTES + 1)
    if len(table) > REQUEST_BYTES:
        raise Failure(413, f"A table may have up to {REQUEST_BYTES >> 20} MiB.")
    try:
        return FilledAnswer(submissions=actions.fill(request, challenge, table))
    except TableError as error:
        raise Failure(400, " ".join(error.problems)) from None


# Calls of the API about the webhooks of a challenge, for organizers and administrators.


def webhooks(request: UserCall, slug: str) -> Answer | QuerySet[Webhook]:
    """The webhooks of a challenge, without their secrets and addresses, which often contain secrets."""
    challenge = managed_challenge(request.user, slug)
    if request.method == "GET":
        return challenge.webhooks.all()
    form = WebhookForm(request.POST)
    row = add_webhook(request, challenge, form)
    if row is None:
        raise Failure(400, " ".join(str(message) for messages in form.errors.values() for message in messages))
    return answer_from(NewWebhookAnswer, row, url=row.url)


def test_webhook(request: UserCall, slug: str, pk: int) -> Webhook:
    """Queue a test event, which is sent within seconds."""
    row = _webhook(request, slug, pk)
    ping(row)
    return row


def delete_webhook(request: UserCall, slug: str, pk: int) -> Webhook:
    """Remove a webhook."""
    row = _webhook(request, slug, pk)
    remove_webhook(request, row)
    return row


def _webhook(request: UserCall, slug: str, pk: int) -> Webhook:
    return get_object_or_404(managed_challenge(request.user, slug).webhooks, pk=pk)
