"""The forms with which a draft of a challenge is edited: one for the challenge, and lists of its parts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.formsets import BaseFormSet
from django.utils import timezone
from django.utils.text import slugify

from captious.server.challenges.challenge_metrics import directions_of, ready_metrics
from captious.server.challenges.definition import PhaseDefinition
from captious.server.challenges.draft_folder import Row, effective, text_of
from captious.server.models import Challenge, Draft
from captious.server.pages.draft_problems import is_marked

_MOST_ROWS = 30
_NAME = r"^[a-z0-9-]+$"


class _Name(forms.RegexField):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("error_messages", {"invalid": "Use lower-case letters, digits and hyphens."})
        super().__init__(_NAME, max_length=80, **kwargs)


class _Words(forms.CharField):
    """Names in one line, as a list."""

    def to_python(self, value: Any) -> Any:
        return str(value or "").replace(",", " ").split()

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else " ".join(value or [])

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != [*(initial or [])])


class _Lines(forms.CharField):
    """A list with a line for each."""

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "code"})

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else "\n".join(value or [])


class _Moment(forms.DateTimeField):
    """A date and time in UTC, whatever the time zone of the server is."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1}, format="%Y-%m-%dT%H:%M:%S")

    def to_python(self, value: Any) -> Any:
        with timezone.override(UTC):
            return super().to_python(value)

    def prepare_value(self, value: Any) -> Any:
        return value.astimezone(UTC).replace(tzinfo=None) if hasattr(value, "astimezone") else value


