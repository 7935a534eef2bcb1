"""Pages of challenges: the overview with news, leaderboards, comparisons, captions, and material for teams."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import wraps
from itertools import accumulate
from operator import attrgetter
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from captious.drawing import SCRIPTS, SCRIPTS_FOLDER
from captious_server.actions import open_phases
from captious_server.actions.downloads import captions_template, file_of, published_file
from captious_server.boards import captions as caption_browser
from captious_server.boards import leaderboard as boards
from captious_server.boards.query import HiddenBoardError, phase_from, query_from, standing_of
from captious_server.boards.query import choices as choices_of
from captious_server.challenges.folder import LOGO_TYPES, news_of
from captious_server.models import Challenge, Draft, Phase, Standing, Submission
from captious_server.pages.middleware import POLICY
from captious_server.people.access import (
    OldScoresError,
    UserRequest,
    Visitor,
    challenge_for,
    draft_for,
    drafts_for,
    may_browse,
    may_create,
    may_manage,
    may_see_board,
    signed_in,
    visible_challenges,
    why_hidden,
)
from captious_server.people.teams import (
    accept,
    accepted_by,
    bans_of,
    confirms_members,
    is_banned,
    teams_of,
    teams_without,
    terms_of,
)
from captious_server.scoring.queue import BoardOutputs
from captious_server.submissions.intake import Quota, quota

# News of a challenge: on its overview, and as an Atom feed.


@require_safe
def feed(request: HttpRequest, slug: str) -> HttpResponse:
    """The news as an Atom feed, for everybody who sees the challenge."""
    challenge = challenge_for(request.user, slug)
    page = request.build_absolute_uri(challenge.url)
    address = request.build_absolute_uri(reverse("captious:news", args=[slug]))
    atom = Atom1Feed(challenge.title, page, challenge.summary, feed_url=address, feed_guid=page)
    for item in news_of(challenge):
        row = item["row"]
        time = row.created.astimezone(UTC)
        link = f"{page}#{item['anchor']}"
        atom.add_item(row.title, link, item["html"], unique_id=link, pubdate=time, updateddate=time)
    return HttpResponse(atom.writeString("utf-8"), atom.content_type)


# The overview of a challenge, and its preview for a draft.


def overview_of(challenge: Challenge, user: Visitor) -> dict[str, Any]:
    """The overview of a challenge for a user or a visitor."""
    member, now = user if user.is_authenticated else None, timezone.now()
    teams = [] if member is None else teams_of(member)
    signatures = _signatures(challenge)
    return {
        **_common_values(challenge),
        "metrics": [*signatures],
        "signatures": signatures if any(signatures.values()) else {},
        # those of the default team of the submission form
        "quotas": [quota(phase, teams[0], member, now) for phase in _phases_with_quotas(challenge, now)]
        if teams
        else [],
        "bans": bans_of(challenge, teams, member) if teams else {},
        "news": news_of(challenge),
    }


def preview_of(draft: Draft) -> dict[str, Any]:
    """The overview of a draft without problems, as seen by a new team, with the news of the challenge as it is."""
    challenge = Challenge(slug=draft.slug, **draft.shown)
    definition = challenge.definition
    challenge.phase_list = [Phase(challenge=challenge, **phase.model_dump()) for phase in definition.phases]
    return {
        **_common_values(challenge),
        "challenge": challenge,
        "metrics": definition.outputs,
        "quotas": [Quota(phase, 0, 0, 0, 0) for phase in _phases_with_quotas(challenge, timezone.now())],
        "news": [] if (current := draft.challenge) is None else news_of(current),
    }


def _common_values(challenge: Challenge) -> dict[str, Any]:
    """The common parts of the overviews of challenges and drafts."""
    sets = {key: row for phase in challenge.phase_list for key, row in phase.reference_sets.items()}
    return {
        "definition": challenge.definition,
        "confirms_members": confirms_members(challenge),
        "terms": terms_of(challenge),
        "sets": [
            {"label": challenge.definition.label(row.captions, row.name), "count": challenge.counts.get(key, 0)}
            for key, row in sets.items()
        ],
    }


def _phases_with_quotas(challenge: Challenge, now: datetime) -> list[Phase]:
    """The open phases that have quotas."""
    return [phase for phase in open_phases(challenge, now) if phase.scored_per_day or phase.scored_in_total]


def _signatures(challenge: Challenge) -> dict[str, list[str]]:
    """The signatures of each output on the boards of the phases, known once something was scored: one for each way in
    which a reference set is scored.
    """
    signatures: dict[str, list[str]] = {}
    for phase in challenge.phase_list:
        submission = Submission.objects.scored().filter(phase=phase).order_by("-shown_scores__finished").first()
        sets = (
            [] if submission is None or submission.shown_scores is None else [*submission.shown_scores.outputs.values()]
        )
        for name in BoardOutputs.of_board(phase).names:
            texts = signatures.setdefault(name, [])
            phase_signatures = dict.fromkeys(outputs[name]["signature"] for outputs in sets if name in outputs)
            texts += [signature for signature in phase_signatures if signature not in texts]
    return signatures


# The cards of the list of challenges: each with its phase, its teams, its leader and the best score over time.

_CURVE_POINTS = 60  # points of a curve


def cards(challenges: Sequence[Challenge], user: Visitor) -> list[dict[str, Any]]:
    """The cards of challenges, those that the user organizes or has submitted to first."""
    own_ids: set[int] = set()
    if user.is_authenticated:
        own_ids |= {*Submission.objects.filter(team__members=user).values_list("phase__challenge_id", flat=True)}
        own_ids |= {*user.organized.values_list("pk", flat=True)}
    rows = [_card(challenge, user, challenge.pk in own_ids) for challenge in challenges]
    return sorted(rows, key=lambda card: not card["is_mine"])


def _card(challenge: Challenge, user: Visitor, is_mine: bool) -> dict[str, Any]:
    """A challenge in the list of challenges.

    Its ``phase`` is the open one that closes next, else the next that opens, else the last one. ``query`` is the board
    of this phase if its board and scores are public, else of the one of those with public boards that follows the same
    rule; if there is one, the card has its ``leader``, the first row, the number of its teams without anonymous ones,
    and its best score so far, after each submission that was better. ``board_url`` is this leaderboard, or else another
    one that the user sees; "" if there is none.
    """
    phase = main_phase(challenge.phase_list)
    default = phase_from([phase for phase in challenge.phase_list if may_see_board(user, phase)], {})
    public = [row for row in challenge.phase_list if row.is_board_open]
    board_phase = phase if phase in public else main_phase(public)
    query = None if board_phase is None else query_from(challenge, {"phase": board_phase.name}, user)
    board = reverse("captious:leaderboard", args=[challenge.slug])
    if query is not None and query.phase != default:
        board += f"?{urlencode({'phase': query.phase.name})}"
    url = "" if default is None else board
    card = {"challenge": challenge, "phase": phase, "is_mine": is_mine, "query": query, "board_url": url}
    if query is None:
        return card
    standing = standing_of(query)
    teams = Submission.objects.competing().filter(phase=query.phase, is_baseline=False, anonymous=False)
    return card | {
        "leader": next(boards.rows_at(query, standing, range(1)), None),
        "n_teams": teams.values("team").distinct().count(),
        "curve": _curve(standing, lower_is_better=query.lower_is_better),
    }


def main_phase(phases: Sequence[Phase]) -> Phase | None:
    """The open phase that closes next, else the next that opens, else the last one; the first in case of a tie."""
    forever = datetime.max.replace(tzinfo=UTC)
    open_phases = [phase for phase in phases if phase.state == "open"]
    upcoming = [phase for phase in phases if phase.state == "upcoming"]
    if open_phases:
        return min(open_phases, key=lambda phase: phase.closes or forever)
    return min(upcoming, key=attrgetter("opens")) if upcoming else phases[-1] if phases else None


def _curve(standing: Standing, *, lower_is_better: bool | None) -> list[float]:
    """The best score on the board after each submission that improved it, in the order of submission."""
    pairs = sorted(zip(standing.submissions, standing.scores, strict=True))
    scores = [score for _, score in pairs if score is not None]
    best = [*accumulate(scores, min if lower_is_better else max)]
    records = [score for i, score in enumerate(best) if i == 0 or score != best[i - 1]]
    return records[-_CURVE_POINTS:]


# The list of challenges, the organizers' texts, leaderboards, comparisons, and captions of single images.

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
    challenges = visible_challenges(request.user).prefetch_related("phases")
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


def page_of(request: HttpRequest, rows: Any, per_page: int | None = None) -> Page[Any]:
    """The requested page of a list or queryset: the nearest one if there is no such page.

    Args:
        per_page: by default, as on leaderboards.
    """
    return Paginator(rows, per_page or boards.ROWS_PER_PAGE).get_page(request.GET.get("page"))


@require_safe
@_explains_hidden_board
def leaderboard(request: HttpRequest, slug: str) -> HttpResponse:
    """A page of a leaderboard."""
    query = boards.query_of(request, slug)
    board = boards.board(query, request.user, request.GET.get("page"))
    return challenge_page(request, query.challenge, "leaderboard", "leaderboard", board=board, page=board.page)


@require_safe
def leaderboard_json(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """A leaderboard as JSON."""
    return boards.json_file(boards.query_of(request, slug))


@require_safe
def leaderboard_csv(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """A leaderboard as CSV."""
    query = boards.query_of(request, slug)
    header, rows = boards.as_table(boards.all_rows(query), query)
    return boards.csv_file(header, rows, f"{slug}-{query.phase.name}-{query.key.replace('/', '-')}.csv")


@require_safe
@_explains_hidden_board
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two submissions of a leaderboard, with tests; teams can also compare their private ones."""
    query, choices, (a, b), rows = boards.requested_comparison(request, slug)
    return challenge_page(
        request,
        query.challenge,
        "compare",
        "leaderboard",
        board=boards.board(query, request.user),
        choices=choices,
        a=a,
        b=b,
        ranks=standing_of(query).rank_of,
        rows=rows,
        better=_counts(row for row in rows if row.difference and row.is_better),
        worse=_counts(row for row in rows if row.difference and not row.is_better),
        n_ticked=len(request.GET.getlist("systems")),
    )


