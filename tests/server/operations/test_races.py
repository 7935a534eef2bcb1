"""Workers and web processes that want the same at the same time, on SQLite and PostgreSQL."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import races

pytestmark = pytest.mark.slow  # several servers of several processes


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def raced(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
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


def test_several_workers_take_each_submission_once(raced: dict[str, Any]) -> None:
    assert sorted(raced["taken"]) == raced["queued"]


def test_workers_that_take_at_once_keep_to_the_turns_of_teams(raced: dict[str, Any]) -> None:
    assert raced["burst"] == ["ab", "ac", "ac", "ac"]


def test_cancelled_or_taken_but_never_both(raced: dict[str, Any]) -> None:
    assert raced["cancelled or taken"]
    for is_taken, is_cancelled, status in raced["cancelled or taken"]:
        assert is_taken != is_cancelled
        assert status == ("cancelled" if is_cancelled else "running")


def test_two_uploads_cannot_share_the_last_of_a_quota(raced: dict[str, Any]) -> None:
    assert sorted(raced["two uploads"]) == [201, 409]


def test_two_first_requests_make_one_team(raced: dict[str, Any]) -> None:
    assert raced["teams"] == 1


def test_one_that_is_taken_while_the_challenge_is_loaded_is_scored_with_what_is_new(raced: dict[str, Any]) -> None:
    if "while loading" not in raced:
        pytest.skip("SQLite has one writer")
    early, late = raced["while loading"]
    assert early == {"status": "queued", "version": None}
    assert late == {"status": "done", "version": 2}
