"""A PostgreSQL server, where it is installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.postgres import Postgres, programs


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A server with no databases yet."""
    if programs() is None:
        pytest.skip("no PostgreSQL")
    with Postgres() as running:
        yield running
