"""The list of a team's submissions, and the cards of challenges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser

from captious_server.boards.submission_pages import own_scores, sorted_scores
from captious_server.models import Challenge, Phase
from captious_server.pages.challenges import cards
from server.tests.boards.test_standings import add
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue, write_folder


@pytest.fixture
def submissions(site: Site, tmp_path: Path) -> list[Any]:
    """Three submissions of "Team 0", of which the first is the best; the others have the same score."""
    site.load(write_folder(tmp_path / "small"))
    return add([10, 0, 30])


def visitor() -> Any:
    return AnonymousUser()


def test_score_changes_are_relative_to_the_previous_best(submissions: list[Any]) -> None:
    waiting = queue(team=submissions[0].team)
    scored = own_scores(visitor(), [*waiting, *submissions[::-1]])
    assert [row.submission for row in scored] == [*waiting, *submissions[::-1]]
    changes = {row.submission.pk: row.change for row in scored}
    first, second = (next(row.score for row in scored if row.submission == one) for one in submissions[:2])
    assert changes[submissions[0].pk] is None
    assert changes[submissions[1].pk] == pytest.approx(second - first)
    assert changes[submissions[2].pk] == changes[submissions[1].pk]
    assert changes[waiting[0].pk] is None


def test_own_submissions_sort_in_both_directions_with_missing_scores_last(submissions: list[Any]) -> None:
    [waiting] = queue(team=submissions[0].team)
    scored = own_scores(visitor(), [waiting, *submissions])
    for descending in (True, False):
        *known, last = sorted_scores(scored, "score", descending=descending)
        assert last.submission == waiting
        scores = [row.score for row in known]
        assert scores == sorted(scores, reverse=descending)
    assert sorted_scores(scored, "method", descending=False)[0].submission.method == min(
        [waiting.method, *(row.method for row in submissions)]
    )


def test_challenge_card_shows_the_best_score(submissions: list[Any]) -> None:
    [card] = cards([*Challenge.objects.all()], visitor())
    assert (card["n_teams"], card["is_mine"]) == (1, False)
    assert card["leader"] is not None
    assert card["curve"] == sorted(set(card["curve"]))
    Phase.objects.update(board="hidden")
    [card] = cards([*Challenge.objects.all()], visitor())
    assert (card["query"], card.get("leader")) == (None, None)


def test_home_lists_challenges_of_the_user_first(site: Site, submissions: list[Any]) -> None:
    user = site.user()
    submissions[0].team.members.add(user)
    other = site.demo()
    made = cards([other, *Challenge.objects.exclude(pk=other.pk)], user)
    assert [(card["challenge"].slug, card["is_mine"]) for card in made] == [("small", True), ("demo", False)]
