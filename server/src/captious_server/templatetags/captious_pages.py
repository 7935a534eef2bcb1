"""Template tags: filters for scores, times and addresses, drawings, inlined styles, and static files."""

from __future__ import annotations

import base64
import hashlib
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django import template
from django.contrib.staticfiles import finders
from django.contrib.staticfiles.storage import StaticFilesStorage
from django.urls import Resolver404, resolve
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from captious import drawing
from captious.drawing import Cell, percentage
from captious.statistics import Sampling
from captious_server.boards.fields import as_text
from captious_server.boards.ranking import effect_digits, interval_digits, p_digits

# Inlined styles, so that pages render at a first visit before other files arrive.

#: The static files that pages contain.
STYLES = ("design/tokens.css", "captious/style.css", "explanations/explanations.css")


@cache
def style(name: str) -> str:
    """A style without comments and indentation. It is read once; static files do not change while a server runs."""
    path = finders.find(name)
    assert path is not None, name
    content = Path(path).read_text(encoding="utf-8")
    return re.sub(r"\n\s*", "\n", re.sub(r"/\*.*?\*/", "", content, flags=re.DOTALL)).strip()


@cache
def style_policy() -> str:
    """The content security policy for styles: those of the site, and exactly these within pages."""
    digests = [hashlib.sha256(style(name).encode()).digest() for name in STYLES]
    return " ".join(["style-src 'self'", *(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests)])


# Static files have a digest in their addresses, so that browsers keep them and never ask for them again.

#: The cache header of a file whose address has its digest.
FOREVER = "public, max-age=31536000, immutable"


@cache
def digest(name: str) -> str:
    """The digest of a static file, computed once, because files do not change meanwhile; empty if there is no file."""
    path = finders.find(name)
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:12] if path else ""


class DigestStorage(StaticFilesStorage):
    """Adds digests to the addresses of static files: "/static/captious/check.js?v=0a1b2c3d4e5f"."""

    def url(self, name: str | None) -> str:
        address: str = super().url(name)
        checksum = digest(name) if name else ""
        return f"{address}?v={checksum}" if checksum else address


# Template filters that format scores, times and addresses.
#
# Numbers are written as in the reports of the command line: four digits, no zero before the point. Only the minus is a
# real one, as wide as the plus and read by screen readers. Missing values are dashes.

register = template.Library()

_MISSING = "–"


@register.simple_tag
def inline_style(name: str) -> SafeString:
    """A style of the site as an element of the page."""
    return mark_safe(f"<style>{style(name)}</style>")


@register.filter
def score(value: object, digits: int = 4) -> str:
    """A score: ".2980", "1.2748", "−.0312". Text stays as it is."""
    return _number(value, lambda number: drawing.format_score(number, digits))


@register.filter
def field_text(value: object) -> str:
    """The value of a field of a submission: "86,000,000", "0.25", "yes"; empty if there is none."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return f"{value:,.10g}" if is_number else as_text(value)


@register.filter
def signed(value: object, digits: int = 4) -> str:
    """A difference with its sign: "+.0392", "−.0392"."""
    return _number(value, lambda number: drawing.format_difference(number, digits))


@register.filter
def p_value(value: object, digits: int = 4) -> str:
    """A p value: ".042", "<.001"."""
    return _number(value, lambda number: drawing.format_p_value(number, p_digits(digits)))


@register.filter
def effect(value: object, digits: int = 4) -> str:
    """An effect size: "+.04"."""
    return _number(value, lambda number: drawing.format_difference(number, effect_digits(digits)))


@register.simple_tag
def level() -> str:
    """The level of all intervals: "95%"."""
    return percentage(Sampling().level)


@register.filter
def interval(row: object, digits: int = 4) -> str:
    """The interval from a row's ``low`` to its ``high``, with one digit fewer than scores: ".704 – .712".

    Empty if an end is missing.
    """
    return " – ".join(_ends(row, digits, drawing.format_score))


@register.filter
def ends(row: object, digits: int = 4) -> str:
    """The interval of a difference, whose ends have signs, with one digit fewer than scores: "[−.012, +.139]"."""
    texts = _ends(row, digits, drawing.format_difference)
    return f"[{', '.join(texts)}]" if texts else ""


@register.filter
def count(value: object) -> str:
    """A number of things: "5,000"."""
    return f"{value:,}" if isinstance(value, int) else _MISSING


@register.filter
def moment(value: object) -> str | SafeString:
    """A time as a ``<time>`` element, in UTC: "2026-11-22 17:05 UTC"."""
    return _time(value, "%Y-%m-%d %H:%M UTC")


@register.filter
def day(value: object) -> str | SafeString:
    """The day of a time as a ``<time>`` element, in UTC: "2026-11-22"."""
    return _time(value, "%Y-%m-%d")


@register.filter
def item(mapping: object, key: object) -> object:
    """The value of a variable key; None if there is none."""
    return mapping.get(key) if isinstance(mapping, Mapping) else None


@register.filter
def query(address: object) -> list[tuple[str, str]]:
    """Names and values in the query of an address, for hidden fields: a form with ``method="get"`` drops the query."""
    return parse_qsl(urlsplit(str(address or "")).query, keep_blank_values=True)


@register.filter
def difference_drawing(row: object) -> str:
    """A row's ``difference`` between ``low`` and ``high``, drawn around zero."""
    cell = _cell(row, "difference")
    return "" if cell is None else mark_safe(drawing.difference_drawing(cell))


@register.filter
def interval_drawing(row: object, scale: tuple[float, float]) -> str:
    """A row's ``score`` between ``low`` and ``high``, drawn on a scale."""
    cell = _cell(row, "score")
    return "" if cell is None else mark_safe(drawing.interval_drawing(cell, *scale))


