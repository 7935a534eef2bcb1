"""Pages of drafts: challenges that are created and edited in the browser, and published once they have no problems.

A draft is a challenge folder. It is read, checked and loaded by the same functions as folders of the command line.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from captious.data import read_references
from captious.drawing import counted
from captious.errors import CaptiousError
from captious_server.actions.loading import Changes, check_for_server, export_challenge, load_challenge
from captious_server.challenges.drafts import (
    effective,
    make_tidy,
    outside_problems,
    published_problems,
    put_file,
    reference_file,
    shown_values,
    state_of,
    write_values,
)
from captious_server.challenges.folder import as_html, summary_rows
from captious_server.challenges.problems import ChallengeError, one_line
from captious_server.challenges.starter import write_starter
from captious_server.models import Challenge, Draft
from captious_server.pages.challenges import preview_of
from captious_server.pages.draft_forms import (
    PARTS,
    DraftForm,
    FormProblem,
    NewChallengeForm,
    ReferencesFileForm,
    UploadFileForm,
    form_errors,
    form_problems,
    form_warnings,
    formsets,
    rows_of_all,
)
from captious_server.people.access import draft_for, drafts_for, managed_challenge, may_create, may_manage
from captious_server.people.accounts import limit, record
from captious_server.settings import locked
from captious_server.submissions import storage

# Files that are uploaded for a draft: references, which are read before they are kept.


class UnreadableReferencesError(Exception):
    """References that cannot be read; the message gives the reason, with the user's name of the file."""


@contextmanager
def references_of(form: forms.Form) -> Iterator[Path]:
    """A context with the uploaded file of references, whose extension gives its format.

    Raises:
        UnreadableReferencesError: reading it failed within the context.
    """
    name = upload_name(form)
    with tempfile.TemporaryDirectory(dir=storage.incoming_folder()) as temporary:
        file = Path(temporary) / Path(reference_file("references", "", name)).name
        shutil.move(form.cleaned_data["file"].temporary_file_path(), file)
        try:
            yield file
        except CaptiousError as error:
            reason = one_line(error).replace(str(file), name).replace(file.name, name)
            raise UnreadableReferencesError(f"The references cannot be read: {reason}") from error


def put_references(folder: Path, name: str, captions: str, filename: str, file: Path) -> None:
    """Move a file into the folder of a draft, for an existing or a new reference set."""
    rows = effective(folder)["references"]
    places = [place for place, row in enumerate(rows) if row["name"] == name and captions in ("", row.get("captions"))]
    place = places[0] if places else None
    row = {"name": name, "file": reference_file(name, captions, filename)}
    if place is None and captions:
        row["captions"] = captions
    target = folder / row["file"]
    target.parent.mkdir(exist_ok=True)
    shutil.move(file, target)
    write_values(folder, {}, {"references": [(place, row)]})


def upload_name(form: forms.Form) -> str:
    """The user's name of the uploaded file."""
    return str(form.cleaned_data["file"].name)


def has_room(size: int) -> bool:
    """Return whether drafts together stay below the size that an account may store."""
    files = (settings.CAPTIOUS.data / "drafts").rglob("*")
    n_bytes = sum(file.stat().st_size for file in files if file.is_file())
    return bool(n_bytes + size <= settings.CAPTIOUS.stored_mebibytes << 20)


# The pages, from the list of drafts to publication.

_NO_ROOM = "The drafts take up too much space on the server. Discard some of them."


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def drafts(request: HttpRequest) -> HttpResponse:
    """The drafts that a user may edit, and the form of a new challenge."""
    if not may_create(request.user):
        raise Http404
    is_sent = request.method == "POST"
    form = NewChallengeForm(request.POST if is_sent else None, request.FILES if is_sent else None)
    if is_sent:
        limit(request, "upload")
        if form.is_valid() and (draft := _create_draft(request, form)) is not None:
            record("begin draft", draft.slug, request=request)
            return redirect(draft.url)
    context = {"heading": "New challenge", "form": form, "drafts": drafts_for(request.user)}
    return render(request, "captious/drafts.html", context, status=422 if form.errors else 200)


