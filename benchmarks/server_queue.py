"""Waiting times of a simulated week: many teams, a deadline, bursts, and the server's own choice of who is next.

Nothing is scored; the order is that of ``captious_server.scoring.queue``, beside first come, first served.

    python benchmarks/server_queue.py [TEAMS] [WORKERS]
"""

from __future__ import annotations

import heapq
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from captious_server.scoring.queue import QueueEntry

__all__ = ["simulate"]

_HOUR, _DAY = 3600.0, 86400.0
_Order: TypeAlias = "Callable[[Iterable[QueueEntry[float]], Iterable[tuple[str, ...]], Mapping[str, float]], list[int]]"


def first_come(waiting: Iterable[QueueEntry[float]], *_: object) -> list[int]:
    """Return submissions in the order in which they came in."""
    return sorted(row.id for row in waiting)


def simulate(
    rows: list[QueueEntry[float]], seconds: Mapping[int, float], n_workers: int, order: _Order
) -> tuple[dict[int, float], float]:
    """When the scoring of each submission begins, and when the last one ends.

    Args:
        rows: submissions with the times at which they come in.
        seconds: how long each is scored.
        n_workers: how many are scored at a time.
        order: who is next.
    """
    coming = sorted(rows, key=lambda row: (row.since, row.id), reverse=True)
    waiting: dict[int, QueueEntry[float]] = {}
    running: list[tuple[float, int, QueueEntry[float]]] = []
    ended: dict[str, float] = {}
    begun: dict[int, float] = {}
    now = 0.0
    while coming or waiting or running:
        now = min([*(row.since for row in coming[-1:]), *(end for end, _, _ in running[:1])])
        while running and running[0][0] <= now:
            _, _, row = heapq.heappop(running)
            ended.update(dict.fromkeys((*row.parties, row.challenge), now))
        while coming and coming[-1].since <= now:
            row = coming.pop()
            waiting[row.id] = row
        while waiting and len(running) < n_workers:
            row = waiting.pop(order(waiting.values(), [row.parties for _, _, row in running], ended)[0])
            begun[row.id] = now
            heapq.heappush(running, (now + seconds[row.id], row.id, row))
    return begun, now


def week(n_teams: int, random: np.random.Generator) -> tuple[list[QueueEntry[float]], dict[int, float], dict[int, str]]:
    """Return the submissions of a week before a deadline: what comes in, seconds of scoring, and of which kind each is.

    Most teams submit a few times a day, by daylight, and more towards the end; some upload 40 at once, and one floods
    the server every afternoon with 100 of the slowest captions that are allowed.
    """
    from captious_server.scoring.queue import QueueEntry

    rows: list[QueueEntry[float]] = []
    kinds: list[str] = []

    def add(team: int, time: float, kind: str) -> None:
        parties = (f"team:{team}", f"user:{team}")
        rows.append(QueueEntry(0, float(time), parties, f"challenge:{team % 3}"))
        kinds.append(kind)

    for team in range(n_teams):
        for day in range(7):
            for _ in range(random.poisson(1 + (3 if day == 6 else day / 3))):
                add(team, day * _DAY + np.clip(random.normal(15, 4), 0, 21) * _HOUR, "others")
        for _ in range(random.poisson(2)):  # the last hour before the deadline
            add(team, 7 * _DAY - random.exponential(0.4 * _HOUR), "last hour")
    for team in range(n_teams // 30):
        begins = random.uniform(0, 7 * _DAY)
        for _ in range(40):
            add(team, begins + random.uniform(0, 60), "series of 40")
    for day in range(7):
        for n in range(100):
            add(n_teams, day * _DAY + 14 * _HOUR + n, "flood of 100")
    order = sorted(range(len(rows)), key=lambda i: rows[i].since)
    rows = [replace(rows[i], id=id) for id, i in enumerate(order)]
    named = {id: kinds[i] for id, i in enumerate(order)}
    usual = random.lognormal(np.log(20), 0.5, len(rows))
    return rows, {id: 300.0 if kind.startswith("flood") else float(usual[id]) for id, kind in named.items()}, named


def main(n_teams: int = 300, n_workers: int = 1) -> None:
    """Print the waiting times as a table."""
    from captious_server.operations.setup import set_up

    with tempfile.TemporaryDirectory() as folder:
        set_up(Path(folder), make=True)  # its queue is imported with models
    from captious_server.scoring.queue import in_turn

    rows, seconds, kinds = week(n_teams, np.random.default_rng(28))
    hours = sum(seconds.values()) / 3600
    print(f"{n_teams} teams, {len(rows):,} submissions, {hours:.0f} hours of scoring, {n_workers} workers\n")
    print("| submissions | number | in turn: median | p95 | longest | first come: median | p95 | longest |")
    print("|---|---|---|---|---|---|---|---|")
    begun = [simulate(rows, seconds, n_workers, order)[0] for order in (in_turn, first_come)]
    waits: dict[str, list[list[float]]] = defaultdict(lambda: [[], []])
    for row in rows:
        for side, times in enumerate(begun):
            waits[kinds[row.id]][side].append(times[row.id] - row.since)
    for kind, sides in waits.items():
        cells = [
            f"{value / 60:.1f} min" for side in sides for value in (*np.quantile(side, [0.5, 0.95]).tolist(), max(side))
        ]
        print(f"| {kind} | {len(sides[0]):,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
