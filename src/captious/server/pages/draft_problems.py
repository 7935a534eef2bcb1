"""Problems of a draft in the words of its form: each is shown at its field and linked from the top.

Checks name keys of challenge.toml ("phases[1].closes: must be later than opens"); the form has labels and rows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django import forms
from django.forms.formsets import BaseFormSet

from captious.server.pages.draft_parts import PARTS

if TYPE_CHECKING:
    from captious.server.pages.draft_forms import DraftForm

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
