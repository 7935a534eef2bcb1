"""Views of the API. A call names its user with ``Authorization: Bearer TOKEN``; docs/server.md describes all calls."""

from __future__ import annotations

import functools
import hashlib
import os
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from prometheus_client import CONTENT_TYPE_LATEST

from captious.server.boards.board_outputs import BoardOutputs
from captious.server.boards.visible_scores import visible_scores
from captious.server.models import Challenge, Phase, Submission, Team
from captious.server.operations.prometheus import prometheus_text
from captious.server.pages.forms import EditForm, one_line, open_phases
from captious.server.people.access import (
    challenge_for,
    is_own,
    may_manage,
    may_see_scores,
    may_see_submission,
    own_submissions,
    submission_for,
    warnings_for,
)
from captious.server.people.addresses import token_in
from captious.server.people.audit import record
from captious.server.people.rates import limit
from captious.server.people.secrets import user_of_token
from captious.server.people.teams import teams_of
from captious.server.scoring import queue
from captious.server.submissions import intake, team_entry
from captious.server.submissions.storage import incoming_folder
from captious.server.submissions.team_entry import why_not_chosen

__all__ = ["cancel", "challenge", "choose", "metrics", "submission", "submissions"]

_CHUNK = 256 * 1024
_LONGEST_KEY = 64
_View = Callable[..., HttpResponse]


class _Failure(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, message: str, **more: Any) -> None:
        super().__init__(message)
        self.answer = JsonResponse({"error": message, **more}, status=status)


def _call(*methods: str, needs_user: bool = False) -> Callable[[_View], _View]:
    """A view of the API, for these methods. Visitors without a token are anonymous, with a wrong one refused."""

    def decorate(view: _View) -> _View:
        @csrf_exempt
        @functools.wraps(view)
        def checked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            try:
                if request.method not in methods:
                    raise _Failure(405, f"Use {' or '.join(methods)}.")
                request.user = _user(request)
                if needs_user and not request.user.is_authenticated:
                    raise _Failure(401, "Give a token: Authorization: Bearer TOKEN. Make one on your account page.")
                return view(request, *args, **kwargs)
            except _Failure as failure:
                return failure.answer

        return checked

    return decorate


def _user(request: HttpRequest) -> Any:
    """The user of the token. A session does not count here, so no other site can make a browser call the API."""
    request.user = AnonymousUser()
    authorization = request.headers.get("Authorization", "")
    if not authorization:
        return request.user
    token = token_in(authorization)
    user = None if token is None else user_of_token(token)
    if user is None:
        limit(request, "wrong token")
        raise _Failure(401, "The token is not valid. Make one on your account page.")
    return user


@_call("GET")
def challenge(request: HttpRequest, slug: str) -> HttpResponse:
    """A challenge: its phases and what a submission contains."""
    challenge = challenge_for(request.user, slug)
    definition = challenge.definition
    return JsonResponse(
        {
            "slug": challenge.slug,
            "title": challenge.title,
            "metrics": list(definition.outputs),
            "lower_is_better": list(definition.lower_is_better),
            "rank_by": definition.rank_by,
            "captions": [{"name": captions.name, "pattern": captions.pattern} for captions in definition.captions],
            "phases": [
                {
                    "name": phase.name,
                    "title": str(phase),
                    "state": phase.state,
                    "opens": phase.opens,
                    "closes": phase.closes,
                    "captions": phase.captions,
                }
                for phase in challenge.phase_list
            ],
        }
    )


@_call("GET", "POST", needs_user=True)
def submissions(request: HttpRequest, slug: str) -> HttpResponse:
    """POST submits the body of the request; GET lists the submissions of the user's teams.

    A POST that is repeated with the same ``Idempotency-Key`` is answered with the submission that was made before.
    """
    challenge = challenge_for(request.user, slug)
    if request.method == "GET":
        own = own_submissions(request.user, challenge)
        places = queue.places()
        return JsonResponse([_described(row, request.user, places) for row in own], safe=False)
    limit(request, "upload")
    is_dry = _is_true(request, "dry_run", default=False)
    key = "" if is_dry else _key(request)
    path = incoming_folder() / f"api-{uuid.uuid4().hex}"
    try:
        fingerprint = _receive(request, path)
        if (earlier := intake.earlier_submission(request.user, challenge, key, fingerprint)) is not None:
            raise intake.AlreadySubmitted(earlier)
        submission = _new_submission(request, challenge)
        if is_dry:
            problems, remarks = intake.check(submission, path)
            answer = {"problems": [problem.to_dict() for problem in problems], "remarks": remarks}
            return JsonResponse(answer, status=422 if problems else 200)
        intake.submit(submission, path, request=request, key=key, fingerprint=fingerprint)
    except intake.KeyReused:
        raise _Failure(422, "This Idempotency-Key was used for another upload. Use a new one.") from None
    except intake.AlreadySubmitted as already:
        if not may_see_submission(request.user, already.submission):
            raise _Failure(409, "You may not see the submission with this Idempotency-Key any more.") from None
        return JsonResponse(_described(already.submission, request.user))
    except intake.Refused as refused:
        described = [problem.to_dict() for problem in refused.problems]
        raise _Failure(422 if described else 409, refused.message, problems=described) from None
    finally:
        path.unlink(missing_ok=True)
    return JsonResponse(_described(submission, request.user), status=201)


@_call("GET")
def submission(request: HttpRequest, pk: int) -> HttpResponse:
    """A submission: its status and, when it is done, its scores."""
    return JsonResponse(_described(submission_for(request.user, pk), request.user))


@_call("GET", needs_user=True)
def metrics(request: HttpRequest) -> HttpResponse:
    """The state of the server, for Prometheus; only for organizers and administrators."""
    if not (request.user.is_superuser or request.user.organized.exists()):
        raise Http404
    return HttpResponse(prometheus_text(request.user), content_type=CONTENT_TYPE_LATEST)


