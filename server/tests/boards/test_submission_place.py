"""The place of a submission among others, and its single images."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from captious_server.boards.query import rounded_outputs
from captious_server.boards.submission_pages import place_of, places_of, query_of
from captious_server.models import Phase, Submission
from server.tests.boards.test_leaderboard import change
from server.tests.boards.test_standings import add
from server.tests.browser.scenes import write_scenes
from server.tests.support.site import Site
from server.tests.support.small_challenge import write_folder


@pytest.fixture
def submissions(site: Site, tmp_path: Path) -> list[Any]:
    """Twelve submissions, of which the first and the eleventh are of the same team, "Team 0"."""
    site.load(write_folder(tmp_path / "small"))
    return add(range(12))


def place(row: Any, *, own: bool = False) -> Any:
    query = query_of(row)
    assert query is not None
    return place_of(AnonymousUser(), row, query, own=own)


def test_entry_has_its_leaderboard_rank(site: Site, submissions: list[Any]) -> None:
    answer = site.client().get("/challenges/small/leaderboard.json")
    board = {row["method"]: row["rank"] for row in json.loads(answer.getvalue())}
    entries = [*Submission.objects.filter(is_entry=True)]
    assert len(entries) == len(board) == 10
    for row in entries:
        found = place(row)
        assert (found.rank, found.n) == (board[row.method], 10)
    other = Submission.objects.filter(is_entry=False).first()
    assert place(other).n == 12
    assert place(other).query.everything


def test_neighbors_follow_the_leaderboard(submissions: list[Any]) -> None:
    by_score = sorted(range(12), key=lambda n: -(7 * n % 30))
    for at in (0, 1, 5, 11):
        found = place(submissions[by_score[at]])
        near = by_score[max(at - 2, 0) : at + 3]
        assert [row.submission.method for row in found.neighbors] == [f"method {n}" for n in near]
        assert (found.leader is None) == (at == 0)
        assert found.n == 12


def test_earlier_submissions_are_shown_to_the_team_only(submissions: list[Any]) -> None:
    assert place(submissions[10], own=True).previous_best == submissions[0]
    assert place(submissions[10]).previous_best is None
    assert place(submissions[0], own=True).previous_best is None


def test_private_submissions_are_not_neighbors_for_others(submissions: list[Any]) -> None:
    change(submissions[4], public=False)
    found = place(submissions[4], own=True)
    assert found.rank is None
    assert "method 4" not in {row.submission.method for row in found.neighbors}


def test_neighbors_of_a_hidden_leaderboard_are_not_shown(submissions: list[Any]) -> None:
    Phase.objects.update(board="hidden")
    found = place(Submission.objects.get(pk=submissions[5].pk))
    assert (found.rank, found.neighbors, found.leader) == (None, [], None)


def test_submission_page_shows_neighbors_and_leader(site: Site, submissions: list[Any]) -> None:
    page = site.client().get(submissions[5].url).content.decode()
    assert "of 10</h2>" in page
    assert "among the entries of teams" in page
    assert "the leader" in page
    assert "previous best" not in page


def test_submission_pages_share_the_axes_of_the_leaderboard(site: Site, submissions: list[Any]) -> None:
    first, *others = [place(row).scales for row in submissions[1:4]]
    assert all(low < high for low, high in first.values())
    assert others == [first, first]
    ticks = []
    for row in submissions[1:4]:
        page = site.client().get(row.url).content.decode()
        drawings = re.findall(r'<svg class="scores".*?</svg>', page)
        ticks.append([re.findall(r'<text x="([^"]+)"[^>]*>(.*?)</text>', drawing) for drawing in drawings])
    assert ticks[0]
    assert ticks[0] == ticks[1] == ticks[2]


def test_every_reference_set_has_a_rank_and_public_images_are_shown(site: Site, tmp_path: Path) -> None:
    """The main set is private; single images come from the first public set."""
    olga = site.user("olga")
    site.load(write_scenes(tmp_path / "scenes", organizer="olga"))
    site.work()
    row = Submission.objects.select_related("phase__challenge", "team", "shown_scores").get(
        method="Improved", phase__name="test"
    )
    places = places_of(olga, row, own=True)
    assert [place.query.references_label for place in places.values()] == ["test · c5", "val · c5", "test · c2"]
    page = site.client(olga).get(row.url).content.decode()
    asides, sections = re.findall(r"<aside.*?</aside>", page, re.S), page.split("<aside")[1:]
    assert len(asides) == len(sections) == 3
    for aside, section, place in zip(asides, sections, places.values(), strict=True):
        own = rounded_outputs(row.outputs(place.query.key), row.phase)["cider-d"]["score"]
        shown = [float(text) for text in re.findall(r'<span class="value">(.*?)</span>', aside)]
        assert [each.submission.method for each in place.neighbors] == ["Improved", "Baseline"]
        assert f"Rank {place.rank} of 2" in aside
        assert f"By cider-d with {place.query.references_label}, among" in aside
        assert shown[0] == own == float(re.findall(r'<span class="value">(.*?)</span>', section[len(aside) - 6 :])[0])
    few = [re.search(r"over images, and there are only (\d+)", section) for section in sections]
    assert [match and int(match[1]) for match in few] == [8, 16, 8]  # each warning is beside the set that it is about
    images = page.partition('id="images-title"')[2]
    assert "references val · c5" in images[:100]
    assert images.count("Image ") >= 6
