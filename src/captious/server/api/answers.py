"""What the API answers, as types: views return them, and the description of the API is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NotRequired

from django.http import HttpRequest
from django.urls import reverse
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from captious.server.boards.board_outputs import BoardOutputs
from captious.server.boards.submission_comparison import ComparedOutput
from captious.server.boards.visible_scores import visible_scores
from captious.server.models import (
    Challenge,
    Invitation,
    RefusedUpload,
    Submission,
    Team,
    TeamApproval,
    TermsAcceptance,
    Webhook,
)
from captious.server.pages.news import news_of
from captious.server.pages.teams import open_invitations
from captious.server.people.access import is_own, may_manage, may_see_scores, warnings_for
from captious.server.scoring import queue
from captious.server.submissions.quotas import Quota

_exact = with_config(ConfigDict(extra="forbid"))


@_exact
class ProblemAnswer(TypedDict):
    """Something that is wrong with captions; ``ids`` are the first of ``n`` images."""

    file: str
    message: str
    ids: list[int | str]
    n: int


@_exact
class ErrorAnswer(TypedDict):
    """The reason why a call was refused."""

    error: str
    problems: NotRequired[list[ProblemAnswer]]


@_exact
class RefusedAnswer(TypedDict):
    """An upload that was refused, and why. ``problems`` are the first of ``n_problems``; the file is not kept."""

    phase: str
    team: str
    method: str
    filename: str
    size: int
    created: datetime
    reason: str
    problems: list[ProblemAnswer]
    n_problems: int


@_exact
class CheckAnswer(TypedDict):
    """The result of a dry run: problems of the captions, and why a submission would be refused now."""

    problems: list[ProblemAnswer]
    remarks: list[str]


@_exact
class PhaseAnswer(TypedDict):
    """A phase; limits of 0 are none."""

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


@_exact
class CaptionsAnswer(TypedDict):
    """A captions file of a submission, and the pattern of its name in a zip file."""

    name: str
    pattern: str


@_exact
class ChallengeSummary(TypedDict):
    """A challenge in the list of all."""

    slug: str
    title: str
    summary: str
    access: str
    is_open: bool
    url: str
    logo: str


@_exact
class ChallengeAnswer(ChallengeSummary):
    """A challenge: its phases, metrics, and what a submission contains."""

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


@_exact
class TermsAnswer(TypedDict):
    """A version of the terms that a team has accepted, by whom and when."""

    team: str
    version: str
    user: str
    time: datetime


@_exact
class TermsTextAnswer(TypedDict):
    """The present terms as HTML, and what your teams have accepted, the latest first."""

    version: str
    title: str
    html: str
    accepted: list[TermsAnswer]


@_exact
class QuotaAnswer(TypedDict):
    """What a team has used up of a phase, and what is left of each quota.

    Limits of 0 are none, of which null is left. ``exhausted`` says why nothing more is taken; it is empty if something
    is.
    """

    phase: str
    scored_today: int
    scored_per_day: int
    scored_left_today: int | None
    scored: int
    scored_in_total: int
    scored_left: int | None
    attempts_today: int
    attempts_per_day: int
    attempts_left_today: int | None
    exhausted: str


@_exact
class ComparisonAnswer(TypedDict):
    """The difference between two submissions in one output, b minus a, by the paired bootstrap."""

    output: str
    a: float
    b: float
    difference: float
    low: float | None
    high: float | None
    p: float | None
    effect_size: float | None
    lower_is_better: bool
    signature: str


@_exact
class MemberAnswer(TypedDict):
    """A member of a team."""

    user: str
    captain: bool
    joined: datetime


@_exact
class InvitationAnswer(TypedDict):
    """An invitation that can be used: whom it is for, and who made it. Its link was shown once, when it was made."""

    id: int
    label: str
    user: str
    created: datetime
    expires: datetime


@_exact
class NewInvitationAnswer(InvitationAnswer):
    """A new invitation with its link, which lets anyone join the team until it expires."""

    link: str


@_exact
class TeamAnswer(TypedDict):
    """A team of yours. Personal ones have one member, and cannot be joined or left."""

    name: str
    slug: str
    personal: bool
    members: list[MemberAnswer]
    invitations: list[InvitationAnswer]
    url: str


@_exact
class LeftAnswer(TypedDict):
    """A team that you have left, and whether it was deleted, as it is if it was empty and nothing was uploaded."""

    team: str
    deleted: bool


@_exact
class ApprovalAnswer(TypedDict):
    """A team that asked the organizers to be approved: asked, approved, or refused for a reason."""

    team: str
    slug: str
    status: str
    message: str
    reason: str
    asked: datetime
    decided: datetime | None


@_exact
class WebhookAnswer(TypedDict):
    """A webhook, with the host of its address, and what it answered last."""

    id: int
    url: str
    created: datetime
    tried: datetime | None
    result: str


@_exact
class NewWebhookAnswer(WebhookAnswer):
    """A new webhook, with its whole address and the secret that signs what it is sent."""

    secret: str


@_exact
class DownloadAnswer(TypedDict):
    """A file that the organizers publish, at /challenges/SLUG/files/FILE."""

    title: str
    file: str
    size: int
    sha256: str


@_exact
class TextAnswer(TypedDict):
    """A text of the organizers as HTML."""

    title: str
    html: str


@_exact
class NewsAnswer(TypedDict):
    """News of the organizers; the text is HTML."""

    title: str
    html: str
    time: datetime


@_exact
class ScoreAnswer(TypedDict):
    """A score with the ends of its interval, rounded as the phase says."""

    score: float | None
    low: float | None
    high: float | None
    signature: str


@_exact
class SubmissionAnswer(TypedDict):
    """A submission. ``scores`` are those of the reference set that ranks, ``all_scores`` of each."""

    id: int
    challenge: str
    phase: str
    method: str
    link: str
    description: str
    team: str
    filename: str
    status: str
    place: int | None
    progress: int
    doing: str
    reason: str
    created: datetime
    finished: datetime | None
    public: bool
    anonymous: bool
    may_publish: bool
    scores: dict[str, float | None]
    all_scores: dict[str, dict[str, ScoreAnswer]]
    digits: int
    chosen: bool
    entry: bool
    warnings: list[str]
    url: str


@_exact
class BoardRow(TypedDict):
    """A row of a leaderboard; ``id`` is that of the submission."""

    id: int
    method: str
    team: str
    rank: int | None
    scores: dict[str, float | None]
    intervals: dict[str, list[float | None]]
    signatures: dict[str, str]
    lower_is_better: list[str]
    baseline: bool
    human: bool
    submitted: datetime
    url: str
    phase: str
    references: str


def challenge_summary(request: HttpRequest, challenge: Challenge) -> ChallengeSummary:
    """A challenge in the list of all."""
    return {
        "slug": challenge.slug,
        "title": challenge.title,
        "summary": challenge.summary,
        "access": challenge.access,
        "is_open": challenge.is_open,
        "url": request.build_absolute_uri(reverse("captious:challenge", args=[challenge.slug])),
        "logo": request.build_absolute_uri(challenge.logo_url) if challenge.logo_url else "",
    }


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
            {
                "name": phase.name,
                "title": str(phase),
                "state": phase.state,
                "opens": phase.opens,
                "closes": phase.closes,
                "captions": phase.captions,
                "scored_per_day": phase.scored_per_day,
                "scored_in_total": phase.scored_in_total,
                "attempts_per_day": phase.attempts_per_day,
                "entries": phase.entries,
                "scores_shown": phase.scores_shown,
            }
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


def approval_answer(row: TeamApproval) -> ApprovalAnswer:
    """A team and whether it is approved, for its members and for those who manage the challenge."""
    return {
        "team": row.team.name,
        "slug": row.team.slug,
        "status": row.status,
        "message": row.message,
        "reason": row.reason,
        "asked": row.asked,
        "decided": row.decided,
    }


def terms_answer(row: TermsAcceptance) -> TermsAnswer:
    """Who has accepted which terms for a team."""
    return {"team": row.team.name, "version": row.version, "user": row.user, "time": row.time}


def quota_answer(quota: Quota) -> QuotaAnswer:
    """What is used up of a phase, and what is left."""
    phase = quota.phase
    return {
        "phase": phase.name,
        "scored_today": quota.scored_today,
        "scored_per_day": phase.scored_per_day,
        "scored_left_today": _left(phase.scored_per_day, quota.scored_today),
        "scored": quota.scored,
        "scored_in_total": phase.scored_in_total,
        "scored_left": _left(phase.scored_in_total, quota.scored),
        "attempts_today": quota.attempts_today,
        "attempts_per_day": phase.attempts_per_day,
        "attempts_left_today": _left(phase.attempts_per_day, quota.attempts_today),
        "exhausted": quota.exhausted,
    }


def _left(limit: int, used: int) -> int | None:
    """What is left of a quota; None if there is none."""
    return max(limit - used, 0) if limit else None


def comparison_answer(row: ComparedOutput) -> ComparisonAnswer:
    """A difference between two submissions."""
    return {
        "output": row.name,
        "a": row.score_a,
        "b": row.score_b,
        "difference": row.difference,
        "low": row.low,
        "high": row.high,
        "p": row.p,
        "effect_size": row.effect_size,
        "lower_is_better": row.lower_is_better,
        "signature": row.signature,
    }


def team_answer(request: HttpRequest, team: Team) -> TeamAnswer:
    """A team, for its members."""
    return {
        "name": team.name,
        "slug": team.slug,
        "personal": team.is_personal,
        "members": [
            {"user": row.user.username, "captain": row.is_captain, "joined": row.joined}
            for row in team.memberships.select_related("user")
        ],
        "invitations": [invitation_answer(row) for row in open_invitations(team)],
        "url": request.build_absolute_uri(team.url),
    }


def invitation_answer(row: Invitation) -> InvitationAnswer:
    """An invitation, without its secret."""
    return {
        "id": row.pk,
        "label": row.label,
        "user": row.created_by.username,
        "created": row.created,
        "expires": row.expires,
    }


def refused_answer(row: RefusedUpload) -> RefusedAnswer:
    """An upload that was refused."""
    return {
        "phase": row.phase.name,
        "team": row.team.name,
        "method": row.method,
        "filename": row.filename,
        "size": row.size,
        "created": row.created,
        "reason": row.reason,
        "problems": row.problems,
        "n_problems": row.n_problems,
    }


def webhook_answer(row: Webhook) -> WebhookAnswer:
    """A webhook without its secret, for those who manage the challenge."""
    return {"id": row.pk, "url": row.shown_url, "created": row.created, "tried": row.tried, "result": row.result}


def submission_answer(submission: Submission, user: Any, places: Mapping[int, int] | None = None) -> SubmissionAnswer:
    """A submission, as a user may see it.

    The team of an anonymous submission is named only to its members and to those who manage the challenge.
    """
    knows_team = is_own(user, submission) or may_manage(user, submission.challenge)
    scores: Any = visible_scores(user, submission)
    ranking = scores.get(BoardOutputs.of_board(submission.phase).main_set, {})
    return {
        "id": submission.pk,
        "challenge": submission.challenge.slug,
        "phase": submission.phase.name,
        "method": submission.method,
        "link": submission.link,
        "description": submission.description,
        "team": submission.team.name if knows_team else submission.team_shown,
        "filename": submission.filename if knows_team else "",
        "status": submission.status,
        "place": queue.place(submission) if places is None else places.get(submission.pk),
        "progress": submission.progress,
        "doing": submission.doing,
        "reason": submission.reason,
        "created": submission.created,
        "finished": submission.finished,
        "public": submission.public,
        "anonymous": submission.anonymous,
        "may_publish": submission.may_publish,
        "scores": {name: entry["score"] for name, entry in ranking.items()},
        "all_scores": scores,
        "digits": submission.phase.digits,
        "chosen": submission.is_chosen and knows_team,
        "entry": submission.is_entry and may_see_scores(user, submission.phase),
        "warnings": warnings_for(user, submission),
        "url": submission.url,
    }
