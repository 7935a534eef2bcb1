"""chrF and the tokenizers for other languages beside sacrebleu, on 5,000 English and 1,014 German captions.

    python benchmarks/languages.py [--repeats N]

The two take turns, each run in a fresh process, on one thread. README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import sys
from itertools import zip_longest
from pathlib import Path

from measurement import Usage, common_options, in_turns, machine, print_table, read_karpathy, run_fresh

TOKENIZERS = ("13a", "intl", "char", "zh")
CHRF = {"chrf": 0, "chrf++": 2}


def read_german(data: Path) -> tuple[list[str], list[tuple[str, ...]]]:
    """Return the first of five German captions of an image, and the other four."""
    files = [(data / "multi30k" / f"val.{i}.de.gz").read_bytes() for i in range(1, 6)]
    candidates, *others = (gzip.decompress(file).decode().splitlines() for file in files)
    return candidates, list(zip(*others, strict=True))


def child(side: str, data: Path) -> dict[str, float]:
    """CPU seconds of one side for each tokenizer and metric, and the scores of the corpus."""
    references, candidates = read_karpathy(data, 1)
    english = [*candidates.values()], [*map(tuple, references.values())]
    captions = [text for texts in references.values() for text in texts]
    run = run_captious if side == "captious" else run_sacrebleu
    figures = run(captions, english)
    german = run([], read_german(data))
    return figures | {f"German {name}": value for name, value in german.items()}


def run_captious(captions: list[str], corpus: tuple[list[str], list[tuple[str, ...]]]) -> dict[str, float]:
    import captious
    from captious.native import Vocabulary
    from captious.text import as_tokenizer

    figures: dict[str, float] = {}
    for name in TOKENIZERS:
        tokenizer = as_tokenizer(name)
        tokenizer("a")  # what is loaded once
        usage = Usage()
        tokenizer.encode(captions, Vocabulary())
        figures[name] = usage.stop().cpu
    for name in CHRF:
        usage = Usage()
        metric = captious.Chrf(word_order=CHRF[name])
        sums = metric.statistics(captious.read_captions(*corpus)).sum(axis=0)
        figures[f"{name} score"] = float(metric.aggregate(sums)[0])
        figures[name] = usage.stop().cpu
    return figures


def run_sacrebleu(captions: list[str], corpus: tuple[list[str], list[tuple[str, ...]]]) -> dict[str, float]:
    import sacrebleu.metrics
    from sacrebleu.metrics.bleu import _get_tokenizer

    figures: dict[str, float] = {}
    for name in TOKENIZERS:
        tokenizer = _get_tokenizer(name)()
        usage = Usage()
        for caption in captions:
            tokenizer(caption.rstrip()).split()
        figures[name] = usage.stop().cpu
    for name in CHRF:
        usage = Usage()
        streams = [list(stream) for stream in zip_longest(*corpus[1])]
        figures[f"{name} score"] = (
            sacrebleu.metrics.CHRF(word_order=CHRF[name]).corpus_score(corpus[0], streams).score / 100
        )
        figures[name] = usage.stop().cpu
    return figures


def main() -> None:
    parser = common_options(__doc__, "sacrebleu", peer_repeats=5)
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if options.child:
        print(json.dumps(child(options.child, options.data)))
        return
    arguments = [__file__, "--data", str(options.data), "--child"]
    repeats = {"captious": options.repeats, "sacrebleu": options.peer_repeats}
    runs = in_turns(repeats, lambda side: run_fresh(options, side, [*arguments, side], {"CAPTIOUS_THREADS": "1"}))
    print(f"{machine()}; threads: 1; CPU seconds, medians of {options.repeats} and {options.peer_repeats} runs\n")
    rows = [["", *repeats, "ratio"]]
    for name in (*TOKENIZERS, *CHRF, *(f"German {name}" for name in CHRF)):
        ours, theirs = (statistics.median(run[name] for run in runs[side]) for side in repeats)
        rows.append([name, f"{ours:.3f}", f"{theirs:.3f}", f"{theirs / ours:.1f}"])
    print_table(rows)
    last = [runs[side][-1] for side in repeats]
    scores = [name for name in last[0] if name.endswith("score")]
    worst = max(abs(last[0][name] - last[1][name]) for name in scores)
    print(f"\nlargest difference of a corpus score: {worst:.1e}")
    sys.exit(worst > 1e-12)


if __name__ == "__main__":
    main()
