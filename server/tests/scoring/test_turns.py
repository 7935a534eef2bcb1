"""Whose turn it is in the queue, as a pure function and in the database."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.server_queue import simulate
from hypothesis import given
from hypothesis import strategies as st

from captious_server.models import Team
from captious_server.operations import worker
from captious_server.scoring import queue as lease
from captious_server.scoring.queue import QueueEntry, in_turn, places, queue_again
from server.tests.support.site import Site
from server.tests.support.small_challenge import queue, write_folder


def waiting(id: int, team: str, *, user: str = "", since: float | None = None, challenge: str = "c") -> Any:
    parties = (f"team {team}", f"user {user or team}")
    return QueueEntry(id, float(id) if since is None else since, parties, challenge)


def order(rows: list[Any], running: list[Any] | None = None, ended: dict[str, float] | None = None) -> list[int]:
    return in_turn(rows, [row.parties for row in running or []], ended or {})


def test_teams_take_turns() -> None:
    rows = [waiting(1, "a"), waiting(2, "a"), waiting(3, "b"), waiting(4, "a"), waiting(5, "b"), waiting(6, "c")]
    assert order(rows) == [1, 3, 6, 2, 5, 4]


def test_teams_of_one_user_share_a_turn() -> None:
    rows = [waiting(n, f"team {n}", user="mallory") for n in range(5)]
    assert order([*rows, waiting(9, "b")]) == [0, 9, 1, 2, 3, 4]


def test_users_of_one_team_share_a_turn() -> None:
    rows = [waiting(n, "a", user=f"member {n}") for n in range(5)]
    assert order([*rows, waiting(9, "b")]) == [0, 9, 1, 2, 3, 4]


def test_team_being_scored_has_had_its_turn() -> None:
    assert order([waiting(1, "a"), waiting(9, "b")], [waiting(0, "a")]) == [9, 1]


def test_longest_wait_since_the_last_turn_is_first() -> None:
    rows = [waiting(1, "a"), waiting(9, "b"), waiting(10, "c")]
    assert order(rows, ended={"team a": 9.5}) == [9, 1, 10]


def test_team_alternates_between_its_challenges() -> None:
    rows = [waiting(1, "a"), waiting(2, "a"), waiting(3, "a", challenge="d")]
    assert order(rows) == [1, 3, 2]
    assert order(rows, ended={"c": 2.0}) == [3, 1, 2]


@given(
    burst=st.integers(1, 100),
    seconds=st.floats(0.5, 50),
    arrives=st.floats(0, 300),
    n_workers=st.integers(1, 3),
    others=st.lists(st.floats(0, 300), max_size=3),
)
def test_burst_delays_another_team_by_at_most_one_scoring(
    burst: int, seconds: float, arrives: float, n_workers: int, others: list[float]
) -> None:
    """Another team waits for one scoring to end and for the turns of earlier teams."""
    rows = [waiting(n, "a", since=0.0) for n in range(burst)]
    rows += [waiting(1000 + n, f"other {n}", since=since) for n, since in enumerate(others)]
    rows.append(waiting(5000, "b", since=arrives))
    begun, _ = simulated(rows, dict.fromkeys((row.id for row in rows), seconds), n_workers)
    n_ahead = sum(since <= arrives for since in others)
    assert begun[5000] - arrives <= seconds * (1 + n_ahead) + 1e-6


def simulated(rows: list[Any], seconds: dict[int, float], n_workers: int) -> tuple[dict[int, float], float]:
    """When each submission is begun, and when the last ends, if workers choose as those of the server do."""
    return simulate(rows, seconds, n_workers, in_turn)


class TestQueue:
    """The database orders submissions as the pure function does."""

    @pytest.fixture(autouse=True)
    def teams(self, site: Site, folder: Any) -> None:
        self.a, self.b = (Team.objects.create(name=name, slug=name) for name in ("a", "b"))

    def test_burst_delays_another_team_by_at_most_one_scoring(self, site: Site) -> None:
        burst = queue(100, team=self.a)
        first, second = lease.take("one"), lease.take("two")
        [other] = queue(team=self.b)
        assert places() == {other.pk: 1, **{row.pk: 2 + n for n, row in enumerate(burst[2:])}}
        worker.score(first)
        third = lease.take("one")
        assert third.submission == other
        worker.score(second)
        fourth = lease.take("two")
        assert fourth.submission == burst[2]

    def test_scoring_again_does_not_delay_new_submissions(self, site: Site, folder: Any) -> None:
        rows = queue(3, team=self.a)
        site.work()
        queue_again(type(rows[0]).objects.all())
        new = queue(2, team=self.a)
        taken = [lease.take("worker") for _ in range(5)]
        assert [row.submission for row in taken if row is not None] == [rows[0], new[0], rows[1], new[1], rows[2]]

    def test_team_alternates_between_challenges(self, site: Site, folder: Any, tmp_path: Any) -> None:
        other = write_folder(tmp_path / "other", phases=("elsewhere",))
        (other / "challenge.toml").write_text((other / "challenge.toml").read_text().replace('"small"', '"other"'))
        site.load(other)
        here, there = queue(2, team=self.a), queue(2, phase="elsewhere", team=self.a)
        scored = []
        while (taken := lease.take("worker")) is not None:
            worker.score(taken)
            scored.append(taken.submission)
        assert scored == [here[0], there[0], here[1], there[1]]

    def test_order_of_a_long_queue_is_cached(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(lease, "_LONG_QUEUE", 3)
        rows = queue(4, team=self.a)
        assert lease.place(rows[3]) == 4
        monkeypatch.setattr(lease, "in_turn", pytest.fail)
        assert [lease.place(row) for row in rows] == [1, 2, 3, 4]
