"""A site in this process, emptied for every test, and servers in processes of their own: on SQLite or PostgreSQL."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("django")

from captious_server.operations.setup import migrate, set_up
from captious_server.settings import FILE_NAME, ExpectedFile, Problem, UploadLimits
from captious_server.submissions import upload_process
from tests.support.postgres import Postgres, programs
from tests.support.server import Server
from tests.support.site import Site, empty_site


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL server with no databases yet, where it is installed."""
    if programs() is None:
        pytest.skip("no postgresql")
    with Postgres() as running:
        yield running


@pytest.fixture(scope="session")
def database(request: pytest.FixtureRequest) -> str:
    """The address of the database of the site in this process; empty for SQLite."""
    if not request.config.getoption("--postgresql"):
        return ""
    postgres: Postgres = request.getfixturevalue("postgres")
    return postgres.database()


@pytest.fixture
def sqlite(database: str) -> None:
    """For tests that are about SQLite."""
    if database:
        pytest.skip("not here: is about SQLite")


@pytest.fixture(scope="session", autouse=True)
def databases_of_servers(request: pytest.FixtureRequest, database: str) -> Iterator[None]:
    """Servers in processes of their own have databases of their own."""
    with pytest.MonkeyPatch.context() as patch:
        if database:
            patch.setattr(Server, "new_database", request.getfixturevalue("postgres").database)
        yield


@pytest.fixture(scope="session", autouse=True)
def files_need_not_survive_a_power_cut() -> Iterator[None]:
    """Nothing waits for the disk: files and databases of tests are gone when they end."""
    from django.db.backends.signals import connection_created

    def hurry(sender: object, connection: Any, **_: object) -> None:
        if connection.vendor == "sqlite":
            connection.cursor().execute("PRAGMA synchronous=OFF")

    connection_created.connect(hurry)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield
    connection_created.disconnect(hurry)


@pytest.fixture(scope="session")
def set_up_site(tmp_path_factory: pytest.TempPathFactory, database: str) -> Path:
    """The data folder of the site in this process."""
    data = tmp_path_factory.mktemp("site")
    for name in [name for name in os.environ if name.startswith("CAPTIOUS_SERVER_") or name == "DATABASE_URL"]:
        del os.environ[name]
    if database:
        (data / FILE_NAME).write_text(f'database_url = "{database}"\n')
    set_up(data, make=True)
    from django.conf import settings
    from django.test.utils import setup_test_environment

    setup_test_environment()
    # Passwords are hashed once, so that users cost nothing.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    migrate()
    return data


def read_here(
    path: Path, filename: str, expected: Sequence[ExpectedFile], limits: UploadLimits, folder: Path
) -> list[Problem]:
    """What the process that reads an upload does, in this one and without its limits: starting it takes .1 s."""
    return upload_process._read_job({"upload": path, "filename": filename, "output": folder}, expected, limits)


@pytest.fixture(scope="module", autouse=True)
def uploads_are_read_here(request: pytest.FixtureRequest) -> Iterator[None]:
    """The site in this process reads uploads itself, except in modules with the mark ``upload_process``."""
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.get_closest_marker("upload_process"):
            patch.setattr(upload_process, "_read_in_child", read_here)
        yield


@pytest.fixture
def site(set_up_site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty site."""
    empty_site(set_up_site)
    return Site(set_up_site, monkeypatch)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server with the demonstration, in processes of its own."""
    with Server(tmp_path / "data", "--demo") as running:
        yield running
