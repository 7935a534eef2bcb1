"""Chromium, and what every page in it must be: accessible, and no wider than its window."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

#: What passes is not asked for: describing each of its elements took most of the time.
_VIOLATIONS = """axe.run({ preload: false, resultTypes: ["violations"] })
  .then((report) => JSON.stringify({ violations: report.violations }))"""


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium, as the system has it."""
    playwright = pytest.importorskip("playwright.sync_api")
    pytest.importorskip("axe_playwright_python")
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("no chromium")
    with playwright.sync_playwright() as started:
        launched = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield launched
        launched.close()


def check_access(page: Any) -> None:
    """axe-core finds nothing, light on a desktop and dark on a phone, and the page is as wide as the window."""
    from axe_playwright_python.base import AXE_SCRIPT, AxeResults

    before = page.viewport_size
    page.evaluate(AXE_SCRIPT)
    for width, scheme in ((1280, "light"), (360, "dark")):
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme=scheme)
        page.evaluate("document.getAnimations().forEach(each => each.finish())")
        report = AxeResults(json.loads(page.evaluate(_VIOLATIONS)))
        assert report.violations_count == 0, f"{page.url} {width} {scheme}\n{report.generate_report()}"
        wider = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wider == 0, f"{page.url} is {wider} pixels wider than {width}"
    page.set_viewport_size(before)
