"""Speed and memory of SPICE, with each grammar that is on this machine.

    python benchmarks/spice.py [--threads N] [--system 0]
    python benchmarks/spice.py --debris

Raw captions of a Karpathy system to scores, each run in a fresh process. README.md beside this file says what is
measured, and why the official program is not run for comparison. With --debris, captions end in a hundred tokens of
models, brackets and so on, and the CPU seconds of the bundled grammar are compared with those of captions that end in a
hundred ordinary words.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path

from measurement import Usage, default_data, machine, print_table, read_karpathy, run_child, spread

#: Captions per second and core of CoreNLP 3.6.0 with SPICE's official annotators, warm, without its cache of parses.
OFFICIAL_RATE = 22


def child(grammar: str, data: Path, system: int) -> None:
    """One measured run: print figures and the corpus score."""
    import warnings

    import captious

    warnings.simplefilter("ignore", captious.CaptiousWarning)  # of the approximate grammar
    references, candidates = read_karpathy(data, system)
    usage = Usage()
    report = captious.score(candidates, references, ["spice"], settings=captious.Settings(parser=grammar))
    usage.stop()
    captions = {*candidates.values(), *(text for texts in references.values() for text in texts)}
    print(json.dumps({**usage.values(), "score": report["spice"].score, "captions": len(captions)}))


#: What captions end in, by name.
DEBRIS = {
    "<pad>": "<pad>", "</s>": "</s>", "<|im_end|>": "<|im_end|>", "(": "(", "()": "( )", "[": "[", "*": "*", "$": "$",
    "#": "#", "&amp;": "&amp;", "bytes": "Ġa Ġdog", "pieces": "▁a ▁dog", "unknown": "qwrtz bvcxy plkjh",
    "Chinese": "狗", "digits": "1 22 333 4444", "repeated noun": "dog",
}  # fmt: skip


def debris(captions: Sequence[str], n_words: int = 100) -> None:
    """Print CPU seconds for captions that end in ordinary words, and in debris."""
    import warnings

    import captious

    warnings.simplefilter("ignore", captious.CaptiousWarning)
    ordinary = " ".join(captions).rstrip(".").split()[:n_words]
    endings = {"ordinary words": " ".join(ordinary)}
    endings |= {name: " ".join((text.split() * n_words)[:n_words]) for name, text in DEBRIS.items()}
    settings = captious.Settings(parser="bundled")
    captious.score(["a dog"], [["a cat"]], ["spice"], settings=settings)  # loads the grammar
    rows, seconds = [["100 captions and 100 words each", "CPU s", "ratio"]], {}
    for name, ending in endings.items():
        usage = Usage()
        candidates = [f"{caption} {ending}" for caption in captions[:100]]
        captious.score(candidates, [[caption] for caption in captions[:100]], ["spice"], settings=settings)
        usage.stop()
        seconds[name] = usage.values()["cpu"]
        rows.append([name, f"{seconds[name]:.2f}", f"{seconds[name] / seconds['ordinary words']:.2f}"])
    print_table(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--system", type=int, default=0, choices=range(4), help="the Karpathy system")
    parser.add_argument("--threads", type=int, default=1, help="CAPTIOUS_THREADS")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--debris", action="store_true", help="captions that end in tokens of models, brackets, ...")
    parser.add_argument("--child", metavar="GRAMMAR", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child, options.data, options.system)
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if options.debris:
        return debris([*read_karpathy(options.data, options.system)[1].values()])
    from captious.resources import corenlp

    grammars = ["bundled"] if corenlp.find() is None else ["corenlp", "bundled"]
    print(f"{machine()}; threads: {options.threads}; Karpathy system {options.system}, 4 references")
    rows = [["median (min to max)", *grammars]]
    found: dict[str, list[dict[str, float]]] = {grammar: [] for grammar in grammars}
    for _ in range(options.repeats):
        for grammar in grammars:
            arguments = [__file__, "--data", str(options.data), "--system", str(options.system), "--child", grammar]
            inside, whole = run_child(sys.executable, arguments, {"CAPTIOUS_THREADS": str(options.threads)})
            found[grammar].append({**inside, "whole": whole["cpu"]})
    for label, key, digits in (
        ("distinct captions", "captions", 0),
        ("scoring, CPU s", "cpu", 2),
        ("scoring, wall s", "wall", 2),
        ("whole process, CPU s", "whole", 2),
        ("peak memory, MiB", "peak", 0),
        ("corpus score", "score", 4),
    ):
        rows.append([label, *(spread([run[key] for run in found[grammar]], digits) for grammar in grammars)])
    medians = [statistics.median(run["captions"] / run["cpu"] for run in found[grammar]) for grammar in grammars]
    rows.append(["captions per CPU s", *(f"{rate:,.0f}" for rate in medians)])
    rows.append([f"over the official {OFFICIAL_RATE} a second", *(f"{rate / OFFICIAL_RATE:,.1f}" for rate in medians)])
    print_table(rows)


if __name__ == "__main__":
    main()
