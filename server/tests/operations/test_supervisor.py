"""Processes of a real server that are stopped or killed, while a submission is being scored and at other times."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from server.tests.support.server import Server, wait_for
from server.tests.support.site import EXAMPLES
from server.tests.support.uploading import upload

CAPTIONS = (EXAMPLES / "improved.json").read_bytes()
pytestmark = pytest.mark.slow  # kills processes of servers, again and again


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server whose leases run out soon."""
    settings = {"CAPTIOUS_SERVER_LEASE_SECONDS": "2"}
    with Server(tmp_path / "data", "--demo", environment=settings) as running:
        yield running


def row(server: Server, number: int) -> dict[str, Any]:
    """A submission as the database has it, whether or not the server runs."""
    with closing(sqlite3.connect(server.data / "database.sqlite3")) as database:
        database.row_factory = sqlite3.Row
        return dict(database.execute("SELECT * FROM captious_submission WHERE id = ?", [number]).fetchone())


class Gate:
    """A submission whose captions a worker waits for until they are let through: they are a pipe.

    Args:
        server: all of whose submissions are done.
    """

    def __init__(self, server: Server) -> None:
        server.wait_until_idle()
        token = server.token()
        with server.paused_worker():
            self.number = int(upload(server, token, CAPTIONS, "Mine")["id"])
            folder = server.data / "submissions" / row(server, self.number)["folder_name"]
            self._path = folder / "captions" / "captions.json"
            self._content = self._path.read_bytes()
            self._path.unlink()
            os.mkfifo(self._path)
        self._pipe = self._path.open("wb")  # when the worker is reading

    def open(self) -> None:
        """Let the worker that waits have them."""
        with self._pipe:
            self._pipe.write(self._content)

    def remove(self) -> None:
        """Let other workers have them."""
        self._path.unlink()
        self._path.write_bytes(self._content)
        self._pipe.close()


def is_away(server: Server) -> bool:
    try:
        server.get("/healthz")
    except OSError:
        return True
    return False


@pytest.mark.nightly
@pytest.mark.usefixtures("sqlite")
def test_stopped_server_finishes_the_current_scoring(server: Server) -> None:
    gate = Gate(server)
    assert row(server, gate.number)["status"] == "running"
    server.process.terminate()
    wait_for(lambda: is_away(server))
    gate.open()
    assert server.process.wait(60) == 0
    assert server.processes("web") == server.processes("worker") == []
    assert (row(server, gate.number)["status"], row(server, gate.number)["tries"]) == ("done", 1)


@pytest.mark.nightly
@pytest.mark.usefixtures("sqlite")
def test_worker_whose_submission_takes_too_long_is_replaced(server: Server) -> None:
    server.wait_until_idle()
    assert server.stop() == 0
    server.environment["CAPTIOUS_SERVER_SCORING_SECONDS"] = "1"
    server.start()
    [worker] = server.processes("worker")
    gate = Gate(server)
    wait_for(lambda: row(server, gate.number)["status"] == "failed")
    gate.remove()
    assert (row(server, gate.number)["counts"], row(server, gate.number)["tries"]) == (0, 1)
    wait_for(lambda: server.processes("worker") not in ([], [worker]))


@pytest.mark.usefixtures("sqlite")
def test_killed_processes_are_restarted(server: Server) -> None:
    gate = Gate(server)
    [worker] = server.kill("worker")
    gate.remove()
    killed = server.kill("web")
    server.wait_until_healthy()
    wait_for(lambda: row(server, gate.number)["status"] == "done")
    assert row(server, gate.number)["tries"] == 2
    assert server.get(f"/submissions/{gate.number}/status.json")["status"] == "done"
    assert not {worker, *killed} & {*server.processes("worker"), *server.processes("web")}
    # The supervisor is killed: the others end, and everything is there when it is started again.
    gate = Gate(server)
    server.process.kill()
    server.process.wait()
    wait_for(lambda: is_away(server))
    gate.open()
    wait_for(lambda: not server.processes("web") and not server.processes("worker"))
    assert row(server, gate.number)["status"] == "done"
    server.start()
    server.wait_until_idle()  # the worker may have ended before it computed the leaderboard
    rows = server.get("/challenges/demo/leaderboard.json?all=1")
    assert [each["method"] for each in rows].count("Mine") == 2
