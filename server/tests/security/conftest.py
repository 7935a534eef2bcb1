"""The world that tests of security share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.tests.security.world import World
from server.tests.support.site import Scene, Site, empty_site

#: The world as it was made in this process, with its copy.
_MADE: list[tuple[World, Scene]] = []


@pytest.fixture(scope="module")
def world(set_up_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world, made once or copied for all tests of a module; they change it within ``world.rollback()`` only."""
    from django.db import connection

    empty_site(set_up_site)
    with pytest.MonkeyPatch.context() as patch:
        site = Site(set_up_site, patch)
        if not _MADE:
            made = World(site, tmp_path_factory.mktemp("world"))
            if connection.vendor != "sqlite":
                yield made
                return
            _MADE.append((made, Scene(site.data)))
        made, scene = _MADE[0]
        scene.copy(site.data)
        made.site = site
        for row in (*made.users.values(), *made.submissions.values()):  # which tests of other modules have changed
            row.refresh_from_db()
        yield made


@pytest.fixture
def sandbox(world: World) -> Iterator[World]:
    """The world; changes of a test to the database are rolled back."""
    with world.rollback():
        yield world
