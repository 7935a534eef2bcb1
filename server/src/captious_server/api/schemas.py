"""Types of the API's answers, which views return and from which the description of the API is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import Annotated, Any, NotRequired, TypeVar, get_type_hints

from django.http import HttpRequest
from pydantic import ConfigDict, with_config
from typing_extensions import TypedDict

from captious_server.actions import open_invitations
from captious_server.boards.fields import Value, shown_fields
from captious_server.boards.query import Query, standing_of, visible_scores, warnings_for
from captious_server.boards.submission_pages import query_of
from captious_server.challenges.folder import news_of
from captious_server.models import Challenge, Submission, Team
from captious_server.people.access import Visitor, is_own, may_manage, may_see_board, may_see_scores, why_withheld
from captious_server.people.teams import confirms_members
from captious_server.scoring import queue

# Common parts of answers, and answers that report problems and errors.

_Answer = TypeVar("_Answer")


@with_config(ConfigDict(extra="forbid"))
class Answer(TypedDict):
    """An answer has the keys of its type, and no others."""


def answer_from(answer: type[_Answer], row: object, **values: Any) -> _Answer:
    """An answer of a type: attributes of a row, and other values.

    Args:
        values: the values of keys that the row does not have.
    """
    getters = _getters(answer)  # type: ignore[arg-type]  # mypy doubts that types are hashable
    return answer(**{key: values[key] if key in values else get(row) for key, get in getters.items()})


@cache
def _getters(answer: type[Any]) -> dict[str, attrgetter[Any]]:
    """Key -> the attribute that has its value: that of the same name, or the one that the type of the key is with."""
    hints = get_type_hints(answer, include_extras=True).items()
    return {key: attrgetter(*getattr(hint, "__metadata__", (key,))) for key, hint in hints}


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

    output: Annotated[str, "name"]
    a: Annotated[float, "score_a"]
    b: Annotated[float, "score_b"]
    difference: float
    low: float | None
    high: float | None
    p: float | None
    effect_size: float | None
    lower_is_better: bool
    signature: str


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

    team: Annotated[str, "team.name"]
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


# Answers of the API about submissions: checks, scores and quotas.


class RefusedAnswer(Answer):
    """A refused upload and the reason. ``problems`` are the first of ``n_problems``; the file is not kept."""

    phase: Annotated[str, "phase.name"]
    team: Annotated[str, "team.name"]
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
    challenge: Annotated[str, "challenge.slug"]
    phase: Annotated[str, "phase.name"]
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
    digits: Annotated[int, "phase.digits"]
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

    phase: Annotated[str, "phase.name"]
    scored_today: int
    scored_per_day: Annotated[int, "phase.scored_per_day"]
    scored_left_today: int | None
    scored: int
    scored_in_total: Annotated[int, "phase.scored_in_total"]
    scored_left: int | None
    attempts_today: int
    attempts_per_day: Annotated[int, "phase.attempts_per_day"]
    attempts_left_today: int | None
    exhausted: str


def submission_answers(submissions: Iterable[Submission], user: Visitor) -> list[SubmissionAnswer]:
    """Submissions, as a user may see them.

    The teams of anonymous submissions are named only to their members and to those who manage the challenge.
    """
    submissions, ranks = [*submissions], cache(lambda query: standing_of(query).rank_of)  # a board is read once
    is_queued = any(submission.status == Submission.Status.QUEUED for submission in submissions)
    places = queue.places() if is_queued else {}
    return [_submission_answer(submission, user, places, ranks) for submission in submissions]


def submission_answer(submission: Submission, user: Visitor) -> SubmissionAnswer:
    """A submission, as in ``submission_answers``."""
    return submission_answers([submission], user)[0]


def _submission_answer(
    submission: Submission, user: Visitor, places: Mapping[int, int], ranks: Callable[[Query], Mapping[int, int | None]]
) -> SubmissionAnswer:
    knows_team = is_own(user, submission) or may_manage(user, submission.challenge)
    scores: Any = visible_scores(user, submission)
    query = query_of(submission) if may_see_board(user, submission.phase) else None
    first_set = queue.BoardOutputs.of_board(submission.phase).first_set(submission.phase)
    return answer_from(
        SubmissionAnswer,
        submission,
        team=submission.team.name if knows_team else submission.team_shown,
        filename=submission.filename if knows_team else "",
        place=places.get(submission.pk),
        rank=None if query is None else ranks(query).get(submission.pk),
        references=first_set,
        scores={name: entry["score"] for name, entry in scores.get(first_set, {}).items()},
        all_scores=scores,
        chosen=submission.is_chosen and knows_team,
        entry=submission.is_entry and may_see_scores(user, submission.phase),
        withheld=why_withheld(user, submission.phase),
        fields=shown_fields(user, submission),
        warnings=warnings_for(user, submission),
    )


# Answers of the API about teams: members, invitations and approval by organizers.


class MemberAnswer(Answer):
    """A member of a team."""

    user: Annotated[str, "user.username"]
    captain: Annotated[bool, "is_captain"]
    joined: datetime


class InvitationAnswer(Answer):
    """A valid invitation with its label and author. Its link was shown once, at its creation."""

    id: int
    label: str
    user: Annotated[str, "created_by.username"]
    created: datetime
    expires: datetime


class NewInvitationAnswer(InvitationAnswer):
    """A new invitation with its link, which lets anyone join the team until it expires."""

    link: str


class TeamAnswer(Answer):
    """A team of yours. Personal ones have one member, and cannot be joined or left."""

    name: str
    slug: str
    personal: Annotated[bool, "is_personal"]
    members: list[MemberAnswer]
    invitations: list[InvitationAnswer]
    url: str


class LeftAnswer(Answer):
    """A team that you have left, and whether it was deleted because it was empty and had no uploads."""

    team: str
    deleted: bool


class ApprovalAnswer(Answer):
    """A team that asked the organizers to be approved: asked, approved, or refused for a reason."""

    team: Annotated[str, "team.name"]
    slug: Annotated[str, "team.slug"]
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
        members=[answer_from(MemberAnswer, row) for row in team.memberships.select_related("user")],
        invitations=[answer_from(InvitationAnswer, row) for row in open_invitations(team)],
        url=request.build_absolute_uri(team.url),
    )


# Answers of the API about webhooks.


class WebhookAnswer(Answer):
    """A webhook with the host of its address and its last answer."""

    id: int
    url: Annotated[str, "shown_url"]
    created: datetime
    tried: datetime | None
    result: str


class NewWebhookAnswer(WebhookAnswer):
    """A new webhook with its full address and the secret that signs its calls."""

    secret: str
