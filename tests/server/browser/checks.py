"""What every page must be: accessible, no wider than a phone, small, and still once it is shown."""

from __future__ import annotations

from typing import Any

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


def check(page: Any) -> None:
    """Look at the page as it is: all that is said above."""
    page.wait_for_load_state()
    shift, size = page.evaluate(SHIFT), page.evaluate(BYTES)
    assert shift < MOST_SHIFT, f"{page.url} moves: {shift}"
    assert 0 < size < MOST_BYTES, f"{page.url} has {size:,} bytes"
    check_access(page)


def check_access(page: Any) -> None:
    """axe-core finds nothing, light on a desktop and dark on a phone, and the page is as wide as the window."""
    from axe_playwright_python.sync_playwright import Axe

    before = page.viewport_size
    for width, scheme in ((1280, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.evaluate("document.getAnimations().forEach(each => each.finish())")
        report = Axe().run(page, options={"preload": False})
        assert report.violations_count == 0, f"{page.url} {width} {scheme}\n{report.generate_report()}"
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider == 0, f"{page.url} is {wider} pixels wider than {width}"
    page.set_viewport_size(before)
