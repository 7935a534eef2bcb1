"""The preview of a draft: the overview as it is once the draft is published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("django")
pytest.importorskip("tomlkit")

from tests.server.challenges.drafting import COMMENTED, edited, olga
from tests.support.site import Site

LOGO = b'<svg xmlns="http://www.w3.org/2000/svg"><circle r="5"/></svg>'
WHOLE = (
    """logo = "logo.svg"
organized_by = ["Ann Smith, University of X"]
license = "CC BY 4.0"
citation = "@misc{commented}"
terms = "Terms"
team_approval = true
"""
    + COMMENTED
    + """scored_per_day = 3

[[texts]]
title = "Terms"
file = "terms.md"

[[downloads]]
title = "Images"
file = "kit/images.csv"
"""
)


@pytest.fixture
def draft(site: Site, commented: Path) -> Any:
    """Olga, who has a draft with all that an overview can show; the challenge as it is has little of it."""
    from captious.server.models import Challenge, Draft, News

    client = olga(site)
    client.post("/challenges/commented/edit")
    folder = Draft.objects.get().folder
    (folder / "logo.svg").write_bytes(LOGO)
    (folder / "terms.md").write_text("Be *kind*.")
    (folder / "kit").mkdir()
    (folder / "kit" / "images.csv").write_text("id\n1\n")
    (folder / "challenge.toml").write_text(WHOLE)
    client.get("/drafts/commented/publish")  # which checks the draft
    challenge = Challenge.objects.get(slug="commented")
    News.objects.create(challenge=challenge, title="A paper", text="It is **there**.")
    return client


def overview(client: Any, address: str) -> str:
    """What is below the tabs, with the addresses of a challenge."""
    page = client.get(address).content.decode()
    shown = page[page.index('<p class="lead">') : page.index("</main>")]
    return shown.replace("/drafts/commented/", "/challenges/commented/")


def test_a_preview_is_the_overview(draft: Any) -> None:
    """All but what only a published challenge can have: its form, its terms page, its list of teams."""
    preview = overview(draft, "/drafts/commented/preview")
    parts = ("A paper", "<strong>there</strong>", "<em>kind</em>", "CC BY 4.0", "@misc{commented}", "Ann Smith", "c2")
    for part in (*parts, "kit/images.csv", "3 of 3 left today", "bleu-4, rouge-l"):
        assert part in preview, part
    assert draft.post("/drafts/commented/publish").status_code == 302
    page = overview(draft, "/challenges/commented/")
    page = re.sub(r'<p><a class="button".*?</p>', "", page)
    page = page.replace('<a href="/challenges/commented/teams">Teams</a>', "Teams")
    page = page.replace('"/challenges/commented/terms"', '"#terms"')
    assert page.split() == preview.split()


def test_logo_and_files_of_the_draft(draft: Any) -> None:
    page = draft.get("/drafts/commented/preview").content.decode()
    assert '<img class="logo" src="/drafts/commented/logo"' in page
    assert 'href="/drafts/commented/files/kit/images.csv"' in page
    assert draft.get("/drafts/commented/logo").content == LOGO
    assert b"".join(draft.get("/drafts/commented/files/kit/images.csv")) == b"id\n1\n"
    for name in ("c2.json", "challenge.toml", "kit/../challenge.toml"):
        assert draft.get(f"/drafts/commented/files/{name}").status_code == 404


def test_what_is_previewed_is_saved_first(site: Site, commented: Path) -> None:
    answer = edited(site, summary="Changed.", action="preview")
    assert answer["Location"] == "/drafts/commented/preview"
    page = olga(site).get("/drafts/commented/preview").content.decode()
    assert '<p class="lead">Changed.</p>' in page
    assert "has been loaded since" not in page


def test_a_draft_with_problems_shows_what_needs_no_check(site: Site, commented: Path) -> None:
    changes = {"rank_by": "cider-d", "texts-0-markdown": "A *second* text.", "organized_by": "Ann Smith"}
    edited(site, **changes)
    page = olga(site).get("/drafts/commented/preview").content.decode()
    assert "1 problem to solve" in page
    assert "are shown when the problems are solved" in page
    assert "A <em>second</em> text." in page
    assert "Ann Smith" in page
    assert "no closing date" not in page
    assert '<ul class="phases">\n</ul>' in re.sub(r">\s+<", ">\n<", page)
