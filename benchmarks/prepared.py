"""The cost of the whole process `captious score`, imports included, with and without prepared references.

    python benchmarks/prepared.py [--system K] [--runs N] [--spice] [--full]

README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measurement import default_data, read_karpathy

SETS = {
    "BLEU, ROUGE-L, CIDEr-D": ("bleu", "rouge-l", "cider-d"),
    "BLEU, ROUGE-L, CIDEr-D, METEOR": ("bleu", "rouge-l", "cider-d", "meteor"),
}
SPICE = {"SPICE": ("spice",)}


def measured(command: list[str], **options: Any) -> tuple[float, float, str]:
    """CPU seconds and wall seconds of a process, and what it printed."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **options)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime, wall, done.stdout


def captious(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "captious", *map(str, arguments)]


def row(what: str, figures: list[tuple[float, float]]) -> None:
    columns = [
        f"{statistics.median(column):.3f} ({min(column):.3f}-{max(column):.3f})"
        for column in zip(*figures, strict=True)
    ]
    print(f"| {what} | {' | '.join(columns)} |", flush=True)


def on_val2014(data: Path, runs: int) -> None:
    """One system and then all, against COCO's annotation file of val2014."""
    packed = sorted((data / "coco" / "results_val2014").glob("*.json.gz"))
    files = [Path(path.name.removesuffix(".gz")) for path in packed]
    references = Path("captions_val2014.json")
    for path, file in zip([*packed, data / "coco" / f"{references}.gz"], [*files, references], strict=True):
        file.write_bytes(gzip.decompress(path.read_bytes()))
    chosen = ["-m", "bleu", "-m", "meteor", "-m", "rouge-l", "-m", "cider-d"]
    figures: dict[str, list[tuple[float, float]]] = {"one system": [], f"{len(files)} systems": []}
    for _ in range(runs):  # in turns
        for seconds, systems in zip(figures.values(), ([Path("vinyals-et-al-2017.json")], files), strict=True):
            seconds.append(measured(captious("score", *systems, references, *chosen))[:2])
    for name, seconds in figures.items():
        row(f"40,504 images x 5 with METEOR, {name}", seconds)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--system", type=int, default=0, choices=range(4), help="which Karpathy system")
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--spice", action="store_true", help="also SPICE, three runs")
    parser.add_argument("--full", action="store_true", help="also systems on all of val2014")
    options = parser.parse_args()
    references, candidates = read_karpathy(options.data, options.system)
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        Path("refs.json").write_text(json.dumps(references))
        Path("system.json").write_text(json.dumps(candidates))
        print("| whole process | CPU s: median (min-max) | wall s |\n|---|---|---|")
        for what, program in (("python -c pass", "pass"), ("python -c 'import numpy'", "import numpy")):
            row(what, [measured([sys.executable, "-c", program])[:2] for _ in range(options.runs)])
        for name, metrics in (SETS | SPICE if options.spice else SETS).items():
            chosen = [word for metric in metrics for word in ("-m", metric)]
            file = f"{len(metrics)}.prepared"
            row(f"captious prepare: {name}", [measured(captious("prepare", "refs.json", "-o", file, *chosen))[:2]])
            runs: dict[str, list[tuple[float, float]]] = {"refs.json": [], file: []}
            printed = set()
            for _ in range(3 if "spice" in metrics else options.runs):  # in turns
                for source, figures in runs.items():
                    cpu, wall, out = measured(captious("score", "system.json", source, *chosen, "--format", "json"))
                    figures.append((cpu, wall))
                    printed.add(out)
            row(f"{name}, references in json", runs["refs.json"])
            row(f"{name}, prepared references ({Path(file).stat().st_size / 1e6:.1f} MB)", runs[file])
            failed |= len(printed) > 1
        if options.full:
            on_val2014(options.data, options.runs)
    if failed:
        print("the scores differ", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
