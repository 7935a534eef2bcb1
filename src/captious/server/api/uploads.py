"""An upload through the API: its parameters, and its body, which is streamed to a file."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest

from captious.server.actions.forms import EditForm, one_line, open_phases
from captious.server.api.calls import Failure, is_true
from captious.server.models import Challenge, Phase, Submission, Team
from captious.server.people.teams import teams_of

_CHUNK_BYTES = 256 * 1024
_KEY_LENGTH = 64


def new_submission(request: HttpRequest, challenge: Challenge) -> Submission:
    """An unsaved submission, made from the parameters of a call."""
    values = {name: request.GET.get(name, "") for name in ("method", "link", "description")}
    defaults = {"public": True, "anonymous": False, "may_publish": False}
    flags = {name: is_true(request, name, default=default) for name, default in defaults.items()}
    submission: Submission = valid(EditForm({**values, **flags})).instance
    submission.phase = _phase(request, challenge)
    submission.team = team_of(request)
    submission.user, submission.created = request.user, request.arrival_time
    submission.filename = os.path.basename(one_line(request.GET.get("filename", ""))) or "captions.json"
    return submission


def valid(form: EditForm) -> EditForm:
    """The form, if it is valid."""
    if not form.is_valid():
        problems = "; ".join(f"{name}: {' '.join(errors)}" for name, errors in form.errors.items())
        raise Failure(400, f"The submission is not valid. {problems}")
    return form


def upload_key(request: HttpRequest) -> str:
    """The idempotency key of an upload; empty if the request has none."""
    key = str(request.headers.get("Idempotency-Key", ""))
    if len(key) > _KEY_LENGTH or not (key.isascii() and key.isprintable()):
        raise Failure(400, f"Idempotency-Key may have up to {_KEY_LENGTH} ASCII characters.")
    return key


def _phase(request: HttpRequest, challenge: Challenge) -> Phase:
    name, phases = request.GET.get("phase", ""), challenge.phase_list
    if name:
        for phase in phases:
            if phase.name == name:
                return phase
        raise Failure(400, f"There is no phase {name!r}; phases: {', '.join(phase.name for phase in phases)}.")
    phases = open_phases(challenge, request.arrival_time)
    if not phases:
        raise Failure(409, "No phase of this challenge is open.")
    if len(phases) > 1:
        raise Failure(400, f"Choose a phase: {', '.join(phase.name for phase in phases)}.")
    return phases[0]


def team_of(request: HttpRequest) -> Team:
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
