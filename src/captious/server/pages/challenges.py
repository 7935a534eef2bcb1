"""Pages of challenges: the list, the organizers' texts, leaderboards, comparisons, captions of single images."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from captious.report.explanations.values import SCRIPTS, SCRIPTS_FOLDER
from captious.server.actions.explained_errors import OldScoresError
from captious.server.actions.forms import open_phases
from captious.server.actions.leaderboards import HiddenBoardError, csv_file, json_file, query_of, requested_comparison
from captious.server.boards import caption_browser
from captious.server.boards import leaderboard as boards
from captious.server.boards.challenge_card import cards
from captious.server.boards.leaderboard_query import choices as choices_of
from captious.server.boards.leaderboard_query import standing_of
from captious.server.boards.submission_comparison import ComparedOutput
from captious.server.models import Challenge, Submission
from captious.server.pages.overview import overview_of
from captious.server.people.access import (
    challenge_for,
    drafts_for,
    may_browse,
    may_create,
    may_manage,
    may_see_board,
    visible_challenges,
    why_hidden,
)
from captious.server.people.admission import is_banned

_IMAGES_PER_PAGE = 20
_MAX_SYSTEMS = 6
_WORD_LENGTH = 60  # characters


def _explains_hidden_board(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """A page about a leaderboard, or an explanation why and until when the leaderboard is hidden."""

    @wraps(view)
    def page(request: HttpRequest, slug: str, **parts: str) -> HttpResponse:
        try:
            return view(request, slug, **parts)
        except HiddenBoardError as error:
            phase, challenge = error.phase, error.phase.challenge
            open_phases = [open_phase for open_phase in challenge.phase_list if may_see_board(request.user, open_phase)]
            return challenge_page(
                request,
                challenge,
                "hidden_board",
                "leaderboard",
                status=error.status,
                phase=phase,
                reason=why_hidden(phase),
                open_phases=open_phases,
            )

    return page


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The list of all challenges that the user may see."""
    challenges = visible_challenges(request.user).prefetch_related("phases", "organizers")
    context = {"cards": cards([*challenges], request.user), "can_create": may_create(request.user)}
    context["drafts"] = drafts_for(request.user) if request.user.is_authenticated else []
    return render(request, "captious/home.html", context)


@require_safe
def challenge(request: HttpRequest, slug: str) -> HttpResponse:
    """The organizers' texts, phases, and metrics."""
    challenge = challenge_for(request.user, slug)
    return challenge_page(request, challenge, "challenge", "overview", **overview_of(challenge, request.user))


def challenge_page(
    request: HttpRequest, challenge: Challenge, template: str, tab: str = "", *, status: int = 200, **context: Any
) -> HttpResponse:
    """A page of a challenge, below one of its tabs."""
    is_excluded = is_banned(challenge, request.user)
    page_values = {
        "challenge": challenge,
        "tab": tab,
        "is_banned": is_excluded,
        "can_submit": bool(open_phases(challenge, timezone.now())) and not is_excluded,
        "can_manage": may_manage(request.user, challenge),
        "can_see_board": any(may_see_board(request.user, phase) for phase in challenge.phase_list),
    }
    return render(request, f"captious/{template}.html", {**page_values, **context}, status=status)


def page_of(request: HttpRequest, rows: Any, per_page: int | None = None) -> Page:
    """The requested page of a list or queryset: the nearest one if there is no such page.

    Args:
        per_page: by default, as on leaderboards.
    """
    return Paginator(rows, per_page or boards.ROWS_PER_PAGE).get_page(request.GET.get("page"))


@require_safe
@_explains_hidden_board
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """A page of a leaderboard."""
    query = query_of(request, slug)
    board = boards.board(query, request.user, request.GET.get("page"))
    return challenge_page(request, query.challenge, "leaderboard", "leaderboard", board=board, page=board.page)


