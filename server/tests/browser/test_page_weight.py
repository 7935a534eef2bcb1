"""Pages are small, nothing in them moves once it is shown, and titles stay where they are from tab to tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from server.tests.browser.checks import (
    BYTES,
    MOST_BYTES,
    MOST_SHIFT,
    ORGANIZER_PAGES,
    PAINTED,
    SHIFT,
    TEAM_PAGES,
    slow_down,
)
from server.tests.support.server import ADMIN

pytest.importorskip("playwright.sync_api")

DEMO = "/challenges/demo"
readers = pytest.mark.parametrize(
    ("reader", "pages"), [("ursula", TEAM_PAGES), (ADMIN, ORGANIZER_PAGES)], ids=["team", "organizer"]
)


def _open(open_page: Callable[..., Any], reader: str, width: int) -> Any:
    """A browser in which somebody has signed in; organizers have a draft of the demonstration."""
    page = open_page(reader, width=width)
    if reader == ADMIN:
        page.goto(f"{DEMO}/manage")
        if (button := page.get_by_role("button", name="Edit challenge")).count():
            button.click()
            page.get_by_role("heading", level=2, name="Files").wait_for()
    return page


@readers
@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_small_and_have_no_layout_shift(
    open_page: Callable[..., Any], width: int, reader: str, pages: dict[str, str]
) -> None:
    page = _open(open_page, reader, width)
    for path in pages.values():
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(SHIFT) < MOST_SHIFT, path
        assert 0 < page.evaluate(BYTES) < MOST_BYTES, path


@pytest.mark.slow  # it takes the time of a machine that does nothing else
@pytest.mark.nightly
@readers
def test_pages_show_within_a_second_on_a_slow_phone(
    open_page: Callable[..., Any], reader: str, pages: dict[str, str]
) -> None:
    page = _open(open_page, reader, width=390)
    page.goto("/")  # the connection, and the style and scripts of all pages
    slow_down(page)
    times: dict[str, float] = {}
    for path in pages.values():
        painted = []
        for _ in range(3):
            page.goto(path, wait_until="load")
            painted.append(page.evaluate(PAINTED))
        times[path] = sorted(painted)[1]
    assert max(times.values()) < 1000, times


def test_title_has_the_same_position_on_every_tab(open_page: Callable[..., Any]) -> None:
    page = open_page("ursula")
    places = set()
    for path in (f"{DEMO}/", f"{DEMO}/leaderboard", f"{DEMO}/submit", f"{DEMO}/submissions", "/submissions/1/"):
        page.goto(path)
        places.add(tuple(page.locator(".masthead .title").bounding_box().values())[:2])
        places.add(page.get_by_role("navigation", name="Challenge").bounding_box()["y"])
    assert len(places) == 2
