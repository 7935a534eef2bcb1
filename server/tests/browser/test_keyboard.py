"""The main job with the keyboard alone. Wherever the focus goes, it can be seen."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from server.tests.browser.steps import column, see_scores, tab_to
from server.tests.support.server import PASSWORD

sync_api = pytest.importorskip("playwright.sync_api")
expect = sync_api.expect


def test_keyboard_alone_signs_in_and_sorts_the_leaderboard(open_page: Callable[..., Any], captions: Path) -> None:
    page = open_page(width=1280)
    page.on("filechooser", lambda chooser: chooser.set_files(captions))
    page.goto("/challenges/demo/")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to content")).to_be_focused()
    expect(page.get_by_role("link", name="Skip to content")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()

    page.goto("/challenges/demo/")
    tab_to(page, page.get_by_role("navigation", name="Site").get_by_role("link", name="Sign in"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Username")).to_be_focused()
    page.keyboard.type("ursula")
    tab_to(page, page.get_by_label("Password"))
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")

    tab_to(page, page.get_by_role("link", name="Submit", exact=True))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("File", exact=True))
    page.keyboard.press("Space")
    expect(page.get_by_label("File", exact=True)).to_have_value(re.compile("captions.json"))
    tab_to(page, page.get_by_label("Method"))
    page.keyboard.type("By keyboard")
    tab_to(page, page.get_by_role("button", name="Submit", exact=True))
    page.keyboard.press("Enter")
    see_scores(page)

    tab_to(page, page.get_by_role("link", name="Leaderboard"))
    page.keyboard.press("Enter")
    for direction in ("descending", "ascending"):
        tab_to(page, page.get_by_role("link", name="rouge-l", exact=True))
        page.keyboard.press("Enter")
        expect(page.get_by_role("columnheader", name="rouge-l")).to_have_attribute("aria-sort", direction)
    scores = [float(score) for score in column(page, "rouge-l")]
    assert scores == sorted(scores)

    for name in ("Compare Human captions", "Compare Improved"):
        tab_to(page, page.get_by_role("checkbox", name=name))
        page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="Compare", exact=True))
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Compare")).to_be_visible()
    tab_to(page, page.get_by_text("Signatures of the metrics"))
    page.keyboard.press("Enter")
    expect(page.get_by_text("rouge-l@").or_(page.get_by_text("rouge-l|")).first).to_be_visible()
