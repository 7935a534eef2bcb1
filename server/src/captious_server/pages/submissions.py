"""Pages of submissions: the form, the list of a team, one submission with its status, changes and deletion."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.contrib import messages
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, JsonResponse, StreamingHttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_safe

from captious_server import actions
from captious_server.actions.downloads import scores_of_images
from captious_server.boards.fields import shown_fields
from captious_server.boards.query import set_warnings_for, visible_scores
from captious_server.boards.submission_pages import (
    SORTS,
    OwnScore,
    Place,
    compared_outputs,
    images_of,
    own_scores,
    places_of,
    sorted_scores,
)
from captious_server.models import Submission
from captious_server.pages.challenges import challenge_page, page_of
from captious_server.people.access import (
    UserRequest,
    Visitor,
    challenge_for,
    is_own,
    may_browse,
    may_manage,
    may_see_board,
    may_see_scores,
    own_refused,
    own_submissions,
    signed_in,
    submission_for,
)
from captious_server.people.teams import bans_of, teams_of, teams_to_approve, teams_without
from captious_server.scoring import queue
from captious_server.submissions import intake

# Submissions that have been made.

_Status = Submission.Status


@signed_in("GET", "HEAD")
def submissions(request: UserRequest, slug: str) -> HttpResponse:
    """The submissions of the user's teams, and their uploads that were refused."""
    challenge = challenge_for(request.user, slug)
    sort = request.GET.get("sort", "-date")
    by = sort.removeprefix("-") if sort.removeprefix("-") in SORTS else "date"
    descending = sort.startswith("-") or by != sort
    rows = own_scores(request.user, own_submissions(request.user, challenge))
    rows += [OwnScore(upload) for upload in own_refused(request.user, challenge)]
    columns = {
        name: {
            "sort_order": ("descending" if descending else "ascending") if name == by else "",
            "link": f"?sort={'-' if (not descending if name == by else starts_descending) else ''}{name}",
        }
        for name, starts_descending in SORTS.items()
    }
    page = page_of(request, sorted_scores(rows, by, descending=descending))
    return challenge_page(
        request,
        challenge,
        "submissions",
        "submissions",
        page=page,
        heads=columns,
        places=queue.places(),
        bans=bans_of(challenge, teams_of(request.user), request.user),
    )


@require_safe
def show(request: HttpRequest, pk: int) -> HttpResponse:
    """The page of one submission: its status, or its scores."""
    submission = submission_for(request.user, pk)
    manages = may_manage(request.user, submission.challenge)
    own = is_own(request.user, submission) or manages
    exists = submission.status != _Status.DELETED
    places = places_of(request.user, submission, own=own) if visible_scores(request.user, submission) else {}
    boards = _boards(request.user, submission, places)
    sets_of_images = (images_of(request.user, submission, place.query) for place in places.values())
    bans = (
        bans_of(submission.challenge, [submission.team], request.user) if own and request.user.is_authenticated else {}
    )
    declared, values = submission.challenge.definition.fields, shown_fields(request.user, submission)
    return challenge_page(
        request,
        submission.challenge,
        "submission",
        _tab(request.user, submission),
        submission=submission,
        place_in_queue=queue.place(submission),
        images=next((images for images in sets_of_images if images is not None), None),
        boards=boards,
        scores_open=may_see_scores(request.user, submission.phase),
        fields=[(field.label, values[field.name]) for field in declared if field.name in values],
        lower_is_better={
            *queue.BoardOutputs.of_board(submission.phase).lower_is_better,
            *submission.challenge.definition.lower_is_better,
        },
        can_cancel=own and submission.status in (_Status.HELD, _Status.QUEUED) and not submission.was_ended,
        can_edit=own and exists and not submission.is_baseline,
        can_choose=own and (manages or not bans) and not intake.why_not_chosen(submission, manages=manages),
        can_delete=own and exists and submission.status != _Status.RUNNING,
        bans=bans,
        choice=intake.of_team(submission).filter(is_chosen=True).exclude(pk=submission.pk).first() if own else None,
        events=submission.events.select_related("submission") if manages else [],
    )


def _tab(user: Visitor, submission: Submission) -> str:
    """The tab above a submission: own submissions, the leaderboard, or else the organizers' page."""
    if is_own(user, submission):
        return "submissions"
    return "leaderboard" if submission.is_on_board and may_see_board(user, submission.phase) else "manage"


