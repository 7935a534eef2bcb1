"""Takes pictures of all pages of an evaluation server, beside those of an earlier version, light and dark.

It takes two steps, the first of which runs with the Python of the earlier version:

    python tools/gallery/server_pages.py BEFORE
    python tools/gallery/server_pages.py AFTER --before BEFORE -o FOLDER

It needs Chromium and captious[browser], and starts a server with the demonstration, submissions of a team, and a
challenge with two captions files. Pages that the earlier version does not have are alone in their pictures.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PIL import Image
from playwright.sync_api import sync_playwright
from server_pictures import DEMO_URL, write_submissions

from server.tests.browser.scenes import write_scenes
from server.tests.support.server import ADMIN, PASSWORD, Server

_COLORS, _MOST_BYTES = (128, 96, 64, 48, 32), 60_000  # of a picture: as many as its size allows
_WIDTH, _TALLEST = 620, 844  # a page of a pair, and its height before it is made smaller
#: What visitors see.
_PUBLIC = {
    "home": "/",
    "overview": f"{DEMO_URL}/",
    "board": f"{DEMO_URL}/leaderboard",
    "comparison": f"{DEMO_URL}/compare?a=3&b=6",
    "grid": f"{DEMO_URL}/captions?systems=2&systems=6",
    "explanations": f"{DEMO_URL}/captions/2359?systems=2&systems=6",
    "sign-in": "/sign-in",
    "sign-up": "/sign-up",
    "invitation": "{invitation}",
    "api": "/api/",
}
#: What an administrator sees, who has a team. 6 is the last of the three submissions of the demonstration.
_OWN = {
    "submit": f"{DEMO_URL}/submit",
    "own": f"{DEMO_URL}/submissions",
    "scores": "/submissions/6/",
    "sets": "/submissions/{sets}/",
    "edit": "/submissions/6/edit",
    "team": "/teams/scene-readers/",
    "account": "/account/",
    "second-step": "/account/second-step",
    "account-deletion": "/account/delete",
    "manage": f"{DEMO_URL}/manage",
    "news": f"{DEMO_URL}/manage#news",
    "approval": "/challenges/scenes/teams",
    "versions": "/challenges/scenes/versions?phase=test",
    "drafts": "/drafts/",
    "draft": "/drafts/demo/",
    "preview": "/drafts/demo/preview",
    "publish": "/drafts/demo/publish",
    "administration-home": "/admin/",
    "administration": "/admin/captious/submission/",
}


def take_pages(server: Server, place: Path, out: Path) -> None:
    """Of all pages that there are."""
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = _opened(browser, server)
        _sign_in(page)
        filled = {"invitation": _invite(page)}
        _begin_draft(page)
        _ask(page)
        filled["sets"] = server.get("/api/v1/challenges/scenes/submissions", server.token())[0]["id"]
        state = page.context.storage_state()
        refused = place / "refused.json"
        refused.write_text(json.dumps([{"image_id": 999, "caption": "a dog"}, {"image_id": 315, "caption": ""}]))
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            _take_all(_opened(browser, server, color_scheme=scheme), _PUBLIC, filled, out, suffix)
            page = _opened(browser, server, color_scheme=scheme, storage_state=state)
            _refuse(page, refused)
            page.screenshot(path=out / f"refused{suffix}.png")
            _take_all(page, _OWN, filled, out, suffix)
            page.set_viewport_size({"width": 390, "height": 844})
            _take_all(page, {"pocket": _PUBLIC["board"]}, filled, out, suffix)
        _hide_board(page)
        for scheme, suffix in (("light", ""), ("dark", "-dark")):
            page = _opened(browser, server, color_scheme=scheme)
            page.goto(_PUBLIC["board"])
            page.screenshot(path=out / f"hidden{suffix}.png")
        browser.close()


def _opened(browser: Any, server: Server, **options: Any) -> Any:
    return browser.new_page(base_url=server.url, viewport={"width": 1280, "height": 1000}, **options)


def _take_all(page: Any, addresses: Mapping[str, str], filled: Mapping[str, str], out: Path, suffix: str) -> None:
    """Of those pages that are there, and have the part that their address names."""
    for name, address in addresses.items():
        answer = page.goto(address.format(**filled))
        part = address.partition("#")[2]
        if (answer is None or answer.ok) and (not part or page.locator(f"#{part}").count()):
            page.wait_for_timeout(300)
            page.screenshot(path=out / f"{name}{suffix}.png")


def _sign_in(page: Any) -> None:
    page.goto("/sign-in")
    page.get_by_label("Username").fill(ADMIN)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("link", name=ADMIN).wait_for()


def _invite(page: Any) -> str:
    """Make a team, and an invitation; gives its address."""
    page.goto("/account/")
    page.locator("form:has(button[value=team]) input[type=text]").first.fill("Scene readers")
    page.get_by_role("button", name="Create team").click()
    page.goto("/teams/scene-readers/")
    page.get_by_role("button", name="Create an invitation link").click()
    return str(page.get_by_label("Invitation link").input_value())


def _begin_draft(page: Any) -> None:
    """Write news and begin a draft, where that is possible."""
    page.goto(f"{DEMO_URL}/manage")
    if (news := page.locator("form:has(button[value=news])")).count():
        page.get_by_text("Write news").click()
        news.locator("input[type=text]").first.fill("Two more weeks")
        news.locator("textarea").fill("The phase stays open until the *end of the month*.")
        news.get_by_role("button").click()
    if (edit := page.get_by_role("button", name="Edit the challenge")).count():
        edit.click()


def _ask(page: Any) -> None:
    """Ask the organizers to approve a team, where that is possible."""
    page.goto("/challenges/scenes/teams")
    if (ask := page.get_by_role("button", name="Ask for approval")).count():
        page.locator("main select").first.select_option(label="Scene readers")
        page.locator("form:has(button[value=ask]) :is(textarea, input[type=text])").first.fill("Two of us, from Paris.")
        ask.click()


def _refuse(page: Any, file: Path) -> None:
    """Submit captions that are not valid."""
    page.goto(f"{DEMO_URL}/submit")
    page.locator("main input[type=file]").set_input_files(file)
    page.get_by_label("Method").fill("Attention")
    page.get_by_role("button", name="Submit", exact=True).click()
    page.wait_for_load_state()
    page.wait_for_timeout(300)


def _hide_board(page: Any) -> None:
    page.goto(f"{DEMO_URL}/manage")
    page.get_by_role("button", name="Hide the leaderboard").first.click()
    if (sure := page.get_by_role("button", name="Hide it")).count():
        sure.click()


def fill(server: Server, place: Path) -> None:
    """Submissions of the demonstration and of a challenge with two captions files, which has a second version."""
    address = ("--server", server.url, "--token", server.token(), "--wait", "--challenge")
    files = write_submissions(place)
    for method, file in files.items():
        _run(server, "submit", str(file), *address, "demo", "--method", method)
    _run(server, "challenge", "load", str(_write_scenes(place / "scenes")), "--data", str(server.data))
    for method, file in files.items():
        _run(server, "submit", str(_of_scenes(file)), *address, "scenes", "--phase", "test", "--method", method)
    references = place / "scenes" / "test_c5.json"
    fewer = {image: texts[:-1] for image, texts in json.loads(references.read_text()).items()}
    references.write_text(json.dumps(fewer))
    _run(server, "challenge", "load", str(references.parent), "--data", str(server.data))
    toml = references.with_name("challenge.toml")
    toml.write_text(f"team_approval = true\n{toml.read_text()}")
    server.captious("challenge", "load", str(toml.parent), "--data", str(server.data))  # or it is not known


def _write_scenes(folder: Path) -> Path:
    """Return the challenge of the browser's tests, without what earlier versions do not know."""
    write_scenes(folder, organizer=ADMIN)
    toml = (folder / "challenge.toml").read_text()
    toml = re.sub(r"(?m)^(logo|organized_by|license|citation|image_url) = .*\n", "", toml)
    (folder / "challenge.toml").write_text(re.sub(r"(?ms)^\[\[downloads\]\]\n.*?(?=^\[\[)", "", toml))
    return folder


