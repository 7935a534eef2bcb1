"""Backups: made while the server runs, complete, refused if damaged, and settled where things changed meanwhile."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import tarfile
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptionFileError, OutputError
from captious_server.models import Submission
from captious_server.operations import setup
from captious_server.operations.setup import backup, restore
from captious_server.scoring.queue import queue_again
from server.tests.operations.test_concurrent_uploads import SETTINGS, check_each_scored_once
from server.tests.support.server import Server
from server.tests.support.site import EXAMPLES, Site
from server.tests.support.small_challenge import queue, write_folder
from server.tests.support.uploading import upload

CAPTIONS = (EXAMPLES / "improved.json").read_bytes()


def rows(data: Path) -> dict[str, dict[str, Any]]:
    """Submissions by method."""
    with closing(sqlite3.connect(data / "database.sqlite3")) as database:
        database.row_factory = sqlite3.Row
        found = database.execute(
            "SELECT s.*, outputs, results_file FROM captious_submission s "
            "LEFT JOIN captious_scores ON shown_scores_id = captious_scores.id WHERE is_baseline = 0"
        )
        return {row["method"]: dict(row) for row in found}


@pytest.mark.slow
@pytest.mark.usefixtures("sqlite")
def test_backup_during_uploads_is_consistent(tmp_path: Path) -> None:
    archive, copy = tmp_path / "backup.tar", tmp_path / "copy"
    taken: list[dict[str, Any]] = []
    enough = threading.Event()
    settings = {**SETTINGS, "CAPTIOUS_SERVER_LEASE_SECONDS": "10"}  # a busy machine may starve a worker for seconds
    with Server(tmp_path / "data", "--demo", environment=settings) as server:
        token = server.token()

        def submit() -> None:
            while not enough.is_set() and len(taken) < 12:
                taken.append(upload(server, token, CAPTIONS, f"method {len(taken)}"))

        thread = threading.Thread(target=submit)
        thread.start()
        while len(taken) < 3:
            enough.wait(0.01)
        before = [*taken]
        process = server.captious("serve", "backup", str(archive), "--data", str(server.data))
        enough.set()
        thread.join()
        after = check_each_scored_once(server, taken, 120)
    assert process.returncode == 0, process.stderr
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    restored = server.captious("serve", "restore", str(archive), "--data", str(copy))
    assert restored.returncode == 0, restored.stderr
    with Server(copy) as again:
        n = len(rows(copy))
        assert len(before) <= n <= len(taken)
        found = check_each_scored_once(again, taken[:n], 120, interrupted=True)
        assert [each["all_scores"] for each in found] == [each["all_scores"] for each in after[:n]]
        for row in rows(copy).values():
            results = (copy / "submissions" / row["folder_name"]).glob("results-*")
            assert [path.name for path in results] == [row["results_file"]]
        upload(again, token, CAPTIONS, "another")  # tokens are the same


@pytest.fixture
def archive(site: Site, tmp_path: Path) -> Path:
    """A backup of a site with a submission."""
    site.load(write_folder(tmp_path / "small"))
    queue()
    site.work()
    target = tmp_path / "backup.tar"
    assert backup(target) > 5
    return target


def truncated(archive: Path) -> None:
    """Without its last file and the end mark: what is left looks like a tar file."""
    with tarfile.open(archive) as tar:
        last = tar.getmembers()[-1]
    with archive.open("r+b") as file:
        file.truncate(last.offset)


def cut_within(archive: Path) -> None:
    with archive.open("r+b") as file:
        file.truncate(archive.stat().st_size // 2)


def changed(archive: Path) -> None:
    """A byte of a captions file."""
    with tarfile.open(archive) as tar:
        at = next(each.offset_data for each in tar if each.name.endswith("captions/captions.json"))
    content = bytearray(archive.read_bytes())
    content[at + 20] ^= 1
    archive.write_bytes(content)


def without_a_file(archive: Path) -> None:
    whole = archive.with_suffix(".whole")
    archive.rename(whole)
    with tarfile.open(whole) as old, tarfile.open(archive, "w") as new:
        for each in old:
            if not each.name.endswith("upload"):
                new.addfile(each, old.extractfile(each))


def without_database(archive: Path) -> None:
    archive.unlink()
    with tarfile.open(archive, "w") as tar:
        tar.add(__file__, "notes.txt")


def not_a_tar_file(archive: Path) -> None:
    archive.write_bytes(b"hello" * 1000)


class TestDamagedBackup:
    @pytest.mark.parametrize(
        "damage", [truncated, cut_within, changed, without_a_file, without_database, not_a_tar_file]
    )
    def test_damaged_backup_is_refused_and_nothing_restored(
        self, archive: Path, tmp_path: Path, damage: Callable[[Path], None]
    ) -> None:
        damage(archive)
        before = {path.name for path in tmp_path.iterdir()}
        with pytest.raises(CaptionFileError, match=r"backup|damaged"):
            restore(archive, tmp_path / "copy")
        assert {path.name for path in tmp_path.iterdir()} == before

    def test_folder_with_files_is_not_overwritten(self, archive: Path, tmp_path: Path) -> None:
        (tmp_path / "copy").mkdir()
        (tmp_path / "copy" / "mine").write_text("")
        with pytest.raises(OutputError, match="not empty"):
            restore(archive, tmp_path / "copy")

    def test_intact_backup_is_restored(self, site: Site, archive: Path, tmp_path: Path) -> None:
        restore(archive, tmp_path / "copy")
        for folder in ("challenges", "submissions"):
            expected = {
                path.relative_to(site.data): path.read_bytes()
                for path in (site.data / folder).rglob("*")
                if path.is_file() and not path.name.startswith(".")
            }
            copied = tmp_path / "copy" / folder
            assert expected == {
                path.relative_to(tmp_path / "copy"): path.read_bytes() for path in copied.rglob("*") if path.is_file()
            }


@pytest.mark.usefixtures("sqlite", "site")
def test_backup_on_a_full_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr("sqlite3.connect", full)
    with pytest.raises(OutputError, match="database or disk is full") as caught:
        backup(tmp_path / "backup.tar")
    assert "not full" in caught.value.hint
    assert not (tmp_path / "backup.tar").exists()


@pytest.mark.slow  # another server
@pytest.mark.usefixtures("sqlite")
def test_changes_during_a_backup_are_reconciled(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the database was copied, one submission is scored again and another deleted."""
    site.load(write_folder(tmp_path / "small"))
    stays, again, deleted = queue(3)
    site.work()
    dump = setup._dump

    def then_change(place: Path) -> Path:
        file = dump(place)
        queue_again(Submission.objects.filter(pk=again.pk))
        site.work()
        shutil.rmtree(deleted.folder)
        return file

    monkeypatch.setattr(setup, "_dump", then_change)
    setup.backup(tmp_path / "backup.tar")
    server = Server(tmp_path / "copy")
    done = server.captious("serve", "restore", str(tmp_path / "backup.tar"), "--data", str(server.data))
    assert done.returncode == 0, done.stderr
    assert "scored again 1, deleted 1" in done.stderr
    with server:
        server.wait_until_idle(60)
        found = rows(server.data)
    assert [found[each.method]["status"] for each in (stays, again, deleted)] == ["done", "done", "deleted"]
    stays.refresh_from_db()
    assert json.loads(found[again.method]["outputs"]) == stays.shown_scores.outputs
