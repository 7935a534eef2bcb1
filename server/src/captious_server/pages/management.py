"""The organizers' pages of a challenge: submissions, participants, the log, approvals, versions and webhooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from allauth.account.decorators import reauthentication_required
from django import forms
from django.contrib import messages
from django.db.models import Count, Q, QuerySet
from django.forms import Form
from django.http import Http404, HttpResponse, QueryDict, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone

from captious.drawing import counted
from captious_server import actions
from captious_server.actions.downloads import archive_answer
from captious_server.actions.loading import changes_between
from captious_server.boards.fields import TableError
from captious_server.boards.query import choosers, query_from
from captious_server.boards.submission_pages import (
    MAX_RANKED,
    compare_versions,
    main_score,
    outputs_of,
    rows_of_versions,
    signatures_of,
)
from captious_server.models import (
    Challenge,
    Draft,
    News,
    Participant,
    Phase,
    Submission,
    Team,
    TeamApproval,
)
from captious_server.notices.delivery import WebhookForm, add_webhook, ping, remove_webhook
from captious_server.pages.challenges import challenge_page, main_phase, page_of
from captious_server.people.access import (
    UserRequest,
    challenge_for,
    managed_challenge,
    may_manage,
    signed_in,
    with_owners,
)
from captious_server.people.accounts import record
from captious_server.people.teams import approvals_of, teams_in, teams_of, teams_to_approve
from captious_server.scoring import queue
from captious_server.settings import row_id

# The page of teams: they ask to be approved, and organizers see all, decide, and write to them.


@signed_in("GET", "HEAD", "POST")
def teams(request: UserRequest, slug: str) -> HttpResponse:
    """The approval of the user's teams, where it is needed; for organizers, all teams."""
    challenge = challenge_for(request.user, slug)
    manages, needs_approval = may_manage(request.user, challenge), challenge.definition.team_approval
    if not (manages or needs_approval):
        raise Http404
    own_teams, action = teams_of(request.user), request.POST.get("action", "")
    form = actions.AskForm(request.POST if action == "ask" else None)
    mail_form = actions.MailForm(request.POST if action == "mail" else None, challenge)
    if request.method == "POST":
        if action == "ask":
            if form.is_valid():
                team = next((team for team in own_teams if team.slug == request.POST.get("team")), None)
                if team is None or not needs_approval:
                    raise Http404
                actions.ask_for(request, challenge, team, form.cleaned_data["message"])
                messages.success(request, f"Approval requested for {team}. The organizers will decide.")
                return redirect("captious:teams", slug)
        elif not manages:
            raise Http404
        elif action == "mail":
            if mail_form.is_valid():
                n = actions.mail_teams(request, challenge, mail_form)
                messages.success(request, f"Mail to members with a confirmed address: {n:,}.")
                return redirect(request.get_full_path())
        else:
            reason = actions.decide_on(
                request,
                challenge,
                actions.one_line(request.POST.get("team", "")),
                approved=action == "approve",
                reason=request.POST.get("reason", ""),
            )
            if reason:
                messages.error(request, reason)
            return redirect(request.get_full_path())
    pending_ids = {row.team_id for row in approvals_of(challenge, own_teams).filter(status=TeamApproval.Status.ASKED)}
    return challenge_page(
        request,
        challenge,
        "teams",
        status=422 if form.errors or mail_form.errors else 200,
        form=form,
        wrong=mail_form if mail_form.errors else form,
        own=approvals_of(challenge, own_teams),
        to_ask=[team for team in teams_to_approve(challenge, own_teams) if team.pk not in pending_ids],
        page=page_of(request, approvals_of(challenge)) if manages and needs_approval else None,
        all_teams=teams_in(challenge) if manages else [],
        banned={*challenge.bans.values_list("team", flat=True)} if manages else set(),
        mail_form=mail_form,
    )


# Submissions on the organizers' page: their number, and the selection by a filter.

_Status = Submission.Status


