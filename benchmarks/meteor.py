"""Speed and memory of METEOR compared with pycocoevalcap's, which runs the official jar.

    python benchmarks/meteor.py --peer-python PYTHON [--threads N]

Both sides get tokenized captions through the same interface, ``Meteor().compute_score(gts, res)``, in turns, each time
in a fresh process. README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

from measurement import (
    FIGURES,
    Usage,
    common_options,
    in_turns,
    machine,
    print_ratios,
    print_table,
    run_child,
    run_fresh,
    spread,
)

TOLERANCE = 1e-9
SIDES = ("captious", "pycocoevalcap")

#: Tokenized captions by image.
Texts = dict[str, list[str]]


def read(data: Path, system: str) -> tuple[Texts, Texts]:
    """Return references and candidates of a Karpathy system, tokenized by the official tokenizer."""
    gts: Texts = {}
    res: Texts = {}
    with gzip.open(data / "gold" / f"karpathy_sys{system}.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            record = json.loads(line)
            gts[record["image"]] = record["ref_tokens"]
            res[record["image"]] = [record["tokens"]]
    return gts, res


def child(side: str, data: Path, system: str) -> None:
    """One measured run: print figures and scores."""
    with contextlib.redirect_stdout(sys.stderr):
        package = "captious.compat.pycocoevalcap" if side == "captious" else "pycocoevalcap.meteor.meteor"
        make_meteor = import_module(package).Meteor
        gts, res = read(data, system)
        usage = Usage()
        scorer = make_meteor()
        corpus, per_caption = scorer.compute_score(gts, res)
        del scorer  # ends the peer's Java, whose CPU time counts from then on
        usage.stop()
    print(json.dumps({**usage.values(), "scores": [corpus, *per_caption]}))


def measure(options: argparse.Namespace) -> bool:
    """Return whether all scores agree, after measuring both sides on one system."""
    scores: dict[str, list[float]] = {}

    def run(side: str) -> dict[str, float]:
        environment = {"CAPTIOUS_THREADS": str(options.threads)} if options.threads else {}
        figures = run_fresh(
            options, side, [__file__, "--data", str(options.data), "--child", side, options.system], environment
        )
        scores[side] = figures.pop("scores")
        return figures

    measured = in_turns({"captious": options.repeats, "pycocoevalcap": options.peer_repeats}, run)
    print(f"\nKarpathy system {options.system}: {len(scores['captious']) - 1:,} images, tokenized")
    print_ratios(measured, FIGURES)
    differences = [abs(a - b) for a, b in zip(scores["captious"], scores["pycocoevalcap"], strict=True)]
    print(f"largest difference from pycocoevalcap: corpus {differences[0]:.1e}, caption {max(differences[1:]):.1e}")
    return max(differences) <= TOLERANCE


def print_ahead_of_time(repeats: int) -> None:
    """Print the cost of the index, and then of a single caption on the command line."""
    with tempfile.TemporaryDirectory() as folder:
        captions = {"candidate": {"1": "a dog runs"}, "references": {"1": ["a dog is running fast"]}}
        files = [Path(folder) / f"{name}.json" for name in captions]
        for file, content in zip(files, captions.values(), strict=True):
            file.write_text(json.dumps(content), encoding="utf-8")
        rows = [["median (min to max)", "CPU s", "wall s", "peak memory, MiB"]]
        command_line = "import sys; from captious.cli import main; sys.argv = ['captious', *sys.argv[1:]]; main()"
        score = ["score", *map(str, files), "-m", "meteor", "--format", "json"]

        def time(label: str, arguments: list[str], *, fresh: bool) -> None:
            runs = []
            for turn in range(repeats):
                cache = Path(folder) / f"cache{turn if fresh else ''}"
                _, used = run_child(sys.executable, ["-c", command_line, *arguments], {"CAPTIOUS_CACHE": str(cache)})
                runs.append(used)
            columns = (spread([run[key] for run in runs], 0 if key == "peak" else 3) for key in ("cpu", "wall", "peak"))
            rows.append([f"{label} x{repeats}", *columns])

        time("captious resources build, nothing there", ["resources", "build", "meteor"], fresh=True)
        run_child(sys.executable, ["-c", command_line, *score], {"CAPTIOUS_CACHE": str(Path(folder) / "cache")})
        time("captious score, one caption, index there", score, fresh=False)
    print()
    print_table(rows)


def main() -> None:
    parser = common_options(__doc__, "pycocoevalcap")
    parser.add_argument("--system", default="1", choices=list("0123"), help="the Karpathy system")
    parser.add_argument("--threads", type=int, help="CAPTIOUS_THREADS; all cores unless given")
    parser.add_argument("--child", nargs=2, metavar=("SIDE", "SYSTEM"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        side, system = options.child
        return child(side, options.data, system)
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if min(options.repeats, options.peer_repeats) < 1:
        parser.error("measure each side at least once")
    threads = options.threads or os.environ.get("CAPTIOUS_THREADS") or "one per core"
    print(f"{machine()}; threads of captious: {threads}")
    print_ahead_of_time(options.repeats)
    if not measure(options):
        raise SystemExit("the scores of the two sides differ")


if __name__ == "__main__":
    main()
