"""Workers and web processes that want the same at the same time, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from server.tests.support import races

pytestmark = pytest.mark.slow  # several servers of several processes


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def race_results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    is_postgres = request.param == "postgresql"
    database = request.getfixturevalue("postgres").database() if is_postgres else ""
    data = tmp_path_factory.mktemp("races") / "data"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CAPTIOUS_SERVER_")}
    environment |= {
        "DATABASE_URL": database,
        "PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), os.environ.get("PYTHONPATH", "")]),
    }
    command = [sys.executable, "-P", races.__file__, str(data)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr[-4000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def test_workers_take_each_submission_once(race_results: dict[str, Any]) -> None:
    assert sorted(race_results["taken"]) == race_results["queued"]


def test_concurrent_workers_keep_the_turns_of_teams(race_results: dict[str, Any]) -> None:
    assert race_results["burst"] == ["ab", "ac", "ac", "ac"]


def test_submission_is_canceled_or_taken_but_never_both(race_results: dict[str, Any]) -> None:
    assert race_results["canceled or taken"]
    for is_taken, is_canceled, status in race_results["canceled or taken"]:
        assert is_taken != is_canceled
        assert status == ("canceled" if is_canceled else "running")


def test_concurrent_uploads_cannot_share_the_last_of_a_quota(race_results: dict[str, Any]) -> None:
    assert sorted(race_results["two uploads"]) == [201, 409]


def test_concurrent_first_requests_create_one_team(race_results: dict[str, Any]) -> None:
    assert race_results["teams"] == 1


def test_submission_taken_during_a_load_is_scored_with_the_new_version(race_results: dict[str, Any]) -> None:
    if "while loading" not in race_results:
        pytest.skip("not here: SQLite has one writer")
    early, late = race_results["while loading"]
    assert early == {"status": "queued", "version": None}
    assert late == {"status": "done", "version": 2}