def summary_of(challenge: Challenge) -> dict[str, Any]:
    """A challenge at a glance, with one query. Baselines are not counted.

    ``open`` are the phases that take submissions now, and ``upcoming`` is the next one if there are none. ``total``
    counts all submissions but deleted ones, and ``held`` those that look like probes and wait for the organizers.
    """
    phase = main_phase(challenge.phase_list)
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    counts = Submission.objects.filter(phase__challenge=challenge, is_baseline=False).aggregate(
        today=Count("pk", filter=Q(created__gte=midnight)),
        total=Count("pk", filter=~Q(status=_Status.DELETED)),
        waiting=Count("pk", filter=Q(status__in=[_Status.QUEUED, _Status.RUNNING])),
        failed=Count("pk", filter=Q(status=_Status.FAILED)),
        held=Count("pk", filter=Q(status=_Status.HELD)),
    )
    upcoming = phase if phase is not None and phase.state == "upcoming" else None
    return {"open": actions.open_phases(challenge, timezone.now()), "upcoming": upcoming, **counts}


class SubmissionFilter(forms.Form):
    """A selection of the submissions of a challenge, sent with GET so that addresses can be kept."""

    team = forms.CharField(required=False, max_length=80)
    phase = forms.ModelChoiceField(Phase.objects.none(), required=False, to_field_name="name", empty_label="all")
    status = forms.ChoiceField(required=False, choices=[("", "all"), *_Status.choices])

    def __init__(self, data: QueryDict, challenge: Challenge) -> None:
        super().__init__(data, auto_id="filter-%s")
        actions.offer(self, "phase", Phase.objects.filter(challenge=challenge).select_related("challenge"))
        self._challenge = challenge

    @property
    def is_used(self) -> bool:
        """Whether something is left out."""
        return self.is_valid() and any(self.cleaned_data.values())

    def rows(self) -> QuerySet[Submission]:
        """The submissions, the latest first: all of them if the filter is invalid."""
        rows = Submission.objects.filter(phase__challenge=self._challenge)
        if self.is_used:
            values = self.cleaned_data
            conditions = {"team__name__icontains": values["team"], "phase": values["phase"], "status": values["status"]}
            rows = rows.filter(**{name: value for name, value in conditions.items() if value})
        return with_owners(rows)


# The organizers' page about versions of scores: before and after, by submission.


@signed_in("GET", "HEAD")
def versions(request: UserRequest, slug: str) -> HttpResponse:
    """The scores of a phase in two versions."""
    challenge = managed_challenge(request.user, slug)
    query = query_from(challenge, request.GET, request.user)
    comparison = compare_versions(query.phase, *(row_id(request.GET.get(name, "")) for name in ("before", "after")))
    outputs = outputs_of(query, comparison)
    if (output := request.GET.get("sort", "").removeprefix("-")) in outputs:  # the board may no longer have it
        query = replace(query, output=output)
    page = page_of(request, rows_of_versions(query, comparison))
    version_values = {"before": comparison.before, "after": comparison.after}
    links: dict[str, Any] = choosers(query, request.user, "versions", f"&{urlencode(version_values)}")
    return challenge_page(
        request,
        challenge,
        "versions",
        "manage",
        query=query,
        versions=comparison,
        outputs=outputs,
        chosen=[*version_values.items()],
        n_scored=comparison.n_scored(query.phase.scoring_version),
        most_ranked=MAX_RANKED,
        page=page,
        signatures=signatures_of(query, comparison),
        changes=changes_between(query.phase, comparison.before, comparison.after) if comparison.before else [],
        **links,
    )


# The organizers' page: all submissions, participants, the log.