def _create_draft(request: HttpRequest, form: NewChallengeForm) -> Draft | None:
    """The draft created by a form; None, with an error in the form, if its references cannot be read."""
    values = form.cleaned_data
    draft = Draft(slug=values["slug"], title=values["title"], user=request.user)
    with _draft_lock(draft.slug):
        try:
            if Draft.objects.filter(slug=draft.slug).exists() or Challenge.objects.filter(slug=draft.slug).exists():
                form.add_error("slug", "This name is taken.")
                return None
            if not has_room(values["file"].size):
                form.add_error("file", _NO_ROOM)
                return None
            shutil.rmtree(draft.folder, ignore_errors=True)  # left by a discarded draft
            with references_of(form) as file:
                write_starter(draft.folder, file)
            make_tidy(draft.folder)
            names = {"title": draft.title, "slug": draft.slug, "summary": values["summary"]}
            write_values(draft.folder, {**names, "organizers": [request.user.username]}, {})
        except UnreadableReferencesError as error:
            form.add_error("file", str(error))
            return None
        _check_draft(draft)
    return draft


@login_required
@require_POST
def begin(request: HttpRequest, slug: str) -> HttpResponse:
    """Create a draft of a challenge, or continue the existing one."""
    challenge = managed_challenge(request.user, slug)
    limit(request, "change")
    with _draft_lock(slug):  # two clicks begin one draft
        draft = Draft.objects.filter(slug=slug).first()
        if draft is not None:
            return redirect(draft.url)
        draft = Draft(slug=slug, title=challenge.title, user=request.user, version=challenge.version)
        if not has_room(sum(file.stat().st_size for file in challenge.folder.rglob("*") if file.is_file())):
            messages.error(request, _NO_ROOM)
            return redirect(challenge.url)
        shutil.rmtree(draft.folder, ignore_errors=True)
        export_challenge(challenge, draft.folder)
        _check_draft(draft)
    record("begin draft", slug, request=request, challenge=challenge)
    return redirect(draft.url)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Edit a draft. It may be saved with problems, which the page lists."""
    draft = draft_for(request.user, slug)
    data = request.POST if request.method == "POST" else None
    action = request.POST.get("action")
    if data is not None:
        limit(request, "change")
    form = DraftForm(data, initial=_initial(draft))
    lists = formsets(draft.folder, data)
    if data is not None:
        valid = [form.is_valid(), *(rows.is_valid() for rows in lists.values())]
        if all(valid):
            with _draft_lock(slug):
                if form.cleaned_data.pop("state") == state_of(draft.folder):
                    write_values(draft.folder, form.cleaned_data, rows_of_all(lists))
                    draft.title = form.cleaned_data["title"]
                    _check_draft(draft)
                    record("edit draft", slug, request=request, challenge=_challenge(draft))
                    reason = draft.why_not_published if action == "publish" else ""
                    if action == "publish" and not reason:
                        return redirect("captious:draft_publish", slug)
                    messages.success(request, f"Saved. {reason}".strip())
                    return redirect("captious:draft_preview" if action == "preview" else "captious:draft", slug)
            form.add_error(
                None, "Somebody else has saved this draft in the meantime. Open it again and repeat your changes."
            )
    return _editor(request, draft, form, lists)


@login_required
@require_POST
def references(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload the file of a reference set."""
    draft = draft_for(request.user, slug)
    form = ReferencesFileForm(request.POST, request.FILES, files=_captions_files(draft))

    def put(values: dict[str, Any]) -> str:
        with references_of(form) as file:
            read_references(file)
            put_references(draft.folder, values["name"], values["captions"], upload_name(form), file)
        return f"Uploaded {upload_name(form)}."

    return _receive_upload(request, draft, form, put, "upload references")


@login_required
@require_POST
def upload_file(request: HttpRequest, slug: str) -> HttpResponse:
    """Upload the logo, a file to download, or a baseline."""
    draft = draft_for(request.user, slug)
    form = UploadFileForm(request.POST, request.FILES, kind=request.POST.get("kind", ""))

    def put(values: dict[str, Any]) -> str:
        upload = Path(values["file"].temporary_file_path())
        put_file(draft.folder, values["kind"], values["name"], upload_name(form), upload)
        return "Uploaded."

    return _receive_upload(request, draft, form, put, "upload file")


