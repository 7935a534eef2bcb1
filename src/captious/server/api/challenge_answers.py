"""Answers of the API about challenges: phases, texts, files, news and terms."""

from __future__ import annotations

from datetime import datetime

from django.http import HttpRequest
from typing_extensions import TypedDict

from captious.server.api.answers import answer_from, exact
from captious.server.challenges.news import news_of
from captious.server.models import Challenge, TermsAcceptance
from captious.server.people.access import why_withheld


@exact
class PhaseAnswer(TypedDict):
    """A phase; a limit of 0 means none. ``withheld`` says why and until when scores are not shown, else it is empty."""

    name: str
    title: str
    state: str
    opens: datetime | None
    closes: datetime | None
    captions: list[str]
    scored_per_day: int
    scored_in_total: int
    attempts_per_day: int
    entries: str
    scores_shown: str
    withheld: str


@exact
class CaptionsAnswer(TypedDict):
    """A captions file of a submission, and the pattern of its name in a zip file."""

    name: str
    pattern: str


@exact
class DownloadAnswer(TypedDict):
    """A file that the organizers publish, at /challenges/SLUG/files/FILE."""

    title: str
    file: str
    size: int
    sha256: str


@exact
class TextAnswer(TypedDict):
    """A text of the organizers as HTML."""

    title: str
    html: str


@exact
class NewsAnswer(TypedDict):
    """News of the organizers; the text is HTML."""

    title: str
    html: str
    time: datetime


@exact
class ChallengeSummary(TypedDict):
    """A challenge in the list of all. ``withheld`` has a sentence for each phase whose scores are not shown now."""

    slug: str
    title: str
    summary: str
    access: str
    is_open: bool
    withheld: list[str]
    url: str
    logo: str


@exact
class ChallengeAnswer(ChallengeSummary):
    """A challenge: its phases, its metrics, and the contents of submissions."""

    metrics: list[str]
    lower_is_better: list[str]
    rank_by: str
    captions: list[CaptionsAnswer]
    phases: list[PhaseAnswer]
    files: list[DownloadAnswer]
    texts: list[TextAnswer]
    news: list[NewsAnswer]
    terms_version: str
    team_approval: bool
    team_size: int
    teams_close: datetime | None
    license: str
    citation: str


@exact
class TermsAnswer(TypedDict):
    """A version of the terms that a team has accepted, by whom and when."""

    team: str
    version: str
    user: str
    time: datetime


@exact
class TermsTextAnswer(TypedDict):
    """The current terms as HTML, and the acceptances by your teams, latest first."""

    version: str
    title: str
    html: str
    accepted: list[TermsAnswer]


def challenge_summary(request: HttpRequest, challenge: Challenge) -> ChallengeSummary:
    """A challenge in the list of all."""
    reasons = {phase: why_withheld(request.user, phase) for phase in challenge.phase_list}
    return answer_from(
        ChallengeSummary,
        challenge,
        withheld=[f"{phase}: {reason}" for phase, reason in reasons.items() if reason],
        url=request.build_absolute_uri(challenge.url),
        logo=request.build_absolute_uri(challenge.logo_url) if challenge.logo_url else "",
    )


def challenge_answer(request: HttpRequest, challenge: Challenge) -> ChallengeAnswer:
    """A challenge."""
    definition = challenge.definition
    return {
        **challenge_summary(request, challenge),
        "metrics": list(definition.outputs),
        "lower_is_better": list(definition.lower_is_better),
        "rank_by": definition.rank_by,
        "captions": [{"name": captions.name, "pattern": captions.pattern} for captions in definition.captions],
        "phases": [
            answer_from(PhaseAnswer, phase, title=str(phase), withheld=why_withheld(request.user, phase))
            for phase in challenge.phase_list
        ],
        "files": challenge.downloads,
        "texts": [{"title": text["title"], "html": text["html"]} for text in challenge.texts],
        "news": [
            {"title": item["row"].title, "html": item["html"], "time": item["row"].created}
            for item in news_of(challenge)
        ],
        "terms_version": challenge.terms_version,
        "team_approval": definition.team_approval,
        "team_size": definition.team_size,
        "teams_close": definition.teams_close,
        "license": definition.license,
        "citation": definition.citation,
    }


def terms_answer(row: TermsAcceptance) -> TermsAnswer:
    """The terms that were accepted for a team, and by whom."""
    return answer_from(TermsAnswer, row, team=row.team.name)