_MAX_EVENTS = 200
_BOARDS = ("public", "hidden")
#: Action -> its form.
_FORMS: dict[str, type[Form]] = {
    **{
        "participants": actions.ParticipantsForm,
        "ban": actions.BanForm,
        "news": actions.NewsForm,
        "fields": actions.TableForm,
    },
    "webhook": WebhookForm,
}
#: Name of an input -> the objects of a challenge, one of which its value names, and by what.
_OBJECTS: dict[str, tuple[Callable[[Challenge], Any], str]] = {
    "submission": (lambda challenge: Submission.objects.filter(phase__challenge=challenge), "pk"),
    "phase": (attrgetter("phases"), "name"),
    "name": (attrgetter("participants"), "username"),
    "webhook": (attrgetter("webhooks"), "pk"),
    "news": (attrgetter("news"), "pk"),
}
#: Actions with a confirmation -> input with the object, question, consequences, label of the button.
_QUESTIONS = {
    "hide": (
        "submission",
        "Hide {}?",
        "On the leaderboard, only the team and the organizers will see it.",
        "Hide it",
    ),
    "rescore": (
        "submission",
        "Score {} again?",
        "It is queued again and keeps its scores until new ones are computed. No quota is affected.",
        "Score it again",
    ),
    "ban": (
        "",
        "Ban {}?",
        "The team can no longer submit, nor can its members for other teams. Its submissions are hidden, and those "
        "that are queued or held are canceled. Lifting the ban does not show them again.",
        "Ban the team",
    ),
    "board": ("phase", "Hide the leaderboard of {}?", "Only organizers will see it.", "Hide it"),
    "remove_participant": ("name", "Remove {}?", "They will no longer see the challenge.", "Remove"),
    "remove_webhook": ("webhook", "Remove {}?", "It receives no more events, and its secret is lost.", "Remove"),
    "remove_news": ("news", "Remove the news “{}”?", "It is removed from the overview and the feed.", "Remove"),
}


def _adds_webhook(request: UserRequest) -> bool:
    return request.POST.get("action") == "webhook"


@signed_in("GET", "HEAD", "POST")
@reauthentication_required(enabled=_adds_webhook)
def manage(request: UserRequest, slug: str) -> HttpResponse:
    """The organizers' page of a challenge, with all actions."""
    challenge = managed_challenge(request.user, slug)
    action = request.POST.get("action", "")
    sent = (request.POST, request.FILES)
    own_forms = {name: form(*(sent if name == action else ())) for name, form in _FORMS.items()}
    sent_form = own_forms.get(action, own_forms["participants"])
    if request.method == "POST" and request.POST.get("sure") != "1" and (question := _question(request, challenge)):
        return challenge_page(request, challenge, "confirm", "manage", **question)
    if request.method == "POST" and _act(request, challenge, action, sent_form):
        return redirect(request.get_full_path())  # the same page of submissions
    submission_filter = SubmissionFilter(request.GET, challenge)
    page = page_of(request, submission_filter.rows())
    return challenge_page(
        request,
        challenge,
        "manage",
        "manage",
        status=422 if sent_form.errors else 200,
        wrong=sent_form,
        summary=summary_of(challenge),
        draft=Draft.objects.filter(slug=slug).first(),
        filter=submission_filter,
        page=page,
        rows=[main_score(request.user, submission) for submission in page],
        places=queue.places(),
        has_public_archive=any(phase.is_board_open for phase in challenge.phase_list),
        participants=challenge.participants.order_by("username"),
        forms=own_forms,
        n_teams=teams_in(challenge).count(),
        n_waiting=challenge.approvals.filter(status=TeamApproval.Status.ASKED).count(),
        bans=challenge.bans.select_related("team"),
        events=challenge.events.select_related("submission")[:_MAX_EVENTS],
    )


@signed_in("GET", "HEAD")
def archive(request: UserRequest, slug: str) -> StreamingHttpResponse:
    """All submissions with their scores as one zip file; with ``public``, only public data."""
    return archive_answer(request, managed_challenge(request.user, slug))


def _question(request: UserRequest, challenge: Challenge) -> dict[str, Any] | None:
    """The question that the page asks before an action; None for actions that need no confirmation."""
    action = request.POST.get("action", "")
    if action not in _QUESTIONS or (action == "board" and request.POST.get("board") != "hidden"):
        return None
    kind, heading, consequence, button = _QUESTIONS[action]
    if action == "ban":
        form = actions.BanForm(request.POST)
        if not form.is_valid():
            return None
        named = form.cleaned_data["team"]
    else:
        named = _object(request, challenge, kind)
    return {
        "heading": heading.format(_submission_label(named) if kind == "submission" else named),
        "about": consequence,
        "button": button,
        "values": {name: value for name, value in request.POST.items() if name != "csrfmiddlewaretoken"},
        "back": request.get_full_path(),
    }


