"""A challenge that is loaded again while submissions are scored: in the end, all scores are from what it is now."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import captious
from captious_server.actions.loading import load_challenge
from captious_server.challenges import references as reference_cache
from captious_server.models import Phase, Submission
from captious_server.operations import worker
from captious_server.scoring import queue as lease
from server.tests.support.site import Site, parsed
from server.tests.support.small_challenge import CANDIDATES, REFERENCES, queue, write_folder

NEW = {image: [*captions, "a dog in the park with men on a sofa"] for image, captions in REFERENCES.items()}

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")


def expected(references: dict[int, list[str]]) -> dict[str, float]:
    report = captious.score(CANDIDATES, references, metrics=["bleu", "rouge-l"])
    return {name: result.score for name, result in report.items()}


def rounded(scores: dict[str, float]) -> dict[str, float]:
    """As the API shows them."""
    return {name: round(score, 4) for name, score in scores.items()}


def scores_of(submission: Any, key: str = "c2") -> dict[str, float]:
    return {name: entry["score"] for name, entry in submission.outputs(key).items()}


def during(worker: Any, monkeypatch: pytest.MonkeyPatch, do: Any) -> None:
    """Do something once, when the next submission has been scored but is not finished."""
    write = worker.write_results

    def then(path: Path, results: Any) -> None:
        monkeypatch.setattr(worker, "write_results", write)
        write(path, results)
        do()

    monkeypatch.setattr(worker, "write_results", then)


def test_references_replaced_during_scoring_are_scored_again(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    [submission] = queue()
    during(worker, monkeypatch, lambda: site.load(write_folder(folder, references=NEW)))
    worker.score(lease.take("worker"))
    submission.refresh_from_db()
    assert (submission.status, submission.shown_scores) == ("queued", None)
    assert not list(submission.folder.glob("results*"))
    site.work()
    submission.refresh_from_db()
    assert (submission.status, submission.shown_scores.version, submission.tries) == ("done", 2, 1)
    assert scores_of(submission) == expected(NEW) != expected(REFERENCES)
    assert [path.name for path in submission.folder.glob("results*")] == [submission.results_path.name]
    [row] = parsed(site.client().get("/challenges/small/leaderboard.json"))
    assert row["scores"] == rounded(expected(NEW))


def test_result_of_a_version_that_changed_unseen_is_dropped(
    site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL, a submission can be taken while the transaction of a load, which does not see it, is open."""
    [submission] = queue()
    during(worker, monkeypatch, lambda: Phase.objects.update(scoring_version=2))
    worker.score(lease.take("worker"))
    submission.refresh_from_db()
    assert (submission.status, submission.tries, submission.lease) == ("queued", 0, 2)
    site.work()
    submission.refresh_from_db()
    assert (submission.status, submission.shown_scores.version) == ("done", 2)


def test_files_of_the_old_version_are_removed(site: Site, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    [submission] = queue()
    taken = lease.take("worker")
    for title in ("One", "Two", "Three"):
        site.load(write_folder(folder, title=title))
    reference_cache._read.cache_clear()
    worker.score(taken)
    submission.refresh_from_db()
    assert (submission.status, submission.tries) == ("queued", 1)
    Submission.objects.update(not_before=None)
    site.work()
    submission.refresh_from_db()
    assert submission.status == "done"


def test_unrelated_changes_do_not_score_again(site: Site, folder: Path) -> None:
    queue()
    site.work()
    assert load_challenge(write_folder(folder, title="Renamed")).n_rescored == 0
    assert load_challenge(write_folder(folder, title="Renamed", references=NEW)).n_rescored == 1


def test_scoring_again_leaves_quotas_unchanged(site: Site, folder: Path) -> None:
    done, failed = queue(2)
    type(failed).objects.filter(pk=failed.pk).update(status="failed", counts=False)
    site.work()
    site.load(write_folder(folder, references=NEW))
    site.work()
    done.refresh_from_db()
    failed.refresh_from_db()
    assert (done.status, done.counts) == ("done", True)
    assert (failed.status, failed.counts) == ("done", False)


class TestRetiredPhase:
    """A phase that was removed from the folder keeps its submissions and scores them."""

    def test_queued_submission_of_a_retired_phase_is_scored_and_shown(self, site: Site, folder: Path) -> None:
        site.load(write_folder(folder, phases=("main", "old")))
        [submission] = queue(phase="old", user=site.user())
        site.load(write_folder(folder), agree=lambda changes: True)  # a phase is removed
        site.work()
        submission.refresh_from_db()
        assert (submission.status, scores_of(submission)) == ("done", expected(REFERENCES))
        assert site.client(submission.user).get(submission.url).status_code == 200
        assert site.client().get(f"/api/v1/submissions/{submission.pk}").json()["scores"] == rounded(
            expected(REFERENCES)
        )

    def test_restored_phase_is_scored_with_the_changes(self, site: Site, folder: Path) -> None:
        site.load(write_folder(folder, phases=("main", "old")))
        [submission] = queue(phase="old")
        site.work()
        site.load(write_folder(folder, references=NEW), agree=lambda changes: True)  # a phase is removed
        site.load(write_folder(folder, phases=("main", "old"), references=NEW))
        site.work()
        submission.refresh_from_db()
        assert (submission.shown_scores.version, scores_of(submission)) == (2, expected(NEW))
