"""Types of the API's answers, which views return and from which the description of the API is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NotRequired, TypeVar

from django.http import HttpRequest
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from captious_server.actions import open_invitations
from captious_server.boards.fields import Value, shown_fields
from captious_server.boards.leaderboard import ComparedOutput
from captious_server.boards.query import visible_scores, warnings_for
from captious_server.boards.submission_pages import Ranks
from captious_server.challenges.folder import news_of
from captious_server.models import (
    Challenge,
    Invitation,
    RefusedUpload,
    Submission,
    Team,
    TeamApproval,
    TermsAcceptance,
    Webhook,
)
from captious_server.people.access import Visitor, is_own, may_manage, may_see_scores, why_withheld
from captious_server.people.teams import confirms_members
from captious_server.scoring import queue
from captious_server.scoring.queue import BoardOutputs
from captious_server.submissions.intake import Quota

# Common parts of answers, and answers that report problems and errors.

_Answer = TypeVar("_Answer")


@with_config(ConfigDict(extra="forbid"))
class Answer(TypedDict):
    """An answer has the keys of its type, and no others."""


def answer_from(answer: type[_Answer], row: object, **values: Any) -> _Answer:
    """An answer of a type: the attributes of a row with the names of its keys, and other values.

    Args:
        values: the values of keys that the row does not have by these names.
    """
    keys: Any = answer.__annotations__
    return answer(**{key: values[key] if key in values else getattr(row, key) for key in keys})


class ProblemAnswer(Answer):
    """A problem with captions; ``ids`` are the first of ``n`` images."""

    file: str
    message: str
    ids: list[int | str]
    n: int


class ErrorAnswer(Answer):
    """The reason why a call was refused."""

    error: str
    problems: NotRequired[list[ProblemAnswer]]


# Answers of the API about leaderboards: rows, and comparisons of two submissions.


class BoardRow(Answer):
    """A row of a leaderboard; ``id`` identifies the submission."""

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
    fields: dict[str, Value]
    url: str
    phase: str
    references: str


class ComparisonAnswer(Answer):
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


def comparison_answer(row: ComparedOutput) -> ComparisonAnswer:
    """A difference between two submissions."""
    return answer_from(ComparisonAnswer, row, output=row.name, a=row.score_a, b=row.score_b)


# Answers of the API about challenges: phases, texts, files, news and terms.


class PhaseAnswer(Answer):
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


class CaptionsAnswer(Answer):
    """A captions file of a submission, and the pattern of its name in a zip file."""

    name: str
    pattern: str


class FieldAnswer(Answer):
    """A field of submissions, of the kind "text", "number" or "yes/no", which "teams" or "organizers" fill in."""

    name: str
    label: str
    kind: str
    filled_by: str
    required: bool
    on_board: bool


class DownloadAnswer(Answer):
    """A file that the organizers publish, at /challenges/SLUG/files/FILE."""

    title: str
    file: str
    size: int
    sha256: str


class TextAnswer(Answer):
    """A text of the organizers as HTML."""

    title: str
    html: str


class NewsAnswer(Answer):
    """News of the organizers; the text is HTML."""

    title: str
    html: str
    time: datetime


class ChallengeSummary(Answer):
    """A challenge in the list of all. ``withheld`` has a sentence for each phase whose scores are not shown now."""

    slug: str
    title: str
    summary: str
    access: str
    is_open: bool
    withheld: list[str]
    url: str
    logo: str


class ChallengeAnswer(ChallengeSummary):
    """A challenge: its phases, its metrics, and the contents of submissions."""

    metrics: list[str]
    lower_is_better: list[str]
    rank_by: str
    captions: list[CaptionsAnswer]
    fields: list[FieldAnswer]
    phases: list[PhaseAnswer]
    files: list[DownloadAnswer]
    texts: list[TextAnswer]
    news: list[NewsAnswer]
    terms_version: str
    team_approval: bool
    confirmed_members: bool
    mail_domains: list[str]
    team_size: int
    teams_close: datetime | None
    license: str
    citation: str


class TermsAnswer(Answer):
    """A version of the terms that a team has accepted, by whom and when."""

    team: str
    version: str
    user: str
    time: datetime


class TermsTextAnswer(Answer):
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
    return answer_from(
        ChallengeAnswer,
        definition,
        **challenge_summary(request, challenge),
        metrics=definition.outputs,
        captions=[answer_from(CaptionsAnswer, row) for row in definition.captions],
        fields=[answer_from(FieldAnswer, row) for row in definition.fields],
        phases=[
            answer_from(PhaseAnswer, phase, title=str(phase), withheld=why_withheld(request.user, phase))
            for phase in challenge.phase_list
        ],
        files=challenge.downloads,
        texts=[{"title": text["title"], "html": text["html"]} for text in challenge.texts],
        news=[
            {"title": item["row"].title, "html": item["html"], "time": item["row"].created}
            for item in news_of(challenge)
        ],
        terms_version=challenge.terms_version,
        confirmed_members=confirms_members(challenge),
    )


def terms_answer(row: TermsAcceptance) -> TermsAnswer:
    """The terms that were accepted for a team, and by whom."""
    return answer_from(TermsAnswer, row, team=row.team.name)


# Answers of the API about submissions: checks, scores and quotas.


class RefusedAnswer(Answer):
    """A refused upload and the reason. ``problems`` are the first of ``n_problems``; the file is not kept."""

    phase: str
    team: str
    method: str
    filename: str
    size: int
    created: datetime
    reason: str
    problems: list[ProblemAnswer]
    n_problems: int


class CheckAnswer(Answer):
    """The result of a dry run: problems of the captions, why a submission would be refused now, and what may be a
    mistake.
    """

    problems: list[ProblemAnswer]
    remarks: list[str]
    warnings: list[str]


class ScoreAnswer(Answer):
    """A score with the ends of its interval, rounded to the digits of the phase."""

    score: float | None
    low: float | None
    high: float | None
    signature: str


class SubmissionAnswer(Answer):
    """A submission. ``scores`` belong to ``references``, the ranking reference set; ``all_scores`` has every set.

    ``place`` is its place in the queue, and ``rank`` that on the leaderboard, if the leaderboard shows it to you.
    ``withheld`` says why and until when the phase does not show scores; empty if it does.
    """

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
    rank: int | None
    progress: int
    doing: str
    reason: str
    created: datetime
    finished: datetime | None
    public: bool
    anonymous: bool
    may_publish: bool
    fields: dict[str, Value]
    references: str
    scores: dict[str, float | None]
    all_scores: dict[str, dict[str, ScoreAnswer]]
    digits: int
    chosen: bool
    entry: bool
    withheld: str
    warnings: list[str]
    url: str


class FilledAnswer(Answer):
    """The number of submissions that a table has set fields of."""

    submissions: int


class QuotaAnswer(Answer):
    """The used and remaining quotas of a team in a phase.

    A limit of 0 means that there is none, so that null is left. ``exhausted`` says why no more uploads are accepted; it
    is empty if they are.
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


