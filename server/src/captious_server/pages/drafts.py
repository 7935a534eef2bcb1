"""Pages of drafts: challenges that are created and edited in the browser, and published once they have no problems.

A draft is a challenge folder. It is read, checked and loaded by the same functions as folders of the command line.
"""

from __future__ import annotations

import shutil
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.text import slugify

from captious.drawing import counted
from captious.errors import CaptiousError
from captious_server.actions.loading import Changes, check_for_server, export_challenge, load_checked
from captious_server.challenges.definition import tables
from captious_server.challenges.drafts import (
    line_of,
    outside_problems,
    private_references,
    published_problems,
    put_file,
    reused_problems,
    set_values,
    shown_values,
    state_of,
    text_of,
    values_of,
    write_draft,
)
from captious_server.challenges.folder import FILE_NAME, CheckedChallenge, summary_rows
from captious_server.challenges.problems import ChallengeError, one_line
from captious_server.challenges.starter import write_starter
from captious_server.models import Challenge, Draft
from captious_server.pages.challenges import preview_of
from captious_server.people.access import (
    UserRequest,
    draft_for,
    drafts_for,
    managed_challenge,
    may_create,
    may_manage,
    signed_in,
)
from captious_server.people.accounts import record
from captious_server.settings import locked
from captious_server.submissions import storage

# Forms: a new challenge, the editor, and files.


class NewChallengeForm(forms.Form):
    """A new challenge; everything else has defaults."""

    title = forms.CharField(max_length=200)
    summary = forms.CharField(required=False, max_length=500, help_text="One sentence for the list of challenges.")
    slug = forms.RegexField(
        r"^[a-z0-9-]+$",
        required=False,
        max_length=80,
        label="Name in addresses",
        help_text="By default, derived from the title.",
        error_messages={"invalid": "Use lower-case letters, digits and hyphens."},
    )
    file = forms.FileField(
        label="References", help_text="In any format that captious reads, such as COCO annotations, JSON or CSV."
    )
    private = forms.FileField(
        required=False,
        label="Private references",
        help_text="Of other images: the first references are public then, and each has a phase.",
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        slug = values.get("slug") or slugify(values.get("title", "")).replace("_", "-")[:80]
        if "title" in values and not slug:
            self.add_error("slug", "Enter a name: the title has no letters from a to z and no digits.")
        elif Challenge.objects.filter(slug=slug).exists() or Draft.objects.filter(slug=slug).exists():
            self.add_error("slug", f"The name {slug} is taken.")
        return {**values, "slug": slug}

    @property
    def uploads(self) -> list[Any]:
        """The files of references that were sent."""
        return [self.cleaned_data[name] for name in ("file", "private") if self.cleaned_data[name]]


class DraftForm(forms.Form):
    """challenge.toml and the texts that it names, each as one text.

    Args:
        texts: file -> Markdown.
    """

    toml = forms.CharField(
        strip=False, label=FILE_NAME, widget=forms.Textarea(attrs={"rows": 30, "spellcheck": "false", "class": "code"})
    )
    state = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: QueryDict | None, texts: Mapping[str, str], **initial: str) -> None:
        super().__init__(data, initial={**initial, **{f"text-{file}": text for file, text in texts.items()}})
        for file in texts:
            self.fields[f"text-{file}"] = forms.CharField(
                required=False, strip=False, label=file, widget=forms.Textarea(attrs={"rows": 12})
            )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        return {name: value.replace("\r\n", "\n") for name, value in values.items()}

    @property
    def texts(self) -> dict[str, str]:
        """File -> Markdown, as sent."""
        return {
            name.removeprefix("text-"): text for name, text in self.cleaned_data.items() if name.startswith("text-")
        }


class UploadForm(forms.Form):
    """A file for a draft."""

    kind = forms.ChoiceField(choices=[(kind, kind) for kind in ("references", "downloads", "baselines", "logo")])
    file = forms.FileField(help_text="It replaces a file of the same name in this folder.")


def has_room(size: int) -> bool:
    """Return whether drafts together stay below the size that an account may store."""
    files = (settings.CAPTIOUS.data / "drafts").rglob("*")
    n_bytes = sum(file.stat().st_size for file in files if file.is_file())
    return bool(n_bytes + size <= settings.CAPTIOUS.stored_mebibytes << 20)


# The pages, from the list of drafts to publication.

_MAX_TEXTS = 30
_NO_ROOM = "The drafts take up too much space on the server. Discard some of them."


@signed_in("GET", "HEAD", "POST")
def drafts(request: UserRequest) -> HttpResponse:
    """The drafts that a user may edit, and the form of a new challenge."""
    if not may_create(request.user):
        raise Http404
    is_sent = request.method == "POST"
    form = NewChallengeForm(request.POST if is_sent else None, request.FILES if is_sent else None)
    if is_sent and form.is_valid() and (draft := _create_draft(request, form)) is not None:
        record("begin draft", draft.slug, request=request)
        return redirect(draft.url)
    context = {"heading": "New challenge", "form": form, "drafts": drafts_for(request.user)}
    return render(request, "captious/drafts.html", context, status=422 if form.errors else 200)