@_call("POST", needs_user=True)
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a submission that waits in the queue."""
    submission = submission_for(request.user, pk, own=True)
    if not queue.cancel(submission):
        raise _Failure(409, "It could not be cancelled because scoring has begun.")
    record("cancel", submission.method, request=request, submission=submission)
    submission.refresh_from_db()
    return JsonResponse(_described(submission, request.user))


@_call("POST", needs_user=True)
def choose(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a submission the entry of its team; with ``chosen=0``, let the best one count again."""
    submission = submission_for(request.user, pk, own=True)
    chosen = _is_true(request, "chosen", default=True)
    manages = may_manage(request.user, submission.challenge)
    if reason := why_not_chosen(submission, chosen=chosen, manages=manages):
        raise _Failure(409, reason)
    team_entry.choose(submission, chosen=chosen)
    record("choose" if chosen else "release", submission.method, request=request, submission=submission)
    return JsonResponse(_described(submission_for(request.user, pk, own=True), request.user))


def _described(submission: Submission, user: Any, places: Mapping[int, int] | None = None) -> dict[str, Any]:
    """A submission as plain values. ``scores`` are those of the reference set that ranks, ``all_scores`` of each.

    The team of an anonymous submission is named only to its members and to those who manage the challenge.
    """
    knows_team = is_own(user, submission) or may_manage(user, submission.challenge)
    scores = visible_scores(user, submission)
    ranking = scores.get(BoardOutputs.of_board(submission.phase).main_set, {})
    return {
        "id": submission.pk,
        "challenge": submission.challenge.slug,
        "phase": submission.phase.name,
        "method": submission.method,
        "team": submission.team.name if knows_team else submission.team_shown,
        "status": submission.status,
        "place": queue.place(submission) if places is None else places.get(submission.pk),
        "progress": submission.progress,
        "doing": submission.doing,
        "reason": submission.reason,
        "created": submission.created,
        "finished": submission.finished,
        "scores": {name: entry["score"] for name, entry in ranking.items()},
        "all_scores": scores,
        "digits": submission.phase.digits,
        "chosen": submission.is_chosen and knows_team,
        "entry": submission.is_entry and may_see_scores(user, submission.phase),
        "warnings": warnings_for(user, submission),
        "url": submission.url,
    }


def _new_submission(request: HttpRequest, challenge: Challenge) -> Submission:
    values = {name: request.GET.get(name, "") for name in ("method", "link", "description")}
    public, anonymous = _is_true(request, "public", default=True), _is_true(request, "anonymous", default=False)
    form = EditForm({**values, "public": public, "anonymous": anonymous})
    if not form.is_valid():
        problems = "; ".join(f"{name}: {' '.join(errors)}" for name, errors in form.errors.items())
        raise _Failure(400, f"The submission is not valid. {problems}")
    submission: Submission = form.instance
    submission.phase = _phase(request, challenge)
    submission.team = _team(request)
    submission.user, submission.created = request.user, request.arrived
    submission.filename = os.path.basename(one_line(request.GET.get("filename", ""))) or "captions.json"
    return submission


def _key(request: HttpRequest) -> str:
    """What names the upload, so that a repetition is not another submission; empty if nothing does."""
    key = str(request.headers.get("Idempotency-Key", ""))
    if len(key) > _LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise _Failure(400, f"Idempotency-Key may have up to {_LONGEST_KEY} characters of ASCII.")
    return key


def _phase(request: HttpRequest, challenge: Challenge) -> Phase:
    name, phases = request.GET.get("phase", ""), challenge.phase_list
    if name:
        for phase in phases:
            if phase.name == name:
                return phase
        raise _Failure(400, f"There is no phase {name!r}; phases: {', '.join(phase.name for phase in phases)}.")
    phases = open_phases(challenge, request.arrived)
    if not phases:
        raise _Failure(409, "No phase of this challenge is open.")
    if len(phases) > 1:
        raise _Failure(400, f"Choose a phase: {', '.join(phase.name for phase in phases)}.")
    return phases[0]


def _team(request: HttpRequest) -> Team:
    name, teams = request.GET.get("team", ""), teams_of(request.user)
    if name:
        for team in teams:
            if name in (team.slug, team.name):
                return team
        raise _Failure(400, f"You are not in a team {name!r}; yours: {', '.join(team.slug for team in teams)}.")
    if len(teams) > 1:
        raise _Failure(400, f"Choose a team: {', '.join(team.slug for team in teams)}.")
    return teams[0]


def _is_true(request: HttpRequest, name: str, *, default: bool) -> bool:
    text = request.GET.get(name)
    return default if text is None else text.lower() in {"1", "true", "yes", "on"}


def _receive(request: HttpRequest, path: Path) -> str:
    """Stream the body to a file; what is too large is refused before it is read.

    Returns:
        SHA-256 of parameters and body.
    """
    size = request.META.get("CONTENT_LENGTH") or ""
    if not (size.isascii() and size.isdecimal()):
        raise _Failure(411, "Give the size of the file: Content-Length.")
    length = int(size)
    if length > settings.CAPTIOUS.upload_bytes:
        raise _Failure(413, f"Uploads may have up to {settings.CAPTIOUS.upload_mebibytes:,} MiB.")
    received, digest = 0, hashlib.sha256(repr(sorted(request.GET.lists())).encode())
    with path.open("xb") as file:
        os.fchmod(file.fileno(), 0o600)
        while chunk := request.read(_CHUNK):
            received += len(chunk)
            digest.update(chunk)
            file.write(chunk)
    if received != length:
        raise _Failure(400, "The upload was interrupted.")
    return digest.hexdigest()
