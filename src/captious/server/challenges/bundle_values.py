"""Normalization of values in bundles: lists, names of metrics, dates, and pages in HTML."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from captious.errors import CaptiousError
from captious.server.challenges.challenge_metrics import directions_of

#: Name of a metric in columns -> name in captious. The COCO toolkit's CIDEr is CIDEr-D.
_ALIASES = {"cider": "cider-d", "rouge": "rouge-l", "rougel": "rouge-l"}
_BLEU = re.compile(r"b(?:leu)?[-@]?([1-4])")
#: As in Codabench's examples: the month first, unless only the day is possible.
_MONTH_FIRST = re.compile(r"(\d{1,2})[-/](\d{1,2})[-/](\d{4})(.*)", re.DOTALL)


def tables(value: Any) -> list[dict[str, Any]]:
    """The mappings in a list or, in CodaLab's form, in another mapping."""
    rows = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [row for row in rows if isinstance(row, dict)]


def as_line(value: Any) -> str:
    """A value as one line of text, of up to 200 characters."""
    return " ".join(str(value or "").split())[:200]


def metric_of(label: str) -> str:
    """The metric that a column is named after; empty if captious has none."""
    name = re.sub(r"[\s_-]+", "-", label.strip().lower())
    bleu = _BLEU.fullmatch(name)
    name = f"bleu-{bleu[1]}" if bleu is not None else _ALIASES.get(name, name)
    try:
        directions_of(name)
    except (CaptiousError, ValueError):
        return ""
    return name


def year_first(text: str) -> str:
    """Convert a date that begins with the month, or a day above 12, to one that begins with the year."""
    match = _MONTH_FIRST.fullmatch(text)
    if match is None:
        return text
    first, second, year, tail = int(match[1]), int(match[2]), match[3], match[4]
    month, day = (second, first) if first > 12 else (first, second)
    return f"{year}-{month:02}-{day:02}{tail}"


def as_markdown(file: Path) -> str:
    """A page as Markdown. HTML is valid Markdown once it is not indented, which would mark it as code."""
    text = file.read_bytes().decode(errors="replace").removeprefix("\ufeff")
    if file.suffix.lower() not in {".html", ".htm"}:
        return text
    body = re.sub(r"(?is)<(head|style|script)\b.*?</\1\s*>|<!doctype[^>]*>|</?(html|body)\b[^>]*>", "", text)
    return "\n".join(line.lstrip() for line in body.splitlines()).strip() + "\n"