def _create_draft(request: UserRequest, form: NewChallengeForm) -> Draft | None:
    """The draft created by a form; None, with an error in the form, if its references cannot be read."""
    values = form.cleaned_data
    draft = Draft(slug=values["slug"], title=values["title"], user=request.user)
    with _draft_lock(draft.slug), tempfile.TemporaryDirectory(dir=storage.incoming_folder()) as temporary:
        if Draft.objects.filter(slug=draft.slug).exists() or Challenge.objects.filter(slug=draft.slug).exists():
            form.add_error("slug", "This name is taken.")
            return None
        if not has_room(sum(upload.size for upload in form.uploads)):
            form.add_error("file", _NO_ROOM)
            return None
        shutil.rmtree(draft.folder, ignore_errors=True)  # left by a discarded draft
        try:
            files = [
                Path(temporary) / put_file(Path(temporary), str(n), upload.name, upload.temporary_file_path())
                for n, upload in enumerate(form.uploads)
            ]
            write_starter(draft.folder, *files)
        except CaptiousError as error:
            form.add_error(None, f"The references cannot be read: {one_line(error).replace(f'{temporary}/', '')}")
            return None
        names = {"title": draft.title, "summary": values["summary"], "organizers": [request.user.username]}
        set_values(draft.folder, names)
        _check_draft(draft)
    return draft


@signed_in("POST")
def begin(request: UserRequest, slug: str) -> HttpResponse:
    """Create a draft of a challenge, or continue the existing one."""
    challenge = managed_challenge(request.user, slug)
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


@signed_in("GET", "HEAD", "POST")
def edit(request: UserRequest, slug: str) -> HttpResponse:
    """Edit a draft. It may be saved with problems, which the page lists with their lines."""
    draft = draft_for(request.user, slug)
    if request.method != "POST":
        return _editor(request, draft)
    form = _form(draft, request.POST)
    action = request.POST.get("action")
    with _draft_lock(slug):
        if form.is_valid() and not _why_not_saved(draft, form):
            write_draft(draft.folder, form.cleaned_data["toml"], form.texts)
            draft.title = str(values_of(draft.folder).get("title", ""))[:200] or slug
            _check_draft(draft)
            record("edit draft", slug, request=request, challenge=draft.challenge)
            reason = draft.why_not_published if action == "publish" else ""
            if action == "publish" and not reason:
                return redirect("captious:draft_publish", slug)
            messages.success(request, f"Saved. {reason}".strip())
            return redirect("captious:draft_preview" if action == "preview" else "captious:draft", slug)
    return _editor(request, draft, form)


def _why_not_saved(draft: Draft, form: DraftForm) -> bool:
    """Add the reasons to a form for which it cannot be saved; return whether there are any."""
    text, challenge = form.cleaned_data["toml"], draft.challenge
    if form.cleaned_data["state"] != state_of(draft.folder):
        form.add_error(
            None, "Somebody else has saved this draft in the meantime. Open it again and repeat your changes."
        )
        return True
    try:
        slug = tomllib.loads(text).get("slug", draft.slug)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        form.add_error("toml", f"This is not TOML: {error}.")
        return True
    if slug != draft.slug:
        form.add_error("toml", f"Line {line_of(text, 'slug')}: the slug stays {draft.slug!r}.")
    if challenge is not None:
        private = private_references(challenge.folder, challenge.definition)
        for problem in reused_problems(draft.folder, text, private):
            form.add_error("toml", f"Line {line_of(text, problem)}: {problem}.")
    return bool(form.errors)


@signed_in("POST")
def upload_file(request: UserRequest, slug: str) -> HttpResponse:
    """Upload references, the logo, a file to download, or a baseline, which challenge.toml then names."""
    draft = draft_for(request.user, slug)
    form = UploadForm(request.POST, request.FILES)
    if form.is_valid():
        kind, upload = form.cleaned_data["kind"], form.cleaned_data["file"]
        with _draft_lock(slug):
            if has_room(upload.size):
                file = put_file(draft.folder, kind, upload.name, upload.temporary_file_path())
                _check_draft(draft)
                record("upload file", slug, request=request, challenge=draft.challenge, detail=file)
                messages.success(request, f"Uploaded {file}. {FILE_NAME} can name it now.")
                return redirect(draft.url)
            form.add_error("file", _NO_ROOM)
    return _editor(request, draft, upload=form)


@signed_in("GET", "HEAD")
def preview(request: UserRequest, slug: str) -> HttpResponse:
    """A preview of the overview."""
    draft = draft_for(request.user, slug)
    context = preview_of(draft) if draft.shown else {}
    context |= {"draft": draft, "problems": _problems(draft)}
    return render(request, "captious/draft_preview.html", context)


