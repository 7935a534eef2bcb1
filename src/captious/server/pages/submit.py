"""The form of a submission."""

from __future__ import annotations

import hashlib
import secrets
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from captious.server.actions.forms import SubmitForm, open_phases
from captious.server.models import Submission
from captious.server.pages.challenges import challenge_page
from captious.server.people.access import challenge_for
from captious.server.people.admission import bans_of
from captious.server.people.approval import teams_to_approve
from captious.server.people.rate_limits import limit
from captious.server.people.teams import teams_of
from captious.server.people.terms import teams_without
from captious.server.submissions import intake
from captious.server.submissions.captions_template import needed_captions
from captious.server.submissions.quotas import quota


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: HttpRequest, slug: str) -> HttpResponse:
    """Submit captions, or check them without submitting."""
    challenge = challenge_for(request.user, slug)
    all_teams, phases = teams_of(request.user), open_phases(challenge, request.arrival_time)
    bans = bans_of(challenge, all_teams, request.user)
    teams = [team for team in all_teams if team.pk not in bans] or all_teams
    slug_of_team = request.POST.get("team", request.GET.get("team"))
    team = next((team for team in teams if team.slug == slug_of_team), teams[0])
    chosen_team = next((team for team in all_teams if team.slug == slug_of_team), team)
    context: dict[str, Any] = {"problems": [], "remarks": [], "checked": False}
    if request.method == "POST":
        limit(request, "upload")
        is_check = request.POST.get("action") == "check"
        form = SubmitForm(request.POST, request.FILES, phases=phases, teams=all_teams)
        form.fields["method"].required = not is_check
        is_valid = form.is_valid()
        form.fields["method"].required = True
        if is_valid:
            submission, upload = form.instance, form.cleaned_data["file"]
            submission.user, submission.filename, submission.created = request.user, upload.name, request.arrival_time
            path = Path(upload.temporary_file_path())
            try:
                if is_check:
                    context |= intake.check(submission, path)._asdict()
                    context["checked"] = not context["problems"]
                else:
                    key = _form_key(request, path)
                    intake.submit(submission, path, request=request, key=key, fingerprint=key)
                    messages.success(request, _next_steps(submission))
                    return redirect(submission.url)
            except intake.AlreadySubmittedError as repetition:
                return redirect(repetition.submission.url)
            except intake.RefusedError as refusal:
                context["problems"] = refusal.problems
                if not refusal.problems:
                    form.add_error(None, refusal.message)
    else:
        initial = {"phase": request.GET.get("phase"), "team": team.slug}
        form = SubmitForm(phases=phases, teams=teams, initial=initial)
    now = timezone.now()
    quotas = [quota(phase, team, request.user, now) for phase in phases]
    status = 422 if form.errors or context["problems"] else 200
    context |= {"form": form, "team": team, "quotas": quotas, "form_key": secrets.token_urlsafe(16)}
    context |= {
        "bans": {pk: ban for pk, ban in bans.items() if pk == chosen_team.pk},
        "without_terms": teams_without(challenge, [team]),
    }
    context["needed"] = [(phase, needed_captions(phase)) for phase in phases]
    context["to_approve"] = teams_to_approve(challenge, [team])
    return challenge_page(request, challenge, "submit", "submit", status=status, **context)


def _next_steps(submission: Submission) -> str:
    """The next steps of a submission that was just made, and where it can be found."""
    phase, address = submission.phase, reverse("captious:submissions", args=[submission.challenge.slug])
    scores = "Its scores will appear on this page." if phase.has_scores_open else "Its scores are withheld for now."
    return format_html(
        'Submitted to {}. {} All your submissions are listed under <a href="{}">My submissions</a>.',
        phase,
        scores,
        address,
    )


def _form_key(request: HttpRequest, upload: Path) -> str:
    """The key of a form's upload: the same if the form is sent twice, another if the file or an answer differs.

    Empty if the form has no key.
    """
    if not request.POST.get("form_key"):
        return ""
    with upload.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(repr(sorted(request.POST.lists())).encode())
    return digest.hexdigest()