def submission_answers(submissions: Iterable[Submission], user: Visitor) -> list[SubmissionAnswer]:
    """Submissions, as a user may see them.

    The teams of anonymous submissions are named only to their members and to those who manage the challenge.
    """
    submissions, rank_of = [*submissions], Ranks(user)
    is_queued = any(submission.status == Submission.Status.QUEUED for submission in submissions)
    places = queue.places() if is_queued else {}
    return [_submission_answer(submission, user, places, rank_of) for submission in submissions]


def submission_answer(submission: Submission, user: Visitor) -> SubmissionAnswer:
    """A submission, as in ``submission_answers``."""
    return submission_answers([submission], user)[0]


def _submission_answer(
    submission: Submission, user: Visitor, places: Mapping[int, int], rank_of: Ranks
) -> SubmissionAnswer:
    knows_team = is_own(user, submission) or may_manage(user, submission.challenge)
    scores: Any = visible_scores(user, submission)
    first_set = BoardOutputs.of_board(submission.phase).first_set(submission.phase)
    return answer_from(
        SubmissionAnswer,
        submission,
        challenge=submission.challenge.slug,
        phase=submission.phase.name,
        team=submission.team.name if knows_team else submission.team_shown,
        filename=submission.filename if knows_team else "",
        place=places.get(submission.pk),
        rank=rank_of(submission),
        references=first_set,
        scores={name: entry["score"] for name, entry in scores.get(first_set, {}).items()},
        all_scores=scores,
        digits=submission.phase.digits,
        chosen=submission.is_chosen and knows_team,
        entry=submission.is_entry and may_see_scores(user, submission.phase),
        withheld=why_withheld(user, submission.phase),
        fields=shown_fields(user, submission),
        warnings=warnings_for(user, submission),
    )


