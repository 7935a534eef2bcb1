"""The server on PostgreSQL: the main job, several workers, the races that only it has, backup and restoration."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.server.operations.test_concurrent_uploads import SETTINGS, check_each_scored_once
from tests.support import races
from tests.support.postgres import Postgres, programs
from tests.support.server import Server
from tests.support.site import EXAMPLES
from tests.support.uploading import upload_at_once

CAPTIONS = (EXAMPLES / "improved.json").read_bytes()


def test_main_job_with_several_workers_and_a_backup(postgres: Postgres, tmp_path: Path) -> None:
    settings = {**SETTINGS, "CAPTIOUS_SERVER_WORKERS": "3", "PATH": f"{programs()}{os.pathsep}{os.environ['PATH']}"}
    data, archive = tmp_path / "data", tmp_path / "backup.tar"
    with Server(data, "--demo", environment={**settings, "DATABASE_URL": postgres.database()}) as server:
        shown = check_each_scored_once(server, upload_at_once(server, server.token(), [CAPTIONS] * 12), 120)
        board = server.get("/challenges/demo/leaderboard.json?all=1")
        [improved] = [each for each in board if each["method"] == "Improved"]
        assert [each["scores"] for each in shown] == [improved["scores"]] * 12
        made = server.captious("serve", "backup", str(archive), "--data", str(data))
    assert made.returncode == 0, made.stderr
    assert not (data / "database.sqlite3").exists()
    again = Server(tmp_path / "copy", environment={**settings, "DATABASE_URL": postgres.database()})
    restored = again.captious("serve", "restore", str(archive), "--data", str(again.data))
    assert restored.returncode == 0, restored.stderr
    assert not (again.data / "database.dump").exists()
    with again:
        assert again.get("/challenges/demo/leaderboard.json?all=1") == board


def test_a_dump_is_not_restored_without_a_database(postgres: Postgres, tmp_path: Path) -> None:
    path = f"{programs()}{os.pathsep}{os.environ['PATH']}"
    server = Server(tmp_path / "data", environment={"DATABASE_URL": postgres.database(), "PATH": path})
    place = ["--data", str(server.data)]
    made = server.captious("serve", "admin", "--user", "root", *place)
    assert made.returncode == 0, made.stderr
    made = server.captious("serve", "backup", str(tmp_path / "backup.tar"), *place)
    assert made.returncode == 0, made.stderr
    other = Server(tmp_path / "copy", environment={"DATABASE_URL": ""})
    refused = other.captious("serve", "restore", str(tmp_path / "backup.tar"), "--data", str(other.data))
    assert refused.returncode != 0
    assert "DATABASE_URL" in refused.stderr


@pytest.fixture(scope="module")
def raced(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    data = tmp_path_factory.mktemp("races") / "data"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CAPTIOUS_SERVER_")}
    environment |= {"DATABASE_URL": postgres.database(), "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, "-P", races.__file__, str(data)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_several_workers_take_each_submission_once(raced: dict[str, Any]) -> None:
    assert sorted(raced["taken"]) == raced["queued"]


def test_cancelled_or_taken_but_never_both(raced: dict[str, Any]) -> None:
    assert raced["cancelled or taken"]
    for is_taken, is_cancelled, status in raced["cancelled or taken"]:
        assert is_taken != is_cancelled
        assert status == ("cancelled" if is_cancelled else "running")


def test_two_uploads_cannot_share_the_last_of_a_quota(raced: dict[str, Any]) -> None:
    assert sorted(raced["two uploads"]) == [201, 409]


def test_one_that_is_taken_while_the_challenge_is_loaded_is_scored_with_what_is_new(raced: dict[str, Any]) -> None:
    early, late = raced["while loading"]
    assert early == {"status": "queued", "scoring_version": 0, "scored": False}
    assert late == {"status": "done", "scoring_version": 2, "scored": True}
