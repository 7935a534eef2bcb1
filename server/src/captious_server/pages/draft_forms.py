"""Forms of a draft of a challenge: fields, lists such as phases and baselines, and problems shown at their fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from functools import cache
from pathlib import Path
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.forms.formsets import BaseFormSet
from django.utils import timezone
from django.utils.text import slugify

from captious.drawing import shortened
from captious_server.challenges.definition import PhaseDefinition, directions_of, lacking_metrics, ready_metrics
from captious_server.challenges.drafts import Row, effective, text_of
from captious_server.models import Challenge, Draft

# Fields of the forms with which a draft of a challenge is edited: names, numbers, lists, times, and choices.

_NAME_PATTERN = r"^[a-z0-9-]+$"


class NameField(forms.RegexField):
    """A name in addresses or files."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("error_messages", {"invalid": "Use lower-case letters, digits and hyphens."})
        super().__init__(_NAME_PATTERN, max_length=80, **kwargs)


class NumberField(forms.IntegerField):
    """A whole number between bounds."""

    default_error_messages = {"min_value": "At least %(limit_value)d.", "max_value": "At most %(limit_value)d."}


class WordsField(forms.CharField):
    """Names in one line, as a list."""

    def to_python(self, value: Any) -> Any:
        return str(value or "").replace(",", " ").split()

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else " ".join(value or [])

    def has_changed(self, initial: Any, data: Any) -> bool:
        return bool(self.to_python(data) != [*(initial or [])])


class LinesField(forms.CharField):
    """A list with one item per line."""

    widget = forms.Textarea(attrs={"rows": 5, "spellcheck": "false", "class": "code"})

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in str(value or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, str) else "\n".join(value or [])


class MomentField(forms.DateTimeField):
    """A date and time in UTC, whatever the time zone of the server is."""

    widget = forms.DateTimeInput(attrs={"type": "datetime-local", "step": 1}, format="%Y-%m-%dT%H:%M:%S")

    def to_python(self, value: Any) -> Any:
        with timezone.override(UTC):
            return super().to_python(value)

    def prepare_value(self, value: Any) -> Any:
        return value.astimezone(UTC).replace(tzinfo=None) if hasattr(value, "astimezone") else value


def choices_with(names: Iterable[str], values: Iterable[str]) -> list[tuple[str, str]]:
    """Choices for names, and for the current values, which may be invalid."""
    return [(name, name) for name in dict.fromkeys([*names, *values]) if name]


# The lists of a draft of a challenge: a form for each row, such as a phase, a captions file or a baseline.

_MAX_ROWS = 30


class _PartForm(forms.Form):
    """A row of a list.

    Args:
        saved_names: list -> names of its rows, to which others may refer.
        sent_names: list -> names of submitted rows, which may be new.

    Attributes:
        choice_lists: field -> the list that its choices come from.
    """

    choice_lists: Mapping[str, str] = {}

    def __init__(
        self, *args: Any, saved_names: Mapping[str, list[str]], sent_names: Mapping[str, list[str]], **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        for name, list_name in self.choice_lists.items():
            value = self.initial.get(name) or []
            values = [value] if isinstance(value, str) else [*map(str, value)]
            if len(saved_names[list_name]) < 2 and {*values} <= {*saved_names[list_name]}:
                del self.fields[name]  # there is nothing to choose
                continue
            field: Any = self.fields[name]
            is_multiple = isinstance(field, forms.MultipleChoiceField)
            names = choices_with(saved_names[list_name] + sent_names[list_name], values)
            field.choices = names if is_multiple else [("", "choose one"), *names]


def _names_field(label: str, rows: str) -> forms.MultipleChoiceField:
    """Names of rows of another list."""
    return forms.MultipleChoiceField(
        required=False,
        label=label,
        widget=forms.CheckboxSelectMultiple,
        help_text=f"If none is selected, all of them, including {rows} that are added later.",
    )


class _TextForm(_PartForm):
    title = forms.CharField(max_length=200)
    markdown = forms.CharField(
        required=False, strip=False, widget=forms.Textarea(attrs={"rows": 12, "class": "markdown"}), label="Markdown"
    )


class _CaptionsForm(_PartForm):
    name = NameField()
    pattern = forms.CharField(initial="*", help_text="The pattern of its name in a zip file, with * and ?.")
    public = forms.BooleanField(required=False, label="Everybody may see captions, references and scores of images")


class _ReferencesForm(_PartForm):
    choice_lists = {"captions": "captions"}

    name = NameField()
    captions = forms.ChoiceField(label="Captions file that it judges")


class _DownloadForm(_PartForm):
    title = forms.CharField(max_length=200)


class _BaselineForm(_PartForm):
    choice_lists = {"phases": "phases"}

    method = forms.CharField(max_length=120)
    phases = _names_field("Phases", "phases")
    human = forms.BooleanField(required=False, label="Captions by people")
    description = forms.CharField(required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 4}))
    link = forms.CharField(required=False, max_length=500)

    def clean_description(self) -> str:
        return str(self.cleaned_data["description"]).replace("\r\n", "\n")


