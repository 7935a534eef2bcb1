"""kill -9 of web and worker at every step: every submission ends, once, and counts as it should."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from server.tests.support import kill_walk

pytestmark = pytest.mark.slow  # kills processes of servers, again and again


def walked(folder: Path, *options: str, database: str = "") -> dict[str, Any]:
    """What the walk ended with."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("CAPTIOUS_SERVER_")}
    environment["DATABASE_URL"] = database
    command = [sys.executable, "-P", kill_walk.__file__, str(folder / "data"), *options]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@pytest.fixture(scope="module")
def walk(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return walked(tmp_path_factory.mktemp("walk"))


def check_scored_once(walk: dict[str, Any], name: str) -> None:
    """A user's submission was scored once, counts once, has the right scores and no files besides its own."""
    user = walk["users"][name]
    [submission] = user["submissions"]
    assert submission["status"] == "done"
    assert submission["counts"]
    assert submission["files"] == ["captions/captions.json", submission["results_file"], "upload"]
    [improved] = [baseline for baseline in walk["baselines"] if baseline["method"] == "Improved"]
    assert submission["scores"] == improved["scores"]
    assert (user["attempts"], user["counted attempts"], user["counted"]) == (1, 1, 1)
    assert [row["method"] for row in walk["board"]].count(name) == 1


@pytest.mark.parametrize("step", kill_walk.WEB)
def test_upload_survives_a_killed_web_process(walk: dict[str, Any], step: str) -> None:
    name = f"web {step}"
    assert walk["happened"][name] == ["killed", 409 if step in kill_walk.COMMITTED else 201]
    check_scored_once(walk, name)
    assert walk["users"][name]["submissions"][0]["tries"] == 1


@pytest.mark.parametrize("which", ["worker", "again"])
@pytest.mark.parametrize("step", kill_walk.WORKER)
def test_scoring_survives_a_killed_worker(walk: dict[str, Any], step: str, which: str) -> None:
    """ "again" is a scored submission that is scored once more."""
    name = f"{which} {step}"
    assert walk["happened"][name] == ["killed"]
    check_scored_once(walk, name)
    by_one = ("before it is taken", "finished", "before old results are removed")
    assert walk["users"][name]["submissions"][0]["tries"] == (1 if step in by_one else 2)


def test_submission_that_kills_every_worker_fails_without_cost(walk: dict[str, Any]) -> None:
    assert walk["happened"]["poison"] == ["killed"] * 3 + [201]
    user = walk["users"]["poison"]
    [later, poison] = user["submissions"]
    assert (poison["status"], poison["tries"], poison["counts"]) == ("failed", 3, False)
    assert "does not count" in poison["reason"]
    assert later["status"] == "done"
    assert (user["attempts"], user["counted"]) == (2, 1)


def test_deletion_survives_a_killed_web_process(walk: dict[str, Any]) -> None:
    assert walk["happened"]["deleted"] == ["killed"]
    [deleted] = walk["users"]["deleted"]["submissions"]
    assert deleted["status"] == "deleted"
    assert deleted["folder_name"] not in walk["folders"]
    assert "deleted" not in {row["method"] for row in walk["board"]}


def test_kills_leave_no_files(walk: dict[str, Any]) -> None:
    there = [each for user in walk["users"].values() for each in user["submissions"] if each["status"] != "deleted"]
    assert walk["folders"] == sorted(each["folder_name"] for each in [*there, *walk["baselines"]])
    assert walk["incoming"] == []


@pytest.mark.parametrize("step", kill_walk.LOAD)
def test_load_of_a_challenge_survives_a_kill(walk: dict[str, Any], step: str) -> None:
    assert walk["happened"][f"load {step}"] == ["killed", None]


def test_load_after_a_kill_leaves_two_versions_and_no_duplicate_baseline(walk: dict[str, Any]) -> None:
    [lock, *versions] = walk["challenge"]
    assert lock == ".lock"
    assert len(versions) == 2
    assert sorted(baseline["method"] for baseline in walk["baselines"]) == ["Baseline", "Human captions", "Improved"]
    assert {baseline["status"] for baseline in walk["baselines"]} == {"done"}


@pytest.mark.nightly
def test_postgresql_survives_kills(postgres: Any, tmp_path: Path) -> None:
    walk = walked(tmp_path, "few", database=postgres.database())
    for step in kill_walk.FEW:
        for which in ("web",) if step in kill_walk.WEB else ("worker", "again"):
            name = f"{which} {step}"
            assert walk["happened"][name][0] == "killed"
            check_scored_once(walk, name)
    test_submission_that_kills_every_worker_fails_without_cost(walk)
    test_deletion_survives_a_killed_web_process(walk)
    test_kills_leave_no_files(walk)
    test_load_after_a_kill_leaves_two_versions_and_no_duplicate_baseline(walk)
