"""The evaluation server under mixed traffic for half an hour, while its processes are killed.

    python benchmarks/server_soak.py [--minutes N] [--postgresql] [--kill SECONDS]

Real captions of val2014 are uploaded with the client that ``captious submit`` uses, people look at pages and sign in,
programs call the API, and once a minute a web process or a worker is killed with SIGKILL. It fails if a submission is
lost, made twice or not scored, or if a page fails that a kill does not explain. README.md beside this file says more.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gzip
import itertools
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from measurement import default_data, machine, print_table, systems
from server_scores import write_challenge
from server_traffic import REPOSITORY, Answer, Site, databases, quantile, sign_in

METRICS = ("bleu", "rouge-l", "cider-d")
PAGES = ("/", "/challenges/coco/", "/challenges/coco/leaderboard", "/challenges/coco/leaderboard?all=1")
BLAME = 20.0  # seconds after a kill within which it explains a failure


@dataclass
class Diary:
    """What happened."""

    began: float = field(default_factory=time.monotonic)
    #: What was asked for -> the answers, and when they came.
    answers: dict[str, list[tuple[float, Answer]]] = field(default_factory=dict)
    kills: list[tuple[float, str]] = field(default_factory=list)
    #: role -> resident memory in MiB, and when.
    memory: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    #: Methods that were submitted -> numbers of their submissions.
    uploads: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    @property
    def now(self) -> float:
        return time.monotonic() - self.began

    def note(self, what: str, answer: Answer, *expected: int) -> None:
        self.answers.setdefault(what, []).append((self.now, answer))
        explained = any(0 <= self.now - at < answer.seconds + BLAME for at, _ in self.kills)
        if answer.status not in expected and not explained:
            self.problems.append(f"{what}: status {answer.status} after {answer.seconds:.1f} s, at {self.now:.0f} s")

    def seconds(self, what: str) -> list[float]:
        return [answer.seconds for _, answer in self.answers.get(what, [])]


async def soak(site: Site, contents: dict[str, Path], options: argparse.Namespace) -> Diary:
    """Return the diary of a run in which everything happens at once until the queue is empty."""
    diary, token = Diary(), await asyncio.to_thread(site.token)
    jobs: list[Callable[[], Awaitable[None]]] = []

    def regularly(pause: float) -> Callable[[Callable[[], Awaitable[None]]], None]:
        def add(do: Callable[[], Awaitable[None]]) -> None:
            async def job() -> None:
                while diary.now < 60 * options.minutes:
                    await do()
                    await asyncio.sleep(pause * random.uniform(0.5, 1.5))

            jobs.append(job)

        return add

    numbers, pages = itertools.count(), itertools.cycle(PAGES)
    client = _client(site, token)

    for _ in range(2):

        @regularly(0.5)
        async def look() -> None:
            diary.note("pages", await site.get(next(pages)), 200)

        @regularly(options.upload)
        async def upload() -> None:
            number = next(numbers)
            file = [*contents.values()][number % len(contents)]
            began = time.monotonic()
            try:
                made = await asyncio.to_thread(client.submit, file, "coco", method=f"method {number}")
                diary.uploads[made["method"]] = made["id"]
                diary.note("uploads", Answer(201, time.monotonic() - began), 201)
            except Exception as error:
                diary.problems.append(f"method {number}: {error}")

    @regularly(5)
    async def sign_in_once() -> None:
        diary.note("sign-ins", await sign_in(site, "admin"), 302)

    @regularly(2)
    async def api() -> None:
        headers = {"Authorization": f"Bearer {token}"}
        for path in ("/api/v1/challenges/coco", "/api/v1/challenges/coco/submissions", "/api/v1/metrics"):
            diary.note("API", await site.send("GET", path, b"", headers), 200)

    @regularly(10)
    async def memory() -> None:
        for role in ("web", "worker"):
            diary.memory.setdefault(role, []).append((diary.now, site.memory(role, "VmRSS")))

    async def kill() -> None:
        for role in itertools.cycle(["web", "worker"]):
            await asyncio.sleep(options.kill)
            if diary.now > 60 * options.minutes - 30:
                return
            diary.kills.append((diary.now, role))
            for process in site.processes(role):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)

    await asyncio.gather(*(job() for job in jobs), kill())
    await check(site, diary, token, patience=60 * options.minutes + 600)
    return diary


def _client(site: Site, token: str) -> Any:
    sys.path.insert(0, str(site.source))
    from captious.client import Client

    return Client(f"http://127.0.0.1:{site.port}", token)


async def check(site: Site, diary: Diary, token: str, *, patience: float) -> None:
    """Wait for the queue, and see that every upload became one submission, with one set of scores."""
    headers = {"Authorization": f"Bearer {token}"}
    until = time.monotonic() + patience
    rows: list[dict[str, Any]] = []
    while time.monotonic() < until:
        rows = (await site.send("GET", "/api/v1/challenges/coco/submissions", b"", headers)).json()
        if not any(row["status"] in {"queued", "running"} for row in rows):
            break
        await asyncio.sleep(2)
    states = Counter(row["status"] for row in rows)
    if states != {"done": len(rows)}:
        diary.problems.append(f"submissions that did not end well: {dict(states)}")
    made = {row["method"]: row["id"] for row in rows}
    if len(made) != len(rows):
        diary.problems.append(f"{len(rows) - len(made)} uploads became two submissions")
    if made != diary.uploads:
        diary.problems.append(f"{len(made.items() ^ diary.uploads.items())} submissions that nobody made, or were lost")


def show(diary: Diary, minutes: float) -> None:
    rows = [["", "n", "p50, s", "p95, s", "slowest, s", "not answered"]]
    for what in diary.answers:
        seconds = diary.seconds(what)
        failed = sum(answer.status == 0 for _, answer in diary.answers[what])
        figures = [quantile(seconds, 0.5), quantile(seconds, 0.95), max(seconds)]
        rows.append([what, f"{len(seconds):,}", *(f"{value:.2f}" for value in figures), f"{failed:,}"])
    print_table(rows)
    for role, samples in diary.memory.items():
        thirds = [[value for at, value in samples if n <= at / (20 * minutes) < n + 1] for n in range(3)]
        shown = ", ".join(f"{quantile(values, 0.9):,.0f}" for values in thirds)
        print(f"{role}: memory in each third of the time, p90, MiB: {shown}")
    kills = Counter(role for _, role in diary.kills)
    print(f"kills: {dict(kills)}; submissions: {len(diary.uploads):,}; problems: {len(diary.problems)}")
    print(*diary.problems[:20], sep="\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--kill", type=float, default=60, metavar="SECONDS", help="between two kills")
    parser.add_argument("--upload", type=float, default=30, metavar="SECONDS", help="between two uploads of a client")
    parser.add_argument("--postgresql", action="store_true", help="a temporary PostgreSQL instead of SQLite")
    parser.add_argument("--log", type=Path, metavar="FILE", help="keep the log of the server")
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    print(f"{machine()}, {'PostgreSQL' if options.postgresql else 'SQLite'}, {options.minutes:g} minutes", flush=True)
    with databases(options.postgresql) as new_database, tempfile.TemporaryDirectory() as place:
        folder, contents = Path(place), {}
        write_challenge(folder / "coco", options.data, METRICS)
        for system in systems(options.data):
            contents[system] = folder / f"{system}.json"
            compressed = options.data / "coco" / "results_val2014" / f"{system}.json.gz"
            contents[system].write_bytes(gzip.decompress(compressed.read_bytes()))
        settings = {"requests_per_minute": 10_000, "lease_seconds": 10, "scoring_tries": 10}  # kills are no failures
        with Site(REPOSITORY / "src", folder, new_database(), **settings) as site:
            try:
                site.command("challenge", "load", str(folder / "coco"))
                diary = asyncio.run(soak(site, contents, options))
            finally:
                if options.log:
                    options.log.write_bytes(site.log.read_bytes())
    show(diary, options.minutes)
    if diary.problems:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
