"""Takes pictures of the pages of an evaluation server, light and dark.

    python tools/gallery/server.py -o FOLDER

It needs Chromium and captious[browser], and starts a server with the demonstration and three submissions of a team,
which mix the captions of its baselines. Pages of two versions are put side by side in two steps, the first of which
runs with the Python of the earlier version:

    python tools/gallery/server.py --pages BEFORE
    python tools/gallery/server.py --before BEFORE -o FOLDER
"""

from __future__ import annotations

import argparse
import io
import json
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PIL import Image
from playwright.sync_api import sync_playwright
from tests.support.server import ADMIN, PASSWORD, Server

from captious.server.challenges.starter import DEMO

_COLORS = 96  # of a picture, which keeps files small
_COLORS_OF_PAIRS = 128
_DEMO = "/challenges/demo"
_HALF, _TALLEST = 620, 844  # width of one of two pages side by side, and its height before it is made smaller
#: Pages that are compared with those of an earlier version. 6 is the last of the three submissions.
_PAGES = {
    "home": "/",
    "overview": f"{_DEMO}/",
    "board": f"{_DEMO}/leaderboard",
    "comparison": f"{_DEMO}/compare?a=3&b=6",
    "grid": f"{_DEMO}/captions?systems=2&systems=6",
    "explanations": f"{_DEMO}/captions/2359?systems=2&systems=6",
    "submit": f"{_DEMO}/submit",
    "own": f"{_DEMO}/submissions",
    "scores": "/submissions/6/",
    "manage": f"{_DEMO}/manage",
    "account": "/account/",
    "administration": "/admin/captious/submission/",
}
#: How often a caption of a submission comes from people, from "Improved" and from "Baseline".
_MIXTURES = {"Attention": (0, 45, 55), "Attention, longer training": (10, 60, 30), "Two encoders": (60, 40, 0)}


def write_submissions(folder: Path) -> dict[str, Path]:
    """Captions files by method."""
    systems = ("human", "improved", "baseline")
    baselines = [json.loads((DEMO / "baselines" / f"{name}.json").read_text()) for name in systems]
    files = {}
    for seed, (method, weights) in enumerate(_MIXTURES.items()):
        rng = random.Random(seed)
        rows = [rng.choices(captions, weights)[0] for captions in zip(*baselines, strict=True)]
        files[method] = folder / f"{seed}.json"
        files[method].write_text(json.dumps(rows))
    return files


def take_pictures(url: str, out: Path) -> None:
    """Of the pages that visitors see."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 800}, color_scheme=scheme)
            page.goto(f"{_DEMO}/leaderboard")
            for box in page.get_by_role("checkbox").all()[:2]:
                box.check()
            _save(page.screenshot(clip=_clip(page, 800)), out / f"server-leaderboard{suffix}.png")
            page.get_by_role("group", name="Ticked submissions").get_by_role("button", name="captions").click()
            page.get_by_role("article").first.wait_for()
            _save(page.screenshot(clip=_clip(page, 800)), out / f"server-captions{suffix}.png")
            page.goto(f"{_DEMO}/compare?a=1&b=2")
            _save(page.screenshot(clip=_clip(page, 800)), out / f"server-compare{suffix}.png")
            page.goto(f"{_DEMO}/leaderboard?find=encoders")
            page.get_by_role("link", name="Two encoders").click()
            page.get_by_role("heading", name="Images", exact=True).wait_for()
            _save(page.screenshot(clip=_clip(page, 1400), full_page=True), out / f"server-submission{suffix}.png")
            page.goto(f"{_DEMO}/captions/2359?systems=1&systems=2")
            drawn = page.locator("section.explanations")
            drawn.locator("figure").first.wait_for()
            top = page.get_by_role("heading", name="meteor").bounding_box()
            clip = {"x": 0, "y": top["y"] - 16, "width": 1280, "height": 460}
            _save(page.screenshot(clip=clip, full_page=True), out / f"server-image{suffix}.png")
            page.set_viewport_size({"width": 390, "height": 844})
            page.goto(f"{_DEMO}/leaderboard?sort=-meteor")
            page.mouse.wheel(0, 240)
            page.wait_for_timeout(200)
            _save(page.screenshot(), out / f"server-phone{suffix}.png")
        browser.close()


def take_pages(url: str, out: Path) -> None:
    """Of all pages, as an administrator and the team see them, and of a leaderboard on a phone."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(base_url=url, viewport={"width": 1280, "height": 1000}, color_scheme=scheme)
            page.goto("/sign-in")
            page.get_by_label("Username").fill(ADMIN)
            page.get_by_label("Password").fill(PASSWORD)
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("link", name=ADMIN).wait_for()
            for name, address in _PAGES.items():
                page.goto(address)
                page.wait_for_timeout(300)
                page.screenshot(path=out / f"{name}{suffix}.png")
            page.set_viewport_size({"width": 390, "height": 844})
            page.goto(_PAGES["board"])
            page.screenshot(path=out / f"pocket{suffix}.png")
        browser.close()


def write_pairs(before: Path, after: Path, out: Path) -> None:
    """Put pages of two versions side by side, the earlier one on the left."""
    for right in sorted(after.glob("*.png")):
        pages = [Image.open(folder / right.name).convert("RGB") for folder in (before, after)]
        pages = [page.crop((0, 0, page.width, min(page.height, _TALLEST))) for page in pages]
        width = min(_HALF, pages[0].width)
        pages = [page.resize((width, page.height * width // page.width), Image.Resampling.LANCZOS) for page in pages]
        pair = Image.new("RGB", (2 * width + 8, pages[0].height), "gray")
        for place, page in enumerate(pages):
            pair.paste(page, (place * (width + 8), 0))
        few = pair.quantize(_COLORS_OF_PAIRS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(out / f"pair-{right.name}", optimize=True)


def _clip(page: Any, height: int) -> dict[str, float]:
    return {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}


def _save(picture: bytes, file: Path) -> None:
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE).save(file, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, help="folder of the pictures")
    parser.add_argument("--pages", type=Path, help="folder of pages to put beside those of a later version")
    parser.add_argument("--before", type=Path, help="such pages of an earlier version")
    given = parser.parse_args()
    for folder in (given.out, given.pages):
        if folder is not None:
            folder.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Server(Path(place) / "data", "--demo") as server:
        token = server.token(ADMIN)
        for method, file in write_submissions(Path(place)).items():
            address = ("--server", server.url, "--challenge", "demo", "--token", token)
            done = server.captious("submit", str(file), *address, "--method", method, "--wait")
            assert done.returncode == 0, done.stderr
        if given.pages is not None:
            take_pages(server.url, given.pages)
        if given.before is not None:
            after = Path(place) / "after"
            after.mkdir()
            take_pages(server.url, after)
            write_pairs(given.before, after, given.out)
        elif given.out is not None:
            take_pictures(server.url, given.out)


if __name__ == "__main__":
    main()
