"""Leaderboards as pages show them: rows that are found, the scores of teams over time, rows that are compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from captious_server.boards.leaderboard import board
from captious_server.boards.query import query_from
from captious_server.models import Challenge, Membership, Submission, board_changed
from server.tests.boards.test_standings import add
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue, write_folder


@pytest.fixture
def submissions(site: Site, tmp_path: Path) -> list[Any]:
    """Twelve submissions, of which the first and the eleventh are of the same team, "Team 0"."""
    site.load(write_folder(tmp_path / "small"))
    return add(range(12))


def shown(**parameters: str) -> Any:
    """The board that an address asks for, to a visitor."""
    query = query_from(Challenge.objects.get(), parameters, AnonymousUser())
    assert query is not None
    return board(query, AnonymousUser())


def change(row: Any, **values: Any) -> None:
    Submission.objects.filter(pk=row.pk).update(**values)
    board_changed(row.phase_id)


def methods(board: Any) -> set[str]:
    return {row.submission.method for row in board.rows}


def test_search_matches_method_team_and_tag(submissions: list[Any]) -> None:
    change(submissions[2], is_human=True)
    assert methods(shown(find="method 1", all="1")) == {"method 1", "method 10", "method 11"}
    assert methods(shown(find="TEAM 0", all="1")) == {"method 0", "method 10"}
    assert methods(shown(find="human")) == {"method 2"}
    assert methods(shown(find="nothing")) == set()
    change(submissions[3], anonymous=True)
    change(submissions[4], is_baseline=True)
    assert methods(shown(find="Anonymous")) == {"method 3"}
    assert methods(shown(find="baselines")) == methods(shown(find="baseline")) == {"method 4"}
    assert methods(shown(find="yours")) == set()


def test_search_for_yours_finds_own_submissions(site: Site, submissions: list[Any]) -> None:
    ann = site.user("ann")
    Membership.objects.create(team=submissions[5].team, user=ann)
    page = site.client(ann).get("/challenges/small/leaderboard?find=yours&all=1").content.decode()
    own = {row.method for row in submissions if row.team_id == submissions[5].team_id}
    assert {row.method for row in submissions if f">{row.method}<" in page} == own


def test_search_does_not_change_ranks(submissions: list[Any]) -> None:
    everything = {row.submission.method: row.rank for row in shown().rows}
    [row] = shown(find="method 5").rows
    assert row.rank == everything["method 5"]


def test_search_does_not_reveal_anonymous_teams(submissions: list[Any]) -> None:
    change(submissions[3], anonymous=True)
    assert methods(shown(find="Team 3")) == set()
    assert methods(shown(find="method 3")) == {"method 3"}


def test_chart_shows_scores_of_a_team_over_time(submissions: list[Any]) -> None:
    [row] = shown(find="Team 0").rows
    scores = {row.submission.method: row.cells for row in shown(all="1").rows}
    main = [next(cell.score for cell in scores[f"method {n}"] if cell.name == shown().main) for n in (0, 10)]
    assert list(row.history) == main
    change(submissions[0], anonymous=True)
    [named] = [row for row in shown().rows if row.submission.pk == submissions[10].pk]
    [anonymous] = [row for row in shown().rows if row.submission.pk == submissions[0].pk]
    assert list(named.history) == main[1:]
    assert list(anonymous.history) == []


def test_ticked_submissions_are_compared(site: Site, submissions: list[Any]) -> None:
    address = "/challenges/small/compare?" + "&".join(f"systems={row.pk}" for row in submissions[:3])
    page = site.client().get(address).content.decode()
    assert "method 0 and method 1 compared" in page
    assert "3 submissions were ticked." in page


def test_scripts_of_other_sites_may_read_the_leaderboard(site: Site) -> None:
    site.demo()
    answer = site.client().get("/challenges/demo/leaderboard.json", headers={"Origin": "https://example.org"})
    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer
    assert "Access-Control-Allow-Origin" not in site.client().get("/challenges/demo/leaderboard")


def test_comparison_begins_with_what_is_not_significant(site: Site, submissions: list[Any]) -> None:
    def verdict(a: Any, b: Any) -> str:
        page = site.client().get(f"/challenges/small/compare?a={a.pk}&b={b.pk}").content.decode()
        return page.partition('<p class="verdict">')[2].partition("</p>")[0]

    same = queue(2)
    site.work()
    assert verdict(*same).startswith("<strong>No significant difference in any metric.</strong> B, ")
    assert verdict(submissions[0], submissions[-1]).startswith("B, ")