def _boards(user: Visitor, submission: Submission, places: Mapping[str, Place]) -> list[dict[str, Any]]:
    """The visible scores of a submission by reference set, the main one first, each with its place
    and the submissions drawn next to it.
    """
    boards: list[dict[str, Any]] = []
    all_scores, warnings = visible_scores(user, submission), set_warnings_for(user, submission)
    has_several = len(submission.challenge.definition.captions) > 1
    sets = queue.sets_of(submission.phase)
    for key in [*places, *(key for key in sets if key not in places)]:
        scores = all_scores.get(key)
        if not scores:
            continue
        references, place, messages = sets[key], places.get(key), warnings.get(key, [])
        main, scales = (None, {}) if place is None else (place.query.output, place.scales)
        other_scores = [] if place is None else compared_outputs(place)
        is_current = submission.is_current(key)
        csv_url = reverse("captious:submission_scores", args=[submission.pk, references.captions, references.name])
        boards.append(
            {
                "place": place,
                "references": references.name,
                "captions": references.captions if has_several else "",
                "warnings": [message for message in messages if message.split(" ", 1)[0] not in scores],
                "scores": [
                    {
                        "name": name,
                        **entry,
                        "drawn": [entry, *(other.get(name) for other in other_scores)],
                        "scale": scales.get(name),
                        "warnings": [message for message in messages if message.split(" ", 1)[0] == name],
                    }
                    for name, entry in sorted(scores.items(), key=lambda pair: pair[0] != main)
                ],
                "csv_url": csv_url if is_current and may_browse(user, submission, references.captions) else "",
            }
        )
    return boards


