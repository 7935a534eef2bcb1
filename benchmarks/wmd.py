"""Speed and memory of WMD compared with a loop over gensim's ``wmdistance``, on the same vectors and captions.

    python benchmarks/wmd.py [--peer-python PYTHON] [--system N] [--threads N] [--variant lceval]

Both sides get raw captions and all references, in turns, each time in a fresh process that has read the vectors before
the clock starts. README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measurement import FIGURES, Usage, common_options, in_turns, machine, print_ratios, read_karpathy, run_fresh

TOLERANCE = 1e-6
SIDES = ("captious", "gensim")
SECONDS = 2.0

#: From candidates and references, both as lists in the order of images, to scores.
Score = Callable[[list[str], list[list[str]]], list[float]]


def prepare_captious(options: argparse.Namespace) -> Score:
    from captious import Wmd, WordVectors, read_captions

    metric = Wmd(vectors=WordVectors.open(options.vectors), variant=options.variant)

    def score(candidates: list[str], references: list[list[str]]) -> list[float]:
        scores: list[float] = metric.scores(read_captions(candidates, references)).tolist()
        return scores

    return score


def prepare_gensim(options: argparse.Namespace) -> Score:
    import numpy as np
    import ot  # noqa: F401  # which wmdistance imports when it is first called
    from gensim.models import KeyedVectors

    logging.disable(logging.WARNING)
    vectors: Any = KeyedVectors.load_word2vec_format(str(options.vectors), binary=False, no_header=True)
    norm = options.variant == "lceval"
    if norm:
        vectors.fill_norms()

    def score(candidates: list[list[str]], references: list[list[list[str]]]) -> list[float]:
        return [
            float(np.exp(-min(vectors.wmdistance(candidate, reference, norm=norm) for reference in of_image)))
            for candidate, of_image in zip(candidates, references, strict=True)
        ]

    return score  # type: ignore[return-value]  # tokens in place of captions: the peer has no tokenizer


def tokenized(candidates: list[str], references: list[list[str]]) -> tuple[list[list[str]], list[list[list[str]]]]:
    """Return content words, for the peer, which is not charged for them."""
    from captious.text import PTB
    from captious.text.stop_words import NLTK_STOP_WORDS

    def words(caption: str) -> list[str]:
        return [token for token in PTB(caption) if token not in NLTK_STOP_WORDS]

    return [words(text) for text in candidates], [[words(text) for text in texts] for texts in references]


def child(options: argparse.Namespace, side: str) -> None:
    """One measured run: print figures and scores."""
    found, of_system = read_karpathy(options.data, options.system)
    candidates, references = [of_system[image] for image in found], [*found.values()]
    given: tuple[Any, Any] = candidates, references
    if side == "gensim":
        given = json.loads(options.tokens.read_text(encoding="utf-8"))
    score = (prepare_captious if side == "captious" else prepare_gensim)(options)
    usage = Usage()
    scores = score(*given)
    usage.stop()
    print(json.dumps({**usage.values(), "scores": scores}))


def measure(options: argparse.Namespace) -> bool:
    """Return whether all scores agree, after measuring both sides."""
    scores: dict[str, list[float]] = {}
    passed = ["--data", str(options.data), "--vectors", str(options.vectors), "--tokens", str(options.tokens)]
    passed += ["--system", str(options.system), "--variant", options.variant]
    environment = dict.fromkeys(("OMP_NUM_THREADS", "CAPTIOUS_THREADS"), str(options.threads))

    def run(side: str) -> dict[str, float]:
        figures = run_fresh(options, side, [__file__, *passed, "--child", side], environment)
        scores[side] = figures.pop("scores")
        return figures

    measured = in_turns({"captious": options.repeats, "gensim": options.peer_repeats}, run)
    print(f"\nKarpathy system {options.system}, {len(scores['captious']):,} images, variant {options.variant}")
    print_ratios(measured, FIGURES)
    largest = max(abs(a - b) for a, b in zip(scores["captious"], scores["gensim"], strict=True))
    print(f"largest difference from gensim: {largest:.1e}")
    return largest <= TOLERANCE


def print_rates(options: argparse.Namespace) -> None:
    """Pairs of captions per CPU second, from raw captions on, each time as if they had never been seen."""
    from captious import Mowe, Wembsim, Wmd, WordVectors, read_captions

    found, of_system = read_karpathy(options.data, options.system)
    vectors = WordVectors.open(options.vectors)
    print("\npairs of candidate and reference per CPU second")
    for metric in (
        Wmd(vectors=vectors),
        Wmd(vectors=vectors, variant="lceval"),
        Mowe(vectors=vectors),
        Wembsim(vectors=vectors),
    ):
        rates: list[float] = []
        until = time.perf_counter() + SECONDS
        while time.perf_counter() < until:
            captions = read_captions(of_system, found)
            start = time.process_time()
            metric.scores(captions)
            rates.append(len(captions.references.texts) / (time.process_time() - start))
        rates.sort()
        middle = rates[len(rates) // 2]
        print(f"{metric.name}@{metric.variant}: {middle:,.0f} ({rates[0]:,.0f} to {rates[-1]:,.0f})")


def main() -> None:
    parser = common_options(__doc__, "gensim and POT")
    parser.add_argument("--vectors", type=Path, help="GloVe text; default: the shared ones")
    parser.add_argument("--system", type=int, default=1, choices=range(4), help="the Karpathy system")
    parser.add_argument("--variant", default="mtanti", choices=["mtanti", "lceval"])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--child", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.vectors = options.vectors or options.data / "vectors" / "glove_100d_captions.txt.gz"
    if options.child:
        return child(options, options.child)
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    print(f"{machine()}; threads: {options.threads}")
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        found, of_system = read_karpathy(options.data, options.system)
        options.tokens = Path(folder) / "tokens.json"
        tokens = tokenized([of_system[image] for image in found], [*found.values()])
        options.tokens.write_text(json.dumps(tokens), encoding="utf-8")
        agree = measure(options)
    print_rates(options)
    if not agree:
        raise SystemExit("the scores of the two sides differ")


if __name__ == "__main__":
    main()
