"""What every page must be: accessible, no wider than a phone, small, and still once it is shown."""

from __future__ import annotations

from typing import Any

from tests.support.browser import check_access

#: Bytes of a page with all that it loads, as they are sent; and the largest layout shift.
MOST_BYTES, MOST_SHIFT = 150_000, 0.1

#: The layout shift of a page, shortly after it was shown.
SHIFT = """() => new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) if (!entry.hadRecentInput) sum += entry.value;
  }).observe({ type: "layout-shift", buffered: true });
  setTimeout(() => resolve(sum), 100);
})"""
#: Bytes of a page with all that it loads; also of what came from the browser's cache.
BYTES = """() => [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]
  .reduce((sum, entry) => sum + entry.encodedBodySize, 0)"""

#: What Lighthouse takes for a slow phone: 1.6 Mbit/s, 150 ms for each round trip, a quarter of the processor.
_SLOW = {"offline": False, "latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8}
#: When the largest part of a page is there, in milliseconds.
PAINTED = """() => new Promise((resolve) => {
  new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
    .observe({ type: "largest-contentful-paint", buffered: true });
})"""

_DEMO = "/challenges/demo"
#: What visitors and teams read, with the names that server/docs/design.md has for it.
TEAM_PAGES = {
    "list of challenges": "/",
    "overview": f"{_DEMO}/",
    "leaderboard": f"{_DEMO}/leaderboard",
    "submit": f"{_DEMO}/submit",
    "own submissions": f"{_DEMO}/submissions",
    "comparison": f"{_DEMO}/compare?a=1&b=2",
    "captions of 20 images": f"{_DEMO}/captions?systems=1&systems=2",
    "an image with explanations": f"{_DEMO}/captions/2359?systems=1&systems=2",
    "a submission": "/submissions/1/",
    "sign up": "/sign-up",
    "account": "/account/",
    "API": "/api/",
}
#: What organizers and administrators read; the challenge has a draft.
ORGANIZER_PAGES = {
    "*Manage*": f"{_DEMO}/manage",
    "scores before and after": f"{_DEMO}/versions",
    "new challenge": "/drafts/",
    "a draft": "/drafts/demo/",
    "its preview": "/drafts/demo/preview",
    "its publication": "/drafts/demo/publish",
    "administration": "/admin/",
    "its list of submissions": "/admin/captious/submission/",
}


def slow_down(page: Any) -> None:
    """Make a browser a slow phone."""
    phone = page.context.new_cdp_session(page)
    phone.send("Network.enable")
    phone.send("Network.emulateNetworkConditions", _SLOW)
    phone.send("Emulation.setCPUThrottlingRate", {"rate": 4})


def check(page: Any) -> None:
    """Look at the page as it is: all that is said above."""
    page.wait_for_load_state()
    shift, size = page.evaluate(SHIFT), page.evaluate(BYTES)
    assert shift < MOST_SHIFT, f"{page.url} moves: {shift}"
    assert 0 < size < MOST_BYTES, f"{page.url} has {size:,} bytes"
    check_access(page)
