"""captious serve with invalid folders and databases: errors, and nothing is created."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from captious_server.settings import SQLITE
from server.tests.support.server import free_port


def captious(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CAPTIOUS_SERVER_")}
    command = [sys.executable, "-P", "-m", "captious", *arguments]
    return subprocess.run(command, capture_output=True, text=True, env={**kept, **environment}, timeout=120)


@pytest.mark.parametrize(
    "command", [["web"], ["worker"], ["token", "--user", "ann"], ["backup", "out.tar"]], ids=lambda words: words[0]
)
def test_data_folder_without_a_server_is_an_error(
    command: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for place in ("empty", "nothing"):
        done = captious("serve", *command, "--data", place)
        assert done.returncode == 2
        assert f"error: {place} is not the data folder of a server" in done.stderr
    assert [*(tmp_path / "empty").iterdir()] == []
    assert [*tmp_path.iterdir()] == [tmp_path / "empty"]


@pytest.mark.parametrize(
    ("place", "message"), [("file/data", "the data folder cannot be created: Not a directory"), ("", "name a folder")]
)
def test_data_folder_that_cannot_be_created_is_an_error(
    place: str, message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    done = captious("serve", "admin", "--data", place, "--user", "root", CAPTIOUS_ADMIN_PASSWORD="correct-horse-77")
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert [*tmp_path.iterdir()] == [tmp_path / "file"]


def test_loading_a_challenge_without_a_server_is_an_error(tmp_path: Path) -> None:
    done = captious("challenge", "load", str(tmp_path), "--data", str(tmp_path / "new"))
    assert done.returncode == 2
    assert "new is not the data folder of a server" in done.stderr
    assert [*tmp_path.iterdir()] == []


def test_unreachable_database_is_an_error(tmp_path: Path) -> None:
    done = captious("serve", "--data", str(tmp_path / "data"), DATABASE_URL="postgres://127.0.0.1:9/nothing")
    assert done.returncode == 2
    assert "error: the database cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_new_data_folder_is_private(tmp_path: Path) -> None:
    done = captious(
        "serve", "admin", "--data", str(tmp_path / "data"), "--user", "root", CAPTIOUS_ADMIN_PASSWORD="correct-horse-77"
    )
    assert done.returncode == 0, done.stderr
    assert stat.S_IMODE((tmp_path / "data").stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("change", "lack"),
    [
        ("ALTER TABLE captious_submission DROP COLUMN method", "captious_submission has no method"),
        ("DROP TABLE captious_ratecount", "captious_ratecount has no"),
    ],
)
def test_database_of_another_version_is_an_error(change: str, lack: str, tmp_path: Path) -> None:
    command = ["serve", "admin", "--data", str(tmp_path / "data"), "--user", "root"]
    assert captious(*command, CAPTIOUS_ADMIN_PASSWORD="correct-horse-77").returncode == 0
    with closing(sqlite3.connect(tmp_path / "data" / SQLITE)) as database:
        database.execute(change)
    done = captious(*command, CAPTIOUS_ADMIN_PASSWORD="correct-horse-77")
    assert done.returncode == 2
    assert "error: the database was made by another version of captious-server" in done.stderr
    assert lack in done.stderr


def test_weak_password_of_an_administrator_is_warned_about(tmp_path: Path) -> None:
    command = ["serve", "admin", "--data", str(tmp_path / "data"), "--user", "root"]
    assert "is weak" not in captious(*command, CAPTIOUS_ADMIN_PASSWORD="correct-horse-77").stderr
    done = captious(*command, CAPTIOUS_ADMIN_PASSWORD="x")
    assert "root is an administrator.\nwarning: the administrator's password is weak." in done.stderr


def test_restoring_a_missing_backup_is_an_error(tmp_path: Path) -> None:
    done = captious("serve", "restore", str(tmp_path / "nothing.tar"), "--data", str(tmp_path / "data"))
    assert done.returncode == 2
    assert "cannot be restored" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "data").exists()


def test_the_password_of_the_demonstration_is_not_in_the_log(tmp_path: Path) -> None:
    """The log is standard error, unless that is a terminal."""
    data, log = tmp_path / "data", tmp_path / "log"
    command = [sys.executable, "-P", "-m", "captious", "serve", "--demo", "--data", str(data)]
    command += ["--port", str(free_port())]
    with log.open("wb") as file, subprocess.Popen(command, stderr=file, stdout=file) as server:
        while b"administrator" not in log.read_bytes():
            assert server.poll() is None, log.read_text()
            time.sleep(0.1)
        server.terminate()
    file_of_password = data / "demo_password"
    assert str(file_of_password) in log.read_text()
    assert stat.S_IMODE(file_of_password.stat().st_mode) == 0o600
    assert file_of_password.read_text().strip() not in log.read_text()
