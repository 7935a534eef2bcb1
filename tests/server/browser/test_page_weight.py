"""Pages are small, nothing in them moves once it is shown, and titles stay where they are from tab to tab."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.server.browser.checks import BYTES, MOST_BYTES, MOST_SHIFT, SHIFT

pytest.importorskip("playwright.sync_api")

DEMO = "/challenges/demo"
#: What teams and visitors read.
PAGES = (
    "/",
    f"{DEMO}/",
    f"{DEMO}/leaderboard",
    f"{DEMO}/submit",
    f"{DEMO}/submissions",
    f"{DEMO}/compare?a=1&b=2",
    f"{DEMO}/captions?systems=1&systems=2",
    f"{DEMO}/captions/2359?systems=1&systems=2",
    "/submissions/1/",
    "/account/",
)
#: What Lighthouse takes for a slow phone: 1.6 Mbit/s, 150 ms for each round trip, a quarter of the processor.
SLOW = {"offline": False, "latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8}
_PAINTED = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true });
})"""


@pytest.mark.parametrize("width", [390, 1280])
def test_pages_are_small_and_nothing_moves(open_page: Callable[..., Any], width: int) -> None:
    page = open_page("ursula", width=width)
    for path in PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        assert page.evaluate(SHIFT) < MOST_SHIFT, path
        assert 0 < page.evaluate(BYTES) < MOST_BYTES, path


@pytest.mark.slow  # it takes the time of a machine that does nothing else
def test_pages_are_there_within_a_second_on_a_slow_phone(open_page: Callable[..., Any]) -> None:
    page = open_page("ursula", width=390)
    page.goto("/")  # the connection, and the style and scripts of all pages
    phone = page.context.new_cdp_session(page)
    phone.send("Network.enable")
    phone.send("Network.emulateNetworkConditions", SLOW)
    phone.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    times: dict[str, float] = {}
    for path in PAGES:
        painted = []
        for _ in range(3):
            page.goto(path, wait_until="load")
            painted.append(page.evaluate(_PAINTED))
        times[path] = sorted(painted)[1]
    assert max(times.values()) < 1000, times


def test_the_title_is_where_it_was_on_every_tab(open_page: Callable[..., Any]) -> None:
    page = open_page("ursula")
    places = set()
    for path in (f"{DEMO}/", f"{DEMO}/leaderboard", f"{DEMO}/submit", f"{DEMO}/submissions", "/submissions/1/"):
        page.goto(path)
        places.add(tuple(page.locator(".masthead .title").bounding_box().values())[:2])
        places.add(page.get_by_role("navigation", name="Challenge").bounding_box()["y"])
    assert len(places) == 2