@signed_in("GET", "HEAD", "POST")
def publish(request: UserRequest, slug: str) -> HttpResponse:
    """Show the effects of publishing, and load the draft, as ``captious challenge load`` does."""
    draft = draft_for(request.user, slug)
    with _draft_lock(slug):
        checked = _check_draft(draft)
        challenge = draft.challenge
        is_ready = checked is not None and not draft.is_outdated
        if request.method == "POST" and checked is not None and is_ready:

            def agree(pending: Changes) -> bool:
                current = Challenge.objects.get(slug=slug)
                is_current = current.version == draft.version and may_manage(request.user, current)
                return is_current and (not pending.to_confirm or request.POST.get("agree") == "on")

            try:
                result = load_checked(checked[0], agree=agree)
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
        "changes": None if checked is None else checked[1],
        "challenge": challenge,
        "ready": is_ready,
        "problems": _problems(draft),
    }
    return render(request, "captious/draft_publish.html", context, status=409 if request.method == "POST" else 200)


def _publication_message(message: str, challenge: Challenge) -> str:
    """A message with a link to the next step."""
    address = reverse("captious:manage", args=[challenge.slug])
    return format_html('{} <a href="{}">Manage</a> shows its submissions, and writes news.', message, address)


@signed_in("POST")
def discard(request: UserRequest, slug: str) -> HttpResponse:
    """Delete a draft after confirmation; a published challenge stays unchanged."""
    draft = draft_for(request.user, slug)
    challenge = draft.challenge
    if request.POST.get("sure") != "1":
        return render(request, "captious/draft_discard.html", {"draft": draft, "challenge": challenge})
    with _draft_lock(slug):
        _remove_draft(draft)
    record("discard draft", slug, request=request, challenge=challenge)
    messages.success(request, f"The draft of {draft.title} was discarded.")
    return redirect(reverse("captious:manage", args=[slug]) if challenge is not None else "captious:home")


def _editor(
    request: UserRequest, draft: Draft, form: DraftForm | None = None, *, upload: UploadForm | None = None
) -> HttpResponse:
    """The editor of a draft, with the submitted values if they have errors."""
    is_wrong = bool((form and form.errors) or (upload and upload.errors))
    files = [path for path in sorted(draft.folder.rglob("*")) if path.is_file()]
    context = {
        "draft": draft,
        "form": form or _form(draft),
        "upload": upload or UploadForm(auto_id="id_upload_%s"),
        "files": [(path.relative_to(draft.folder).as_posix(), path.stat().st_size) for path in files],
        "problems": [] if is_wrong else _problems(draft),  # of the saved draft
    }
    return render(request, "captious/draft.html", context, status=422 if is_wrong else 200)


def _form(draft: Draft, data: QueryDict | None = None) -> DraftForm:
    folder = draft.folder
    files = {str(row.get("file")): row for _, row in tables(values_of(folder), "texts")[:_MAX_TEXTS]}
    texts = {file: text_of(folder, row) for file, row in files.items() if file.endswith(".md") and "\0" not in file}
    toml = (folder / FILE_NAME).read_text(encoding="utf-8")
    return DraftForm(data, texts, toml=toml, state=state_of(folder))


def _problems(draft: Draft) -> list[dict[str, Any]]:
    """The problems of a draft, each with its line in challenge.toml and what is written there."""
    text = (draft.folder / FILE_NAME).read_text(encoding="utf-8")
    lines = ["", *text.splitlines()]
    numbers = [line_of(text, problem) for problem in draft.problems]
    return [
        {"line": number, "source": lines[number].partition("  #")[0].strip(), "text": problem}
        for number, problem in zip(numbers, draft.problems, strict=True)
    ]


def _check_draft(draft: Draft) -> tuple[CheckedChallenge, Changes] | None:
    """Check a draft and save the result; return it and what publishing would change, None if there are problems."""
    challenge = draft.challenge
    draft.problems, draft.warnings, draft.summary, draft.shown = [], [], [], {}
    checked = None
    problems = outside_problems(draft.folder, {} if challenge is None else challenge.definition_values)
    if challenge is not None:
        problems += published_problems(draft.folder, challenge.folder, challenge.definition)
    try:
        source, changes = checked = check_for_server(draft.folder, problems)
        draft.is_changed = challenge is None or bool(changes.folder or changes.reversals)
        draft.summary, draft.warnings = [*map(list, summary_rows(source))], [*source.warnings]
        draft.shown = shown_values(source)
    except ChallengeError as error:
        draft.problems, draft.is_changed = error.problems, True
    draft.save()
    return checked


def _remove_draft(draft: Draft) -> None:
    storage.remove_files(draft.folder)
    draft.delete()


def _draft_lock(slug: str) -> AbstractContextManager[None]:
    """Lock a draft, so that one request at a time changes it."""
    return locked(settings.CAPTIOUS.data / "drafts" / f".{slug}.lock")