def _counts(rows: Iterable[boards.ComparedOutput]) -> dict[str, int]:
    """The number of differences, and of significant ones."""
    significant = [row.is_significant for row in rows]
    return {"n": len(significant), "significant": sum(significant)}


@require_safe
@_explains_hidden_board
def captions(request: HttpRequest, slug: str) -> HttpResponse:
    """Captions of submissions image by image, for captions files that are public."""
    view, choices = _caption_view(request, slug)
    page = page_of(request, caption_browser.positions_of(view), _IMAGES_PER_PAGE)
    page.object_list = caption_browser.rows_of(view, page)
    return challenge_page(
        request,
        view.query.challenge,
        "captions",
        "leaderboard",
        choices=choices,
        view=view,
        page=page,
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
    )


def _caption_view(request: HttpRequest, slug: str) -> tuple[caption_browser.CaptionView, list[Submission]]:
    """The view of captions that an address requests, and the submissions to choose from."""
    query = boards.query_of(request, slug)
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


# Material for teams: files to download, templates of submissions, and terms to accept.


@require_safe
def download(request: HttpRequest, slug: str, name: str) -> FileResponse:
    """A file that the organizers publish."""
    return published_file(challenge_for(request.user, slug), name)


@signed_in("GET", "HEAD")
def draft_download(request: UserRequest, slug: str, name: str) -> FileResponse:
    """A file to download of a draft that has no problems."""
    draft = draft_for(request.user, slug)
    return file_of(draft.folder, draft.shown.get("downloads", ()), name)


