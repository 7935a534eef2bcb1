"""Takes pictures of a report, light and dark: its tables, its captions, and an explanation on a phone.

It needs Chromium and captious[browser].

    python tools/gallery/report.py REPORT.html -o FOLDER
"""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright


def take_pictures(report: Path, out: Path) -> None:
    """Of the page on a desktop, and of one image on a phone, light and dark."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            _take_desktop(_opened(browser, report, width=1216, height=800, color_scheme=scheme), out, suffix)
            _take_phone(_opened(browser, report, width=390, height=844, color_scheme=scheme), out, suffix)
        browser.close()


def _take_desktop(page: Any, out: Path, suffix: str) -> None:
    """Draw the tables, and the captions with the scene graphs of one."""
    top, bottom = (page.get_by_role("heading", name=name).bounding_box()["y"] for name in ("Scores", "Distributions"))
    clip = {"x": 0, "y": top - 16, "width": 1216, "height": bottom - top}
    page.screenshot(path=out / f"report-scores{suffix}.png", clip=clip, full_page=True)
    page.get_by_label("Search").fill("umbrella")
    page.get_by_label("Explain").select_option("spice")
    page.locator(".why").first.wait_for()
    page.wait_for_timeout(1000)
    page.locator("#captions").scroll_into_view_if_needed()
    box = page.locator("#captions").bounding_box()
    clip = {**box, "x": 0, "y": box["y"] - 16, "width": 1216, "height": min(box["height"], 1040)}
    page.screenshot(path=out / f"report-captions{suffix}.png", clip=_absolute(page, clip), full_page=True)


def _take_phone(page: Any, out: Path, suffix: str) -> None:
    """Draw an image, explained by METEOR."""
    page.get_by_label("Search").fill("umbrella")
    page.get_by_label("Explain").select_option("meteor")
    page.wait_for_timeout(1000)
    box = page.locator("section.image").bounding_box()
    clip = {**box, "x": 0, "y": box["y"] - 16, "width": 390, "height": min(box["height"], 830)}
    page.screenshot(path=out / f"report-phone{suffix}.png", clip=_absolute(page, clip), full_page=True)


def _opened(browser: Any, report: Path, *, width: int, height: int, color_scheme: str) -> Any:
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=color_scheme)
    page.goto(report.resolve().as_uri())
    page.wait_for_selector("html[data-ready]")
    return page


def _absolute(page: Any, clip: dict[str, float]) -> dict[str, float]:
    """Return a part of the window as a part of the page."""
    return {**clip, "y": clip["y"] + page.evaluate("scrollY")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("report", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    take_pictures(given.report, given.out)


if __name__ == "__main__":
    main()
