"""Pages of challenges: the list, the organisers' texts, leaderboards, comparisons, captions of single images."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from captious.server.boards import board as boards
from captious.server.boards import captions as browsing
from captious.server.boards.comparison import compare_submissions
from captious.server.models import Challenge, Submission
from captious.server.pages.csv_files import csv_file
from captious.server.pages.forms import open_phases
from captious.server.people.access import (
    challenge_for,
    is_own,
    may_browse,
    may_manage,
    may_see_board,
    visible_challenges,
)

__all__ = ["caption", "captions", "challenge", "compare", "home", "leaderboard", "leaderboard_csv", "leaderboard_json"]

_IMAGES_PER_PAGE = 20
_MOST_SYSTEMS = 6


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """All challenges that the user may see."""
    found = visible_challenges(request.user).prefetch_related("phases")
    return render(request, "captious/home.html", {"challenges": found})


@require_safe
def challenge(request: HttpRequest, slug: str) -> HttpResponse:
    """The organisers' texts, phases, and metrics."""
    found = challenge_for(request.user, slug)
    return render(
        request,
        "captious/challenge.html",
        {
            **about(request, found, "overview"),
            "texts": found.texts,
            "phases": found.phase_list,
            "signatures": _signatures(found),
        },
    )


def _signatures(challenge: Challenge) -> dict[str, str]:
    """The signature of each output, known once something was scored."""
    rows = Submission.objects.filter(
        phase__challenge=challenge, status=Submission.Status.DONE, scoring_version=challenge.scoring_version
    )
    scores: dict[str, dict[str, Any]] = next(iter(rows.values_list("scores", flat=True)[:1]), {})
    first: dict[str, Any] = next(iter(scores.values()), {})
    return {name: first.get(name, {}).get("signature", "") for name in challenge.definition.outputs}


def about(request: HttpRequest, challenge: Challenge, tab: str) -> dict[str, Any]:
    """What all pages of a challenge are given."""
    return {
        "challenge": challenge,
        "tab": tab,
        "can_submit": bool(open_phases(challenge)),
        "can_manage": may_manage(request.user, challenge),
        "can_see_board": any(may_see_board(request.user, phase) for phase in challenge.phase_list),
    }


@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """A leaderboard."""
    query = _query(request, slug)
    shown = boards.board(query, request.user)
    return render(
        request, "captious/leaderboard.html", {**about(request, query.challenge, "leaderboard"), "board": shown}
    )


@require_safe
def leaderboard_json(request: HttpRequest, slug: str) -> HttpResponse:
    """The same as JSON."""
    shown = boards.board(_query(request, slug), request.user)
    return JsonResponse(boards.as_json(shown), safe=False)


@require_safe
def leaderboard_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """The same as CSV."""
    query = _query(request, slug)
    heads, *rows = boards.as_table(boards.board(query, request.user))
    return csv_file(heads, rows, f"{slug}-{query.phase.name}-{query.key.replace('/', '-')}.csv")


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two submissions of a leaderboard, with tests; teams can also compare those that they did not publish."""
    query = _query(request, slug)
    choices = _choices(query, request)
    a, b = (next((each for each in choices if str(each.pk) == request.GET.get(name)), None) for name in ("a", "b"))
    rows = compare_submissions(a, b, query) if a is not None and b is not None and a != b else []
    shown = boards.board(query, request.user)
    chosen = "".join(f"&systems={each.pk}" for each in (a, b) if each is not None)
    return render(
        request,
        "captious/compare.html",
        {
            **about(request, query.challenge, "leaderboard"),
            "board": shown,
            "choices": choices,
            "a": a,
            "b": b,
            "rows": [asdict(row) for row in rows],
            "browse_url": f"{shown.browse_url}&order=difference{chosen}" if shown.browse_url and rows else "",
            "n_images": shown.n_images,
        },
    )


@require_safe
def captions(request: HttpRequest, slug: str) -> HttpResponse:
    """Captions of submissions image by image, for captions files that are public."""
    query, choices, chosen, by = _browsing(request, slug)
    order = request.GET.get("order", "")
    order = order if order in browsing.ORDERS else "lowest" if len(chosen) < 2 else "difference"
    positions = browsing.order_of(query, chosen, by, order)
    page = Paginator(positions, _IMAGES_PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = browsing.rows_of(query, chosen, by, page.object_list)
    return render(
        request,
        "captious/captions.html",
        {
            **about(request, query.challenge, "leaderboard"),
            "choices": choices,
            "chosen": chosen,
            "outputs": query.challenge.definition.outputs,
            "by": by,
            "order": order,
            "page": page,
        },
    )


@require_safe
def caption(request: HttpRequest, slug: str, image_id: str) -> HttpResponse:
    """One image: all scores of the submissions, and how they came about."""
    query, _, chosen, by = _browsing(request, slug)
    row = browsing.caption_row(query, chosen, by, image_id)
    if row is None:
        raise Http404
    scores = [{"submission": each, "scores": browsing.scores_of(query, each, row.id)} for each in chosen]
    return render(
        request,
        "captious/caption.html",
        {
            **about(request, query.challenge, "leaderboard"),
            "row": row,
            "scores": scores,
            "drawings": browsing.draw(query, row),
        },
    )


def _query(request: HttpRequest, slug: str) -> boards.Query:
    query = boards.query_from(challenge_for(request.user, slug), request.GET, request.user)
    if query is None:
        raise Http404
    return query


def _choices(query: boards.Query, request: HttpRequest) -> list[Submission]:
    """What can be compared and browsed: the board, and the user's own submissions."""
    public = boards.submissions_on(query, request.user)
    if not request.user.is_authenticated:
        return public
    done = Submission.objects.filter(
        phase=query.phase,
        status=Submission.Status.DONE,
        scoring_version=query.challenge.scoring_version,
        team__members=request.user,
    ).select_related("phase__challenge", "team")
    known = {each.pk for each in public}
    own = [each for each in done if each.pk not in known and query.key in each.scores and is_own(request.user, each)]
    return [*own, *public]


def _browsing(request: HttpRequest, slug: str) -> tuple[boards.Query, list[Submission], list[Submission], str]:
    query = _query(request, slug)
    if not query.challenge.is_public(query.references.captions):
        raise Http404
    choices = [each for each in _choices(query, request) if may_browse(request.user, each, query.references.captions)]
    wanted = request.GET.getlist("systems")
    chosen = [each for each in choices if str(each.pk) in wanted][:_MOST_SYSTEMS]
    if not wanted:
        chosen = choices[:1]
    by = request.GET.get("by", "")
    return query, choices, chosen, by if by in query.challenge.definition.outputs else query.output
