"""Pages are small, nothing in them moves once it is shown, and titles stay where they are from tab to tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright.sync_api")

DEMO = "/challenges/demo"
SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 300);
})"""


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_small_and_nothing_moves(open_page: Callable[..., Any], width: int) -> None:
    page = open_page("ursula", width=width)
    sizes: list[int] = []
    page.on("response", lambda response: sizes.append(len(response.body()) if response.status == 200 else 0))
    for path in (
        "/",
        f"{DEMO}/",
        f"{DEMO}/leaderboard",
        f"{DEMO}/submit",
        f"{DEMO}/captions?systems=1&systems=2",
        f"{DEMO}/captions/2359?systems=1&systems=2",
        "/submissions/1/",
    ):
        sizes.clear()
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(SHIFT) < 0.1, path
        assert 0 < sum(sizes) < 150_000, path


def test_the_title_is_where_it_was_on_every_tab(open_page: Callable[..., Any]) -> None:
    page = open_page("ursula")
    places = set()
    for path in (f"{DEMO}/", f"{DEMO}/leaderboard", f"{DEMO}/submit", f"{DEMO}/submissions", "/submissions/1/"):
        page.goto(path)
        places.add(tuple(page.locator(".masthead .title").bounding_box().values())[:2])
        places.add(page.get_by_role("navigation", name="Challenge").bounding_box()["y"])
    assert len(places) == 2
