"""Access rules of all pages and API calls. Objects that a user may not see do not exist for them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from typing import Any, TypeAlias, TypeGuard

from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q, QuerySet
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_http_methods

from captious_server.models import Challenge, Draft, Phase, RefusedUpload, Submission, Token, User
from captious_server.people.accounts import limit
from captious_server.settings import local_time

#: Who asks: a user, or somebody who has not signed in.
Visitor: TypeAlias = User | AnonymousUser

# Requests, as middleware and views of calls complete them.


class Request(HttpRequest):
    """A request, with the time at which its first byte arrived."""

    arrival_time: datetime


class UserRequest(Request):
    """A request of a user who is signed in."""

    user: User


class Call(Request):
    """A call of the API: its token, if it has one, and those parameters that are true or false."""

    token: Token | None
    flags: dict[str, bool]


class UserCall(Call, UserRequest):
    """A call of the API that needs a token."""


def is_signed_in(request: HttpRequest) -> TypeGuard[UserRequest]:
    """Return whether a request comes from a user."""
    return request.user.is_authenticated


# Errors with a status and an explanation of their own, on pages and in the API.


class ExplainedError(Exception):
    """An error answer with a status and its own message, on pages and in the API."""

    status = 404


class ImpossibleError(ExplainedError):
    """What is not possible now, and why, in one sentence. Pages show it at the address ``back``."""

    status = 409

    def __init__(self, message: str, back: str) -> None:
        super().__init__(message)
        self.back = back


class OldScoresError(ExplainedError):
    """The shown scores come from earlier references or metrics than the current ones, which pages would show."""

    status = 503

    def __init__(self) -> None:
        super().__init__(
            "The references or metrics have changed, and submissions are being scored again. Scores of single images "
            "are shown when that is done."
        )


# What a user may see, change and manage.

_View = Callable[..., HttpResponseBase]


def signed_in(*methods: str) -> Callable[[_View], _View]:
    """A page for users who are signed in, and its HTTP methods. What they send is limited, whatever it changes."""

    def limited(view: _View) -> _View:
        @wraps(view)
        def page(request: UserRequest, *parts: Any, **named_parts: Any) -> HttpResponseBase:
            if request.method == "POST":
                limit(request, "change")
            return view(request, *parts, **named_parts)

        return login_required(require_http_methods([*methods])(page))

    return limited


def visible_challenges(user: Visitor) -> QuerySet[Challenge]:
    """The challenges that a user, or a visitor, may see, with their organizers for ``may_manage``."""
    challenges = Challenge.objects.prefetch_related("organizers")
    if user.is_superuser:
        return challenges
    visible = Q(access="public")
    if user.is_authenticated:
        visible |= Q(organizers=user) | Q(participants=user)
    return challenges.filter(visible).distinct()


def may_manage(user: Visitor, challenge: Challenge) -> bool:
    """Return whether a user is an organizer of the challenge or an administrator."""
    return user.is_active and (user.is_superuser or challenge.organizers.contains(user))


def may_see(user: Visitor, challenge: Challenge) -> bool:
    """Return whether a user may see a challenge: anyone may, or only participants and those who manage it."""
    if challenge.access == "public" or may_manage(user, challenge):
        return True
    return user.is_authenticated and challenge.participants.contains(user)


def may_see_board(user: Visitor, phase: Phase) -> bool:
    """Return whether the leaderboard of a phase is shown to a user."""
    return (phase.is_board_open and may_see(user, phase.challenge)) or may_manage(user, phase.challenge)


def why_hidden(phase: Phase) -> str:
    """Why and until when a leaderboard that is not open is hidden, in one or two sentences."""
    if phase.board == "hidden":
        note = " Teams see the scores of their own submissions." if phase.has_scores_open else ""
        return f"The organizers have hidden the leaderboard of this phase.{note}"
    if phase.scores_open_at is not None:
        return f"Scores and ranks are shown when the last uploads have arrived, on {local_time(phase.scores_open_at)}."
    return "This phase does not show scores."


def may_see_scores(user: Visitor, phase: Phase) -> bool:
    """Return whether the scores of visible submissions are shown to a user; for a time only organizers see them."""
    return phase.has_scores_open or may_manage(user, phase.challenge)


def why_withheld(user: Visitor, phase: Phase) -> str:
    """Why and until when a user sees no scores of a phase; empty if they are shown."""
    if may_see_scores(user, phase):
        if phase.ends_at is None or not phase.held_sets or may_manage(user, phase.challenge):
            return ""
        return f"Scores with {' and '.join(phase.held_sets)} are shown on {local_time(phase.ends_at)}."
    if phase.scores_open_at is not None:
        return f"Scores are shown on {local_time(phase.scores_open_at)}."
    return "This phase does not show scores."


def is_own(user: Visitor, submission: Submission) -> bool:
    """Return whether a submission belongs to one of the user's teams, no matter who uploaded it."""
    return user.is_authenticated and submission.team.members.contains(user)


