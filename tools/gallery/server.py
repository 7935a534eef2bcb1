"""Takes pictures of an evaluation server, light and dark: a leaderboard, a comparison, captions.

    python tools/gallery/server.py REFERENCES SYSTEM... -o FOLDER

It needs Chromium and captious[browser], and starts a server with a challenge on the references, whose baselines are the
systems.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from playwright.sync_api import sync_playwright
from tests.support.server import Server

import captious

_CHALLENGE = """
title = "COCO captions"
metrics = ["bleu", "meteor", "rouge-l", "cider-d", "spice"]
rank_by = "cider-d"

[[captions]]
name = "captions"
public = true

[[references]]
name = "c5"
captions = "captions"
file = "references.json"

[[phases]]
name = "test"
title = "Test"
"""


def write_challenge(folder: Path, references: Path, systems: list[Path]) -> None:
    """The folder of a challenge, with those captions of the systems that describe its images."""
    folder.mkdir()
    given = captious.read_references(references)
    images = {
        image: given.texts[start:end]
        for image, start, end in zip(given.ids, given.offsets[:-1], given.offsets[1:], strict=True)
    }
    (folder / "references.json").write_text(json.dumps(images))
    toml = _CHALLENGE
    for system in systems:
        name = system.name.partition(".")[0]
        captions = captious.read_captions(system, given, subset=True)
        rows = [{"image_id": i, "caption": text} for i, text in zip(captions.ids, captions.candidates, strict=True)]
        (folder / f"{name}.json").write_text(json.dumps(rows))
        toml += f'\n[[baselines]]\nmethod = "{name}"\nfile = "{name}.json"\n'
    (folder / "challenge.toml").write_text(toml)


def take_pictures(url: str, out: Path) -> None:
    """Of the three pages that visitors see, light and dark."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            page = browser.new_page(base_url=url, viewport={"width": 1216, "height": 800}, color_scheme=scheme)
            page.goto("/challenges/pictures/leaderboard?rows=all")
            page.locator("main").screenshot(path=out / f"server-leaderboard{suffix}.png")
            for box in page.get_by_role("checkbox").all()[:2]:
                box.check()
            page.get_by_role("button", name="Compare", exact=True).click()
            page.get_by_role("table").first.wait_for()
            page.locator("main").screenshot(path=out / f"server-compare{suffix}.png")
            page.get_by_role("link", name="captions").last.click()
            page.wait_for_load_state()
            box = page.locator("main").bounding_box()
            assert box is not None
            clip = {**box, "height": min(box["height"], 1260)}
            page.screenshot(path=out / f"server-captions{suffix}.png", clip=clip, full_page=True)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("references", type=Path)
    parser.add_argument("systems", type=Path, nargs="+")
    parser.add_argument("-o", "--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "pictures"
        write_challenge(folder, given.references, given.systems)
        with Server(Path(place) / "data") as server:
            loaded = server.captious("challenge", "load", str(folder), "--data", str(server.data))
            assert loaded.returncode == 0, loaded.stderr
            while (health := server.get("/healthz"))["queued"] or health["running"]:
                time.sleep(1)
            take_pictures(server.url, given.out)


if __name__ == "__main__":
    main()