@require_safe
def leaderboard_json(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """A leaderboard as JSON."""
    return json_file(query_of(request, slug))


@require_safe
def leaderboard_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """A leaderboard as CSV."""
    query = query_of(request, slug)
    header, rows = boards.as_table(boards.all_rows(query), query)
    return csv_file(header, rows, f"{slug}-{query.phase.name}-{query.key.replace('/', '-')}.csv")


@require_safe
@_explains_hidden_board
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two submissions of a leaderboard, with tests; teams can also compare their private ones."""
    comparison, rows = requested_comparison(request, slug)
    query, ids, a, b = comparison.query, request.GET.getlist("systems"), comparison.a, comparison.b
    board = boards.board(query, request.user)
    captions_url = board.urls["captions"]
    standing = standing_of(query)
    ranks = dict(zip(standing.submissions, standing.ranks, strict=True))
    systems = "".join(f"&systems={submission.pk}" for submission in (a, b) if submission is not None)
    return challenge_page(
        request,
        query.challenge,
        "compare",
        "leaderboard",
        board=board,
        choices=comparison.choices,
        a=a,
        b=b,
        rank_a=None if a is None else ranks.get(a.pk),
        rank_b=None if b is None else ranks.get(b.pk),
        ranked_by=query.output,
        rows=rows,
        better=_counts(row for row in rows if row.difference and row.is_better),
        worse=_counts(row for row in rows if row.difference and not row.is_better),
        n_ticked=len(ids),
        digits=query.phase.digits,
        browse_url=f"{captions_url}&order=difference{systems}" if captions_url and rows else "",
        n_images=board.n_images,
    )


def _counts(rows: Iterable[ComparedOutput]) -> dict[str, int]:
    """The number of differences, and of significant ones."""
    significant = [row.is_significant for row in rows]
    return {"n": len(significant), "significant": sum(significant)}


@require_safe
@_explains_hidden_board
def captions(request: HttpRequest, slug: str) -> HttpResponse:
    """Captions of submissions image by image, for captions files that are public."""
    view, choices = _caption_view(request, slug)
    page = page_of(request, caption_browser.positions_of(view), _IMAGES_PER_PAGE)
    page.object_list = caption_browser.rows_of(view, page.object_list)
    return challenge_page(
        request,
        view.query.challenge,
        "captions",
        "leaderboard",
        choices=choices,
        view=view,
        outputs=view.query.outputs.names,
        page=page,
        digits=view.query.phase.digits,
    )


@require_safe
@_explains_hidden_board
def caption(request: HttpRequest, slug: str, image_id: str) -> HttpResponse:
    """The page of one image: all scores of the submissions, and their explanations."""
    view, _ = _caption_view(request, slug)
    row = caption_browser.caption_row(view, image_id)
    if row is None:
        raise Http404
    query = view.query
    scores = [
        {"submission": submission, "scores": caption_browser.scores_of(query, submission, row.id)}
        for submission in view.submissions
    ]
    previous_url, next_url = caption_browser.neighbors(view, row.id)
    return challenge_page(
        request,
        query.challenge,
        "caption",
        "leaderboard",
        row=row,
        view=view,
        previous_url=previous_url,
        next_url=next_url,
        scores=scores,
        explanations=caption_browser.explanations(query, row, as_text="text" in request.GET),
        scripts=[f"{SCRIPTS_FOLDER}/{name}" for name in SCRIPTS],
        digits=query.phase.digits,
    )


def _caption_view(request: HttpRequest, slug: str) -> tuple[caption_browser.CaptionView, list[Submission]]:
    """The view of captions that an address requests, and the submissions to choose from."""
    query = query_of(request, slug)
    if not query.challenge.is_public(query.references.captions):
        raise Http404
    values, systems = request.GET, request.GET.getlist("systems")
    files = query.references.captions
    choices = [
        submission
        for submission in choices_of(query, request.user, systems)
        if may_browse(request.user, submission, files)
    ]
    submissions = [submission for submission in choices if str(submission.pk) in systems][:_MAX_SYSTEMS]
    if not systems:
        submissions = choices[:1]
    has_references = query.key in query.phase.reference_sets
    if not has_references or not all(submission.is_current(query.key) for submission in submissions):
        raise OldScoresError
    by, order = values.get("by", ""), values.get("order", "")
    view = caption_browser.CaptionView(
        query,
        submissions,
        by=by if by in query.outputs.names else query.output,
        order=order if order in caption_browser.ORDERS else "lowest" if len(submissions) < 2 else "difference",
        word=values.get("word", "").strip()[:_WORD_LENGTH],
        **{name: _number(values.get(name, "")) for name in ("least", "most", "apart")},
    )
    return view, choices


def _number(text: str) -> float | None:
    """A finite number; None if the text is not one."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None