def _of_scenes(file: Path) -> Path:
    """Return a submission of the demonstration as one of the challenge with two captions files."""
    rows = json.loads(file.read_text())
    target = file.with_suffix(".zip")
    with zipfile.ZipFile(target, "w") as archive:
        for name, part in (("val", rows[:16]), ("test", rows[16:])):
            archive.writestr(f"captions_{name}_x_results.json", json.dumps(part))
    return target


def _run(server: Server, *arguments: str) -> None:
    done = server.captious(*arguments)
    assert done.returncode == 0, done.stderr


def write_pictures(before: Path, after: Path, out: Path) -> None:
    """Put pages of two versions side by side, the earlier one on the left; new ones are alone."""
    for right in sorted(after.glob("*.png")):
        files = [file for file in (before / right.name, right) if file.exists()]
        pages = [_small(Image.open(file).convert("RGB")) for file in files]
        width, height = pages[0].size
        picture = Image.new("RGB", (len(pages) * (width + 8) - 8, height), "gray")
        for place, page in enumerate(pages):
            picture.paste(page, (place * (width + 8), 0))
        file = out / f"{'pair' if len(pages) == 2 else 'page'}-{right.name}"
        for colors in _COLORS:
            _with_few_colors(picture, colors).save(file, optimize=True)
            if file.stat().st_size < _MOST_BYTES:
                break


def _with_few_colors(picture: Image.Image, n: int) -> Image.Image:
    """With at most n colors, half of them the most frequent ones, and half for those of links, lines and dots."""
    palette: list[int] = []
    for method in (Image.Quantize.MEDIANCUT, Image.Quantize.MAXCOVERAGE):
        palette += picture.quantize(n // 2, method).getpalette()[: 3 * (n // 2)]
    chosen = Image.new("P", (1, 1))
    chosen.putpalette(palette)
    return picture.quantize(palette=chosen, dither=Image.Dither.NONE)


def _small(page: Image.Image) -> Image.Image:
    page = page.crop((0, 0, page.width, min(page.height, _TALLEST)))
    width = min(_WIDTH, page.width)
    return page.resize((width, page.height * width // page.width), Image.Resampling.LANCZOS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", type=Path, help="folder for pictures of the pages of this version")
    parser.add_argument("--before", type=Path, help="such a folder of an earlier version")
    parser.add_argument("-o", "--out", type=Path, help="folder of the pairs")
    given = parser.parse_args()
    given.pages.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place, Server(Path(place) / "data", "--demo") as server:
        fill(server, Path(place))
        take_pages(server, Path(place), given.pages)
    if given.before is not None:
        given.out.mkdir(exist_ok=True)
        write_pictures(given.before, given.pages, given.out)


if __name__ == "__main__":
    main()
