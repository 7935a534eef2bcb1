"""The world that tests of security share."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.tests.security.world import World
from server.tests.support.site import Site, empty_site


@pytest.fixture(scope="module")
def world(set_up_site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The world, made once for all tests of a module; they change it within ``world.rollback()`` only."""
    empty_site(set_up_site)
    with pytest.MonkeyPatch.context() as patch:
        yield World(Site(set_up_site, patch), tmp_path_factory.mktemp("world"))


@pytest.fixture
def sandbox(world: World) -> Iterator[World]:
    """The world; changes of a test to the database are rolled back."""
    with world.rollback():
        yield world
