"""Fields of the forms with which a draft of a challenge is edited: names, numbers, lists, times, and choices."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC
from typing import Any

from django import forms
from django.utils import timezone

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
