"""Calls of the API about material for teams: files, templates, terms, quotas, comparisons."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone

from captious.server.actions.downloads import captions_template, published_file, scores_of_images
from captious.server.actions.leaderboards import requested_comparison
from captious.server.api.board_answers import ComparisonAnswer, comparison_answer
from captious.server.api.calls import Failure, Operation, Parameter, call
from captious.server.api.challenge_answers import TermsAnswer, TermsTextAnswer, terms_answer
from captious.server.api.submission_answers import QuotaAnswer, RefusedAnswer, quota_answer, refused_answer
from captious.server.api.uploads import team_of
from captious.server.people.access import challenge_for, own_refused, submission_for
from captious.server.people.audit import record
from captious.server.people.rate_limits import limit
from captious.server.people.teams import teams_of
from captious.server.people.terms import accept, accepted_by, terms_of
from captious.server.submissions.quotas import quota

_TEAM = Parameter("team", "Defaults to your only team.")


@call(
    GET=Operation(
        "A file that the organizers publish.",
        "application/octet-stream",
        parameters=[Parameter("file", "The name of the file, as listed by the challenge.", is_required=True)],
    )
)
def files(request: HttpRequest, slug: str) -> HttpResponse:
    """A file that the organizers publish."""
    return published_file(challenge_for(request.user, slug), request.GET.get("file", ""))


@call(
    GET=Operation(
        "A template of the captions files of an open phase: JSON, or a zip file if there are several.",
        "application/octet-stream",
        parameters=[Parameter("phase", "Its name.", is_required=True)],
        needs_user=True,
    )
)
def template(request: HttpRequest, slug: str) -> HttpResponse:
    """A template of a captions file."""
    return captions_template(request, challenge_for(request.user, slug))


@call(
    GET=Operation("The terms and their acceptances by your teams.", TermsTextAnswer, needs_user=True),
    POST=Operation(
        "Accept the current terms of a challenge for a team.",
        TermsAnswer,
        parameters=[
            Parameter("version", "The version of the terms that you read.", is_required=True),
            _TEAM,
        ],
        errors=[400, 409],
    ),
)
def terms(request: HttpRequest, slug: str) -> HttpResponse:
    """Read the terms, or accept them for a team."""
    challenge = challenge_for(request.user, slug)
    text = terms_of(challenge)
    if text is None:
        raise Http404
    if request.method == "GET":
        acceptances = [terms_answer(row) for row in accepted_by(challenge, teams_of(request.user))]
        text_values = {"version": challenge.terms_version, "title": text["title"], "html": text["html"]}
        return JsonResponse({**text_values, "accepted": acceptances})
    limit(request, "change")
    if request.GET.get("version") != challenge.terms_version:
        raise Failure(409, f"The current version of the terms is {challenge.terms_version}: {challenge.url}terms")
    row = accept(challenge, team_of(request), request.user)
    record("accept terms", row.team.name, request=request, challenge=challenge, detail=row.version)
    return JsonResponse(terms_answer(row))


@call(
    GET=Operation(
        "The used and remaining quotas of a team in each phase.",
        list[QuotaAnswer],
        parameters=[_TEAM],
        needs_user=True,
        errors=[400],
    )
)
def quotas(request: HttpRequest, slug: str) -> HttpResponse:
    """The quotas of a team: used, limits, and remaining."""
    challenge = challenge_for(request.user, slug)
    team, now = team_of(request), timezone.now()
    answers = [quota_answer(quota(phase, team, request.user, now)) for phase in challenge.phase_list]
    return JsonResponse(answers, safe=False)


@call(
    GET=Operation(
        "The latest refused uploads of your teams with their problems, newest first.",
        list[RefusedAnswer],
        needs_user=True,
    )
)
def refused(request: HttpRequest, slug: str) -> HttpResponse:
    """The refused uploads. Their files are not kept."""
    rows = own_refused(request.user, challenge_for(request.user, slug))
    return JsonResponse([refused_answer(row) for row in rows], safe=False)


@call(
    GET=Operation(
        "Compare two submissions in every output that both have.",
        list[ComparisonAnswer],
        parameters=[
            Parameter("a", "The id of a submission on the leaderboard, or one of yours.", "integer", is_required=True),
            Parameter("b", "The id of the other submission.", "integer", is_required=True),
            Parameter("phase", "The name of the phase; defaults to the open one."),
            Parameter("references", "A reference set, such as c5, or val2014/c5."),
        ],
        errors=[403],
    )
)
def compare(request: HttpRequest, slug: str) -> HttpResponse:
    """Two submissions, compared as on the page."""
    _, rows = requested_comparison(request, slug)
    if not rows:
        raise Failure(404, "Set a and b to the ids of two submissions on this leaderboard, or of yours.")
    return JsonResponse([comparison_answer(row) for row in rows], safe=False)


@call(
    GET=Operation(
        "Captions, references and scores of single images as CSV, where references are public.",
        "text/csv",
        parameters=[
            Parameter("captions", "The name of the captions file.", is_required=True),
            Parameter("references", "The reference set.", is_required=True),
        ],
        errors=[409],
    )
)
def scores(request: HttpRequest, pk: int) -> HttpResponse:
    """Scores of single images."""
    names = (request.GET.get(name, "") for name in ("captions", "references"))
    return scores_of_images(request.user, submission_for(request.user, pk), *names)
