"""What the benchmarks share: real captions, a clock for CPU, wall and memory, fresh child processes, medians.

Standard library only: the peer's interpreter imports this too, and a parent that stays small does not show in the
memory of its children.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

os.environ["CAPTIOUS_KEPT_PARSES"] = "0"  # what is measured is the first run

References: TypeAlias = dict[int, list[str]]
Candidates: TypeAlias = dict[int, str]


def default_data() -> Path:
    """Return the folder of real captions: CAPTIOUS_SHARED_DATA, or the one beside the project."""
    return Path(os.environ.get("CAPTIOUS_SHARED_DATA", Path(__file__).parents[2] / "shared" / "data"))


def read_karpathy(data: Path, system: int) -> tuple[References, Candidates]:
    """Return one of four systems on 5,000 images with 4 references each."""
    references: References = {}
    candidates: Candidates = {}
    with gzip.open(data / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            image = int(record["image"].removesuffix(".jpg").rsplit("_", 1)[1])
            references[image] = record["refs"]
            candidates[image] = record["captions"][system]
    return references, candidates


def read_references(data: Path, *, at_most: int = 5) -> References:
    """Return all images of val2014 with their first references."""
    with gzip.open(data / "coco" / "captions_val2014.json.gz", "rt", encoding="utf-8") as file:
        annotations = json.load(file)["annotations"]
    references: References = {}
    for annotation in annotations:
        texts = references.setdefault(annotation["image_id"], [])
        if len(texts) < at_most:
            texts.append(annotation["caption"])
    return references


def systems(data: Path) -> list[str]:
    """Return names of the systems that captioned all of val2014."""
    return sorted(path.name.removesuffix(".json.gz") for path in (data / "coco" / "results_val2014").iterdir())


def read_system(data: Path, system: str) -> Candidates:
    """Return a system's captions for all of val2014."""
    with gzip.open(data / "coco" / "results_val2014" / f"{system}.json.gz", "rt", encoding="utf-8") as file:
        return {record["image_id"]: record["caption"] for record in json.load(file)}


@dataclass
class Usage:
    """What was used between making this and ``stop()``, by this process and its finished children together."""

    cpu: float = 0.0
    wall: float = 0.0
    #: Largest resident memory so far of this process or of one of its children, MiB.
    peak: float = 0.0

    def __post_init__(self) -> None:
        self._cpu, self._wall = cpu_seconds(), time.perf_counter()

    def stop(self) -> Usage:
        self.cpu, self.wall = cpu_seconds() - self._cpu, time.perf_counter() - self._wall
        who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
        self.peak = max(mebibytes(resource.getrusage(each).ru_maxrss) for each in who)
        return self

    def values(self) -> dict[str, float]:
        return {"cpu": self.cpu, "wall": self.wall, "peak": self.peak}


def cpu_seconds() -> float:
    """CPU seconds, user and system, of this process and its finished children."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def mebibytes(ru_maxrss: int) -> float:
    return ru_maxrss / (1024 * 1024 if sys.platform == "darwin" else 1024)


def run_child(
    python: str, arguments: Sequence[str], environment: Mapping[str, str] | None = None
) -> tuple[Any, dict[str, float]]:
    """Run a script in a fresh process.

    Returns:
        The JSON it printed, and the CPU and wall seconds and the peak memory of the whole process with its children.
    """
    # Java reads and writes in the encoding of the locale.
    env = {**os.environ, "LC_ALL": "C.UTF-8", **(environment or {})}
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.perf_counter()
        process = subprocess.Popen([python, *arguments], stdout=out, stderr=err, env=env)
        _, status, used = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            err.seek(0)
            sys.stderr.write(err.read().decode(errors="replace"))
            raise SystemExit(f"{python} {' '.join(arguments)} ended with status {process.returncode}")
        out.seek(0)
        printed = json.loads(out.read() or "null")
    whole = {"cpu": used.ru_utime + used.ru_stime, "wall": wall, "peak": mebibytes(used.ru_maxrss)}
    return printed, whole


def run_fresh(
    options: argparse.Namespace, side: str, arguments: Sequence[str], environment: Mapping[str, str]
) -> dict[str, Any]:
    """Run a side in a fresh process of its interpreter: what it printed, and the figures of the whole process."""
    python = sys.executable if side == "captious" else options.peer_python
    inside, whole = run_child(python, arguments, environment)
    return {**inside, **{f"whole {name}": value for name, value in whole.items()}}


def spread(values: Sequence[float], digits: int = 3) -> str:
    """Return median and range, as text; a single value as it is."""
    if len(values) == 1:
        return f"{values[0]:,.{digits}f}"
    low, middle, high = min(values), statistics.median(values), max(values)
    return f"{middle:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"


def print_table(rows: Sequence[Sequence[str]]) -> None:
    """Columns as wide as they need to be, the first row above a line."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for number, row in enumerate(rows):
        others = (cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))
        print("  ".join([row[0].ljust(widths[0]), *others]))
        if number == 0:
            print("  ".join("-" * width for width in widths))


def in_turns(repeats: Mapping[str, int], run: Callable[[str], dict[str, float]]) -> dict[str, list[dict[str, float]]]:
    """Run each side as often as asked, the sides taking turns; the figures of every run, by side."""
    measured: dict[str, list[dict[str, float]]] = {side: [] for side in repeats}
    for turn in range(max(repeats.values())):
        for side, times in repeats.items():
            if turn < times:
                measured[side].append(run(side))
    return measured


def print_ratios(measured: Mapping[str, Sequence[Mapping[str, float]]], figures: Mapping[str, str]) -> None:
    """Print a table of medians, and of the ratio of the second side to the first.

    Args:
        measured: the figures of every run, by side.
        figures: what to show, label -> key; "peak" is in MiB.
    """
    ours, theirs = measured
    rows = [["median (min to max)", *(f"{side} x{len(runs)}" for side, runs in measured.items()), "ratio"]]
    for label, key in figures.items():
        values = {side: [run[key] for run in runs] for side, runs in measured.items()}
        ratio = statistics.median(values[theirs]) / statistics.median(values[ours])
        digits = 0 if key == "peak" else 3
        rows.append([label, *(spread(values[side], digits) for side in measured), f"{ratio:,.1f}"])
    print_table(rows)


#: What ``print_ratios`` shows of a side that ran in a child with ``Usage``.
FIGURES = {
    "scoring, CPU s": "cpu",
    "scoring, wall s": "wall",
    "whole process, CPU s": "whole cpu",
    "whole process, wall s": "whole wall",
    "peak memory, MiB": "peak",
}


def common_options(description: str, peer: str, repeats: int = 5, peer_repeats: int = 3) -> argparse.ArgumentParser:
    """Return a parser with the options of all benchmarks that compare with a peer."""
    parser = argparse.ArgumentParser(description=description.splitlines()[0])
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--peer-python", default=sys.executable, help=f"an interpreter that has {peer}")
    parser.add_argument("--repeats", type=int, default=repeats)
    parser.add_argument("--peer-repeats", type=int, default=peer_repeats)
    return parser


def machine() -> str:
    """Return a line that describes this machine."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{cores} cores, {platform.machine()}, {platform.python_implementation()} {platform.python_version()}"
