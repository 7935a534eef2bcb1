"""The design that pages of results and of the evaluation server share, and its description in server/docs/design.md."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from captious.drawing import DESIGN_FOLDER
from captious.report.html import asset
from tests.support.styles import own_values

DESIGN = Path(__file__).parents[2] / "server" / "docs" / "design.md"


def colors() -> dict[str, list[str]]:
    """Return the colors by name: light, dark."""
    found: dict[str, list[str]] = {}
    for name, value in re.findall(r"--([\w-]+): (#[0-9a-f]{6});", asset(f"{DESIGN_FOLDER}/tokens.css")):
        found.setdefault(name, []).append(value)
    return found


def contrast(first: str, second: str) -> float:
    """As WCAG 2.2 defines it."""

    def luminance(color: str) -> float:
        channels = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
        return sum(share * c for share, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_colors_type_and_space_come_from_the_tokens() -> None:
    assert own_values(asset("page.css")) == []


def test_the_contrasts_of_the_design_are_true() -> None:
    pattern = r"^\| `([\w-]+)` on `([\w-]+)` \| ([\d.]+) \| ([\d.]+) \|"
    rows = re.findall(pattern, DESIGN.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) >= 15
    for first, second, *message in rows:
        light, dark = (contrast(*pair) for pair in zip(colors()[first], colors()[second], strict=True))
        assert [float(value) for value in message] == pytest.approx([light, dark], abs=0.05), (first, second)
        assert min(light, dark) >= (3 if first == "edge" else 4.5), (first, second)
