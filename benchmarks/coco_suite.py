"""Speed and memory of the COCO metrics compared with pycocoevalcap: PTB tokens, BLEU, ROUGE-L, CIDEr-D, raw captions.

    python benchmarks/coco_suite.py --peer-python PYTHON [--full] [--threads N]

Both sides run in one go, in turns, each time in a fresh process that has read the captions before the clock starts.
README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import array
import contextlib
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from measurement import (
    FIGURES,
    Candidates,
    References,
    Usage,
    common_options,
    in_turns,
    machine,
    print_ratios,
    print_table,
    read_karpathy,
    read_references,
    read_system,
    run_child,
    run_fresh,
    spread,
    systems,
)

OUTPUTS = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d")
TOLERANCE = 1e-12

#: Corpus scores, and caption scores one output after the other; both in the order of OUTPUTS.
Scores = tuple[list[float], list[Any]]
#: Takes captions, gets them ready in the form that the side's interface wants, and returns what is to be measured.
Side = Callable[[References, Candidates], Callable[[], Scores]]


def captious_side() -> Side:
    from captious import Bleu, CiderD, RougeL, score

    metrics = [Bleu(), RougeL(), CiderD()]

    def prepare(references: References, candidates: Candidates) -> Callable[[], Scores]:
        def run() -> Scores:
            report = score(candidates, references, metrics)
            return [report[name].score for name in OUTPUTS], [report[name].per_caption for name in OUTPUTS]

        return run

    return prepare


def peer_side(*, apart: bool = False) -> Side:
    """pycocoevalcap as it comes; or with a word between captions, so that none is cut by what the next one says."""
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    def annotations(captions: References) -> dict[int, list[dict[str, str]]]:
        words = ("x",) if apart else ()
        return {
            image: [{"caption": each} for text in texts for each in (text, *words)] for image, texts in captions.items()
        }

    def prepare(references: References, candidates: Candidates) -> Callable[[], Scores]:
        raw_gts, raw_res = annotations(references), annotations({i: [candidates[i]] for i in references})

        def run() -> Scores:
            tokenizer = PTBTokenizer()
            gts, res = tokenizer.tokenize(raw_gts), tokenizer.tokenize(raw_res)
            if apart:
                gts, res = ({image: texts[::2] for image, texts in captions.items()} for captions in (gts, res))
            bleu, bleu_per_image = Bleu(4).compute_score(gts, res, verbose=0)
            rouge, rouge_per_image = Rouge().compute_score(gts, res)
            cider, cider_per_image = Cider().compute_score(gts, res)
            return [*bleu, rouge, cider], [*bleu_per_image, rouge_per_image, cider_per_image]

        return run

    return prepare


SIDES = {"captious": captious_side, "pycocoevalcap": peer_side}
APART = "pycocoevalcap, captions apart"


def child(side: str, data: Path, job: str, scores_file: Path) -> None:
    """One measured run: print the figures, write the scores."""
    with contextlib.redirect_stdout(sys.stderr):
        prepare = peer_side(apart=True) if side == APART else SIDES[side]()
        if job.isdecimal():
            references, candidates = read_karpathy(data, int(job))
        else:
            references, candidates = read_references(data), read_system(data, job)
        run = prepare(references, candidates)
        usage = Usage()
        corpus, per_caption = run()
        usage.stop()
    with scores_file.open("wb") as file:
        array.array("d", [*map(float, corpus), *itertools.chain.from_iterable(per_caption)]).tofile(file)
    print(json.dumps({**usage.values(), "captions": len(references)}))


def compare(job: str, options: argparse.Namespace) -> bool:
    """Measure both sides on one system and print it; whether all scores agree."""
    scores: dict[str, array.array[float]] = {}

    def run(side: str) -> dict[str, float]:
        figures, scores[side] = run_side(side, job, options)
        return figures

    measured = in_turns({"captious": options.repeats, "pycocoevalcap": options.peer_repeats}, run)
    n = int(measured["captious"][0]["captions"])
    print(f"\n{'Karpathy system ' if job.isdecimal() else 'val2014, '}{job}: {n:,} images")
    print_ratios(measured, FIGURES)
    if agree("pycocoevalcap", scores["captious"], scores["pycocoevalcap"], n):
        return True
    _, scores[APART] = run_side(APART, job, options)
    return agree(APART, scores["captious"], scores[APART], n)


def run_side(side: str, job: str, options: argparse.Namespace) -> tuple[dict[str, float], array.array[float]]:
    """Run once in a fresh process; return figures from inside and outside, and the scores."""
    environment = {"CAPTIOUS_THREADS": str(options.threads)} if options.threads else {}
    scores = array.array("d")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scores"
        arguments = [__file__, "--data", str(options.data), "--child", side, job, str(file)]
        figures = run_fresh(options, side, arguments, environment)
        scores.frombytes(file.read_bytes())
    return figures, scores


def agree(peer: str, ours: array.array[float], theirs: array.array[float], n: int) -> bool:
    """Return whether all scores agree, after printing the differences."""
    k = len(OUTPUTS)
    assert len(ours) == len(theirs) == k + k * n
    differences = [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    corpus, per_caption = max(differences[:k]), max(differences[k:])
    different = {i % n for i, difference in enumerate(differences[k:]) if difference > TOLERANCE}
    print(f"largest difference from {peer}: corpus {corpus:.1e}, caption {per_caption:.1e}", end="; ")
    print(f"{len(different):,} captions differ by more than {TOLERANCE:g}")
    return corpus <= TOLERANCE and not different


def print_import_times(repeats: int) -> None:
    """Time from before to after an import, in fresh processes."""
    rows = [["import, wall s: median (min to max)", f"x{repeats}"]]
    for label, statement in {
        "import captious": "import captious",
        "from captious import score": "from captious import score",
    }.items():
        program = (
            "import json, time; start = time.perf_counter()\n"
            f"{statement}\nprint(json.dumps(time.perf_counter() - start))"
        )
        rows.append([label, spread([run_child(sys.executable, ["-c", program])[0] for _ in range(repeats)])])
    print()
    print_table(rows)


def main() -> None:
    parser = common_options(__doc__, "pycocoevalcap")
    parser.add_argument("--system", default="1", choices=list("0123"), help="the Karpathy system")
    parser.add_argument(
        "--full", nargs="?", const="vinyals-et-al-2017", metavar="SYSTEM", help="also a system on all of val2014"
    )
    parser.add_argument("--threads", type=int, help="CAPTIOUS_THREADS; all cores unless given")
    parser.add_argument("--child", nargs=3, metavar=("SIDE", "JOB", "FILE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        side, job, file = options.child
        return child(side, options.data, job, Path(file))
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if min(options.repeats, options.peer_repeats) < 1:
        parser.error("measure each side at least once")
    if options.full and options.full not in systems(options.data):
        parser.error(f"no system {options.full}; there are {', '.join(systems(options.data))}")
    threads = options.threads or os.environ.get("CAPTIOUS_THREADS") or "one per core"
    print(f"{machine()}; threads of captious: {threads}")
    print_import_times(2 * options.repeats)
    jobs = [options.system, *([options.full] if options.full else [])]
    if not all(compare(job, options) for job in jobs):
        raise SystemExit("the scores of the two sides differ")


if __name__ == "__main__":
    main()
