"""Leaderboards that are not shown: readers of their pages learn why, and until when."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from captious_server.models import Phase
from server.tests.support.site import Site
from server.tests.support.small_challenge import write_folder

ADDRESS = "/challenges/small/leaderboard"


def hidden_page(site: Site, place: Path, limits: str, address: str = ADDRESS, user: Any = None) -> str:
    """The page of the challenge "small", whose phases have these limits."""
    site.load(write_folder(place / "small", phases=("first", "second"), limits=limits))
    response = site.client(user).get(address)
    assert response.status_code == 403
    page: str = response.content.decode()
    assert "Page not found" not in page
    assert '<h1 class="title">Small' in page
    assert 'aria-current="page" data-short="Board"><span class="long">Leaderboard</span>' in page
    return page


def test_scores_shown_at_the_end_are_withheld_before(site: Site, tmp_path: Path) -> None:
    page = hidden_page(site, tmp_path, 'scores_shown = "at-end"\ncloses = "2120-03-01T12:00:00Z"')
    assert "second: the leaderboard is not shown yet" in page
    assert '<time datetime="2120-03-01T12:10:00Z">2120-03-01 12:10 UTC</time>' in page  # ten minutes for uploads
    assert "My submissions" not in page


@pytest.mark.parametrize("name", ["compare", "captions", "captions/1"])
def test_pages_of_a_hidden_leaderboard_say_that_scores_are_not_shown(site: Site, tmp_path: Path, name: str) -> None:
    address = f"/challenges/small/{name}?phase=first"
    page = hidden_page(site, tmp_path, 'scores_shown = "never"', address, site.user())
    assert "This phase does not show scores." in page
    assert '<a href="/challenges/small/submissions">My submissions</a>' in page


def test_leaderboard_hidden_by_organizers_is_not_shown(site: Site, tmp_path: Path) -> None:
    page = hidden_page(site, tmp_path, 'board = "hidden"')
    assert "The organizers have hidden the leaderboard of this phase. Teams see the scores" in page


def test_hidden_leaderboard_links_to_those_of_other_phases(site: Site, tmp_path: Path) -> None:
    site.load(write_folder(tmp_path / "small", phases=("first", "second")))
    Phase.objects.filter(name="second").update(board="hidden")
    page = site.client().get(f"{ADDRESS}?phase=second").content.decode()
    assert f'<a href="{ADDRESS}?phase=first">Leaderboard of first</a>' in page
    assert site.client().get(ADDRESS).status_code == 200
    assert site.client().get(f"{ADDRESS}?phase=third").status_code == 404


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ('scores_shown = "never"', "scores are not shown"),
        ('scores_shown = "at-end"\ncloses = "2120-03-01T12:00:00Z"', "scores are shown on <time"),
        ('scores_shown = "at-end"\ncloses = "2020-03-01T12:00:00Z"', ""),
        ('board = "hidden"', "leaderboard hidden"),
        ("", ""),
    ],
)
def test_overview_says_when_scores_are_shown(site: Site, tmp_path: Path, limits: str, said: str) -> None:
    site.load(write_folder(tmp_path / "small", limits=limits))
    page = site.client().get("/challenges/small/").content.decode()
    all_texts = ("scores are not shown", "scores are shown on <time", "leaderboard hidden")
    assert [text for text in all_texts if text in page] == ([said] if said else [])


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ('scores_shown = "never"', "This phase does not show scores."),
        ('scores_shown = "at-end"\ncloses = "2120-03-01T12:00:00Z"', "on 2120-03-01 12:10 UTC."),
        ('board = "hidden"', "The organizers have hidden the leaderboard of this phase. Teams see the scores"),
    ],
)
def test_files_and_api_say_why_scores_are_withheld(site: Site, tmp_path: Path, limits: str, said: str) -> None:
    site.load(write_folder(tmp_path / "small", limits=limits))
    client = site.client()
    for address in ("leaderboard", "compare"):
        answer = client.get(f"/api/v1/challenges/small/{address}?phase=main")
        assert answer.status_code == 403
        error = answer.json()["error"]
        assert error.startswith("The leaderboard of main is not shown. ")
        assert said in error
    answer = client.get(f"{ADDRESS}.csv?phase=main")
    assert (answer.status_code, said in answer.content.decode()) == (403, True)
    answer = client.get(f"{ADDRESS}.json?phase=main")
    assert (answer.status_code, answer.json()) == (403, {"error": error})
    assert client.get("/challenges/none/leaderboard.json").json()["error"].startswith("This page does not exist")


def test_unknown_phase_is_refused_by_name(site: Site, tmp_path: Path) -> None:
    site.load(write_folder(tmp_path / "small"))
    root = site.client(site.user("root", is_superuser=True))
    phase = {"error": "There is no phase 'zz'; known are main."}
    for address in (f"{ADDRESS}.json?phase=zz", "/api/v1/challenges/small/compare?phase=zz"):
        answer = root.get(address)
        assert (answer.status_code, answer.json()) == (404, phase)
    for page in ("leaderboard", "compare", "captions", "archive.zip"):
        answer = root.get(f"/challenges/small/{page}?phase=zz")
        assert answer.status_code == 404
        assert "There is no phase &#x27;zz&#x27;; known are main." in answer.content.decode()
    answer = root.get(f"{ADDRESS}.json?references=zz")
    assert answer.json() == {"error": "There is no reference set 'zz' in the phase main; known are c2."}
    template = root.get("/challenges/small/template?phase=zz").content.decode()
    assert "There is no open phase &#x27;zz&#x27;; known are main." in template
