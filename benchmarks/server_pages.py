"""What pages of an evaluation server weigh, and when they are there on a slow phone.

    python benchmarks/server_pages.py [--repeats 3] [--url http://localhost:8000 --user NAME --password PASSWORD]

It needs Chromium and captious[browser], and starts a server with the demonstration unless there is one. The phone is
the one that Lighthouse simulates: 1.6 Mbit/s, 150 ms for each round trip, a quarter of a processor core. Times are
those of the largest part of a page, medians: with style and scripts in the browser's cache, and for a first visit.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import sync_playwright

from server.tests.browser.checks import BYTES, ORGANIZER_PAGES, PAINTED, TEAM_PAGES, slow_down
from server.tests.browser.steps import sign_in
from server.tests.support.server import ADMIN, PASSWORD, Server

_PHONE: Any = {"width": 390, "height": 844}


def measure(url: str, user: str, password: str, repeats: int) -> Iterator[tuple[str, float, float, float]]:
    """Name of a page, kB, and milliseconds with a warm and a cold cache."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        warm = browser.new_context(base_url=url, viewport=_PHONE).new_page()
        sign_in(warm, user, password)
        warm.goto("/challenges/demo/manage")
        if (button := warm.get_by_role("button", name="Edit the challenge")).count():
            button.click()
        warm.goto("/")
        slow_down(warm)
        cookies = warm.context.storage_state()
        for name, path in (TEAM_PAGES | ORGANIZER_PAGES).items():
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(repeats):
                times[0].append(_painted(warm, path))
                context = browser.new_context(base_url=url, viewport=_PHONE, storage_state=cookies)
                first = context.new_page()
                slow_down(first)
                times[1].append(_painted(first, path))
                size = first.evaluate(BYTES)
                context.close()
            yield name, size / 1000, statistics.median(times[0]), statistics.median(times[1])
        browser.close()


def _painted(page: Any, path: str) -> float:
    page.goto(path, wait_until="load")
    return float(page.evaluate(PAINTED))


@contextmanager
def _served(given: argparse.Namespace) -> Iterator[str]:
    if given.url:
        yield given.url
        return
    with tempfile.TemporaryDirectory() as place, Server(Path(place) / "data", "--demo") as server:
        yield server.url


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--url", help="of a server with the demonstration")
    parser.add_argument("--user", default=ADMIN)
    parser.add_argument("--password", default=PASSWORD)
    given = parser.parse_args()
    print("| page | kB | ms | first visit, ms |\n|---|---|---|---|")
    with _served(given) as url:
        for name, size, warm, cold in measure(url, given.user, given.password, given.repeats):
            print(f"| {name} | {size:.0f} | {warm:.0f} | {cold:.0f} |", flush=True)
    print(f"load average {os.getloadavg()[1]:.1f}")


if __name__ == "__main__":
    main()
