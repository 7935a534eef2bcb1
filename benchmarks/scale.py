"""Scoring at scale: time, memory and equality of bits, on captions that are generated and not stored.

    python benchmarks/scale.py run --captions 100M [--engine processes] [--workers N] [-m METRIC]... [-o DIR]
    python benchmarks/scale.py equal --captions 1M [--kill SECONDS]
    python benchmarks/scale.py cost [-m METRIC]...

README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import generated_captions

METRICS = ["bleu", "rouge-l", "cider-d"]
SHARED = Path(os.environ.get("CAPTIOUS_SHARED_DATA", Path(__file__).parents[1] / ".." / "shared" / "data"))


def number(text: str) -> int:
    """100M, 1M, 40k or digits."""
    units = {"k": 1_000, "M": 1_000_000, "G": 1_000_000_000}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["run", "equal", "cost"])
    parser.add_argument("--data", type=Path, default=SHARED)
    parser.add_argument("--captions", type=number, default=1_000_000)
    parser.add_argument("--rows-of-a-shard", type=number, default=100_000)
    parser.add_argument("--engine", default="stream")
    parser.add_argument("--workers", type=int)
    parser.add_argument("-m", "--metric", action="append", dest="metrics")
    parser.add_argument("--idf", type=Path, help="document frequencies; those of all rows are counted by default")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--every", type=float, default=30, help="seconds between looks at memory")
    parser.add_argument("--kill", type=float, default=5, help="seconds between kills of a random worker")
    options = parser.parse_args()
    {"run": run, "equal": equal, "cost": cost}[options.what](options)


def run(options: argparse.Namespace) -> None:
    """Score, and print time and memory."""
    import captious
    from captious import scale
    from captious.progress import observed

    shards = generated_captions.shards(options.data.resolve(), options.captions, options.rows_of_a_shard)
    watch = Watch(options.every)
    begin = time.time()
    with watch, observed(watch):
        report = scale.score_shards(
            shards,
            options.metrics or METRICS,
            settings=captious.Settings(idf=options.idf),
            engine=options.engine,
            workers=options.workers,
            output=options.output,
            system=f"{options.captions:,} captions",
        )
    print(json.dumps({"wall_s": time.time() - begin, **watch.usage, **report.to_dict()}, indent=1))


def equal(options: argparse.Namespace) -> None:
    """Compare scores of engines with those of one table in one process, while workers are killed at random."""
    import captious
    from captious import scale
    from captious.evaluation.report import score_table
    from captious.report.formats import json_text

    metrics = options.metrics or METRICS
    shards = generated_captions.shards(options.data.resolve(), options.captions, options.rows_of_a_shard)

    def timed(what: str, run: Callable[[], captious.Report]) -> str:
        begin, watch = time.time(), Watch(options.every, quiet=True)
        with watch:
            text = json_text(score_table([run()]))
        print(f"{what}: wall {time.time() - begin:.0f} s, peak {watch.peak} MiB", flush=True)
        return text

    def engine(name: str, workers: int | None, kill: str = "") -> str:
        killer = Killer(kill, options.kill)
        with killer:
            found = timed(
                f"{name}, {workers or 1} workers",
                lambda: scale.score_shards(shards, metrics, engine=name, workers=workers),
            )
        print(f"  workers killed: {killer.killed}", flush=True)
        return found

    def in_one_table() -> captious.Report:
        rows = [row for shard in shards for row in shard.batches(scale.ShardColumns())]
        candidates = {image: text for each in rows for image, text in zip(each.ids, each.candidates, strict=True)}
        references = {image: [*texts] for each in rows for image, texts in zip(each.ids, each.references, strict=True)}
        return captious.score(candidates, references, metrics)

    expected = engine("stream", None)
    print(expected)
    for name, workers, kill in (
        ("processes", 1, ""),
        ("processes", 2, "spawn_main"),
        ("processes", 3, "spawn_main"),
        ("ray", 2, "ray::_do"),
    ):
        print("  the same bits:", engine(name, workers, kill) == expected, flush=True)
    print("  the same bits:", timed("captious.score in one table", in_one_table) == expected, flush=True)


class Killer:
    """Kills a random worker of this process now and then.

    Args:
        name: what command lines of workers hold; empty to kill none.
        every: seconds between kills, on average.
    """

    def __init__(self, name: str, every: float) -> None:
        self.name, self.every, self.killed = name, every, 0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._kill, daemon=True)

    def __enter__(self) -> Killer:
        if self.name:
            self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        if self.name:
            self._thread.join()

    def _kill(self) -> None:
        rng = random.Random(1)
        while not self._ended.wait(rng.uniform(0.5, 1.5) * self.every):
            workers = [pid for pid in descendants(os.getpid()) if self.name in command_line(pid)]
            if workers:
                os.kill(rng.choice(workers), signal.SIGKILL)
                self.killed += 1


#: Rows that a metric is measured on, fewer for slow ones.
ROWS = {"spice": 1000, "spider": 1000, "hwcm": 400, "concur": 4000, "lceval": 4000, "wmd": 8000, "nneval": 8000}


def cost(options: argparse.Namespace) -> None:
    """CPU seconds of each metric for a million captions, on one thread, from a sample, without making rows."""
    from captious import scale
    from captious.metrics.contract.selection import available
    from captious.metrics.contract.settings import Settings
    from captious.native import using_threads

    names = options.metrics or available(Settings())[0]
    print("| metric | fit, CPU s | map, CPU s | statistics | bytes of sums | rows |\n|---|---|---|---|---|---|")
    for name in names:
        n = ROWS.get(name, 3 * generated_captions.BATCH)
        # After a round over all systems, so that candidates are varied; the first shard warms up.
        first = 9 * 40_504
        warm, shard = (
            scale.GeneratedShard(
                f"sample {i}", fresh, (str(options.data.resolve()), first + i * n, first + (i + 1) * n)
            )
            for i in range(2)
        )
        with using_threads(1):
            plan = scale.plan([warm, shard], [name])
            kept(*warm.arguments), kept(*shard.arguments)
            fit = 0.0
            if plan.needs_fit:
                states = plan.fit(warm)
                begin = time.process_time()
                states = plan.fit(shard)
                fit = time.process_time() - begin
                plan = plan.fitted([states])
            plan.map(warm)
            begin = time.process_time()
            sums = plan.map(shard)
            took = time.process_time() - begin
        size = len(json.dumps(sums.to_dict()))
        million = 1e6 / n
        shown = f"{fit * million:.1f}" if fit else ""
        print(f"| {name} | {shown} | {took * million:.1f} | {len(sums.sums[0])} | {size} | {n:,} |", flush=True)


@cache
def kept(folder: str, begin: int, end: int) -> list[Any]:
    """Return rows that stay in memory, so that making them is not measured."""
    return list(generated_captions.rows(folder, begin, end))


def fresh(folder: str, begin: int, end: int) -> Iterator[Any]:
    """Yield the same rows without tokens or anything else that was computed from them."""
    return (rows.select(0, len(rows)) for rows in kept(folder, begin, end))


class Watch:
    """Looks at the memory of this process and its children now and then, and says how far the work is."""

    def __init__(self, every: float, quiet: bool = False) -> None:
        self.every = every
        self.quiet = quiet
        self.seen: list[dict[str, Any]] = []
        self._at = ""
        self._ended = threading.Event()

    def begin(self, work: Any) -> None: ...

    def change(self, work: Any) -> None:
        self._at = f"{work.what.split()[0]} {work.done}/{work.total}"

    def end(self, work: Any) -> None: ...

    def __enter__(self) -> Watch:
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _look(self) -> None:
        begin = time.time()
        while True:
            sizes = [size for size in map(resident, [os.getpid(), *descendants(os.getpid())]) if size]
            self.seen.append({"s": round(time.time() - begin), "at": self._at, "mib": sizes})
            if not self.quiet:
                print(json.dumps(self.seen[-1]), flush=True)
            if self._ended.wait(self.every):
                return

    @property
    def peak(self) -> int:
        """The most memory that all processes had together when it was looked at, in MiB."""
        return int(max(sum(each["mib"]) for each in self.seen))

    @property
    def usage(self) -> dict[str, Any]:
        """CPU seconds and the most memory of one process, in MiB."""
        own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return {
            "cpu_s": own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime,
            "peak_mib": max(own.ru_maxrss, others.ru_maxrss) // 1024,
        }


def descendants(pid: int) -> Iterator[int]:
    """Yield processes that a process has started, and those that they have."""
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found = [*map(int, task.read_text().split())]
        except OSError:
            continue
        for child in found:
            yield child
            yield from descendants(child)


def command_line(pid: int) -> str:
    """Return the command line of a process; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


def resident(pid: int) -> int:
    """Return resident memory in MiB; 0 if the process has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20


if __name__ == "__main__":
    main()
