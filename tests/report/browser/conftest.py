"""Chromium, and pages that report what went wrong in them: errors on the console, exceptions, and any request."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from captious.report.page import write_report
from tests.report.conftest import hostile, systems
from tests.support.browser import browser

__all__ = ["browser"]


@pytest.fixture(scope="package")
def examples(meteor_tables: object, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about the systems of the examples, with all kinds of explanations, groups and images."""
    reports = systems(["bleu-4", "meteor", "rouge-l", "cider-d", "cider-d@paper", "cider", "cider-r", "spice", "wmd"])
    path = tmp_path_factory.mktemp("page") / "examples.html"
    groups = {image: "even" if image % 2 == 0 else "odd" for image in reports[0].ids}
    write_report(reports, path, resamples=20, groups=groups, image_url="images/{id:06d}.svg")
    (path.parent / "images").mkdir()
    for image in reports[0].ids:
        (path.parent / "images" / f"{image:06d}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    return path


@pytest.fixture(scope="package")
def awkward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page about captions that are hard to carry."""
    path = tmp_path_factory.mktemp("page") / "awkward.html"
    write_report(hostile(["bleu-1", "rouge-l", "cider-d"]), path, resamples=5)
    return path


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Opens pages in browsers without a network. The test fails if something goes wrong in one of them."""
    contexts = []
    problems: list[str] = []

    def opened(path: Path, *, width: int = 1280, dark: bool = False, scripts: bool = True, missing: str = "") -> Any:
        """Return a page.

        Args:
            path: its file.
            width: of the window, in pixels.
            dark: the reader prefers dark pages.
            scripts: run JavaScript.
            missing: a part of the address of a file that is not there.
        """
        context = browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            java_script_enabled=scripts,
            offline=True,
        )
        context.set_default_timeout(20_000)
        contexts.append(context)
        page = context.new_page()

        def expected_message(message: Any) -> None:
            if not (missing and "ERR_FILE_NOT_FOUND" in message.text):
                problems.append(message.text)

        def note_request(request: Any) -> None:
            if not request.url.startswith(("file:", "blob:")):
                problems.append(f"asked for {request.url}")

        page.on("console", expected_message)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("request", note_request)
        page.goto(path.as_uri())
        if scripts:
            page.wait_for_selector("html[data-ready]")
        return page

    yield opened
    for context in contexts:
        context.close()
    assert problems == []
