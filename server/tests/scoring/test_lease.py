"""The lease of a submission: one worker at a time, one result, and nothing by those who lost it."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from django.utils import timezone

from captious_server.challenges import references
from captious_server.models import QueueTurn, Submission
from captious_server.operations import worker
from captious_server.scoring import queue as lease
from captious_server.scoring.queue import cancel, queue_again
from server.tests.support.races import at_once
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue

pytestmark = pytest.mark.usefixtures("folder")


def now_as_of(submission: Any) -> Any:
    submission.refresh_from_db()
    return submission


def run_out(submission: Any) -> None:
    """Let the lease of a submission run out."""
    rows = type(submission).objects.filter(pk=submission.pk)
    rows.update(lease_until=timezone.now() - timedelta(seconds=1))


class TestTake:
    def test_workers_take_each_submission_once(self, site: Site) -> None:
        queued = [each.pk for each in queue(24)]

        def work() -> list[int]:
            taken = []
            while (found := lease.take("worker")) is not None:
                taken.append(found.submission.pk)
            return taken

        by_worker = at_once(work, work, work, work)
        assert sorted(each for taken in by_worker for each in taken) == queued

    def test_oldest_submission_is_taken_first(self, site: Site) -> None:
        first, second = queue(2)
        taken = [lease.take("worker") for _ in range(3)]
        assert [each and each.submission.pk for each in taken] == [first.pk, second.pk, None]

    def test_submission_of_a_silent_worker_is_taken_again(self, site: Site) -> None:
        [submission] = queue()
        first = lease.take("first")
        assert lease.take("second") is None
        run_out(submission)
        second = lease.take("second")
        assert second.submission.pk == submission.pk
        assert second.number == first.number + 1

    def test_submission_lost_too_often_fails_and_does_not_count(self, site: Site) -> None:
        site.configure(scoring_tries=2)
        [submission] = queue()
        for _ in range(2):
            assert lease.take("worker") is not None
            run_out(submission)
        assert lease.take("worker") is None
        assert (now_as_of(submission).status, submission.tries, submission.counts) == ("failed", 2, False)

    def test_submission_lost_too_often_uses_a_turn(self, site: Site) -> None:
        site.configure(scoring_tries=1)
        [submission] = queue()
        lease.take("worker")
        run_out(submission)
        assert lease.take("worker") is None
        assert QueueTurn.objects.filter(party=f"team:{submission.team_id}").exists()

    def test_next_submission_is_taken_after_a_failure(self, site: Site) -> None:
        site.configure(scoring_tries=1)
        lost, after = queue(2)
        lease.take("worker")
        run_out(lost)
        taken = lease.take("worker")
        assert taken.submission.pk == after.pk
        assert now_as_of(lost).status == "failed"


class TestCancel:
    def test_submission_is_canceled_or_taken_but_never_both(self, site: Site) -> None:
        for _ in range(12):
            [submission] = queue()
            taken, canceled = at_once(lambda: lease.take("worker"), lambda submission=submission: cancel(submission))
            assert (taken is not None) != canceled
            assert (now_as_of(submission).status, submission.counts) == (
                ("canceled", False) if canceled else ("running", True)
            )


class TestLostLease:
    """A worker resumes after another one has taken over."""

    def test_finish_after_a_lost_lease_changes_nothing_and_removes_its_file(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        [submission] = queue()
        write = worker.write_results

        def slow(path: Any, results: Any) -> None:
            write(path, results)
            monkeypatch.setattr(worker, "write_results", write)
            run_out(submission)
            worker.score(lease.take("second"))

        monkeypatch.setattr(worker, "write_results", slow)
        worker.score(lease.take("first"))
        assert (now_as_of(submission).status, submission.lease, submission.worker) == ("done", 2, "second")
        assert (
            [path.name for path in submission.folder.glob("results*")]
            == ["results-2.npz"]
            == [submission.results_path.name]
        )

    def test_failure_after_a_lost_lease_changes_nothing(self, site: Site) -> None:
        [submission] = queue()
        first = lease.take("first")
        run_out(submission)
        lease.take("second")
        assert not lease.give_back(first, "an error")
        assert (now_as_of(submission).status, submission.lease, submission.traceback) == ("running", 2, "")

    def test_expired_lease_that_nobody_took_keeps_the_result(self, site: Site) -> None:
        [submission] = queue()
        taken = lease.take("worker")
        run_out(submission)
        worker.score(taken)
        assert now_as_of(submission).status == "done"


class TestHeartbeat:
    def test_heartbeat_renews_the_lease_and_writes_progress(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        site.configure(lease_seconds=1)
        [submission] = queue()
        taken = lease.take("worker")
        until = now_as_of(submission).lease_until
        beaten = threading.Event()
        beat = lease.Heartbeat._beat
        beats: list[Any] = []

        def counted(self: Any, now: Any) -> None:
            beat(self, now)
            beats.append(now)
            if len(beats) == 2:
                beaten.set()

        monkeypatch.setattr(lease.Heartbeat, "_beat", counted)
        with lease.Heartbeat(taken, on_timeout=pytest.fail) as heartbeat:
            heartbeat.progress, heartbeat.doing = 40, "meteor"
            assert beaten.wait(60)
            assert not heartbeat.is_lost
        assert now_as_of(submission).lease_until > until
        assert (submission.progress, submission.doing) == (40, "meteor")

    def test_scoring_past_the_time_limit_fails_and_does_not_count(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site.configure(lease_seconds=1, scoring_seconds=1)
        [submission] = queue()
        ended = threading.Event()
        monkeypatch.setattr(worker, "_end_process", ended.set)
        monkeypatch.setattr(worker, "write_results", lambda *_: ended.wait(60))
        worker.score(lease.take("worker"))
        assert ended.is_set()
        assert (now_as_of(submission).status, submission.counts) == ("failed", False)
        assert submission.reason == lease.OUR_FAULT
        assert "longer than 1 s" in submission.traceback

    def test_submission_past_its_cpu_limit_fails_and_counts(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        site.configure(lease_seconds=1)
        [submission] = queue()
        ended = threading.Event()
        monkeypatch.setattr(worker, "cpu_limit", lambda *_: 0.0)
        monkeypatch.setattr(worker, "_end_process", ended.set)
        monkeypatch.setattr(worker, "write_results", lambda *_: ended.wait(60))
        worker.score(lease.take("worker"))
        assert ended.is_set()
        assert (now_as_of(submission).status, submission.counts) == ("failed", True)
        assert "for 14 words" in submission.reason
        assert "counts toward your quota" in submission.reason

    @pytest.mark.parametrize(("cpu", "counts"), [(9.0, False), (11.0, True)])
    def test_time_limit_used_up_by_captions_counts(
        self, site: Site, monkeypatch: pytest.MonkeyPatch, cpu: float, counts: bool
    ) -> None:
        """On large challenges, the CPU limit of captions may exceed the time limit."""
        site.configure(lease_seconds=1, scoring_seconds=1)
        [submission] = queue()
        taken = lease.take("worker")
        ended = threading.Event()
        used = 0.0
        monkeypatch.setattr(lease.time, "process_time", lambda: used)
        with lease.Heartbeat(taken, on_timeout=ended.set) as heartbeat:
            heartbeat.limit_cpu(100.0, 14)
            used = cpu
            assert ended.wait(60)
        assert (now_as_of(submission).status, submission.counts) == ("failed", counts)
        assert ("1 seconds of wall time, with 11 of 100 seconds" in submission.reason) == counts

    def test_preparation_of_references_is_not_charged_to_the_submission(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(references, "_prepared_versions", set())
        happened: list[str] = []
        prepare, limit_cpu = references.prepare_challenge, lease.Heartbeat.limit_cpu
        monkeypatch.setattr(
            references,
            "prepare_challenge",
            lambda *args, **values: [prepare(*args, **values), happened.append("prepared")],
        )
        monkeypatch.setattr(lease.Heartbeat, "limit_cpu", lambda *args: [limit_cpu(*args), happened.append("limited")])
        queue()
        worker.score(lease.take("worker"))
        assert happened == ["prepared", "limited"]

    def test_process_ends_even_if_the_database_is_unreachable(
        self, site: Site, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        site.configure(lease_seconds=1, scoring_seconds=1)
        queue()
        taken = lease.take("worker")
        monkeypatch.setattr(lease, "_fail", Mock(side_effect=OperationalError("database is locked")))
        ended = threading.Event()
        with lease.Heartbeat(taken, on_timeout=ended.set):
            assert ended.wait(60)

    def test_process_ends_even_if_the_lease_was_lost(self, site: Site) -> None:
        site.configure(lease_seconds=1, scoring_seconds=1)
        queue()
        taken = lease.take("worker")
        queue_again(Submission.objects.all())
        ended = threading.Event()
        with lease.Heartbeat(taken, on_timeout=ended.set) as heartbeat:
            assert ended.wait(60)
        assert heartbeat.is_lost
        assert Submission.objects.get().status == "queued"
