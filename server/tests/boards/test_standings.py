"""Boards as they are stored, after every change of what is on them, and as pages show them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Thread
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from django.db import connection
from django.utils import timezone

from captious_server import models
from captious_server.boards import leaderboard, ranking
from captious_server.boards.ranking import refresh, refresh_stale
from captious_server.models import Membership, Phase, Scores, Standing, Submission, Team, board_changed
from captious_server.scoring import results as stored_results
from captious_server.scoring.results import StoredResults, write_results
from captious_server.settings import locked
from captious_server.submissions import storage
from server.tests.support.site import Site, parsed
from server.tests.support.small_challenge import REFERENCES, queue, write_folder

N = 30


@pytest.fixture
def large_site(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """The challenge "small" with 30 submissions of ten teams, which is a large board here."""
    for module in (ranking, ranking, leaderboard):
        monkeypatch.setattr(module, "HOLM_ROWS", 8)
    monkeypatch.setattr(leaderboard, "ROWS_PER_PAGE", 10)
    monkeypatch.setattr(leaderboard, "_BATCH_ROWS", 7)
    site.load(write_folder(tmp_path / "small"))
    add(range(N))
    return site


def add(numbers: Any) -> list[Any]:
    """Submissions with made-up scores, as a worker stores them."""
    phase = Phase.objects.get(name="main")
    outputs = tuple(phase.challenge.definition.outputs)
    made = []
    for number in numbers:
        rng = np.random.default_rng(number)
        team, _ = Team.objects.get_or_create(name=f"Team {number % 10}", slug=f"team-{number % 10}")
        [row] = queue(status="done", method=f"method {number}", team=team)
        scores = 0.3 + 0.002 * (7 * number % N) + np.arange(len(outputs)) / 100
        common = np.random.default_rng(0).normal(0, 0.01, 50)[:, None]
        resampled = scores + common + rng.normal(0, 0.001, (50, len(outputs)))
        results = StoredResults(outputs, np.zeros((3, len(outputs))), resampled)
        write_results(row.folder / "results-1.npz", {"c2": results})
        entries = {
            name: {"score": score, "low": score, "high": score, "signature": f"{name} 1"}
            for name, score in zip(outputs, scores.tolist(), strict=True)
        }
        row.shown_scores = Scores.objects.create(
            submission=row,
            version=1,
            program=phase.program,
            set_keys=phase.set_keys,
            outputs={"c2": entries},
            set_warnings={},
            results_file="results-1.npz",
            finished=timezone.now() + timedelta(seconds=number),
        )
        row.save()
        made.append(row)
    board_changed(phase.pk)
    return made


def stored() -> dict[tuple[str, bool], list[Any]]:
    """What is stored of all boards, and that it is what would be computed from nothing."""

    def rows() -> dict[tuple[str, bool], list[Any]]:
        return {
            (row.output, row.everything): [row.submissions, row.scores, row.ranks, row.best]
            for row in Standing.objects.all()
        }

    before = rows()
    Standing.objects.all().delete()
    Phase.objects.update(board_stored=-0, board_changes=99)
    refresh(Phase.objects.get().pk)
    assert rows() == before
    return before


def board(site: Site, **query: str) -> list[Any]:
    rows: list[Any] = parsed(site.client().get("/challenges/small/leaderboard.json", query))
    return rows


def test_new_submission_is_the_only_one_that_is_compared(large_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    stored()
    with monkeypatch.context() as patch:
        rank = Mock(side_effect=ranking.rank_rows)
        patch.setattr(ranking, "rank_rows", rank)
        add([N])
    n_new = [(len(rows), int((known == 0).sum())) for rows, known in (call.args for call in rank.call_args_list)]
    assert n_new.count((N + 1, 1)) >= 5  # for each output, among all submissions
    assert (N + 1, N + 1) not in n_new
    assert "method 30" in {row["method"] for row in board(large_site, all="1")}
    stored()


@pytest.mark.parametrize("change", ["hide", "delete", "scored once more"])
def test_board_is_computed_after_every_change(large_site: Site, change: str) -> None:
    stored()
    row = Submission.objects.get(method="method 3")
    rows = Submission.objects.filter(pk=row.pk)
    if change == "delete":
        storage.delete(rows)
    elif change == "hide":
        rows.update(is_hidden=True)
    else:
        Scores.objects.filter(submission=row).update(finished=timezone.now() + timedelta(hours=1))
        board_changed(row.phase_id)
    names = {row["method"] for row in board(large_site, all="1")}
    assert ("method 3" in names) == (change == "scored once more")
    stored()


def test_views_do_not_compute_ranks(large_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("rank_rows", "refresh"):
        monkeypatch.setattr(ranking, name, lambda *_: pytest.fail("a view computes ranks"))
    monkeypatch.setattr(stored_results.np, "load", lambda *_, **__: pytest.fail("a view reads results"))
    for page in ("leaderboard", "leaderboard.json", "leaderboard.csv", "compare"):
        for query in ({}, {"all": "1"}, {"sort": "bleu-1"}, {"sort": "date"}, {"page": "2"}):
            assert large_site.client().get(f"/challenges/small/{page}", query).status_code == 200


def test_leaderboard_pages_include_own_rows(large_site: Site) -> None:
    ann = large_site.user("ann")
    Membership.objects.create(team=Submission.objects.get(method="method 3").team, user=ann)
    everything = [row["method"] for row in board(large_site, all="1")]
    assert len(everything) == N
    shown = []
    for page in ("1", "2", "3", "99"):
        answer = large_site.client(ann).get("/challenges/small/leaderboard", {"all": "1", "page": page})
        made = answer.context["board"]
        names = [row.submission.method for row in made.rows]
        own = [name for name in everything if name in {"method 3", "method 13", "method 23"}]
        assert [row.submission.method for row in made.own_rows] == [name for name in own if name not in names]
        shown.append(names)
    assert [*shown[0], *shown[1], *shown[2]] == everything
    assert shown[3] == shown[2]
    assert large_site.client().get("/challenges/small/leaderboard?all=1").context["board"].own_rows == []


def test_leaderboard_sorts_by_score_and_date(large_site: Site) -> None:
    best = [row["scores"]["bleu-4"] for row in board(large_site, all="1", sort="-bleu-4")]
    assert best == sorted(best, reverse=True)
    assert [row["scores"]["bleu-4"] for row in board(large_site, all="1", sort="bleu-4")] == best[::-1]
    dates = [row["submitted"] for row in board(large_site, all="1", sort="date")]
    assert dates == sorted(dates)
    assert [row["submitted"] for row in board(large_site, all="1", sort="-date")] == dates[::-1]
    assert len(board(large_site)) == 10  # the best of each team


def test_hidden_submission_disappears_before_the_board_is_recomputed(large_site: Site) -> None:
    Submission.objects.filter(method="method 3").update(is_hidden=True)
    for page in ("leaderboard", "leaderboard.json", "leaderboard.csv"):
        response = large_site.client().get(f"/challenges/small/{page}?all=1")
        text = response.getvalue() if response.streaming else response.content
        assert b"method 3\n" not in text
        assert b'"method 3"' not in text


def test_board_of_a_killed_process_is_computed_by_a_worker(large_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(ranking, "_standings", lambda *_: (_ for _ in ()).throw(OSError("killed")))
        add([N])
    assert len(board(large_site, all="1")) == N
    assert Phase.objects.get().board_stored < Phase.objects.get().board_changes
    ranking.refresh_stale()
    assert len(board(large_site, all="1")) == N + 1
    assert Phase.objects.get().board_stored == Phase.objects.get().board_changes


def test_change_of_a_large_board_is_left_to_a_worker(large_site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "_MAX_ROWS", N)
    add([N])
    assert len(board(large_site, all="1")) == N
    ranking.refresh_stale()
    assert len(board(large_site, all="1")) == N + 1


def test_workers_do_not_wait_for_a_board_that_another_computes(large_site: Site) -> None:
    Phase.objects.update(board_changes=99)
    with locked(large_site.data / "boards" / f"{Phase.objects.get().pk}.lock"):
        thread = Thread(target=lambda: (refresh_stale(), connection.close()), daemon=True)
        thread.start()
        thread.join(10)
        assert not thread.is_alive()
    assert Phase.objects.get().board_stored < 99
    refresh_stale()
    assert Phase.objects.get().board_stored == 99


def test_ranks_without_tests_do_not_stay(large_site: Site, tmp_path: Path) -> None:
    before = stored()
    folder = write_folder(tmp_path / "small")
    file = folder / "challenge.toml"
    file.write_text(f'ranks = "scores"\n{file.read_text()}')
    large_site.load(folder)
    assert stored() != before
    large_site.load(write_folder(folder))
    assert stored() == before


def test_damaged_results_do_not_hold_up_a_board(large_site: Site) -> None:
    path = Submission.objects.get(method="method 3").results_path
    assert path is not None
    path.write_bytes(path.read_bytes().replace(b"NUMPY", b"other"))
    stored_results.read_resampled.cache_clear()
    add([N])
    ranks = {row["method"]: row["rank"] for row in board(large_site, all="1")}
    assert ranks.pop("method 3") is None
    assert len(ranks) == N
    assert None not in ranks.values()


def test_systems_on_one_image_share_a_rank(site: Site, tmp_path: Path) -> None:
    """The leaderboard agrees with a comparison of the two systems."""
    site.load(write_folder(tmp_path / "small", references={1: REFERENCES[1]}))
    for name, caption in (("ann", "a dog runs in the park"), ("bob", "a cat sleeps")):
        site.submit(site.user(name), [{"image_id": 1, "caption": caption}], challenge="small", method=name)
    site.work()
    better, worse = site.submissions()
    rows = json.loads(site.client().get("/challenges/small/leaderboard.json").getvalue())
    assert [(row["method"], row["rank"]) for row in rows] == [("ann", 1), ("bob", 1)]
    page = site.client().get(f"/challenges/small/compare?a={worse.pk}&b={better.pk}").content.decode()
    assert "significantly in 0." in page