class NewChallengeForm(forms.Form):
    """A new challenge, of which everything else has defaults."""

    title = forms.CharField(max_length=200)
    summary = forms.CharField(required=False, max_length=500, help_text="One sentence for the list of challenges.")
    slug = _Name(required=False, label="Name in addresses", help_text="By default, made of the title.")
    file = forms.FileField(
        label="References", help_text="In any format that captious reads, such as COCO's annotations, JSON or CSV."
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        slug = values.get("slug") or slugify(values.get("title", "")).replace("_", "-")[:80]
        if "title" in values and not slug:
            self.add_error("slug", "Give a name: the title has no letters or digits.")
        elif Challenge.objects.filter(slug=slug).exists() or Draft.objects.filter(slug=slug).exists():
            self.add_error("slug", f"The name {slug} is taken.")
        return {**values, "slug": slug}


class _UploadForm(forms.Form):
    """A file for a draft. Its fields lie in the editor's form, beside the list that they fill, and are sent alone.

    Attributes:
        form_id: the id of the form with which they are sent.
    """

    file = forms.FileField()

    def __init__(self, *args: Any, form_id: str, **kwargs: Any) -> None:
        super().__init__(*args, auto_id=f"id_{form_id}_%s", **kwargs)
        self.form_id = form_id
        for field in self.fields.values():
            field.widget.attrs["form"] = form_id


class ReferencesFileForm(_UploadForm):
    """A file of references, for a new reference set or in place of an earlier file.

    Args:
        files: the captions files of the draft, as far as they have been saved.
    """

    name = _Name(label="Name of the reference set", help_text="Such as c5. If it is there, its file is replaced.")
    captions = _Name(required=False, label="Captions file that it judges")
    field_order = ["name", "captions", "file"]

    def __init__(self, *args: Any, files: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, form_id="upload-references", **kwargs)
        several = [("", "choose one"), *((name, name) for name in files)]
        widget = forms.Select(choices=several) if len(files) > 1 else forms.HiddenInput()
        widget.attrs["form"] = self.form_id
        self.fields["captions"].widget = widget


class PutFileForm(_UploadForm):
    """A file of the challenge: its logo, one to download, or a baseline.

    Args:
        kind: one of ``KINDS``.
    """

    KINDS: Mapping[str, str] = {"downloads": "Title", "baselines": "Method", "logo": ""}

    kind = forms.ChoiceField(choices=[*KINDS.items()], widget=forms.HiddenInput)
    name = forms.CharField(required=False, max_length=120, help_text="If it is there, its file is replaced.")
    field_order = ["kind", "name", "file"]

    def __init__(self, *args: Any, kind: str, **kwargs: Any) -> None:
        super().__init__(*args, form_id=f"upload-{kind}", initial={"kind": kind}, **kwargs)
        self.fields["name"].label = self.KINDS.get(kind, "")
        self.fields["name"].required = bool(self.fields["name"].label)
        if not self.fields["name"].required:
            self.fields["name"].widget = forms.HiddenInput(attrs={"form": self.form_id})

    def clean_name(self) -> str:
        return " ".join(str(self.cleaned_data["name"]).split())


class DraftForm(forms.Form):
    """What challenge.toml says of the challenge as a whole."""

    title = forms.CharField(max_length=200)
    summary = forms.CharField(required=False, help_text="One sentence for the list of challenges.")
    access = forms.ChoiceField(choices=[("public", "public"), ("participants", "participants only")])
    organizers = _Words(required=False, help_text="User names.")
    organized_by = _Lines(required=False, label="Organized by", help_text="As pages show it, a name in each line.")
    license = forms.CharField(required=False, max_length=500)
    citation = forms.CharField(
        required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 4}), label="How to cite"
    )
    terms = forms.ChoiceField(required=False, help_text="The text that teams accept before they submit.")
    team_approval = forms.BooleanField(required=False, label="Teams need the approval of the organizers to submit")
    team_size = forms.IntegerField(min_value=0, label="Members of a team", help_text="At most; 0 for no limit.")
    teams_close = _Moment(required=False, help_text="After it, nobody submits for a team that they join. In UTC.")
    logo = forms.CharField(required=False, help_text="A file of the challenge.")
    image_url = forms.CharField(
        required=False, label="Address of images", help_text="With {id}, such as https://images.example.org/{id}.jpg."
    )
    metrics = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    more_metrics = _Lines(
        required=False,
        label="Metrics with parameters",
        help_text="And those that need something more, one in a line, such as spice:parser=bundled or wmd.",
    )
    rank_by = forms.ChoiceField(label="Ranked by", help_text="Those of metrics with parameters are here once saved.")
    max_words = forms.IntegerField(min_value=1, max_value=1000, label="Words that a caption may have")
    settings = _Lines(required=False, label="Settings of metrics", help_text="One in a line, such as language = de.")
    state = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, initial: Mapping[str, Any]) -> None:
        """``initial`` has all metrics as a list of texts, and so have ``requested`` and ``cleaned_data``, in order."""
        self.requested, ready = [*initial["metrics"]], _ready()
        more = [text for text in self.requested if text not in ready]
        chosen = [text for text in self.requested if text in ready]
        super().__init__(data, initial={**initial, "metrics": chosen, "more_metrics": more})
        self._choices("metrics").choices = [(name, name) for name in ready]
        lines = "" if data is None else str(data.get("more_metrics", ""))
        outputs = _outputs_of([*self.requested, *ready, *map(str.strip, lines.splitlines())])
        ranks = str(initial["rank_by"])
        if not any(ranks in labels for labels in outputs.values()):
            outputs = {ranks: [ranks], **outputs}
        self._choices("rank_by").choices = [
            (text, [(label, label) for label in labels]) for text, labels in outputs.items()
        ]
        titles = [str(text.get("title", "")) for text in initial["texts"]]
        self._choices("terms").choices = [("", "none"), *_with(titles, [initial["terms"]])]

    def _choices(self, name: str) -> Any:
        return self.fields[name]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        wanted = dict.fromkeys([*values.get("metrics", []), *values.pop("more_metrics", [])])
        if not wanted and not self.errors:
            self.add_error("metrics", "Choose at least one metric.")
        stay = [text for text in self.requested if text in wanted]
        values["metrics"] = [*stay, *(text for text in wanted if text not in stay)]
        return values

    @property
    def groups(self) -> list[dict[str, Any]]:
        """The fields in groups: title, fields, and whether one of them is wrong. The first one has no title."""
        return [
            {
                "title": title,
                "fields": [self[name] for name in names],
                "is_wrong": any(self[name].errors or is_marked(self, name) for name in names),
            }
            for title, names in _GROUPS.items()
        ]

    def clean_citation(self) -> str:
        return str(self.cleaned_data["citation"]).replace("\r\n", "\n")

    def clean_settings(self) -> dict[str, str]:
        pairs = [line.partition("=") for line in self.cleaned_data["settings"]]
        if any(not sign for _, sign, _ in pairs):
            raise ValidationError("Write NAME = VALUE in each line.")
        return {name.strip(): value.strip() for name, _, value in pairs}


