"""Cost of a caption against its length, from 10 words to the 100 that are parsed as one sentence, or to any length.

    python benchmarks/caption_length.py [--metric METRIC ...] [--words N ...] [--plot FILE.png]
    python benchmarks/caption_length.py --long      5,000 captions of 100, 200 and 400 words, all metrics on text

Each metric and length runs in a fresh process, on one thread. README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import json
import sys
from itertools import islice
from pathlib import Path

from measurement import Candidates, References, Usage, default_data, machine, print_table, read_references, run_child

METRICS = ("bleu", "rouge-l", "cider-d", "meteor", "concur", "spice:parser=bundled", "spice:parser=corenlp")
WORDS = (10, 20, 30, 40, 60, 80, 100)
MOST = 2_000  # pairs of one run
#: What is measured of long captions: all metrics on text that do not parse a caption as one sentence.
LONG_METRICS = (
    *("bleu", "meteor", "rouge-l", "rouge-n", "rouge-s", "cider", "cider-d", "cider-r", "chrf", "chrf++", "sparcs"),
    *("yi2020-unigram", "ngram-precision", "unigram-recall", "length", "concur", "coverage", "coverage-cider"),
    *("spice:parser=bundled,split=sentences", "spider:parser=bundled,split=sentences"),
)
LONG_WORDS = (100, 200, 400)
LONG_MOST = 5_000
PARSED = 12_000_000  # cubed words of one run of a metric that parses in cubic time


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
    """Return the first words of captions, each a sentence."""
    sentences = [caption.strip().rstrip(".").split() for caption in captions]
    left, text = words, []
    for sentence in sentences:
        text.append(" ".join(sentence[:left]))
        left -= len(sentence)
        if left <= 0:
            break
    return ". ".join(text) + "."


def child(metric: str, data: Path, words: int, most: int) -> None:
    """One measured run of at most so many pairs: print CPU milliseconds per pair and MiB."""
    import warnings

    import captious

    warnings.simplefilter("ignore", captious.CaptiousWarning)  # of the approximate grammar
    n = most // 5 if metric in METRICS and metric.startswith("spice") else most
    if metric.endswith("corenlp"):
        n = min(n, PARSED // words**3)
    captious.score({0: "a dog"}, {0: ["a dog"]}, [metric])  # loads what the metric needs
    references, candidates = long_captions(data, words, n)
    usage = Usage()
    captious.score(candidates, references, [metric])
    usage.stop()
    print(json.dumps({"ms": 1000 * usage.cpu / n, "peak": usage.peak}))


def plot(costs: dict[str, list[float]], words: list[int], path: Path) -> None:
    """Draw the curves, on logarithmic axes."""
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
    parser.add_argument("--long", action="store_true", help="long captions, many of them, and more metrics")
    parser.add_argument("--metric", nargs="+", help="what is measured")
    parser.add_argument("--words", nargs="+", type=int, help="lengths")
    parser.add_argument("--pairs", type=int, help="pairs of a candidate and a reference in one run")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the curves, too (needs matplotlib)")
    parser.add_argument("--child", metavar="METRIC", help=argparse.SUPPRESS)
    options = parser.parse_args()
    metrics = options.metric or list(LONG_METRICS if options.long else METRICS)
    lengths = options.words or list(LONG_WORDS if options.long else WORDS)
    most = options.pairs or (LONG_MOST if options.long else MOST)
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if options.child:
        return child(options.child, options.data, lengths[0], most)
    print(f"{machine()}; threads: 1; CPU ms for a candidate and one reference (peak memory, MiB); {most:,} pairs\n")
    costs: dict[str, list[float]] = {}
    rows = [["words", *(f"{n}" for n in lengths), f"{lengths[-1]} : {lengths[0]}"]]
    for metric in metrics:
        cells, costs[metric] = [], []
        for words in lengths:
            sizes = ["--words", str(words), "--pairs", str(most)]
            arguments = [__file__, "--data", str(options.data), *sizes, "--child", metric]
            found, _ = run_child(sys.executable, arguments, {"CAPTIOUS_THREADS": "1"})
            costs[metric].append(found["ms"])
            cells.append(f"{found['ms']:,.3g} ({found['peak']:,.0f})")
        rows.append([metric, *cells, f"{costs[metric][-1] / costs[metric][0]:,.0f}"])
    print_table(rows)
    if options.plot:
        plot(costs, lengths, options.plot)


if __name__ == "__main__":
    main()
