"""Speed and memory of the metrics that are trained, on a system on all of val2014.

    python benchmarks/learned.py [--metric concur lceval] [--threads N] [--vectors FILE]

Raw captions to scores, features included, each run in a fresh process. README.md beside this file says what is
measured; the peer is CIDEr-D of captious, the classic metric that costs least.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from measurement import (
    FIGURES,
    Usage,
    default_data,
    in_turns,
    machine,
    print_ratios,
    read_references,
    read_system,
    run_child,
    systems,
)

PEER = "cider-d"


def child(metric: str, data: Path, system: str, vectors: str | None) -> None:
    """One measured run: print figures and the corpus score."""
    import warnings

    import captious

    warnings.simplefilter("ignore", captious.CaptiousWarning)  # of the approximate grammar
    references, candidates = read_references(data), read_system(data, system)
    needs_vectors = vectors is not None and metric in ("nneval", "lceval")
    settings = captious.Settings(vectors=vectors if needs_vectors else None)
    usage = Usage()
    report = captious.score(candidates, references, [metric], settings=settings)
    usage.stop()
    print(json.dumps({**usage.values(), "score": report[metric].score}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--metric", nargs="+", default=["concur", "nneval", "lceval"], help="what is measured")
    parser.add_argument("--system", help="name of a system on val2014; default: the first")
    parser.add_argument("--vectors", help="word vectors; default: those of the shared data")
    parser.add_argument("--threads", type=int, default=2, help="CAPTIOUS_THREADS")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--child", metavar="METRIC", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    system = options.system or systems(options.data)[0]
    vectors = options.vectors or str(options.data / "vectors" / "glove_100d_captions.txt.gz")
    if options.child:
        return child(options.child, options.data, system, vectors)
    print(f"{machine()}; threads: {options.threads}; {system}: 40,504 captions, up to 5 references each")

    def run(metric: str) -> dict[str, float]:
        arguments = [__file__, "--data", str(options.data), "--system", system, "--vectors", vectors, "--child", metric]
        inside, whole = run_child(sys.executable, arguments, {"CAPTIOUS_THREADS": str(options.threads)})
        return {**inside, **{f"whole {name}": value for name, value in whole.items()}}

    for metric in options.metric:
        print(f"\n{metric} and {PEER}")
        print_ratios(in_turns({PEER: options.repeats, metric: options.repeats}, run), FIGURES)


if __name__ == "__main__":
    main()
