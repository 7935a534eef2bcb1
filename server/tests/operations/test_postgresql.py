"""The server on PostgreSQL: the main job, several workers, backup and restoration."""

from __future__ import annotations

import os
import urllib.error
from pathlib import Path

import pytest

from server.tests.operations.test_concurrent_uploads import SETTINGS, check_each_scored_once
from server.tests.support.postgres import Postgres, programs
from server.tests.support.server import Server
from server.tests.support.site import EXAMPLES
from server.tests.support.uploading import upload, upload_at_once

CAPTIONS = (EXAMPLES / "improved.json").read_bytes()
pytestmark = pytest.mark.slow  # several servers of several processes


def test_postgresql_serves_uploads_a_restart_and_a_backup(postgres: Postgres, tmp_path: Path) -> None:
    settings = {**SETTINGS, "CAPTIOUS_SERVER_WORKERS": "2", "PATH": f"{programs()}{os.pathsep}{os.environ['PATH']}"}
    data, archive = tmp_path / "data", tmp_path / "backup.tar"
    with Server(data, "--demo", environment={**settings, "DATABASE_URL": postgres.database()}) as server:
        shown = check_each_scored_once(server, upload_at_once(server, server.token(), [CAPTIONS] * 12), 120)
        postgres.stop()
        with pytest.raises(urllib.error.HTTPError, match="503"):
            server.get("/healthz")
        postgres.start()
        server.wait_until_healthy()
        again = upload(server, server.token(), CAPTIONS, "method 12")
        shown = check_each_scored_once(server, [*shown, again], 120)
        board = server.get("/challenges/demo/leaderboard.json?all=1")
        [improved] = [each for each in board if each["method"] == "Improved"]
        assert [each["scores"] for each in shown] == [improved["scores"]] * 13
        process = server.captious("serve", "backup", str(archive), "--data", str(data))
    assert process.returncode == 0, process.stderr
    assert not (data / "database.sqlite3").exists()
    copy = Server(tmp_path / "copy", environment={**settings, "DATABASE_URL": postgres.database()})
    restored = copy.captious("serve", "restore", str(archive), "--data", str(copy.data))
    assert restored.returncode == 0, restored.stderr
    assert not (copy.data / "database.dump").exists()
    with copy:
        assert copy.get("/challenges/demo/leaderboard.json?all=1") == board


def test_dump_is_not_restored_without_a_database(postgres: Postgres, tmp_path: Path) -> None:
    path = f"{programs()}{os.pathsep}{os.environ['PATH']}"
    server = Server(tmp_path / "data", environment={"DATABASE_URL": postgres.database(), "PATH": path})
    place = ["--data", str(server.data)]
    process = server.captious("serve", "admin", "--user", "root", *place)
    assert process.returncode == 0, process.stderr
    process = server.captious("serve", "backup", str(tmp_path / "backup.tar"), *place)
    assert process.returncode == 0, process.stderr
    other = Server(tmp_path / "copy", environment={"DATABASE_URL": ""})
    refused = other.captious("serve", "restore", str(tmp_path / "backup.tar"), "--data", str(other.data))
    assert refused.returncode != 0
    assert "DATABASE_URL" in refused.stderr
    assert not other.data.exists()


def test_dump_is_restored_into_an_empty_database_only(postgres: Postgres, tmp_path: Path) -> None:
    """The settings of the folder that was backed up name the database of its server, which may be running."""
    settings = {"PATH": f"{programs()}{os.pathsep}{os.environ['PATH']}"}
    first, second, archive = postgres.database(), postgres.database(), tmp_path / "backup.tar"
    server = Server(tmp_path / "data", environment={**settings, "DATABASE_URL": ""})
    server.data.mkdir()
    (server.data / "captious.toml").write_text(f'workers = 2  # enough\ndatabase_url = "{first}"\n')
    for command in (["admin", "--user", "root"], ["backup", str(archive)]):
        done = server.captious("serve", *command, "--data", str(server.data))
        assert done.returncode == 0, done.stderr
    copy = Server(tmp_path / "copy", environment={**settings, "DATABASE_URL": ""})
    refused = copy.captious("serve", "restore", str(archive), "--data", str(copy.data))
    assert refused.returncode == 2
    assert "error: the database is not empty" in refused.stderr
    assert "set DATABASE_URL to the address of an empty database" in refused.stderr
    assert not copy.data.exists()
    other = Server(copy.data, environment={**settings, "DATABASE_URL": second})
    done = other.captious("serve", "restore", str(archive), "--data", str(copy.data))
    assert done.returncode == 0, done.stderr
    assert (copy.data / "captious.toml").read_text() == f'workers = 2  # enough\ndatabase_url = "{second}"\n'
