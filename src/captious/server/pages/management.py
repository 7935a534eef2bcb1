"""The organizers' page of a challenge: all submissions, participants, the log."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db import transaction
from django.forms import Form
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_http_methods, require_safe

from captious.server.actions.archives import archive_answer
from captious.server.actions.bans import ban
from captious.server.actions.forms import BanForm, NewsForm, ParticipantsForm, one_line
from captious.server.actions.webhooks import WebhookForm
from captious.server.boards.own_scores import main_score
from captious.server.models import Challenge, Draft, News, Participant, Phase, Submission, Team, TeamApproval, User
from captious.server.pages.challenges import challenge_page, page_of
from captious.server.pages.managed_submissions import SubmissionFilter, summary_of
from captious.server.pages.webhooks import act_on_webhooks, webhook_of
from captious.server.people.access import managed_challenge
from captious.server.people.audit import record
from captious.server.request_values import row_id
from captious.server.scoring import queue
from captious.server.submissions.board_changes import board_changed

_MAX_EVENTS = 200
_BOARDS = ("public", "hidden")
#: Actions with a confirmation -> question, consequences, label of the button.
_QUESTIONS = {
    "hide": ("Hide {what}?", "On the leaderboard, only the team and the organizers will see it.", "Hide it"),
    "rescore": (
        "Score {what} again?",
        "It is queued again and keeps its scores until new ones are computed. No quota is affected.",
        "Score it again",
    ),
    "ban": (
        "Ban {what}?",
        "The team can no longer submit, nor can its members for other teams. Its submissions are hidden, and queued "
        "ones are canceled. Lifting the ban does not show them again.",
        "Ban the team",
    ),
    "board": ("Hide the leaderboard of {what}?", "Only organizers will see it.", "Hide it"),
    "remove_participant": ("Remove {what}?", "They will no longer see the challenge.", "Remove"),
    "remove_webhook": ("Remove {what}?", "It receives no more events, and its secret is lost.", "Remove"),
    "remove_news": ("Remove the news {what}?", "It is removed from the overview and the feed.", "Remove"),
}


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def manage(request: HttpRequest, slug: str) -> HttpResponse:
    """The organizers' page of a challenge, with all actions."""
    challenge = managed_challenge(request.user, slug)
    action = request.POST.get("action", "")
    form = ParticipantsForm(request.POST if action == "participants" else None)
    ban_form = BanForm(request.POST if action == "ban" else None)
    news_form = NewsForm(request.POST if action == "news" else None)
    webhook_form = WebhookForm(request.POST if action == "webhook" else None)
    sent_form: Form = {"ban": ban_form, "news": news_form, "webhook": webhook_form}.get(action, form)
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
        phases=challenge.phase_list,
        has_public_archive=any(phase.is_board_open for phase in challenge.phase_list),
        participants=challenge.participants.order_by("username"),
        participant_form=form,
        n_waiting=challenge.approvals.filter(status=TeamApproval.Status.ASKED).count(),
        bans=challenge.bans.select_related("team"),
        ban_form=ban_form,
        webhooks=challenge.webhooks.all(),
        webhook_form=webhook_form,
        news=challenge.news.all(),
        news_form=news_form,
        events=challenge.events.select_related("submission")[:_MAX_EVENTS],
    )


@login_required
@require_safe
def archive(request: HttpRequest, slug: str) -> StreamingHttpResponse:
    """All submissions with their scores as one zip file; with ``public``, only public data."""
    challenge = managed_challenge(request.user, slug)
    return archive_answer(request, challenge)


def _question(request: HttpRequest, challenge: Challenge) -> dict[str, Any] | None:
    """The question that the page asks before an action; None for actions that need no confirmation."""
    action = request.POST.get("action", "")
    if action not in _QUESTIONS or (action == "board" and request.POST.get("board") != "hidden"):
        return None
    heading, consequence, button = _QUESTIONS[action]
    if action in {"hide", "rescore"}:
        object_name = _submission_label(_submission(request, challenge))
    elif action == "board":
        object_name = str(_phase(request, challenge))
    elif action == "ban":
        form = BanForm(request.POST)
        if not form.is_valid():
            return None
        object_name = str(form.cleaned_data["team"].name)
    elif action == "remove_participant":
        object_name = str(_participant(request, challenge).username)
    elif action == "remove_webhook":
        object_name = webhook_of(request, challenge).shown_url
    else:
        object_name = f"“{_news(request, challenge).title}”"
    values = {name: value for name, value in request.POST.items() if name != "csrfmiddlewaretoken"}
    heading = heading.format(what=object_name)
    return {
        "heading": heading,
        "about": consequence,
        "button": button,
        "values": values,
        "back": request.get_full_path(),
    }