#: The metrics that most challenges have; they come first.
_USUAL = ("bleu", "meteor", "rouge-l", "cider-d", "spice", "spider")


@cache
def _ready() -> tuple[str, ...]:
    """The metrics that can be ticked: those that this server can run without anything more."""
    names = ready_metrics()
    return tuple(sorted(names, key=lambda name: _USUAL.index(name) if name in _USUAL else len(_USUAL)))


def _outputs_of(metrics: Iterable[str]) -> dict[str, list[str]]:
    """The outputs of those metrics that exist."""
    outputs = {}
    for text in dict.fromkeys(metrics):
        with suppress(ValueError):
            outputs[text] = [*directions_of(text)] if text else []
    return {text: labels for text, labels in outputs.items() if labels}


def _with(names: Iterable[str], chosen: Iterable[str]) -> list[tuple[str, str]]:
    """Choices: what can be chosen, and what is, which may be wrong."""
    return [(name, name) for name in dict.fromkeys([*names, *chosen]) if name]


_GROUPS: Mapping[str, tuple[str, ...]] = {
    "": ("title", "summary", "access", "organizers", "metrics", "more_metrics", "rank_by", "state"),
    "Organizers, license, citation, logo, images": (
        "organized_by",
        "license",
        "citation",
        "logo",
        "image_url",
    ),
    "Terms and teams": ("terms", "team_approval", "team_size", "teams_close"),
    "Captions and settings of metrics": ("max_words", "settings"),
}


class _PartForm(forms.Form):
    """A row of a list.

    Args:
        known: list -> names of its rows, which others may name.
        sent: the same of rows as they are sent, which may be new.

    Attributes:
        choosing: field -> the list whose rows it names, if it is one that does.
    """

    choosing: Mapping[str, str] = {}

    def __init__(
        self, *args: Any, known: Mapping[str, list[str]], sent: Mapping[str, list[str]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        for name, named in self.choosing.items():
            value = self.initial.get(name) or []
            chosen = [value] if isinstance(value, str) else [*map(str, value)]
            if len(known[named]) < 2 and {*chosen} <= {*known[named]}:
                del self.fields[name]  # there is nothing to choose
                continue
            field: Any = self.fields[name]
            several = isinstance(field, forms.MultipleChoiceField)
            field.choices = [*([] if several else [("", "choose one")]), *_with(known[named] + sent[named], chosen)]


def _several(label: str, named: str) -> forms.MultipleChoiceField:
    """Names of rows of another list."""
    return forms.MultipleChoiceField(
        required=False,
        label=label,
        widget=forms.CheckboxSelectMultiple,
        help_text=f"If none is ticked, all, also {named} that are added later.",
    )


class _TextForm(_PartForm):
    title = forms.CharField(max_length=200)
    markdown = forms.CharField(
        required=False, strip=False, widget=forms.Textarea(attrs={"rows": 12, "class": "markdown"}), label="Markdown"
    )


class _CaptionsForm(_PartForm):
    name = _Name()
    pattern = forms.CharField(initial="*", help_text="Of its name in a zip file, with * and ?.")
    public = forms.BooleanField(required=False, label="Everybody may see captions, references and scores of images")


class _ReferencesForm(_PartForm):
    choosing = {"captions": "captions"}

    name = _Name()
    captions = forms.ChoiceField(label="Captions file that it judges")


class _DownloadForm(_PartForm):
    title = forms.CharField(max_length=200)


class _BaselineForm(_PartForm):
    choosing = {"phases": "phases"}

    method = forms.CharField(max_length=120)
    phases = _several("Phases", "phases")
    human = forms.BooleanField(required=False, label="Captions by people")
    description = forms.CharField(required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 4}))
    link = forms.CharField(required=False, max_length=500)

    def clean_description(self) -> str:
        return str(self.cleaned_data["description"]).replace("\r\n", "\n")


#: Values of challenge.toml that are other words in the form.
_WORDS: Mapping[str, str] = {"at-once": "at once", "at-end": "when the phase has closed", "one": "only its entry"}


