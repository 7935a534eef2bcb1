"""The worker: failures of its own cost nobody anything, and nothing stops it for good."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.sessions.models import Session
from django.core.files.uploadhandler import TemporaryFileUploadHandler
from django.db import connection
from django.utils import timezone

from captious.errors import OutputError
from captious_server.challenges import references
from captious_server.models import Attempt, Challenge, Phase, Submission, WorkerSeen
from captious_server.operations import worker
from captious_server.people.teams import personal_team
from captious_server.scoring import queue as lease
from captious_server.scoring import results as stored_results
from captious_server.submissions import intake
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue, upload, write_folder

pytestmark = pytest.mark.usefixtures("folder")


def no_space(*_: Any, **__: Any) -> Any:
    raise OSError(errno.ENOSPC, "No space left on device")


@contextmanager
def running(until: Callable[[], bool], monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A worker that runs in a thread, until something is true after the block."""
    monkeypatch.setattr(worker, "_POLL_SECONDS", 0.01)
    monkeypatch.setattr(worker, "_ERROR_PAUSE_SECONDS", 0.05)
    stop = threading.Event()

    def run() -> None:
        try:
            worker.run(stop)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
        tick = threading.Event()
        for _ in range(6000):
            if until():
                break
            assert thread.is_alive(), "the worker has ended"
            tick.wait(0.01)
        assert until()
    finally:
        stop.set()
        thread.join()