@register.filter
def axis_drawing(scale: tuple[float, float]) -> str:
    """The round numbers of a scale."""
    return mark_safe(drawing.axis_drawing(*scale))


@register.filter
def scores_drawing(rows: Iterable[object], scale: tuple[float, float] | None = None) -> str:
    """Scores of several systems in one output, one below the other, on one scale."""
    return mark_safe(drawing.scores_drawing([_cell(row, "score") for row in rows], scale=scale))


# Drawings that fit into a line of text or a narrow column; decoration, as the numbers are shown as well.

_LINE = (72, 20)  # width and height, in pixels
_BARS = 56  # height
_RADIUS = 2.5


@register.filter
def line_drawing(values: Sequence[float]) -> str:
    """Draw a time series as a line, with a point at its end. Empty for fewer than two values."""
    if len(values) < 2:
        return ""
    low, high = min(values), max(values)
    width, height = (size - 2 * _RADIUS - 1 for size in _LINE)
    xs = [_RADIUS + width * i / (len(values) - 1) for i in range(len(values))]
    ys = [_LINE[1] / 2 if low == high else _LINE[1] - _RADIUS - height * (y - low) / (high - low) for y in values]
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in zip(xs, ys, strict=True))
    end = f'<circle cx="{xs[-1]:.1f}" cy="{ys[-1]:.1f}" r="{_RADIUS}"/>'
    size = f'width="{_LINE[0]}" height="{_LINE[1]}"'
    return mark_safe(
        f'<svg class="line" {size} aria-hidden="true" focusable="false"><polyline points="{points}"/>{end}</svg>'
    )


@register.filter
def bars_drawing(counts: Sequence[int]) -> str:
    """Draw counts side by side as bars, the highest at full height; the drawing is as wide as there is room."""
    most, step = max(counts, default=0), 100 / max(len(counts), 1)
    if not most:
        return ""
    bars = "".join(
        f'<rect x="{step * i + 0.5:.2f}%" width="{step - 1:.2f}%" y="{_BARS - h:.1f}" height="{h:.1f}"/>'
        for i, count in enumerate(counts)
        if (h := _BARS * count / most)
    )
    return mark_safe(
        f'<svg class="bars" width="100%" height="{_BARS}" aria-hidden="true" focusable="false">{bars}</svg>'
    )


@register.filter
def mark_drawing(name: str) -> str:
    """Draw a mark derived from a name: a symmetrical pattern of five by five squares, in a color of systems."""
    digest = hashlib.sha256(name.encode()).digest()
    squares = "".join(
        f'<rect x="{x}" y="{y}" width="1" height="1"/>'
        for y in range(5)
        for x in range(5)
        if digest[5 * y + min(x, 4 - x)] % 2
    )
    size = 'width="30" height="30" viewBox="0 0 5 5"'
    return mark_safe(
        f'<svg class="mark series-{digest[-1] % 3}" {size} aria-hidden="true" focusable="false">{squares}</svg>'
    )


def _cell(row: object, name: str) -> Cell | None:
    value, low, high = (_value(row, key) for key in (name, "low", "high"))
    return None if value is None or low is None or high is None else Cell(value, (low, high))


def _value(row: object, name: str) -> float | None:
    value = row.get(name) if isinstance(row, Mapping) else getattr(row, name, None)
    return float(value) if isinstance(value, int | float) and math.isfinite(value) else None


def _ends(row: object, digits: int, format_number: Callable[[float, int], str]) -> list[str]:
    """The ends of a row's interval as text; none if one is missing."""
    n_digits = interval_digits(digits)
    texts = [_number(_value(row, end), lambda value: format_number(value, n_digits)) for end in ("low", "high")]
    return [] if _MISSING in texts else texts


def _number(value: object, format_number: Callable[[float], str]) -> str:
    if isinstance(value, str):
        return value or _MISSING
    if not isinstance(value, int | float) or math.isnan(value):
        return _MISSING
    text = format_number(float(value))
    return "−" + text.removeprefix("-") if text.startswith("-") else text


def _time(value: object, form: str) -> str | SafeString:
    if not isinstance(value, datetime):
        return _MISSING
    utc = value.astimezone(UTC)
    return format_html('<time datetime="{}">{}</time>', utc.strftime("%Y-%m-%dT%H:%M:%SZ"), utc.strftime(form))


# Schemas of the API in words.


@register.filter
def schema_words(schema: Mapping[str, Any]) -> dict[str, str]:
    """A schema in a few words, and the model among them that the page describes; "" if there is none."""
    words = _type_of(schema)
    model = re.search(r"#/components/schemas/(\w+)", json.dumps(schema))
    return {"words": words, "model": "" if model is None else model[1]}


def _type_of(schema: Mapping[str, Any]) -> str:
    """A schema in a few words: "integer or null", "list of PhaseAnswer"."""
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        return " or ".join(map(_type_of, schema["anyOf"]))
    if schema.get("type") == "array":
        return f"list of {_type_of(schema['items'])}"
    if schema.get("type") == "object" and isinstance(schema.get("additionalProperties"), dict):
        return f"object of {_type_of(schema['additionalProperties'])}"
    return str(schema.get("format", schema.get("type", "")))


#: Purposes of pages that require a sign-in.
_PURPOSES = {
    "submit": "submit captions",
    "submissions": "see your submissions",
    "team_join": "join the team that you are invited to",
    "terms": "read and accept the terms for your team",
    "teams": "ask for the approval of your team",
    "account": "see your account",
}


@register.filter
def purpose(address: str | None) -> str:
    """The purpose for which a user is asked to sign in, to follow "to"; empty for most pages."""
    try:
        return _PURPOSES.get(resolve((address or "").partition("?")[0]).url_name or "", "")
    except Resolver404:
        return ""