def _choices(name: str) -> list[tuple[str, str]]:
    annotation: Any = PhaseDefinition.model_fields[name].annotation
    return [(value, _WORDS.get(value, value)) for value in annotation.__args__]


def _limit(label: str) -> forms.IntegerField:
    return forms.IntegerField(min_value=0, max_value=1_000_000, initial=0, label=label, help_text="0 for no limit.")


class _PhaseForm(_PartForm):
    choosing = {"captions": "captions"}

    name = _Name()
    title = forms.CharField(max_length=200)
    opens = _Moment(required=False, help_text="In UTC.")
    closes = _Moment(required=False, help_text="In UTC.")
    captions = _several("Captions files", "captions files")
    scored_per_day = _limit("Scored per day")
    scored_in_total = _limit("Scored in total")
    attempts_per_day = _limit("Uploads per day")
    board = forms.ChoiceField(choices=_choices("board"), initial="public", label="Leaderboard")
    entries = forms.ChoiceField(choices=_choices("entries"), initial="all", label="Submissions of a team shown")
    scores_shown = forms.ChoiceField(choices=_choices("scores_shown"), initial="at-once")
    digits = forms.IntegerField(min_value=1, max_value=8, initial=4)
    equal_captions = forms.FloatField(min_value=0, max_value=1, initial=0.1, label="Largest share of equal captions")


#: List -> what one of its rows is called, its form, whether rows can be added here.
PARTS: Mapping[str, tuple[str, type[forms.Form], bool]] = {
    "texts": ("text", _TextForm, True),
    "phases": ("phase", _PhaseForm, True),
    "captions": ("captions file", _CaptionsForm, True),
    "references": ("reference set", _ReferencesForm, False),
    "downloads": ("file to download", _DownloadForm, False),
    "baselines": ("baseline", _BaselineForm, False),
}


def formsets(folder: Path, data: Any = None) -> dict[str, BaseFormSet]:
    """The forms of all lists, with what is in the folder. Rows can name others that are sent with them."""
    values = effective(folder)
    known = {name: [str(row.get("name", "")) for row in values[name]] for name in ("captions", "phases")}
    sent = {
        name: [str(value) for key, value in (data or {}).items() if re.fullmatch(rf"{name}-\d+-name", key)]
        for name in known
    }
    values["texts"] = [{**row, "markdown": text_of(folder, row)} for row in values["texts"]]
    made: dict[str, BaseFormSet] = {}
    for name, (_, form, can_add) in PARTS.items():
        kind = forms.formset_factory(form, extra=int(can_add), can_delete=True, max_num=_MOST_ROWS)
        made[name] = kind(data, prefix=name, initial=values[name], form_kwargs={"known": known, "sent": sent})
    return made


def rows_of_all(formsets: Mapping[str, BaseFormSet]) -> dict[str, list[Row]]:
    """The rows of all lists, as ``write_values`` takes them; captions files that are renamed are so in all of them."""
    lists = {name: _rows_of(formset) for name, formset in formsets.items()}
    files = [str(row["name"]) for _, row in lists["captions"] if row is not None]
    before = [str(form.initial["name"]) for form in formsets["captions"].initial_forms]
    names = {before[place]: str(row["name"]) for place, row in lists["captions"] if row and place is not None}
    for _, row in lists["references"]:
        if row is None:
            continue
        if "captions" in row:
            row["captions"] = names.get(row["captions"], row["captions"])
        elif len(files) > 1 and len(before) == 1:  # which has been the only one so far
            row["captions"] = names.get(before[0], before[0])
    for _, row in lists["phases"]:
        if row and row.get("captions"):
            row["captions"] = [names.get(name, name) for name in row["captions"]]
    return lists


def _rows_of(formset: BaseFormSet) -> list[Row]:
    rows: list[Row] = []
    for place, form in enumerate(formset.forms):
        is_new = place >= formset.initial_form_count()
        row = {name: value for name, value in form.cleaned_data.items() if name != "DELETE"}
        if form.cleaned_data.get("DELETE"):
            rows += [] if is_new else [(place, None)]
        elif not is_new or form.has_changed():
            row |= {name: None for name in ("captions", "phases") if row.get(name) == []}  # by default, all
            rows.append((None if is_new else place, row))
    return rows
