"""A site in this process, emptied for every test, and servers in processes of their own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("django")

from captious.server.operations.setup import migrate, set_up
from tests.support.server import Server
from tests.support.site import Site, empty_site


@pytest.fixture(scope="session")
def set_up_site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder of the site in this process."""
    data = tmp_path_factory.mktemp("site")
    for name in [name for name in os.environ if name.startswith("CAPTIOUS_SERVER_") or name == "DATABASE_URL"]:
        del os.environ[name]
    set_up(data, make=True)
    from django.test.utils import setup_test_environment

    setup_test_environment()
    migrate()
    return data


@pytest.fixture
def site(set_up_site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty site."""
    empty_site(set_up_site)
    yield Site(set_up_site, monkeypatch)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server with the demonstration, in processes of its own."""
    with Server(tmp_path / "data", "--demo") as running:
        yield running