def own_submissions(user: User, challenge: Challenge) -> QuerySet[Submission]:
    """The submissions of the user's teams, the newest first."""
    rows = Submission.objects.filter(team__members=user, phase__challenge=challenge)
    rows = rows.exclude(status=Submission.Status.DELETED)
    return with_owners(rows)


def with_owners(submissions: QuerySet[Submission]) -> QuerySet[Submission]:
    """Submissions with what their pages show and, for ``is_own`` and ``may_manage``, all members and organizers."""
    rows = submissions.select_related("phase__challenge", "team", "user", "shown_scores")
    return rows.prefetch_related("team__members", "phase__challenge__organizers")


def own_refused(user: User, challenge: Challenge) -> QuerySet[RefusedUpload]:
    """The refused uploads of the user's teams that are kept, the newest first."""
    rows = RefusedUpload.objects.filter(team__members=user, phase__challenge=challenge)
    return rows.select_related("phase", "team", "user")


def may_see_submission(user: Visitor, submission: Submission) -> bool:
    """Return whether a user may see a submission: its team, managers of the challenge, and readers of its board."""
    if submission.status == Submission.Status.DELETED:
        return may_manage(user, submission.challenge)
    return _may_change(user, submission) or (submission.is_on_board and may_see_board(user, submission.phase))


def _may_change(user: Visitor, submission: Submission) -> bool:
    """Return whether a user may change a submission, unless it is deleted: its team, and managers of the challenge."""
    challenge = submission.challenge
    return may_manage(user, challenge) or (is_own(user, submission) and may_see(user, challenge))


def may_browse(user: Visitor, submission: Submission, captions: str) -> bool:
    """Return whether a user may see captions and scores of single images, which only public files allow."""
    is_public = submission.challenge.is_public(captions) and may_see_scores(user, submission.phase)
    return is_public and may_see_submission(user, submission)


def challenge_for(user: Visitor, slug: str) -> Challenge:
    """A challenge that the user may see.

    Raises:
        Http404: there is no such object, or the user may not see it.
    """
    return get_object_or_404(visible_challenges(user), slug=slug)


def managed_challenge(user: Visitor, slug: str) -> Challenge:
    """The challenge that a user manages.

    Raises:
        Http404: there is none.
    """
    challenge = challenge_for(user, slug)
    if not may_manage(user, challenge):
        raise Http404
    return challenge


def may_create(user: Visitor) -> bool:
    """Return whether a user may create challenges, as administrators and users with the permission may."""
    return user.is_active and user.has_perm("captious.add_challenge")


def drafts_for(user: Visitor) -> list[Draft]:
    """The drafts that a user may edit, the last changed first."""
    return [draft for draft in Draft.objects.all() if _may_edit(user, draft)]


def draft_for(user: Visitor, slug: str) -> Draft:
    """A draft that the user may edit.

    Raises:
        Http404: there is no such object, or the user may not edit it.
    """
    draft = get_object_or_404(Draft, slug=slug)
    if not _may_edit(user, draft):
        raise Http404
    return draft


def _may_edit(user: Visitor, draft: Draft) -> bool:
    """Return whether a user manages the challenge or, before there is one, began the draft and may still create it."""
    if (challenge := draft.challenge) is not None:
        return may_manage(user, challenge)
    return user.is_active and (user.is_superuser or (draft.user_id == user.pk and may_create(user)))


def submission_for(user: Visitor, pk: int, *, own: bool = False) -> Submission:
    """A submission that the user may see; with ``own``, one that the user may change.

    Raises:
        Http404: there is none, or the user may not see it.
    """
    submission = get_object_or_404(with_owners(Submission.objects.all()), pk=pk)
    is_allowed = _may_change(user, submission) if own else may_see_submission(user, submission)
    if not is_allowed or (own and submission.status == Submission.Status.DELETED):
        raise Http404
    return submission
