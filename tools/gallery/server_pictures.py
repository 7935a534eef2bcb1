"""Takes pictures of the pages of an evaluation server, light and dark.

    python tools/gallery/server_pictures.py -o FOLDER

It needs Chromium and captious[browser], and starts a server with the demonstration and three submissions of a team,
which mix the captions of its baselines.
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

from captious_server.challenges.starter import DEMO
from server.tests.support.server import Server

_COLORS = 96  # of a picture, which keeps files small
DEMO_URL = "/challenges/demo"
#: How often a caption of a submission comes from people, from "Improved" and from "Baseline".
_MIXTURES = {"Attention": (0, 45, 55), "Attention, longer training": (10, 60, 30), "Two encoders": (60, 40, 0)}


def write_submissions(folder: Path) -> dict[str, Path]:
    """Return captions files by method."""
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
            page.goto(f"{DEMO_URL}/leaderboard")
            for box in page.get_by_role("checkbox").all()[:2]:
                box.check()
            _save(page.screenshot(clip=_clip(page, 800)), out / f"server-leaderboard{suffix}.png")
            page.get_by_role("group", name="Ticked submissions").get_by_role("button", name="captions").click()
            page.get_by_role("article").first.wait_for()
            _save(page.screenshot(clip=_clip(page, 800)), out / f"server-captions{suffix}.png")
            page.goto(f"{DEMO_URL}/compare?a=1&b=2")
            _save(page.screenshot(clip=_clip(page, 800)), out / f"server-compare{suffix}.png")
            page.goto(f"{DEMO_URL}/leaderboard?find=encoders")
            page.get_by_role("link", name="Two encoders").click()
            page.get_by_role("heading", name="Images", exact=True).wait_for()
            _save(page.screenshot(clip=_clip(page, 1400), full_page=True), out / f"server-submission{suffix}.png")
            page.goto(f"{DEMO_URL}/captions/2359?systems=1&systems=2")
            drawn = page.locator("section.explanations")
            drawn.locator("figure").first.wait_for()
            top = page.get_by_role("heading", name="meteor").bounding_box()
            clip = {"x": 0, "y": top["y"] - 16, "width": 1280, "height": 460}
            _save(page.screenshot(clip=clip, full_page=True), out / f"server-image{suffix}.png")
            page.set_viewport_size({"width": 390, "height": 844})
            page.goto(f"{DEMO_URL}/leaderboard?sort=-meteor")
            page.mouse.wheel(0, 240)
            page.wait_for_timeout(200)
            _save(page.screenshot(), out / f"server-phone{suffix}.png")
        browser.close()


def _clip(page: Any, height: int) -> dict[str, float]:
    return {"x": 0, "y": 0, "width": page.viewport_size["width"], "height": height}


def _save(picture: bytes, file: Path) -> None:
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(_COLORS, dither=Image.Dither.NONE).save(file, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--out", type=Path, required=True, help="folder of the pictures")
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Server(Path(place) / "data", "--demo") as server:
        token = server.token()
        for method, file in write_submissions(Path(place)).items():
            address = ("--server", server.url, "--challenge", "demo", "--token", token)
            done = server.captious("submit", str(file), *address, "--method", method, "--wait")
            assert done.returncode == 0, done.stderr
        take_pictures(server.url, given.out)


if __name__ == "__main__":
    main()