def _object(request: UserRequest, challenge: Challenge, kind: str) -> Any:
    """The object that a form names."""
    rows, key = _OBJECTS[kind]
    text = request.POST.get(kind, "")
    return get_object_or_404(rows(challenge), **{key: row_id(text) if key == "pk" else actions.one_line(text)})


def _submission_label(submission: Submission) -> str:
    """A submission for organizers, without the team of an anonymous one."""
    return f"“{submission.method}” of {submission.team_shown} in {submission.phase}"


def _act(request: UserRequest, challenge: Challenge, action: str, form: Form) -> bool:
    """Perform the action of a button; False if the form is not valid."""
    if action in _FORMS and not form.is_valid():
        return False
    if action == "participants":
        for user in form.cleaned_data["names"]:
            Participant.objects.get_or_create(challenge=challenge, user=user)
            record("add participant", user.username, request=request, challenge=challenge)
        names = ", ".join(user.username for user in form.cleaned_data["names"])
        messages.success(request, f"Added as participants: {names}."[:500])
    elif action == "news":
        row = News.objects.create(challenge=challenge, **form.cleaned_data)
        record("publish news", row.title, request=request, challenge=challenge)
        messages.success(request, f"The news “{row.title}” is on the overview.")
    elif action == "fields":
        try:
            n = actions.fill(request, challenge, form.cleaned_data["table"].read())
        except TableError as error:
            form.add_error("table", error.problems)
            return False
        messages.success(request, f"Fields were set in {counted(n, 'submission')}.")
    elif action == "webhook":
        if add_webhook(request, challenge, form) is None:
            return False
        messages.success(request, "Webhook added. Its secret is shown below.")
    elif action == "test_webhook":
        ping(_object(request, challenge, "webhook"))
        messages.success(request, "A test event will be sent within seconds. Reload this page to see the answer.")
    elif action == "remove_webhook":
        webhook = _object(request, challenge, "webhook")
        remove_webhook(request, webhook)
        messages.success(request, f"{webhook} was removed.")
    elif action == "remove_news":
        row = _object(request, challenge, "news")
        row.delete()
        record("remove news", row.title, request=request, challenge=challenge)
        messages.success(request, f"The news “{row.title}” was removed.")
    elif action == "ban":
        team, reason = form.cleaned_data["team"], form.cleaned_data["reason"]
        n = actions.ban(challenge, team, reason)
        record("ban team", team.name, request=request, challenge=challenge, detail=reason)
        messages.success(request, f"{team} is banned. Submissions that were hidden: {n:,}.")
    elif action == "lift":
        team = get_object_or_404(Team, slug=actions.one_line(request.POST.get("team", "")))
        get_object_or_404(challenge.bans, team=team).delete()
        record("lift ban", team.name, request=request, challenge=challenge)
        messages.success(request, f"{team} may submit again. Its submissions stay hidden until you show them.")
    elif action == "remove_participant":
        user = _object(request, challenge, "name")
        Participant.objects.filter(challenge=challenge, user=user).delete()
        record("remove participant", user.username, request=request, challenge=challenge)
        messages.success(request, f"{user.username} is no longer a participant.")
    elif action in {"show", "hide", "rescore", "let_through"}:
        submission = _object(request, challenge, "submission")
        rows = Submission.objects.filter(pk=submission.pk)
        if action == "rescore":
            queue.queue_again(rows)
        elif action == "let_through":
            queue.release(submission)
        else:
            rows.update(is_hidden=action == "hide")
        record(action.replace("_", " "), submission.method, request=request, submission=submission)
        outcomes = {"show": "is shown", "hide": "is hidden", "rescore": "will be scored again"}
        outcome = outcomes.get(action, "will be scored")
        messages.success(request, f"{_submission_label(submission)} {outcome}.")
    elif action == "board":
        phase = _object(request, challenge, "phase")
        board = request.POST.get("board", "")
        if board in _BOARDS:
            Phase.objects.filter(pk=phase.pk).update(board=board)
            record(f"make board {board}", phase.name, request=request, challenge=challenge)
            messages.success(request, f"The leaderboard of {phase} is now {board}.")
    return True