#: Labels of values of challenge.toml in the form.
_CHOICE_LABELS: Mapping[str, str] = {
    "at-once": "at once",
    "at-end": "when the phase has closed",
    "one": "only its entry",
}


def _choices(name: str) -> list[tuple[str, str]]:
    annotation: Any = PhaseDefinition.model_fields[name].annotation
    return [(value, _CHOICE_LABELS.get(value, value)) for value in annotation.__args__]


def _limit(label: str) -> NumberField:
    return NumberField(min_value=0, max_value=1_000_000, initial=0, label=label, help_text="0 for no limit.")


class _PhaseForm(_PartForm):
    choice_lists = {"captions": "captions"}

    name = NameField()
    title = forms.CharField(max_length=200)
    opens = MomentField(required=False, help_text="In UTC.")
    closes = MomentField(required=False, help_text="In UTC.")
    captions = _names_field("Captions files", "captions files")
    scored_per_day = _limit("Scored per day")
    scored_in_total = _limit("Scored in total")
    attempts_per_day = _limit("Uploads per day")
    board = forms.ChoiceField(choices=_choices("board"), initial="public", label="Leaderboard")
    entries = forms.ChoiceField(choices=_choices("entries"), initial="all", label="Submissions of a team shown")
    scores_shown = forms.ChoiceField(choices=_choices("scores_shown"), initial="at-once")
    digits = NumberField(min_value=1, max_value=8, initial=4)
    equal_captions = forms.FloatField(min_value=0, max_value=1, initial=0.1, label="Largest share of equal captions")


#: List -> name of a row, its form, whether rows can be added.
PARTS: Mapping[str, tuple[str, type[forms.Form], bool]] = {
    "texts": ("text", _TextForm, True),
    "phases": ("phase", _PhaseForm, True),
    "captions": ("captions file", _CaptionsForm, True),
    "references": ("reference set", _ReferencesForm, False),
    "downloads": ("file to download", _DownloadForm, False),
    "baselines": ("baseline", _BaselineForm, False),
}


def formsets(folder: Path, data: Any = None) -> dict[str, BaseFormSet]:
    """The forms of all lists, filled from the folder. Rows can name others that are sent with them."""
    values = effective(folder)
    saved_names = {name: [str(row.get("name", "")) for row in values[name]] for name in ("captions", "phases")}
    sent_names = {
        name: [str(value) for key, value in (data or {}).items() if re.fullmatch(rf"{name}-\d+-name", key)]
        for name in saved_names
    }
    values["texts"] = [{**row, "markdown": text_of(folder, row)} for row in values["texts"]]
    formsets_by_list: dict[str, BaseFormSet] = {}
    for name, (_, form, can_add) in PARTS.items():
        kind = forms.formset_factory(form, extra=int(can_add), can_delete=True, max_num=_MAX_ROWS)
        formsets_by_list[name] = kind(
            data, prefix=name, initial=values[name], form_kwargs={"saved_names": saved_names, "sent_names": sent_names}
        )
    return formsets_by_list


def rows_of_all(formsets: Mapping[str, BaseFormSet]) -> dict[str, list[Row]]:
    """The rows of all lists, as ``write_values`` takes them; renamed captions files are renamed in all lists."""
    lists = {name: _rows_of(formset) for name, formset in formsets.items()}
    files = [str(row["name"]) for _, row in lists["captions"] if row is not None]
    old_names = [str(form.initial["name"]) for form in formsets["captions"].initial_forms]
    names = {old_names[place]: str(row["name"]) for place, row in lists["captions"] if row and place is not None}
    for _, row in lists["references"]:
        if row is None:
            continue
        if "captions" in row:
            row["captions"] = names.get(row["captions"], row["captions"])
        elif len(files) > 1 and len(old_names) == 1:  # until now the only one
            row["captions"] = names.get(old_names[0], old_names[0])
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


