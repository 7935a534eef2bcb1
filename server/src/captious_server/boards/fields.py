"""Fields of submissions that a challenge declares: their values from forms and tables, as text, and who sees them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping
from typing import Any, TypeAlias

from django import forms
from django.core.exceptions import ValidationError
from django.db import transaction

from captious.drawing import shortened, single_line
from captious_server.challenges.definition import ENTRY_HEADS, FieldDefinition
from captious_server.models import Challenge, Submission
from captious_server.people.access import Visitor, is_own, may_manage, may_see_scores
from captious_server.settings import flag

Value: TypeAlias = str | int | float | bool
_TEXT_LENGTH = 200  # characters
_BATCH_ROWS = 200  # of a table, written at a time


def value_of(field: FieldDefinition, text: str) -> Value | None:
    """The value of a field in a text; None if it is empty.

    Raises:
        ValueError: it has no such value; the message is a sentence.
    """
    text = " ".join(single_line(text).split())
    if not text:
        return None
    if field.kind == "yes/no":
        if (answer := flag(text)) is None:
            raise ValueError(f"Enter yes or no, not {shortened(text)}.")
        return answer
    if field.kind == "number":
        return _number(text)
    if len(text) > _TEXT_LENGTH:
        raise ValueError(f"Enter up to {_TEXT_LENGTH} characters.")
    return text


def _number(text: str) -> int | float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"Enter a number, not {shortened(text)}.")
    return int(number) if number.is_integer() else number


def as_text(value: object) -> str:
    """A value as pages show it and forms take it; empty for none."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.10g}" if isinstance(value, float) else "" if value is None else str(value)


class DeclaredField(forms.Field):
    """The input of a field in the form of a submission."""

    def __init__(self, field: FieldDefinition) -> None:
        answers = [("", "–"), ("yes", "yes"), ("no", "no")]
        widget = forms.Select(choices=answers) if field.kind == "yes/no" else forms.TextInput()
        super().__init__(required=field.required, label=field.label, widget=widget)
        self._field = field

    def to_python(self, value: Any) -> Value | None:
        try:
            return value_of(self._field, value or "")
        except ValueError as error:
            raise ValidationError(str(error)) from None

    def prepare_value(self, value: Any) -> str:
        return as_text(value)


def fields_of_teams(challenge: Challenge) -> dict[str, FieldDefinition]:
    """The fields that teams fill in, by name."""
    return {field.name: field for field in challenge.definition.fields if field.filled_by == "teams"}


def board_fields(challenge: Challenge) -> list[FieldDefinition]:
    """The fields that are columns of leaderboards."""
    return [field for field in challenge.definition.fields if field.on_board]


def shown_fields(user: Visitor, submission: Submission) -> dict[str, Value]:
    """The values of a submission that a user sees, by name. Those of organizers are shown when scores are."""
    challenge = submission.challenge
    manages, sees_scores = may_manage(user, challenge), may_see_scores(user, submission.phase)
    shown = [
        field.name
        for field in challenge.definition.fields
        if manages
        or (field.filled_by == "teams" and (field.on_board or is_own(user, submission)))
        or (field.filled_by == "organizers" and field.on_board and sees_scores)
    ]
    return {name: submission.fields[name] for name in shown if name in submission.fields}


def changed_fields(fields: Mapping[str, Value], values: Mapping[str, Value | None]) -> dict[str, Value]:
    """Fields of a submission with other values; None removes one."""
    return {name: value for name, value in {**fields, **values}.items() if value is not None}


class TableError(Exception):
    """A table that cannot be used.

    Attributes:
        problems: all its problems, a sentence with the line each.
    """

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def fill_fields(challenge: Challenge, table: bytes) -> tuple[list[str], int]:
    """Set the values of a CSV table, which has a column for each of some fields; return these, and the submissions.

    ``submission`` (an id) or ``team`` (its entry) names the submission of a row, and ``phase`` the phase, which a team
    with entries in several needs. An empty cell removes a value. Organizers may fill in all fields.

    Raises:
        TableError: every problem. Nothing was changed.
    """
    heads, rows = _rows_of(table, [*ENTRY_HEADS, *(field.name for field in challenge.definition.fields)])
    fields = [field for field in challenge.definition.fields if field.name in heads]
    by = "submission" if "submission" in heads else "team"
    problems: list[str] = []
    changed: dict[int, Submission] = {}
    with transaction.atomic():
        named = _submissions_by_name(challenge, by)
        for line, row in rows:
            submissions = named.get((row[by], row.get("phase", "")), []) if row[by] else []
            values: dict[str, Value | None] = {}
            for field in fields:
                try:
                    values[field.name] = value_of(field, row[field.name])
                except ValueError as error:
                    problems.append(f"Line {line:,}, {field.name}: {error}")
            if not submissions:
                what = "submission" if by == "submission" else "entry of a team"
                problems.append(f"Line {line:,}: there is no {what} {shortened(row[by])}.")
            phases = {submission.phase.name for submission in submissions}
            if len(phases) > 1:
                among = ", ".join(sorted(phases))
                problems.append(f"Line {line:,}: {shortened(row[by])} has entries in {among}; name one as phase.")
            for submission in submissions:
                if submission.pk in changed:
                    problems.append(f"Line {line:,}: {shortened(row[by])} has another line.")
                submission.fields = changed_fields(submission.fields, values)
                changed[submission.pk] = submission
        if problems:
            raise TableError(problems)
        Submission.objects.bulk_update(changed.values(), ["fields"], batch_size=_BATCH_ROWS)
    return [field.name for field in fields], len(changed)


def _rows_of(table: bytes, known: list[str]) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """The heads of a table, and its rows with the numbers of their lines."""
    try:
        reader = csv.reader(io.StringIO(table.decode("utf-8-sig"), newline=""), strict=True)
        lines = [(reader.line_num, [cell.strip() for cell in row]) for row in reader if any(row)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise TableError([f"This is not a CSV table in UTF-8: {error}."]) from None
    heads = lines[0][1] if lines else []
    problems = [f"Line 1: there is no field {shortened(head)}." for head in heads if head not in known]
    if not {*heads}.difference(ENTRY_HEADS) or not {"submission", "team"}.intersection(heads):
        problems.append(f"Line 1 must name submission or team, and fields. Known are {', '.join(known)}.")
    if len({*heads}) < len(heads):
        problems.append("Line 1 names a column twice.")
    problems += [
        f"Line {line:,} has {len(cells):,} cells, but line 1 has {len(heads):,}."
        for line, cells in lines
        if len(cells) != len(heads)
    ]
    if problems:
        raise TableError(problems)
    return heads, [(line, dict(zip(heads, cells, strict=True))) for line, cells in lines[1:]]


def _submissions_by_name(challenge: Challenge, by: str) -> dict[tuple[str, str], list[Submission]]:
    """The submissions that a row can name, locked: by id, or entries by team, each with its phase and without."""
    rows = Submission.objects.filter(phase__challenge=challenge).exclude(status=Submission.Status.DELETED)
    rows = rows if by == "submission" else rows.filter(is_entry=True)
    named: dict[tuple[str, str], list[Submission]] = {}
    for submission in rows.select_related("team", "phase").select_for_update(of=("self",)):
        name = str(submission.pk) if by == "submission" else submission.team.name
        for phase in ("", submission.phase.name):
            named.setdefault((name, phase), []).append(submission)
    return named