def refused_answer(row: RefusedUpload) -> RefusedAnswer:
    """An upload that was refused."""
    return answer_from(RefusedAnswer, row, phase=row.phase.name, team=row.team.name)


def quota_answer(quota: Quota) -> QuotaAnswer:
    """The use of the quotas of a phase, and what remains."""
    phase = quota.phase
    limits = {name: getattr(phase, name) for name in ("scored_per_day", "scored_in_total", "attempts_per_day")}
    return answer_from(QuotaAnswer, quota, phase=phase.name, **limits)


# Answers of the API about teams: members, invitations and approval by organizers.


class MemberAnswer(Answer):
    """A member of a team."""

    user: str
    captain: bool
    joined: datetime


class InvitationAnswer(Answer):
    """A valid invitation with its label and author. Its link was shown once, at its creation."""

    id: int
    label: str
    user: str
    created: datetime
    expires: datetime


class NewInvitationAnswer(InvitationAnswer):
    """A new invitation with its link, which lets anyone join the team until it expires."""

    link: str


class TeamAnswer(Answer):
    """A team of yours. Personal ones have one member, and cannot be joined or left."""

    name: str
    slug: str
    personal: bool
    members: list[MemberAnswer]
    invitations: list[InvitationAnswer]
    url: str


class LeftAnswer(Answer):
    """A team that you have left, and whether it was deleted because it was empty and had no uploads."""

    team: str
    deleted: bool


class ApprovalAnswer(Answer):
    """A team that asked the organizers to be approved: asked, approved, or refused for a reason."""

    team: str
    slug: str
    status: str
    message: str
    reason: str
    asked: datetime
    decided: datetime | None


def team_answer(request: HttpRequest, team: Team) -> TeamAnswer:
    """A team, for its members."""
    return answer_from(
        TeamAnswer,
        team,
        personal=team.is_personal,
        members=[
            {"user": row.user.username, "captain": row.is_captain, "joined": row.joined}
            for row in team.memberships.select_related("user")
        ],
        invitations=[invitation_answer(row) for row in open_invitations(team)],
        url=request.build_absolute_uri(team.url),
    )


def invitation_answer(row: Invitation) -> InvitationAnswer:
    """An invitation, without its secret."""
    return answer_from(InvitationAnswer, row, user=row.created_by.username)


def approval_answer(row: TeamApproval) -> ApprovalAnswer:
    """A team and whether it is approved, for its members and for those who manage the challenge."""
    return answer_from(ApprovalAnswer, row, team=row.team.name, slug=row.team.slug)


# Answers of the API about webhooks.


class WebhookAnswer(Answer):
    """A webhook with the host of its address and its last answer."""

    id: int
    url: str
    created: datetime
    tried: datetime | None
    result: str


class NewWebhookAnswer(WebhookAnswer):
    """A new webhook with its full address and the secret that signs its calls."""

    secret: str


def webhook_answer(row: Webhook) -> WebhookAnswer:
    """A webhook without its secret, for those who manage the challenge."""
    return answer_from(WebhookAnswer, row, url=str(row))