# Problems of a draft in the words of its form: each is shown at its field and linked from the top.
#
# Checks name keys of challenge.toml ("phases[1].closes: must be later than opens"); the form has labels and rows.

_ROW = re.compile(rf"({'|'.join(PARTS)})\[(\d+)\]")
_PLACE = re.compile(r"([a-z_]+)(?:\[(\d+)\])?(?:\.([a-z_.]+))?: ")


@dataclass(frozen=True)
class FormProblem:
    """A problem with a draft.

    Attributes:
        label: label of the field or row; "" for the draft as a whole.
        text: the problem.
        target: the id of the element on the editor's page; "" if there is none.
    """

    label: str
    text: str
    target: str = ""


def form_problems(problems: Sequence[str], form: DraftForm, lists: Mapping[str, BaseFormSet]) -> list[FormProblem]:
    """The problems of a check in the words of the form. Their fields and rows are marked."""
    return [_field_problem(problem, form, lists) for problem in problems]


def form_warnings(warnings: Sequence[str], lists: Mapping[str, BaseFormSet]) -> list[str]:
    """The warnings of a check, with rows named as in the form."""
    sentences = []
    for warning in warnings:
        match = _PLACE.match(warning)
        row = "" if match is None else f"{match[1]}[{match[2]}]"
        text = warning if match is None else f"{row}: {warning[match.end() :]}" if _ROW.fullmatch(row) else warning
        sentences.append(_sentence(_with_row_names(text, lists)))
    return sentences


def form_errors(form: DraftForm, lists: Mapping[str, BaseFormSet], upload: forms.Form | None) -> list[FormProblem]:
    """All errors that prevent the form from being saved."""
    problems = [*_errors(form, "", "challenge")]
    for name, formset in lists.items():
        problems += [FormProblem(_sentence(name), str(error), name) for error in formset.non_form_errors()]
        for place, row in enumerate(formset.forms):
            problems += _errors(row, _row_label(name, place, lists), row_id(name, place))
    return problems + ([] if upload is None else [*_errors(upload, "Upload", "")])


def row_id(name: str, place: int) -> str:
    """The id of a row of a list on the editor's page."""
    return f"{name}-{place + 1}"


def is_marked(form: forms.Form, name: str) -> bool:
    """Return whether ``form_problems`` has marked a field."""
    return bool(getattr(form.fields[name], "problems", []))


def _errors(form: forms.Form, row: str, target: str) -> Iterator[FormProblem]:
    for error in form.non_field_errors():
        yield FormProblem(row, str(error), target)
    for field in form:
        for error in field.errors:
            yield FormProblem(_label(row, str(field.label)), str(error), _field_id(field))


def _field_problem(problem: str, form: DraftForm, lists: Mapping[str, BaseFormSet]) -> FormProblem:
    match = _PLACE.match(problem)
    if match is None:
        row_match = _ROW.match(problem)
        return FormProblem("", _with_row_names(problem, lists), "" if row_match is None else row_match[1])
    key, number, field = match.groups()
    text = _with_row_names(problem[match.end() :], lists)
    if key in PARTS:
        return _row_problem(key, number, field, text, lists)
    if key == "metrics" and number:
        name = next(iter(form.requested[int(number) - 1 : int(number)]), "")
        key = "more_metrics" if name in form.initial["more_metrics"] else "metrics"
        text = text if not name or name in text else f"{name}: {text}"
    elif key == "settings" and field:
        text = f"{field}: {text}"
    if key not in form.fields:
        return FormProblem("", f"{problem[: match.end()]}{text}")
    _mark(form[key], text if key in ("metrics", "more_metrics", "settings") else _sentence(text))
    return FormProblem(str(form[key].label), text, _field_id(form[key]))


def _row_problem(
    key: str, number: str | None, field: str | None, text: str, lists: Mapping[str, BaseFormSet]
) -> FormProblem:
    place = int(number or 0) - 1
    if not 0 <= place < lists[key].initial_form_count():
        return FormProblem(_sentence(key), text, key)
    row: Any = lists[key].forms[place]
    label, name = _row_label(key, place, lists), (field or "").partition(".")[0]
    if name in row.fields:
        _mark(row[name], _sentence(text))
        row.is_marked = True
        return FormProblem(_label(label, str(row[name].label)), text, _field_id(row[name]))
    row.is_marked = True
    row.problems = [*getattr(row, "problems", []), _sentence(text)]
    return FormProblem(label, text, row_id(key, place))


