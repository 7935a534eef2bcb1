"""A site in this process, emptied for every test, and servers in processes of their own: on SQLite or PostgreSQL."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from captious_server.operations.setup import migrate, set_up
from captious_server.settings import FILE_NAME
from captious_server.submissions import upload_process
from server.tests.support.postgres import Postgres, programs
from server.tests.support.server import Server
from server.tests.support.site import Site, empty_site

_SITE = pytest.StashKey[Path]()  # the data folder of the site in this process
_POSTGRES = pytest.StashKey[Postgres]()  # its server, with --postgresql
_UNTIL_THE_END = pytest.StashKey[ExitStack]()


def pytest_configure(config: pytest.Config) -> None:
    """Set up the site in this process before tests are collected: they import its models."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        return  # other processes collect and run them
    stack = config.stash[_UNTIL_THE_END] = ExitStack()
    data = config.stash[_SITE] = Path(tempfile.mkdtemp(prefix="captious-site-"))
    stack.callback(shutil.rmtree, data, ignore_errors=True)
    for name in [name for name in os.environ if name.startswith("CAPTIOUS_SERVER_") or name == "DATABASE_URL"]:
        del os.environ[name]
    if config.getoption("--postgresql") and programs() is not None:
        running = config.stash[_POSTGRES] = stack.enter_context(Postgres())
        (data / FILE_NAME).write_text(f'database_url = "{running.database()}"\n')
    set_up(data, make=True)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the site, and stop its PostgreSQL."""
    if _UNTIL_THE_END in config.stash:
        config.stash[_UNTIL_THE_END].close()


@pytest.fixture(scope="session")
def postgres(request: pytest.FixtureRequest) -> Iterator[Postgres]:
    """A PostgreSQL server where it is installed: with --postgresql, the one that has the site in this process."""
    if programs() is None:
        pytest.skip("no postgresql")
    if _POSTGRES in request.config.stash:
        yield request.config.stash[_POSTGRES]
        return
    with Postgres() as running:
        yield running


@pytest.fixture(scope="session")
def is_on_postgres(request: pytest.FixtureRequest) -> bool:
    """Whether the site in this process is on PostgreSQL, not SQLite."""
    if not request.config.getoption("--postgresql"):
        return False
    request.getfixturevalue("postgres")  # skips where it is not installed
    return True


@pytest.fixture
def sqlite(is_on_postgres: bool) -> None:
    """For tests that are about SQLite."""
    if is_on_postgres:
        pytest.skip("not here: is about SQLite")


@pytest.fixture(scope="session", autouse=True)
def databases_of_servers(request: pytest.FixtureRequest, is_on_postgres: bool) -> Iterator[None]:
    """Servers in processes of their own have databases of their own."""
    with pytest.MonkeyPatch.context() as patch:
        if is_on_postgres:
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
def set_up_site(request: pytest.FixtureRequest, is_on_postgres: bool) -> Path:
    """The data folder of the site in this process."""
    from django.conf import settings
    from django.test.utils import setup_test_environment

    setup_test_environment()
    # Passwords are hashed once, so that users cost nothing.
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    migrate()
    return request.config.stash[_SITE]


@pytest.fixture(scope="module", autouse=True)
def uploads_are_read_here(request: pytest.FixtureRequest) -> Iterator[None]:
    """The site in this process reads uploads itself, except in modules with the mark ``upload_process``.

    It does what the process that reads an upload does, without its limits: starting one takes .1 s.
    """
    with pytest.MonkeyPatch.context() as patch:
        if not request.node.get_closest_marker("upload_process"):
            patch.setattr(upload_process, "_read_in_child", upload_process._read_job)
        yield


@pytest.fixture
def while_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Lets something happen once: when the next upload is read."""
    from captious_server.submissions import intake

    read = intake.read_upload

    def happens(do: Callable[[], object]) -> None:
        def reading(*arguments: Any) -> Any:
            monkeypatch.setattr(intake, "read_upload", read)
            do()
            return read(*arguments)

        monkeypatch.setattr(intake, "read_upload", reading)

    return happens


@pytest.fixture
def site(set_up_site: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty site, for which nothing has been parsed: tests change what metrics say of themselves."""
    from captious_server.models import parsed_definition

    empty_site(set_up_site)
    parsed_definition.cache_clear()
    return Site(set_up_site, monkeypatch)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server with the demonstration, in processes of its own."""
    with Server(tmp_path / "data", "--demo") as running:
        yield running