def _submission(request: HttpRequest, challenge: Challenge) -> Submission:
    rows = Submission.objects.filter(phase__challenge=challenge).select_related("team", "phase__challenge")
    return get_object_or_404(rows, pk=row_id(request.POST.get("submission", "")))


def _phase(request: HttpRequest, challenge: Challenge) -> Phase:
    return get_object_or_404(Phase, challenge=challenge, name=one_line(request.POST.get("phase", "")))


def _participant(request: HttpRequest, challenge: Challenge) -> User:
    return get_object_or_404(challenge.participants, username=one_line(request.POST.get("name", "")))


def _news(request: HttpRequest, challenge: Challenge) -> News:
    return get_object_or_404(challenge.news, pk=row_id(request.POST.get("news", "")))


def _submission_label(submission: Submission) -> str:
    """A submission for organizers, without the team of an anonymous one."""
    return f"“{submission.method}” of {submission.team_shown} in {submission.phase}"


def _act(request: HttpRequest, challenge: Challenge, action: str, form: Form) -> bool:
    """Perform the action of a button; False if the form is not valid."""
    if action == "participants":
        if not form.is_valid():
            return False
        for user in form.cleaned_data["names"]:
            Participant.objects.get_or_create(challenge=challenge, user=user)
            record("add participant", user.username, request=request, challenge=challenge)
        names = ", ".join(user.username for user in form.cleaned_data["names"])
        messages.success(request, f"Added as participants: {names}."[:500])
    elif action == "news":
        if not form.is_valid():
            return False
        row = News.objects.create(challenge=challenge, **form.cleaned_data)
        record("publish news", row.title, request=request, challenge=challenge)
        messages.success(request, f"The news “{row.title}” is on the overview.")
    elif action in {"webhook", "test_webhook", "remove_webhook"}:
        return act_on_webhooks(request, challenge, action, form)
    elif action == "remove_news":
        row = _news(request, challenge)
        row.delete()
        record("remove news", row.title, request=request, challenge=challenge)
        messages.success(request, f"The news “{row.title}” was removed.")
    elif action == "ban":
        if not form.is_valid():
            return False
        team, reason = form.cleaned_data["team"], form.cleaned_data["reason"]
        n = ban(challenge, team, reason)
        record("ban team", team.name, request=request, challenge=challenge, detail=reason)
        messages.success(request, f"{team} is banned. Submissions that were hidden: {n:,}.")
    elif action == "lift":
        team = get_object_or_404(Team, slug=one_line(request.POST.get("team", "")))
        get_object_or_404(challenge.bans, team=team).delete()
        record("lift ban", team.name, request=request, challenge=challenge)
        messages.success(request, f"{team} may submit again. Its submissions stay hidden until you show them.")
    elif action == "remove_participant":
        user = _participant(request, challenge)
        Participant.objects.filter(challenge=challenge, user=user).delete()
        record("remove participant", user.username, request=request, challenge=challenge)
        messages.success(request, f"{user.username} is no longer a participant.")
    elif action in {"show", "hide", "rescore"}:
        submission = _submission(request, challenge)
        rows = Submission.objects.filter(pk=submission.pk)
        if action == "rescore":
            queue.queue_again(rows)
        else:
            with transaction.atomic():
                rows.update(is_hidden=action == "hide")
                board_changed(submission.phase_id)
        record(action, submission.method, request=request, submission=submission)
        outcome = {"show": "is shown", "hide": "is hidden", "rescore": "will be scored again"}[action]
        messages.success(request, f"{_submission_label(submission)} {outcome}.")
    elif action == "board":
        phase = _phase(request, challenge)
        board = request.POST.get("board", "")
        if board in _BOARDS:
            Phase.objects.filter(pk=phase.pk).update(board=board)
            record(f"make board {board}", phase.name, request=request, challenge=challenge)
            messages.success(request, f"The leaderboard of {phase} is now {board}.")
    return True
