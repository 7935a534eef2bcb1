"""The list of challenges."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("django")

from tests.support.site import Site
from tests.support.small_challenge import write_folder


def test_a_leaderboard_is_linked_while_it_is_shown(site: Site, tmp_path: Path) -> None:
    from captious.server.models import Phase

    site.load(write_folder(tmp_path / "small"))
    link = 'href="/challenges/small/leaderboard"'
    assert link in site.client().get("/").content.decode()
    Phase.objects.update(board="hidden")
    page = site.client().get("/").content.decode()
    assert link not in page
    assert 'href="/challenges/small/submit"' in page
