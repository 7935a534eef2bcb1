"""Templates of layouts, see ``blocks.py``: lookup and formatting of values of an explanation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from captious.report import numbers
from captious.report.explanations.layouts import SIGNS

#: Stands for a value that an explanation does not have.
MISSING = object()
_PLACE = re.compile(r"\{([^{}:]+)(?::([^{}]*))?\}")


def value_at(values: Any, path: str) -> Any:
    """Return the value at a path of keys and positions, or ``MISSING``."""
    for part in path.split("."):
        values = values.get(part, MISSING) if isinstance(values, Mapping) else values[int(part)]
        if values is MISSING:
            break
    return values


def filled(template: str, values: Mapping[str, Any]) -> str | None:
    """Fill in a template; None if it needs a missing value."""
    values_of_places = [(place, value_at(values, place[1])) for place in _PLACE.finditer(template)]
    if any(value is MISSING for _, value in values_of_places):
        return None
    texts = iter([text_of(value, place[2] or "") for place, value in values_of_places])
    return _PLACE.sub(lambda _: next(texts), template)


def text_of(value: Any, form: str = "") -> str:
    """Format a value in a form that templates name."""
    if form == "sign":
        return SIGNS[value][0] if value else ""
    if form == "pairs":
        return ", ".join(" ≈ ".join(map(_name, pair)) for pair in value)
    if "," in form:
        one, several = form.split(",")
        n = value if isinstance(value, int) else len(value)
        return f"{n:,} {one if n == 1 else several}"
    if value is None:
        return numbers.NOTHING
    if isinstance(value, Sequence) and not isinstance(value, str):
        return " ".join(text_of(one, form) for one in value) if form else _listed(value)
    if form:
        return numbers.format_score(value, int(form))
    return f"{value:,}" if isinstance(value, int) else numbers.single_line(value)


def _listed(value: Sequence[Any]) -> str:
    """Format words, or a tuple of a scene graph: dog, (dog, two), (dog, sit on, sofa)."""
    if not value or isinstance(value[0], str):
        return " ".join(numbers.single_line(word) or "|" for word in value)
    parts = [named(names) for names in value]
    return parts[0] if len(parts) == 1 else f"({', '.join(parts)})"


def named(names: Sequence[str]) -> str:
    """Return the name of a thing; slashes separate several names."""
    return "/".join(map(_name, names))


def _name(name: str) -> str:
    return numbers.single_line(name).strip()
