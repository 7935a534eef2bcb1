"""The preview of a draft: the overview as it is once the draft is published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from captious_server.models import Challenge, Draft, News
from server.tests.challenges.drafting import COMMENTED, edited, olga
from server.tests.support.site import Site

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
def draft_client(site: Site, commented_folder: Path) -> Any:
    """Olga's client; she has a draft with all parts of an overview, most of which the challenge lacks."""
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


def test_preview_equals_the_overview(draft_client: Any) -> None:
    """Except for the submission form, the terms page and the list of teams."""
    preview = overview(draft_client, "/drafts/commented/preview")
    parts = ("A paper", "<strong>there</strong>", "<em>kind</em>", "CC BY 4.0", "@misc{commented}", "Ann Smith", "c2")
    for part in (*parts, "kit/images.csv", "3 of 3 left today", "bleu-4, rouge-l"):
        assert part in preview, part
    assert draft_client.post("/drafts/commented/publish").status_code == 302
    page = overview(draft_client, "/challenges/commented/")
    page = re.sub(r'<p><a class="button".*?</p>', "", page)
    page = page.replace('<a href="/challenges/commented/teams">Teams</a>', "Teams")
    page = page.replace('"/challenges/commented/terms"', '"#terms"')
    assert page.split() == preview.split()


def test_preview_shows_logo_and_files_of_the_draft(draft_client: Any) -> None:
    page = draft_client.get("/drafts/commented/preview").content.decode()
    assert '<img class="logo" src="/drafts/commented/logo"' in page
    assert 'href="/drafts/commented/files/kit/images.csv"' in page
    assert draft_client.get("/drafts/commented/logo").content == LOGO
    assert b"".join(draft_client.get("/drafts/commented/files/kit/images.csv")) == b"id\n1\n"
    for name in ("c2.json", "challenge.toml", "kit/../challenge.toml"):
        assert draft_client.get(f"/drafts/commented/files/{name}").status_code == 404


def test_preview_saves_the_draft_first(site: Site, commented_folder: Path) -> None:
    answer = edited(site, ('"One."', '"Changed."'), action="preview")
    assert answer["Location"] == "/drafts/commented/preview"
    page = olga(site).get("/drafts/commented/preview").content.decode()
    assert '<p class="lead">Changed.</p>' in page
    assert "has been loaded since" not in page


def test_preview_of_an_invalid_draft_shows_its_problems(site: Site, commented_folder: Path) -> None:
    edited(site, ('"bleu-4"', '"cider-d"'), **{"text-pages/overview.md": "A *second* text."})
    page = olga(site).get("/drafts/commented/preview").content.decode()
    assert "1 problem to fix" in page
    assert "is shown once the problems are solved" in page
    assert "text." not in page