def _mark(field: Any, text: str) -> None:
    """Show a problem at a field, which is described by it."""
    problems = getattr(field.field, "problems", [])
    field.field.problems = [*problems, text]
    if not field.use_fieldset:
        help_id = f" {field.auto_id}_helptext" if field.help_text else ""
        description_ids = f"{field.auto_id}_problems{help_id}"
        field.field.widget.attrs |= {"aria-invalid": "true", "aria-describedby": description_ids}


def _with_row_names(text: str, lists: Mapping[str, BaseFormSet]) -> str:
    """A message with the names of rows instead of their numbers in the file."""

    def name(match: re.Match[str]) -> str:
        place = int(match[2]) - 1
        label = _row_label(match[1], place, lists) if place < len(lists[match[1]].forms) else match[0]
        return label[:1].lower() + label[1:]

    return _ROW.sub(name, text).replace('is "at-end"', "is “when the phase has closed”")


def _row_label(name: str, place: int, lists: Mapping[str, BaseFormSet]) -> str:
    """The name of a row for people: "Phase “Main”", "New phase"."""
    row, singular = lists[name].forms[place], PARTS[name][0]
    if place >= lists[name].initial_form_count():
        return f"New {singular}"
    title = next((str(row.initial[key]) for key in ("title", "name", "method") if row.initial.get(key)), "")
    return f"{singular[:1].upper()}{singular[1:]} {f'“{title}”' if title else place + 1}"


def _label(row: str, label: str) -> str:
    return f"{row}, {label}" if row else label


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _field_id(field: Any) -> str:
    """The id of the element to focus when a link leads to a field."""
    return f"{field.auto_id}_0" if field.use_fieldset else str(field.auto_id)


# A new draft, the challenge as a whole, and uploads.


class NewChallengeForm(forms.Form):
    """A new challenge; everything else has defaults."""

    title = forms.CharField(max_length=200)
    summary = forms.CharField(required=False, max_length=500, help_text="One sentence for the list of challenges.")
    slug = NameField(required=False, label="Name in addresses", help_text="By default, derived from the title.")
    file = forms.FileField(
        label="References", help_text="In any format that captious reads, such as COCO annotations, JSON or CSV."
    )

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        slug = values.get("slug") or slugify(values.get("title", "")).replace("_", "-")[:80]
        if "title" in values and not slug:
            self.add_error("slug", "Enter a name: the title has no letters from a to z and no digits.")
        elif Challenge.objects.filter(slug=slug).exists() or Draft.objects.filter(slug=slug).exists():
            self.add_error("slug", f"The name {slug} is taken.")
        return {**values, "slug": slug}


class _UploadForm(forms.Form):
    """A file for a draft. Its fields are next to their list in the editor, but are sent separately.

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
        files: the saved captions files of the draft.
    """

    name = NameField(
        label="Name of the reference set", help_text="For example, c5. If it exists, its file is replaced."
    )
    captions = NameField(required=False, label="Captions file that it judges")
    field_order = ["name", "captions", "file"]

    def __init__(self, *args: Any, files: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, form_id="upload-references", **kwargs)
        choices = [("", "choose one"), *((name, name) for name in files)]
        widget = forms.Select(choices=choices) if len(files) > 1 else forms.HiddenInput()
        widget.attrs["form"] = self.form_id
        self.fields["captions"].widget = widget


