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


def check_scored_once(walk: dict[str, Any], name: str, tries: int) -> None:
    """A user's submission was scored once, counts once, has the right scores and no files besides its own."""
    user = walk["users"][name]
    [submission] = user["submissions"]
    assert submission["status"] == "done", name
    assert submission["counts"], name
    assert submission["files"] == ["captions/captions.json", submission["results_file"], "upload"], name
    [improved] = [baseline for baseline in walk["baselines"] if baseline["method"] == "Improved"]
    assert submission["scores"] == improved["scores"], name
    assert submission["tries"] == tries, name
    assert (user["attempts"], user["counted attempts"], user["counted"]) == (1, 1, 1), name
    assert [row["method"] for row in walk["board"]].count(name) == 1, name


@pytest.mark.parametrize(
    ("database", "few"),
    [
        ("sqlite", True),
        pytest.param("sqlite", False, marks=pytest.mark.nightly),
        pytest.param("postgresql", True, marks=pytest.mark.nightly),
    ],
)
def test_everything_survives_kills(request: pytest.FixtureRequest, tmp_path: Path, database: str, few: bool) -> None:
    url = request.getfixturevalue("postgres").database() if database == "postgresql" else ""
    walk = walked(tmp_path, *(["few"] if few else []), database=url)
    happened = walk["happened"]

    # Uploads, whose web process was killed.
    for step, _ in kill_walk.chosen(kill_walk.WEB, few=few):
        assert happened[f"web {step}"] == ["killed", 409 if step in kill_walk.COMMITTED else 201]
        check_scored_once(walk, f"web {step}", tries=1)

    # Scoring, whose worker was killed; "again" is a scored submission that is scored once more.
    by_one = ("before it is taken", "finished", "before old results are removed")
    for step, _ in kill_walk.chosen(kill_walk.WORKER, few=few):
        for name in (f"worker {step}", f"again {step}"):
            assert happened[name] == ["killed"]
            check_scored_once(walk, name, tries=1 if step in by_one else 2)

    # A submission that kills every worker fails, and does not count.
    assert happened["poison"] == ["killed"] * 3 + [201]
    user = walk["users"]["poison"]
    [later, poison] = user["submissions"]
    assert (poison["status"], poison["tries"], poison["counts"]) == ("failed", 3, False)
    assert "does not count" in poison["reason"]
    assert later["status"] == "done"
    assert (user["attempts"], user["counted"]) == (2, 1)

    # A deletion whose web process was killed is finished by the one that tidies.
    assert happened["deleted"] == ["killed"]
    [deleted] = walk["users"]["deleted"]["submissions"]
    assert deleted["status"] == "deleted"
    assert deleted["folder_name"] not in walk["folders"]
    assert "deleted" not in {row["method"] for row in walk["board"]}

    # No files are left.
    there = [each for user in walk["users"].values() for each in user["submissions"] if each["status"] != "deleted"]
    assert walk["folders"] == sorted(each["folder_name"] for each in [*there, *walk["baselines"]])
    assert walk["incoming"] == []

    # A challenge that is loaded again after a kill has two versions, and each baseline once.
    for step in kill_walk.LOAD:
        assert happened[f"load {step}"] == ["killed", None]
    [lock, *versions] = walk["challenge"]
    assert lock == ".lock"
    assert len(versions) == 2
    assert sorted(baseline["method"] for baseline in walk["baselines"]) == ["Baseline", "Human captions", "Improved"]
    assert {baseline["status"] for baseline in walk["baselines"]} == {"done"}
