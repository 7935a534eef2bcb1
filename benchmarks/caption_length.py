"""Cost of a caption against its length, from 10 words to the 100 that are parsed as one sentence.

    python benchmarks/caption_length.py [--metric METRIC ...] [--words N ...] [--plot FILE.png]

Each metric and length runs in a fresh process, on one thread. README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import islice
from pathlib import Path

from measurement import Candidates, References, Usage, default_data, machine, print_table, read_references, run_child

METRICS = ("bleu", "rouge-l", "cider-d", "meteor", "captious", "spice:parser=bundled", "spice:parser=corenlp")
WORDS = (10, 20, 30, 40, 60, 80, 100)
MOST = 2_000  # pairs of one run
PARSED = 12_000_000  # cubed words of one run of a metric that parses


def long_captions(data: Path, words: int, n: int) -> tuple[References, Candidates]:
    """Pairs of texts of a number of words: captions of an image, then of the next ones, as sentences one by one."""
    references: References = {}
    candidates: Candidates = {}
    every = list(islice(read_references(data).items(), 4 * n + 64))
    for place in range(0, 4 * n, 4):
        image = every[place][0]
        near = [captions for _, captions in every[place : place + 60]]
        candidates[image] = _text([caption for captions in near for caption in captions[0::2]], words)
        references[image] = [_text([caption for captions in near for caption in captions[1::2]], words)]
    return references, candidates


def _text(captions: list[str], words: int) -> str:
    """The first words of captions, each a sentence."""
    sentences = [caption.strip().rstrip(".").split() for caption in captions]
    left, text = words, []
    for sentence in sentences:
        text.append(" ".join(sentence[:left]))
        left -= len(sentence)
        if left <= 0:
            break
    return ". ".join(text) + "."


def child(metric: str, data: Path, words: int) -> None:
    """One measured run: print CPU milliseconds per pair and MiB."""
    import warnings

    import captious

    warnings.simplefilter("ignore", captious.CaptiousWarning)  # of the approximate grammar
    n = min(MOST // 5, PARSED // words**3) if metric.startswith("spice") else MOST
    captious.score({0: "a dog"}, {0: ["a dog"]}, [metric])  # loads what the metric needs
    references, candidates = long_captions(data, words, n)
    usage = Usage()
    captious.score(candidates, references, [metric])
    usage.stop()
    print(json.dumps({"ms": 1000 * usage.cpu / n, "peak": usage.peak}))


def plot(costs: dict[str, list[float]], words: list[int], path: Path) -> None:
    """The curves, on logarithmic axes."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6.4, 4), layout="constrained")
    for metric, values in costs.items():
        axes.plot(words, values, marker="o", markersize=3, label=metric)
    axes.set(xscale="log", yscale="log", xlabel="words per caption", ylabel="CPU ms per candidate and reference")
    axes.set_xticks(words, [str(n) for n in words])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=default_data(), help="folder of real captions")
    parser.add_argument("--metric", nargs="+", default=list(METRICS), help="what is measured")
    parser.add_argument("--words", nargs="+", type=int, default=list(WORDS), help="lengths")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the curves, too (needs matplotlib)")
    parser.add_argument("--child", metavar="METRIC", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if options.child:
        return child(options.child, options.data, options.words[0])
    print(f"{machine()}; threads: 1; CPU ms for a candidate and one reference (peak memory, MiB)\n")
    costs: dict[str, list[float]] = {}
    rows = [["words", *(f"{n}" for n in options.words), "100 : 10" if options.words == list(WORDS) else "last : first"]]
    for metric in options.metric:
        cells, costs[metric] = [], []
        for words in options.words:
            arguments = [__file__, "--data", str(options.data), "--words", str(words), "--child", metric]
            found, _ = run_child(sys.executable, arguments, {"CAPTIOUS_THREADS": "1"})
            costs[metric].append(found["ms"])
            cells.append(f"{found['ms']:,.3g} ({found['peak']:,.0f})")
        rows.append([metric, *cells, f"{costs[metric][-1] / costs[metric][0]:,.0f}"])
    print_table(rows)
    if options.plot:
        plot(costs, options.words, options.plot)


if __name__ == "__main__":
    main()