class UploadFileForm(_UploadForm):
    """A file of the challenge: its logo, one to download, or a baseline.

    Args:
        kind: one of ``KINDS``.
    """

    KINDS: Mapping[str, str] = {"downloads": "Title", "baselines": "Method", "logo": ""}

    kind = forms.ChoiceField(choices=[*KINDS.items()], widget=forms.HiddenInput)
    name = forms.CharField(required=False, max_length=120, help_text="If it exists, its file is replaced.")
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
    """The settings in challenge.toml that concern the challenge as a whole."""

    title = forms.CharField(max_length=200)
    summary = forms.CharField(required=False, help_text="One sentence for the list of challenges.")
    access = forms.ChoiceField(choices=[("public", "public"), ("participants", "participants only")])
    organizers = WordsField(required=False, help_text="User names.")
    organized_by = LinesField(required=False, label="Organized by", help_text="As shown on pages, one name per line.")
    license = forms.CharField(required=False, max_length=500)
    citation = forms.CharField(
        required=False, max_length=5000, widget=forms.Textarea(attrs={"rows": 4}), label="How to cite"
    )
    terms = forms.ChoiceField(required=False, help_text="The text that teams accept before they submit.")
    team_approval = forms.BooleanField(required=False, label="Teams need the approval of the organizers to submit")
    team_size = NumberField(min_value=0, label="Members of a team", help_text="The maximum; 0 for no limit.")
    teams_close = MomentField(required=False, help_text="Users who join a team later cannot submit for it. In UTC.")
    logo = forms.CharField(required=False, help_text="A file of the challenge.")
    image_url = forms.CharField(
        required=False, label="Address of images", help_text="With {id}, such as https://images.example.org/{id}.jpg."
    )
    metrics = forms.MultipleChoiceField(required=False, widget=forms.CheckboxSelectMultiple)
    more_metrics = LinesField(
        required=False,
        label="Metrics with parameters",
        help_text="Metrics with parameters or further requirements, one per line, such as spice:parser=bundled or wmd.",
    )
    rank_by = forms.ChoiceField(
        label="Ranked by", help_text="Outputs of metrics with parameters are listed after saving."
    )
    max_words = NumberField(min_value=1, max_value=1000, label="Words per caption")
    settings = LinesField(required=False, label="Settings of metrics", help_text="One per line, such as language = de.")
    state = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, data: Any = None, *, initial: Mapping[str, Any]) -> None:
        """``initial`` has all metrics as a list of texts, and so have ``requested`` and ``cleaned_data``, in order."""
        self.requested, plain = [*initial["metrics"]], _plain_metrics()
        other_metrics = [text for text in self.requested if text not in plain]
        checked_metrics = [text for text in self.requested if text in plain]
        super().__init__(data, initial={**initial, "metrics": checked_metrics, "more_metrics": other_metrics})
        self._choices("metrics").choices = [(name, name) for name in plain]
        self.fields["metrics"].help_text = " ".join(
            f"{', '.join(names)}: not installed on this server; install them with {command}."
            for command, names in lacking_metrics(_COMMON_METRICS).items()
        )
        lines = "" if data is None else str(data.get("more_metrics", ""))
        outputs = _outputs_of([*self.requested, *plain, *map(str.strip, lines.splitlines())])
        rank_by = str(initial["rank_by"])
        if not any(rank_by in labels for labels in outputs.values()):
            outputs = {rank_by: [rank_by], **outputs}
        self._choices("rank_by").choices = [
            (text, [(label, label) for label in labels]) for text, labels in outputs.items()
        ]
        titles = [str(text.get("title", "")) for text in initial["texts"]]
        self._choices("terms").choices = [("", "none"), *choices_with(titles, [initial["terms"]])]

    def _choices(self, name: str) -> Any:
        return self.fields[name]

    def clean(self) -> dict[str, Any]:
        values: dict[str, Any] = super().clean() or self.cleaned_data
        metrics = dict.fromkeys([*values.get("metrics", []), *values.pop("more_metrics", [])])
        if not metrics and not self.errors:
            self.add_error("metrics", "Choose at least one metric.")
        former = [text for text in self.requested if text in metrics]
        values["metrics"] = [*former, *(text for text in metrics if text not in former)]
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
            for title, names in _FIELD_GROUPS.items()
        ]

    def clean_citation(self) -> str:
        return str(self.cleaned_data["citation"]).replace("\r\n", "\n")

    def clean_settings(self) -> dict[str, str]:
        pairs = [line.partition("=") for line in self.cleaned_data["settings"]]
        if invalid := [line for line, sign, _ in pairs if not sign]:
            raise ValidationError(f"Write NAME = VALUE on each line, not {shortened(invalid[0])}.")
        return {name.strip(): value.strip() for name, _, value in pairs}


#: The metrics that most challenges have; they come first.
_COMMON_METRICS = ("bleu", "meteor", "rouge-l", "cider-d", "spice", "spider")


@cache
def _plain_metrics() -> tuple[str, ...]:
    """The metrics with a checkbox: those that this server can run without parameters or settings."""
    names = ready_metrics()
    return tuple(
        sorted(names, key=lambda name: _COMMON_METRICS.index(name) if name in _COMMON_METRICS else len(_COMMON_METRICS))
    )


def _outputs_of(metrics: Iterable[str]) -> dict[str, list[str]]:
    """The outputs of existing metrics."""
    outputs = {}
    for text in dict.fromkeys(metrics):
        with suppress(ValueError):
            outputs[text] = [*directions_of(text)] if text else []
    return {text: labels for text, labels in outputs.items() if labels}


_FIELD_GROUPS: Mapping[str, tuple[str, ...]] = {
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
