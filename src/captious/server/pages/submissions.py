"""Pages of submissions: the list of a team, one submission with its status, changes and deletion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from captious.server.actions.downloads import scores_of_images
from captious.server.actions.forms import EditForm
from captious.server.actions.submission_changes import choose_submission, delete_submission, edit_submission, upload_of
from captious.server.boards.own_scores import SORTS, OwnScore, own_scores, sorted_scores
from captious.server.boards.submission_place import Place, Scale, compared_outputs, images_of, places_of
from captious.server.boards.visible_scores import set_warnings_for, visible_scores
from captious.server.models import Submission
from captious.server.pages.challenges import challenge_page, page_of
from captious.server.people.access import (
    challenge_for,
    is_own,
    may_browse,
    may_manage,
    may_see_board,
    may_see_scores,
    own_refused,
    own_submissions,
    submission_for,
)
from captious.server.people.admission import bans_of
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.people.teams import teams_of
from captious.server.scoring import queue
from captious.server.scoring.board_outputs import BoardOutputs, sets_of
from captious.server.submissions.team_entry import of_team, why_not_chosen

_Status = Submission.Status


@login_required
@require_safe
def submissions(request: HttpRequest, slug: str) -> HttpResponse:
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
    bans = bans_of(submission.challenge, [submission.team], request.user) if own else {}
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
        digits=submission.phase.digits,
        lower_is_better={
            *BoardOutputs.of_board(submission.phase).lower_is_better,
            *submission.challenge.definition.lower_is_better,
        },
        can_cancel=own and submission.status == _Status.QUEUED and not submission.was_ended,
        can_edit=own and exists and not submission.is_baseline,
        can_choose=own and (manages or not bans) and not why_not_chosen(submission, manages=manages),
        can_delete=own and exists and submission.status != _Status.RUNNING,
        can_see_traceback=manages,
        bans=bans,
        choice=of_team(submission).filter(is_chosen=True).exclude(pk=submission.pk).first() if own else None,
        events=submission.events.select_related("submission") if manages else [],
    )


def _tab(user: Any, submission: Submission) -> str:
    """The tab above a submission: own submissions, the leaderboard, or else the organizers' page."""
    if is_own(user, submission):
        return "submissions"
    return "leaderboard" if submission.is_on_board and may_see_board(user, submission.phase) else "manage"


def _boards(user: Any, submission: Submission, places: Mapping[str, Place]) -> list[dict[str, Any]]:
    """The visible scores of a submission by reference set, the main one first, each with its place
    and the submissions drawn next to it.
    """
    boards: list[dict[str, Any]] = []
    all_scores, warnings = visible_scores(user, submission), set_warnings_for(user, submission)
    has_several = len(submission.challenge.definition.captions) > 1
    sets = sets_of(submission.phase)
    for key in [*places, *(key for key in sets if key not in places)]:
        scores = all_scores.get(key)
        if not scores:
            continue
        references, place, messages = sets[key], places.get(key), warnings.get(key, [])
        main, scales, other_scores = (None, {}, []) if place is None else _drawing_context(place)
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


def _drawing_context(place: Place) -> tuple[str, Scale, list[Mapping[str, Any]]]:
    """The ranking output, the axes, and the scores drawn next to those of a submission."""
    return place.query.output, place.scales, compared_outputs(place)


@require_safe
def status(request: HttpRequest, pk: int) -> HttpResponse:
    """The progress of a submission, polled by its page."""
    submission = submission_for(request.user, pk)
    values = {name: getattr(submission, name) for name in ("status", "progress", "doing")}
    return JsonResponse({**values, "place": queue.place(submission)})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, pk: int) -> HttpResponse:
    """Change the description of a submission, and whether it is on the board; challenge.toml has those of baselines."""
    submission = submission_for(request.user, pk, own=True)
    if submission.is_baseline:
        raise Http404
    form = EditForm(request.POST or None, instance=submission)
    if request.method == "POST" and form.is_valid():
        edit_submission(request, submission, form)
        messages.success(request, "Saved.")
        return redirect(submission.url)
    tab = _tab(request.user, submission)
    return challenge_page(request, submission.challenge, "submission_edit", tab, submission=submission, form=form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, pk: int) -> HttpResponse:
    """Cancel a submission that waits in the queue."""
    submission = submission_for(request.user, pk, own=True)
    if request.method == "POST":
        limit(request, "change")
        if queue.cancel(submission):
            record("cancel", submission.method, request=request, submission=submission)
            messages.success(request, "Submission canceled. It does not count toward your quota.")
        else:
            messages.error(request, "The submission could not be canceled because scoring has begun.")
        return redirect(submission.url)
    consequence = "The submission will not be scored and does not count toward your quota of scored submissions."
    return _confirm(request, submission, "Cancel", consequence)


@login_required
@require_POST
def choose(request: HttpRequest, pk: int) -> HttpResponse:
    """Make a submission the entry of its team, or let the best one count again."""
    submission = submission_for(request.user, pk, own=True)
    is_choice = request.POST.get("chosen") != "0"
    if reason := choose_submission(request, submission, chosen=is_choice):
        messages.error(request, reason)
    else:
        team = submission.team
        release = f"The best submission of {team} is its entry again."
        messages.success(request, f"{submission.method} is now the final entry of {team}." if is_choice else release)
    is_list = request.POST.get("back") == "list"
    return redirect("captious:submissions", submission.challenge.slug) if is_list else redirect(submission.url)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a submission and its files."""
    submission = submission_for(request.user, pk, own=True)
    if request.method == "POST":
        if not delete_submission(request, submission):
            messages.error(request, "This submission is being scored. Delete it when scoring has ended.")
            return redirect(submission.url)
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


def _confirm(request: HttpRequest, submission: Submission, verb: str, consequence: str) -> HttpResponse:
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


@login_required
@require_safe
def file(request: HttpRequest, pk: int) -> HttpResponse:
    """The file as it was uploaded, for the team and the organizers."""
    return upload_of(submission_for(request.user, pk, own=True))


@require_safe
def scores(request: HttpRequest, pk: int, captions: str, references: str) -> HttpResponse:
    """Captions, references and scores of each image as CSV, for captions files that are public."""
    return scores_of_images(request.user, submission_for(request.user, pk), captions, references)