@require_safe
def status(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of a submission, polled by its page."""
    submission = submission_for(request.user, pk)
    values = {name: getattr(submission, name) for name in ("status", "progress", "doing")}
    return JsonResponse({**values, "place": queue.place(submission)})


@signed_in("GET", "HEAD", "POST")
def edit(request: UserRequest, pk: int) -> HttpResponse:
    """Change the description of a submission, and whether it is on the board; challenge.toml has those of baselines."""
    submission = submission_for(request.user, pk, own=True)
    if submission.is_baseline:
        raise Http404
    form = actions.EditForm(request.POST or None, instance=submission, challenge=submission.challenge)
    if request.method == "POST" and form.is_valid():
        actions.edit_submission(request, submission, form)
        messages.success(request, "Saved.")
        return redirect(submission.url)
    for name in actions.frozen_names(request.user, submission) & form.fields.keys():
        form.fields[name].help_text = "The phase is closed, so only organizers can change this."
    tab = _tab(request.user, submission)
    return challenge_page(request, submission.challenge, "submission_edit", tab, submission=submission, form=form)


@signed_in("GET", "HEAD", "POST")
def cancel(request: UserRequest, pk: int) -> HttpResponse:
    """Cancel a submission that waits in the queue or is held."""
    submission = submission_for(request.user, pk, own=True)
    if request.method == "POST":
        actions.cancel_submission(request, submission)
        messages.success(request, "Submission canceled. It does not count toward your quota.")
        return redirect(submission.url)
    consequence = "The submission will not be scored and does not count toward your quota of scored submissions."
    return _confirm(request, submission, "Cancel", consequence)


@signed_in("POST")
def choose(request: UserRequest, pk: int) -> HttpResponse:
    """Make a submission the entry of its team, or let the best one count again."""
    submission = submission_for(request.user, pk, own=True)
    is_choice = request.POST.get("chosen") != "0"
    actions.choose_submission(request, submission, chosen=is_choice)
    team = submission.team
    release = f"The best submission of {team} is its entry again."
    messages.success(request, f"{submission.method} is now the final entry of {team}." if is_choice else release)
    is_list = request.POST.get("back") == "list"
    return redirect("captious:submissions", submission.challenge.slug) if is_list else redirect(submission.url)


@signed_in("GET", "HEAD", "POST")
def delete(request: UserRequest, pk: int) -> HttpResponse:
    """Delete a submission and its files."""
    submission = submission_for(request.user, pk, own=True)
    if request.method == "POST":
        actions.delete_submission(request, submission)
        messages.success(request, "The submission and its files were deleted.")
        return redirect("captious:submissions", submission.challenge.slug)
    counts = submission.counts and submission.was_ended
    consequence = (
        "Its files are removed from the server. "
        + (
            "It disappears from the leaderboard, and the ranks of other submissions are recomputed. "
            if submission.is_on_board
            else ""
        )
        + ("It still counts toward the quota. " if counts else "It does not count toward the quota. ")
        + "This cannot be undone."
    )
    return _confirm(request, submission, "Delete", consequence)


def _confirm(request: UserRequest, submission: Submission, verb: str, consequence: str) -> HttpResponse:
    return challenge_page(
        request,
        submission.challenge,
        "confirm",
        _tab(request.user, submission),
        heading=f"{verb} this submission?",
        about=consequence,
        button=f"{verb} it",
        back=submission.url,
    )


@signed_in("GET", "HEAD")
def file(request: UserRequest, pk: int) -> FileResponse:
    """The file as it was uploaded, for the team and the organizers."""
    return actions.upload_of(submission_for(request.user, pk, own=True))


@require_safe
def scores(request: HttpRequest, pk: int, captions: str, references: str) -> StreamingHttpResponse:
    """Captions, references and scores of each image as CSV, for captions files that are public."""
    return scores_of_images(request.user, submission_for(request.user, pk), captions, references)


# The form of a submission.


@signed_in("GET", "HEAD", "POST")
def submit(request: UserRequest, slug: str) -> HttpResponse:
    """Submit captions, or check them without submitting."""
    challenge = challenge_for(request.user, slug)
    all_teams, phases = teams_of(request.user), actions.open_phases(challenge, request.arrival_time)
    bans = bans_of(challenge, all_teams, request.user)
    teams = [team for team in all_teams if team.pk not in bans] or all_teams
    slug_of_team = request.POST.get("team", request.GET.get("team"))
    team = next((team for team in teams if team.slug == slug_of_team), teams[0])
    chosen_team = next((team for team in all_teams if team.slug == slug_of_team), team)
    context: dict[str, Any] = {"problems": [], "remarks": [], "checked": False}
    if request.method == "POST":
        is_check = request.POST.get("action") == "check"
        form = actions.SubmitForm(request.POST, request.FILES, challenge=challenge, phases=phases, teams=all_teams)
        about = [field for name, field in form.fields.items() if field.required and name not in form.field_order]
        for field in about:
            field.required = not is_check
        is_valid = form.is_valid()
        for field in about:
            field.required = True
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
        form = actions.SubmitForm(challenge=challenge, phases=phases, teams=teams, initial=initial)
    now = timezone.now()
    quotas = [intake.quota(phase, team, request.user, now) for phase in phases]
    status = 422 if form.errors or context["problems"] else 200
    context |= {"form": form, "team": team, "quotas": quotas, "form_key": secrets.token_urlsafe(16)}
    context["exhausted"] = [row.phase.name for row in quotas if row.exhausted]
    context |= {
        "bans": {pk: ban for pk, ban in bans.items() if pk == chosen_team.pk},
        "without_terms": teams_without(challenge, [team]),
    }
    context["needed"] = [(phase, intake.needed_captions(phase)) for phase in phases]
    context["to_approve"] = teams_to_approve(challenge, [team])
    return challenge_page(request, challenge, "submit", "submit", status=status, **context)


def _next_steps(submission: Submission) -> str:
    """The next steps of a submission that was just made, and where it can be found."""
    phase, address = submission.phase, reverse("captious:submissions", args=[submission.challenge.slug])
    scores = "Its scores will appear on this page." if phase.has_scores_open else "Its scores are withheld for now."
    scores = submission.reason or scores
    return format_html(
        'Submitted to {}. {} All your submissions are listed under <a href="{}">My submissions</a>.',
        phase,
        scores,
        address,
    )


def _form_key(request: UserRequest, upload: Path) -> str:
    """The key of a form's upload: the same if the form is sent twice, another if the file or an answer differs.

    Empty if the form has no key.
    """
    if not request.POST.get("form_key"):
        return ""
    with upload.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256")
    digest.update(repr(sorted(request.POST.lists())).encode())
    return digest.hexdigest()
