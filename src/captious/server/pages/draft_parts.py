"""The lists of a draft of a challenge: a form for each row, such as a phase, a captions file or a baseline."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django import forms
from django.forms.formsets import BaseFormSet

from captious.server.challenges.definition import PhaseDefinition
from captious.server.challenges.draft_folder import Row, effective, text_of
from captious.server.pages.draft_fields import MomentField, NameField, NumberField, choices_with

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
