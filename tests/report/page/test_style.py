"""The style of pages, which hold a copy of what they share with the evaluation server."""

from __future__ import annotations

import re
from importlib import resources

from captious.report.html import asset


def variables(style: str) -> list[tuple[str, str]]:
    """Variables of the light and of the dark theme, in this order, without those that only one of the styles has."""
    themes = style.split("*, ::before")[0]
    pairs = re.findall(r"--([\w-]+): ([^;]+);", themes)
    return [(name, value) for name, value in pairs if name != "veil" and not name.startswith("series-")]


def test_pages_look_as_the_server_does() -> None:
    server = resources.files("captious.server").joinpath("static", "captious", "style.css").read_text(encoding="utf-8")
    assert [name for name, _ in variables(server)].count("paper") == 2
    assert variables(asset("page.css")) == variables(server)