def _receive_upload(
    request: HttpRequest, draft: Draft, form: Any, put: Callable[[dict[str, Any]], str], action: str
) -> HttpResponse:
    """Put the file of a form into the folder of a draft, and check the draft.

    Args:
        put: stores the file, given the values of the form; returns a message.
        action: the name of the action in the audit log.
    """
    limit(request, "upload")
    if form.is_valid():
        values = form.cleaned_data
        with _draft_lock(draft.slug):
            try:
                if has_room(values["file"].size):
                    message = put(values)
                    _check_draft(draft)
                    detail = f"{values.get('kind', '')} {values['name']}".strip()
                    record(action, draft.slug, request=request, challenge=_challenge(draft), detail=detail)
                    messages.success(request, message)
                    return redirect(draft.url)
                form.add_error("file", _NO_ROOM)
            except UnreadableReferencesError as error:
                form.add_error("file", str(error))
    return _editor(request, draft, upload=form)


@login_required
@require_POST
def markdown(request: HttpRequest, slug: str) -> HttpResponse:
    """A text of the form as HTML, for its preview."""
    draft_for(request.user, slug)
    limit(request, "preview")
    return HttpResponse(as_html(request.POST.get("markdown", "")))


@login_required
@require_safe
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """A preview of the overview."""
    draft = draft_for(request.user, slug)
    challenge = _challenge(draft)
    context = {**preview_of(draft, challenge), "draft": draft, "problems": _problems(draft)}
    context |= {"warnings": _warnings(draft), "outdated": _is_outdated(draft, challenge)}
    return render(request, "captious/draft_preview.html", context)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def publish(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the effects of publishing, and load the draft, as ``captious challenge load`` does."""
    draft = draft_for(request.user, slug)
    if request.method == "POST":
        limit(request, "change")
    with _draft_lock(slug):
        changes = _check_draft(draft)
        challenge = _challenge(draft)
        is_outdated = _is_outdated(draft, challenge)
        can_publish = changes is not None and not is_outdated
        if request.method == "POST" and can_publish:

            def agree(pending: Changes) -> bool:
                current = Challenge.objects.get(slug=slug)
                is_current = current.version == draft.version and may_manage(request.user, current)
                return is_current and (not pending.reversals or request.POST.get("agree") == "on")

            try:
                result = load_challenge(draft.folder, agree=agree)
            except CaptiousError as error:
                messages.error(request, f"The draft was not published: {one_line(error, draft.folder)}")
                return redirect("captious:draft_publish", slug)
            record("publish draft", slug, request=request, challenge=result.challenge)
            _remove_draft(draft)
            rescoring = (
                f" {counted(result.n_rescored, 'submission')} will be scored again." if result.n_rescored else ""
            )
            listing = "" if challenge is not None else " It is on the list of challenges."
            messages.success(request, _publication_message(f"Published.{listing}{rescoring}", result.challenge))
            return redirect(result.challenge.url)
    context: dict[str, Any] = {
        "draft": draft,
        "changes": changes,
        "challenge": challenge,
        "outdated": is_outdated,
        "ready": can_publish,
    }
    context |= {"problems": _problems(draft), "warnings": _warnings(draft)}
    return render(request, "captious/draft_publish.html", context, status=409 if request.method == "POST" else 200)


def _publication_message(message: str, challenge: Challenge) -> str:
    """A message with a link to the next step."""
    address = reverse("captious:manage", args=[challenge.slug])
    return format_html('{} <a href="{}">Manage</a> shows its submissions, and writes news.', message, address)


@login_required
@require_POST
def discard(request: HttpRequest, slug: str) -> HttpResponse:
    """Delete a draft after confirmation; a published challenge stays unchanged."""
    limit(request, "change")
    draft = draft_for(request.user, slug)
    challenge = _challenge(draft)
    if request.POST.get("sure") != "1":
        return render(request, "captious/draft_discard.html", {"draft": draft, "challenge": challenge})
    with _draft_lock(slug):
        _remove_draft(draft)
    record("discard draft", slug, request=request, challenge=challenge)
    messages.success(request, f"The draft of {draft.title} was discarded.")
    return redirect(reverse("captious:manage", args=[slug]) if challenge is not None else "captious:home")


def _editor(
    request: HttpRequest,
    draft: Draft,
    form: DraftForm | None = None,
    lists: dict[str, Any] | None = None,
    *,
    upload: ReferencesFileForm | UploadFileForm | None = None,
) -> HttpResponse:
    """The editor of a draft, with the submitted values if they have errors."""
    form, lists = form or DraftForm(initial=_initial(draft)), lists or formsets(draft.folder)
    uploads: dict[str, Any] = {kind: UploadFileForm(kind=kind) for kind in UploadFileForm.KINDS}
    uploads["references"] = ReferencesFileForm(files=_captions_files(draft))
    if upload is not None:
        uploads[upload.form_id.removeprefix("upload-")] = upload
    errors = form_errors(form, lists, upload)
    problems = [] if errors else form_problems(draft.problems, form, lists)  # the saved draft
    parts = [
        {"name": name, "one": singular, "rows": lists[name], "new": len(lists[name].initial_forms)}
        | {"upload": uploads.get(name)}
        for name, (singular, _, _) in PARTS.items()
    ]
    context = {"draft": draft, "form": form, "parts": parts, "errors": errors, "problems": problems, "uploads": uploads}
    context |= {"warnings": _warnings(draft), "outdated": _is_outdated(draft, _challenge(draft))}
    return render(request, "captious/draft.html", context, status=422 if errors else 200)


def _problems(draft: Draft) -> list[FormProblem]:
    """The problems of a draft for pages that lead to its form."""
    if not draft.problems:
        return []
    return form_problems(draft.problems, DraftForm(initial=_initial(draft)), formsets(draft.folder))


def _warnings(draft: Draft) -> list[str]:
    return form_warnings(draft.warnings, formsets(draft.folder)) if draft.warnings else []


def _captions_files(draft: Draft) -> list[str]:
    return [str(row.get("name", "")) for row in effective(draft.folder)["captions"]]


def _initial(draft: Draft) -> dict[str, Any]:
    values = effective(draft.folder)
    settings_lines = [f"{name} = {value}" for name, value in values["settings"].items()]
    return {**values, "settings": settings_lines, "state": state_of(draft.folder)}


def _check_draft(draft: Draft) -> Changes | None:
    """Check a draft and save the result; return the changes that publishing would make, None if there are problems."""
    challenge = _challenge(draft)
    draft.problems, draft.warnings, draft.summary, draft.shown = [], [], [], {}
    changes = None
    problems = outside_problems(draft.folder, {} if challenge is None else challenge.definition_values)
    if challenge is not None:
        problems += published_problems(draft.folder, challenge.folder, challenge.definition)
    try:
        source, changes = check_for_server(draft.folder, problems)
        draft.summary, draft.warnings = [*map(list, summary_rows(source))], [*source.warnings]
        draft.shown = shown_values(source)
    except ChallengeError as error:
        draft.problems = error.problems
    draft.is_changed = challenge is None or changes is None or bool(changes.folder or changes.reversals)
    draft.save()
    return changes


def _challenge(draft: Draft) -> Challenge | None:
    return Challenge.objects.filter(slug=draft.slug).first()


def _is_outdated(draft: Draft, challenge: Challenge | None) -> bool:
    """Return whether the challenge was loaded since the draft was begun."""
    return bool(draft.version != (0 if challenge is None else challenge.version))


def _remove_draft(draft: Draft) -> None:
    storage.remove_files(draft.folder)
    draft.delete()


def _draft_lock(slug: str) -> AbstractContextManager[None]:
    """Lock a draft, so that one request at a time changes it."""
    return locked(settings.CAPTIOUS.data / "drafts" / f".{slug}.lock")