class Lock:
    """The write lock of the database, as another process may hold it."""

    def __init__(self, site: Site) -> None:
        self._connection = sqlite3.connect(
            site.data / "database.sqlite3", check_same_thread=False, isolation_level=None
        )

    def take(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def give(self) -> None:
        if self._connection.in_transaction:
            self._connection.execute("ROLLBACK")

    def close(self) -> None:
        self.give()
        self._connection.close()


@pytest.fixture
def lock(site: Site, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lock]:
    """The lock, for which nobody waits long."""
    options = connection.settings_dict["OPTIONS"]
    monkeypatch.setitem(options, "timeout", 0.05)
    monkeypatch.setitem(options, "init_command", "PRAGMA busy_timeout=50")
    connection.close()
    with closing(Lock(site)) as lock:
        yield lock
    connection.close()


def is_done() -> bool:
    return not Submission.objects.exclude(status="done").exists()


class TestFailures:
    """After failures of the server, scoring is retried; then it fails and does not count."""

    def test_submitter_reads_the_cost_and_organizer_the_cause(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        [submission] = queue()
        monkeypatch.setattr(worker, "score_set", Mock(side_effect=MemoryError("too large")))
        for n in (1, 2):
            site.work()
            submission.refresh_from_db()
            assert (submission.status, submission.tries) == ("queued", n)
            assert submission.not_before is not None
            Submission.objects.update(not_before=None)
        site.work()
        submission.refresh_from_db()
        assert (submission.status, submission.tries, submission.counts, submission.reason) == (
            "failed",
            3,
            False,
            lease.OUR_FAULT,
        )
        assert "MemoryError: too large" in submission.traceback

    def test_scoring_without_disk_space_is_retried(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        [submission] = queue()
        with monkeypatch.context() as full:
            full.setattr(stored_results.np.lib.format, "write_array", no_space)
            site.work()
        submission.refresh_from_db()
        assert (submission.status, submission.counts) == ("queued", True)
        assert "No space left on device" in submission.traceback
        assert sorted(path.name for path in submission.folder.iterdir()) == ["captions", "upload"]
        Submission.objects.update(not_before=None)
        site.work()
        submission.refresh_from_db()
        assert (submission.status, submission.reason, submission.traceback) == ("done", "", "")

    def test_worker_cleans_up_under_constant_load(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        tidied = threading.Event()
        monkeypatch.setattr(worker, "_clean_up", tidied.set)
        monkeypatch.setattr(worker.queue, "take", lambda name: object())
        monkeypatch.setattr(worker, "score", lambda lease: None)
        with running(tidied.is_set, monkeypatch):
            pass

    def test_cleanup_without_disk_space_is_retried(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        full = threading.Event()

        def no_space_now() -> int:
            full.set()
            return int(no_space())

        monkeypatch.setattr(worker.storage, "remove_leftovers", no_space_now)
        with running(is_done, monkeypatch):
            assert full.wait(60)
            queue()


@pytest.mark.usefixtures("sqlite")
class TestLockedDatabase:
    def test_worker_waits_for_a_locked_database(self, site: Site, lock: Lock, monkeypatch: pytest.MonkeyPatch) -> None:
        refused = threading.Event()
        log = worker._log.exception

        def said(*args: Any, **kwargs: Any) -> None:
            refused.set()
            log(*args, **kwargs)

        monkeypatch.setattr(worker._log, "exception", said)
        queue(2)
        lock.take()
        with running(is_done, monkeypatch):
            assert refused.wait(60)
            lock.give()

    def test_result_that_cannot_be_stored_is_computed_again(
        self, site: Site, lock: Lock, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site.configure(lease_seconds=1)
        [submission] = queue()
        write = worker.write_results
        refused = threading.Event()

        def then_lock(path: Path, results: Any) -> None:
            write(path, results)
            monkeypatch.setattr(worker, "write_results", write)
            lock.take()

        monkeypatch.setattr(worker, "write_results", then_lock)
        monkeypatch.setattr(worker._log, "exception", lambda *_, **__: refused.set())
        with running(is_done, monkeypatch):
            assert refused.wait(60)
            lock.give()
        submission.refresh_from_db()
        assert (submission.tries, submission.counts) == (2, True)
        assert [path.name for path in submission.folder.glob("results*")] == ["results-2.npz"]

    @pytest.mark.parametrize("through", ["api", "page"])
    @pytest.mark.parametrize("when", ["before", "after reading"])
    def test_upload_to_a_locked_database_is_refused_and_not_counted(
        self, site: Site, lock: Lock, monkeypatch: pytest.MonkeyPatch, through: str, when: str
    ) -> None:
        ann = site.user()
        team, token, client = personal_team(ann), site.token(ann), site.client(ann)
        read = intake.read_upload

        def then_lock(*args: Any) -> Any:
            problems = read(*args)
            lock.take()
            return problems

        def send() -> Any:
            if through == "page":
                return client.post("/challenges/small/submit", site.form(ann, upload()))
            return client.post(
                "/api/v1/challenges/small/submissions?method=Mine",
                upload(),
                "application/octet-stream",
                headers={"authorization": f"Bearer {token}"},
            )

        if when == "before":
            lock.take()
        else:
            monkeypatch.setattr(intake, "read_upload", then_lock)
        answer = send()
        assert answer.status_code == 503
        assert b"Nothing was changed" in answer.content
        lock.give()
        monkeypatch.setattr(intake, "read_upload", read)
        monkeypatch.setattr(intake, "READING_MINUTES", 0)
        assert Submission.objects.count() == 0
        used = intake.quota(Phase.objects.get(), team, ann, timezone.now())
        assert (used.scored, used.attempts_today) == (0, 0)
        assert not list(site.data.glob("submissions/*"))
        assert not list(site.data.glob("incoming/*"))
        assert send().status_code in {201, 302}
        assert Submission.objects.count() == 1


class TestNoSpaceForUploads:
    @pytest.mark.parametrize("where", ["receiving", "reading", "moving"])
    @pytest.mark.parametrize("through", ["api", "page"])
    def test_upload_without_disk_space_is_refused_and_not_counted(
        self, site: Site, monkeypatch: pytest.MonkeyPatch, through: str, where: str
    ) -> None:
        form = "/challenges/small/submit"
        ann = site.user()
        client, headers = site.client(ann), {"authorization": f"Bearer {site.token(ann)}"}
        client.handler.enforce_csrf_checks = True  # which reads the form before the view does
        secret = re.search('name="csrfmiddlewaretoken" value="(.+?)"', client.get(form).content.decode())
        full = OutputError("the captions of an upload cannot be stored", where="No space left on device")
        if where == "receiving":
            monkeypatch.setattr(TemporaryFileUploadHandler, "receive_data_chunk", no_space)
            monkeypatch.setattr(os, "fchmod", no_space)
        elif where == "reading":
            monkeypatch.setattr(intake, "read_upload", Mock(side_effect=full))
        else:
            monkeypatch.setattr(intake.shutil, "move", no_space)
        if through == "page":
            answer = client.post(form, {"csrfmiddlewaretoken": secret[1], **site.form(ann, upload())})
        else:
            address = "/api/v1/challenges/small/submissions?method=Mine"
            answer = client.post(address, upload(), "application/octet-stream", headers=headers)
        assert answer.status_code == 503
        assert b"Nothing was changed" in answer.content
        assert (Submission.objects.count(), Attempt.objects.count()) == (0, 0)
        assert not list(site.data.glob("submissions/*"))
        assert not list(site.data.glob("incoming/*"))


class TestPreparation:
    def test_reference_sets_beyond_the_cache_are_prepared_once(self, site: Site, folder: Path) -> None:
        site.load(write_folder(folder, sets=tuple(f"c{n}" for n in range(references._MAX_SETS + 1))))
        assert worker._prepare_next()
        assert not worker._prepare_next()

    def test_prepared_references_are_cached_in_a_file(self, site: Site, folder: Path) -> None:
        def restart() -> None:
            references._read.cache_clear()
            references._prepared_versions.clear()

        challenge = Challenge.objects.get()
        row = challenge.definition.references[0]
        original = references.references(challenge, row)
        assert original.stored is None
        references.prepare_challenge(challenge, threads=1)
        [file] = site.data.glob("prepared/*")
        for _ in range(2):
            found = references.references(challenge, row)
            assert found.stored.n_missed == 0
            assert (found.ids, found.texts, found.name) == (original.ids, original.texts, original.name)
            restart()
            references.prepare_challenge(challenge, threads=1)
        file.write_bytes(file.read_bytes()[:-1])
        restart()
        assert references.references(challenge, row).stored is None
        restart()
        references.prepare_challenge(challenge, threads=1)
        assert [*site.data.glob("prepared/*")] == [file]
        changed = site.load(write_folder(folder, references={1: ["a"], 2: ["b"], 3: ["c"]}))
        references.prepare_challenge(changed, threads=1)
        assert len([*site.data.glob("prepared/*")]) == 1
        assert not file.exists()

    def test_cache_tells_challenges_of_the_same_name_apart(self, site: Site, folder: Path) -> None:
        old = Challenge.objects.get()
        texts = references.references(old, old.definition.references[0]).texts
        old.delete()
        new = site.load(write_folder(folder, references={1: ["a"], 2: ["b"], 3: ["c"]}))
        assert new.version == old.version
        assert references.references(new, new.definition.references[0]).texts == ("a", "b", "c") != texts

    def test_health_is_ok_during_preparation(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(worker, "_HEARTBEAT_SECONDS", 0.01)
        preparing, goes_on = threading.Event(), threading.Event()

        def prepare() -> bool:
            preparing.set()
            assert goes_on.wait(60)
            return False

        monkeypatch.setattr(worker, "_prepare_next", prepare)

        def seen() -> Any:
            return WorkerSeen.objects.values_list("seen", flat=True).first()

        with running(lambda: True, monkeypatch):
            try:
                assert preparing.wait(60)
                before = None
                for _ in range(6000):
                    now = seen()
                    if now is not None and before is not None and now > before:
                        break
                    before = before or now
                    threading.Event().wait(0.01)
                assert seen() > before
                assert site.client().get("/healthz").json()["workers"] == 1
            finally:
                goes_on.set()
        assert not WorkerSeen.objects.exists()


def test_expired_sessions_are_deleted(site: Site) -> None:
    site.client(site.user("ann"))
    site.client(site.user("bob"))
    expired = Session.objects.order_by("pk").first()
    Session.objects.filter(pk=expired.pk).update(expire_date=timezone.now() - timedelta(seconds=1))
    worker._clean_up()
    assert Session.objects.count() == 1
    assert not Session.objects.filter(pk=expired.pk).exists()


def test_cpu_limit_of_chinese_captions_counts_characters(
    site: Site, folder: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    limit = worker.cpu_limit
    monkeypatch.setattr(worker, "cpu_limit", lambda metrics, n: [given.append(n), limit(metrics, n)][1])
    queue()
    monkeypatch.setattr(worker.storage, "candidates_in", lambda *_: {1: "\u4e00\u53ea\u732b", 2: "a cat", 3: ""})
    worker.score(lease.take("test"))
    assert given == [5]