@signed_in("GET", "HEAD")
def template(request: UserRequest, slug: str) -> StreamingHttpResponse:
    """A template of the captions files of a phase: JSON, or a zip file if there are several."""
    return captions_template(request, challenge_for(request.user, slug))


@require_safe
def logo(request: HttpRequest, slug: str) -> HttpResponse:
    """The logo."""
    challenge = challenge_for(request.user, slug)
    response = _logo_of(challenge.folder, challenge.definition.logo)
    if request.GET.get("v") == str(challenge.version):
        response["Cache-Control"] = "private, max-age=86400"
    return response


@signed_in("GET", "HEAD")
def draft_logo(request: UserRequest, slug: str) -> HttpResponse:
    """The logo of a draft that has no problems."""
    draft = draft_for(request.user, slug)
    return _logo_of(draft.folder, draft.shown.get("definition_values", {}).get("logo", ""))


def _logo_of(folder: Path, name: str) -> HttpResponse:
    """The logo in a challenge folder. An SVG opened by itself can neither run scripts nor act as the site.

    Raises:
        Http404: there is no logo.
    """
    path = folder / name
    kind = LOGO_TYPES.get(path.suffix.lower())
    if not name or kind is None or not path.is_file():
        raise Http404
    response = HttpResponse(path.read_bytes(), kind)
    response["Content-Security-Policy"] = f"{POLICY}; sandbox"
    return response


@signed_in("GET", "HEAD", "POST")
def terms(request: UserRequest, slug: str) -> HttpResponse:
    """Read the terms, and accept them for a team. Organizers see the acceptances."""
    challenge = challenge_for(request.user, slug)
    text = terms_of(challenge)
    if text is None:
        raise Http404
    teams = teams_of(request.user)
    if request.method == "POST":
        team = next((team for team in teams if team.slug == request.POST.get("team")), None)
        if team is None or request.POST.get("version") != challenge.terms_version:
            messages.error(request, "The terms were not accepted. Choose a team and read the current version.")
            return redirect("captious:terms", slug)
        accept(request, challenge, team)
        messages.success(request, f"Terms accepted for {team}.")
        return redirect("captious:terms", slug)
    return challenge_page(
        request,
        challenge,
        "terms",
        text=text,
        waiting=teams_without(challenge, teams),
        accepted=accepted_by(challenge, teams),
        everybody=challenge.acceptances.select_related("team"),
    )
