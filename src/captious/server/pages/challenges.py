"""Pages of challenges: the list, the organisers' texts, leaderboards, comparisons, captions of single images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from captious.row_files import csv_text
from captious.server.boards import caption_browser as browsing
from captious.server.boards import leaderboard as boards
from captious.server.boards.leaderboard_query import Query, query_from, submissions_on
from captious.server.boards.submission_comparison import compare_submissions
from captious.server.models import Challenge, Submission
from captious.server.pages.forms import open_phases
from captious.server.people.access import (
    challenge_for,
    may_browse,
    may_manage,
    may_see_board,
    visible_challenges,
)

__all__ = [
    "caption",
    "captions",
    "challenge",
    "challenge_page",
    "compare",
    "csv_file",
    "home",
    "leaderboard",
    "leaderboard_csv",
    "leaderboard_json",
]

_IMAGES_PER_PAGE = 20
_FORMULAS = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_MOST_SYSTEMS = 6


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """All challenges that the user may see."""
    challenges = visible_challenges(request.user).prefetch_related("phases")
    return render(request, "captious/home.html", {"challenges": challenges})


@require_safe
def challenge(request: HttpRequest, slug: str) -> HttpResponse:
    """The organisers' texts, phases, and metrics."""
    challenge = challenge_for(request.user, slug)
    return challenge_page(
        request,
        challenge,
        "challenge",
        "overview",
        texts=challenge.texts,
        phases=challenge.phase_list,
        signatures=_signatures(challenge),
    )


def _signatures(challenge: Challenge) -> dict[str, str]:
    """The signature of each output, known once something was scored."""
    rows = Submission.objects.scored().filter(phase__challenge=challenge)
    scores: dict[str, dict[str, Any]] = next(iter(rows.values_list("shown_scores__outputs", flat=True)[:1]), {})
    first: dict[str, Any] = next(iter(scores.values()), {})
    return {name: first.get(name, {}).get("signature", "") for name in challenge.definition.outputs}


def challenge_page(
    request: HttpRequest, challenge: Challenge, template: str, tab: str = "", *, status: int = 200, **context: Any
) -> HttpResponse:
    """A page of a challenge, below one of its tabs."""
    shared = {
        "challenge": challenge,
        "tab": tab,
        "can_submit": bool(open_phases(challenge)),
        "can_manage": may_manage(request.user, challenge),
        "can_see_board": any(may_see_board(request.user, phase) for phase in challenge.phase_list),
    }
    return render(request, f"captious/{template}.html", {**shared, **context}, status=status)


@require_safe
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """A leaderboard."""
    query = _query(request, slug)
    board = boards.board(query, request.user)
    return challenge_page(request, query.challenge, "leaderboard", "leaderboard", board=board)


@require_safe
def leaderboard_json(request: HttpRequest, slug: str) -> HttpResponse:
    """A leaderboard as JSON."""
    board = boards.board(_query(request, slug), request.user)
    return JsonResponse(boards.as_json(board), safe=False)


@require_safe
def leaderboard_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """A leaderboard as CSV."""
    query = _query(request, slug)
    heads, *rows = boards.as_table(boards.board(query, request.user))
    return csv_file(heads, rows, f"{slug}-{query.phase.name}-{query.key.replace('/', '-')}.csv")


@require_safe
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two submissions of a leaderboard, with tests; teams can also compare those that they did not publish."""
    query = _query(request, slug)
    choices = _choices(query, request)
    a, b = (
        next((submission for submission in choices if str(submission.pk) == request.GET.get(name)), None)
        for name in ("a", "b")
    )
    rows = compare_submissions(a, b, query) if a is not None and b is not None and a != b else []
    board = boards.board(query, request.user)
    systems = "".join(f"&systems={submission.pk}" for submission in (a, b) if submission is not None)
    return challenge_page(
        request,
        query.challenge,
        "compare",
        "leaderboard",
        board=board,
        choices=choices,
        a=a,
        b=b,
        rows=rows,
        digits=query.phase.digits,
        browse_url=f"{board.browse_url}&order=difference{systems}" if board.browse_url and rows else "",
        n_images=board.n_images,
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
    return challenge_page(
        request,
        query.challenge,
        "captions",
        "leaderboard",
        choices=choices,
        chosen=chosen,
        outputs=query.challenge.definition.outputs,
        by=by,
        order=order,
        page=page,
    )


@require_safe
def caption(request: HttpRequest, slug: str, image_id: str) -> HttpResponse:
    """One image: all scores of the submissions, and how they came about."""
    query, _, chosen, by = _browsing(request, slug)
    row = browsing.caption_row(query, chosen, by, image_id)
    if row is None:
        raise Http404
    scores = [
        {"submission": submission, "scores": browsing.scores_of(query, submission, row.id)} for submission in chosen
    ]
    drawings = browsing.draw(query, row)
    return challenge_page(request, query.challenge, "caption", "leaderboard", row=row, scores=scores, drawings=drawings)


def _query(request: HttpRequest, slug: str) -> Query:
    query = query_from(challenge_for(request.user, slug), request.GET, request.user)
    if query is None:
        raise Http404
    return query


def _choices(query: Query, request: HttpRequest) -> list[Submission]:
    """What can be compared and browsed: the board, and the user's own submissions."""
    public = submissions_on(query, request.user)
    if not request.user.is_authenticated:
        return public
    done = Submission.objects.scored().filter(phase=query.phase, team__members=request.user)
    done = done.select_related("phase__challenge", "team")
    shown = {submission.pk for submission in public}
    own = [submission for submission in done if submission.pk not in shown and submission.outputs(query.key)]
    return [*own, *public]


def _browsing(request: HttpRequest, slug: str) -> tuple[Query, list[Submission], list[Submission], str]:
    query = _query(request, slug)
    if not query.challenge.is_public(query.references.captions):
        raise Http404
    files = query.references.captions
    choices = [submission for submission in _choices(query, request) if may_browse(request.user, submission, files)]
    systems = request.GET.getlist("systems")
    chosen = [submission for submission in choices if str(submission.pk) in systems][:_MOST_SYSTEMS]
    if not systems:
        chosen = choices[:1]
    by = request.GET.get("by", "")
    return query, choices, chosen, by if by in query.challenge.definition.outputs else query.output


def csv_file(heads: Sequence[str], rows: Sequence[Sequence[object]], name: str) -> HttpResponse:
    """A table as a file of this name.

    Text that spreadsheets would take for a formula, because it begins with one of ``= + - @``, a tab or a line break,
    gets an apostrophe in front, as OWASP recommends. Numbers stay as they are.
    """
    response = HttpResponse(
        csv_text(heads, [[_harmless(value) for value in row] for row in rows]), content_type="text/csv; charset=utf-8"
    )
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _harmless(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULAS) else value
