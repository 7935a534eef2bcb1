"""The list of challenges."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from captious_server.models import Phase, User
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue, write_folder


def test_home_links_leaderboards_that_are_shown(site: Site, tmp_path: Path) -> None:
    site.load(write_folder(tmp_path / "small"))
    link = 'href="/challenges/small/leaderboard"'
    assert link in site.client().get("/").content.decode()
    Phase.objects.update(board="hidden")
    page = site.client().get("/").content.decode()
    assert link not in page
    assert 'href="/challenges/small/submit"' in page


@pytest.fixture
def two_open_phases(site: Site, tmp_path: Path) -> list[Any]:
    """Two open phases of a challenge, each with a scored submission; the second closes first."""
    site.load(write_folder(tmp_path / "small", phases=("final", "dev")))
    for phase, closes in (("final", 20), ("dev", 10)):
        queue(phase=phase, method=f"in {phase}")
        Phase.objects.filter(name=phase).update(closes=timezone.now() + timedelta(days=closes))
    site.work()
    return [Phase.objects.filter(name=name) for name in ("dev", "final")]


def test_card_names_the_phase_that_closes_next_and_its_leader(site: Site, two_open_phases: list[Any]) -> None:
    dev, final = two_open_phases
    page = site.client().get("/").content.decode()
    assert ("in dev" in page, "in final" in page) == (True, False)
    assert 'href="/challenges/small/leaderboard"' in page  # which shows the last open phase first
    dev.update(closes=timezone.now() + timedelta(days=30))
    page = site.client().get("/").content.decode()
    assert ("in dev" in page, "in final" in page) == (False, True)
    assert 'href="/challenges/small/leaderboard?phase=final"' in page
    final.update(closes=None)  # never
    assert "in dev" in site.client().get("/").content.decode()


def test_card_shows_the_phase_that_has_a_board(site: Site, two_open_phases: list[Any]) -> None:
    dev, _ = two_open_phases
    dev.update(board="hidden")
    page = site.client().get("/").content.decode()
    assert '<span class="name">dev</span>' in page
    assert "<dt>bleu-4, final</dt>" in page
    assert "in final" in page
    assert 'href="/challenges/small/leaderboard"' in page


@pytest.mark.parametrize("values", [{"board": "hidden"}, {"scores_shown": "never"}, {"scores_shown": "at-end"}])
@pytest.mark.parametrize("is_root", [False, True])
def test_card_has_no_leader_while_scores_are_withheld(
    site: Site, two_open_phases: list[Any], values: dict[str, str], is_root: bool
) -> None:
    for phase in two_open_phases:
        phase.update(**values)
    user = User.objects.create_superuser("root") if is_root else None
    page = site.client(user).get("/").content.decode()
    assert '<span class="name">dev</span>' in page
    for absent in ("in dev", "in final", 'class="leader"'):
        assert absent not in page, absent
    assert ("/challenges/small/leaderboard" in page) == is_root  # organizers see it
