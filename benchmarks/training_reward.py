"""Speed and memory of training rewards, in programs written as two well-known repositories compute them.

    python benchmarks/training_reward.py --peer-python PYTHON [--batches N] [--peer-batches N]

Both sides run the same functions, in turns, each time in a fresh process: below ``captious.compat.install`` with the
drop-in, and with the peer's own scorers and tokenizer. README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import itertools
import json
import multiprocessing
import pickle
import random
import sys
import tempfile
from collections import Counter, OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from measurement import (
    FIGURES,
    Usage,
    common_options,
    in_turns,
    machine,
    print_ratios,
    read_references,
    read_system,
    run_child,
    run_fresh,
    systems,
)

IMAGES, SAMPLES = 50, 5
TOLERANCE = 1e-12
PROGRAMS = {
    "ids": "self-critical training, ids of words: CIDEr-D and BLEU-4",
    "text": "self-critical training, raw captions through the tokenizer: CIDEr-D and BLEU-4",
    "meshed": "the meshed-memory transformer, raw captions through its pool of tokenizers: CIDEr-D",
}
SIDES = ("captious", "pycocoevalcap")


def as_text(ids: NDArray[np.int64]) -> str:
    """Return a sampled sequence as rewards see it: its ids up to the first 0, with it."""
    out = ""
    for each in ids:
        out += f"{each} "
        if each == 0:
            break
    return out.strip()


class SelfCritical:
    """The advantage of every sample over the greedy caption, as rewards.py of self-critical.pytorch computes it."""

    def __init__(self, df: str, tokenized: bool) -> None:
        self.cider = importlib.import_module("pyciderevalcap.ciderD.ciderD").CiderD(df=df)
        self.bleu = importlib.import_module("pycocoevalcap.bleu.bleu").Bleu(4)
        self.tokenizer = None
        if tokenized:
            self.tokenizer = importlib.import_module("pycocoevalcap.tokenizer.ptbtokenizer").PTBTokenizer()

    def __call__(self, batch: dict[str, Any]) -> NDArray[np.float64]:
        n = len(batch["references"])
        candidates = [*itertools.chain(*batch["samples"]), *batch["greedy"]]
        references = batch["references"]
        if self.tokenizer is None:
            res = OrderedDict((i, [as_text(ids)]) for i, ids in enumerate(candidates))
            groups = OrderedDict((i, [as_text(ids) for ids in group]) for i, group in enumerate(references))
        else:
            res = self.tokenizer.tokenize({i: [{"caption": text}] for i, text in enumerate(candidates)})
            raw = {i: [{"caption": text} for text in group] for i, group in enumerate(references)}
            groups = self.tokenizer.tokenize(raw)
        gts = {i: groups[i // SAMPLES] for i in range(n * SAMPLES)}
        gts.update({n * SAMPLES + i: groups[i] for i in range(n)})
        _, ciders = self.cider.compute_score(gts, [{"image_id": i, "caption": res[i]} for i in res])
        _, bleus = self.bleu.compute_score(gts, res)
        scores = ciders + np.array(bleus[3])
        advantages: NDArray[np.float64] = scores[: n * SAMPLES].reshape(n, SAMPLES) - scores[-n:][:, np.newaxis]
        return advantages

    def close(self) -> None:
        """Nothing to end."""


class MeshedMemory:
    """The rewards of all beams, as train.py of the meshed-memory transformer computes them."""

    def __init__(self, references: dict[int, list[str]]) -> None:
        self.evaluation = importlib.import_module("evaluation")
        self.cider = self.evaluation.Cider(references)
        self.pool = multiprocessing.Pool(2)

    def __call__(self, batch: dict[str, Any]) -> NDArray[np.float64]:
        generated = [*itertools.chain(*batch["samples"])]
        truth = [*itertools.chain(*([group] * SAMPLES for group in batch["references"]))]
        generated, truth = self.pool.map(self.evaluation.PTBTokenizer.tokenize, [generated, truth])
        scores: NDArray[np.float64] = self.cider.compute_score(truth, generated)[1]
        return scores.reshape(len(batch["references"]), SAMPLES)

    def close(self) -> None:
        """End the processes, whose CPU time counts from then on."""
        self.pool.close()
        self.pool.join()


def prepare(data: Path, folder: Path, batches: int) -> None:
    """Batches, and document frequencies of all references, in files."""
    from captious.compat.pycocoevalcap import PTBTokenizer

    references = read_references(data)
    sampled = [read_system(data, name) for name in systems(data)[: SAMPLES + 1]]
    images = sorted(references)
    random.Random(0).shuffle(images)
    raw = {image: [{"caption": text} for text in texts] for image, texts in references.items()}
    tokenized = PTBTokenizer().tokenize(raw)
    (folder / "references.json").write_text(json.dumps(tokenized))

    candidates = {i: [{"caption": text} for text in captions.values()] for i, captions in enumerate(sampled)}
    texts_of = {
        i: dict(zip(sampled[i], texts, strict=True)) for i, texts in PTBTokenizer().tokenize(candidates).items()
    }
    numbers: dict[str, int] = {}

    def ids(text: str) -> list[int]:
        return [*(numbers.setdefault(word, len(numbers) + 1) for word in text.split()), 0]

    for form in ("ids", "text"):
        made = []
        for start in range(0, batches * IMAGES, IMAGES):
            chosen = images[start : start + IMAGES]
            if form == "ids":
                groups: Any = [[ids(text) for text in tokenized[i]] for i in chosen]
                samples: Any = [[ids(texts_of[s][i]) for s in range(SAMPLES)] for i in chosen]
                greedy: Any = [ids(texts_of[SAMPLES][i]) for i in chosen]
            else:
                groups = [references[i] for i in chosen]
                samples = [[sampled[s][i] for s in range(SAMPLES)] for i in chosen]
                greedy = [sampled[SAMPLES][i] for i in chosen]
            made.append({"references": groups, "samples": samples, "greedy": greedy})
        (folder / f"{form}.json").write_text(json.dumps(made))
        counts = Counter(
            ngram for texts in tokenized.values() for ngram in ngrams_of(texts, ids if form == "ids" else str.split)
        )
        content = {"document_frequency": dict(counts), "ref_len": len(tokenized)}
        (folder / f"{form}.p").write_bytes(pickle.dumps(content))


def ngrams_of(texts: list[str], words_of: Any) -> set[tuple[str, ...]]:
    """Return the n-grams of a document, to order 4."""
    found: set[tuple[str, ...]] = set()
    for text in texts:
        words = [str(word) for word in words_of(text)]
        found.update(tuple(words[i : i + n]) for n in range(1, 5) for i in range(len(words) - n + 1))
    return found


def child(side: str, program: str, folder: Path, batches: int) -> None:
    """One measured run: print figures per batch, and the rewards."""
    with contextlib.redirect_stdout(sys.stderr):
        install(side)
        form = "ids" if program == "ids" else "text"
        data = json.loads((folder / f"{form}.json").read_text())[:batches]
        if form == "ids":  # as they come from a model and a data loader
            data = [{key: arrays(value) for key, value in batch.items()} for batch in data]
        reward: SelfCritical | MeshedMemory
        if program == "meshed":
            reward = MeshedMemory(json.loads((folder / "references.json").read_text()))
        else:
            reward = SelfCritical(str(folder / f"{form}.p"), tokenized=form == "text")
        reward(data[0])  # what is made once is made now
        usage = Usage()
        rewards = [reward(batch) for batch in data]
        reward.close()
        usage.stop()
    figures = {"cpu": usage.cpu / len(data), "wall": usage.wall / len(data), "peak": usage.peak}
    print(json.dumps({**figures, "scores": np.array(rewards).tolist()}))


def arrays(value: Any) -> Any:
    """Return lists of ids as arrays."""
    return np.array(value) if isinstance(value[0], int) else [arrays(each) for each in value]


def install(side: str) -> None:
    """Lead the names of the forks to the drop-in, or to the peer's own classes."""
    if side == "captious":
        import captious.compat

        for name in ("pycocoevalcap", "pyciderevalcap", "evaluation"):
            captious.compat.install(name)
        return
    classes: Any = importlib.import_module("toolkit_rewards")
    for name in ("pyciderevalcap", "pyciderevalcap.ciderD", "pyciderevalcap.ciderD.ciderD", "evaluation"):
        sys.modules[name] = classes


def measure(options: argparse.Namespace, program: str, folder: str) -> bool:
    """Return whether all rewards agree, after measuring both sides of one program."""
    scores: dict[str, Any] = {}
    batches = {"captious": options.batches, "pycocoevalcap": options.peer_batches}

    def run(side: str) -> dict[str, float]:
        arguments = [__file__, "--child", side, program, folder, str(batches[side])]
        figures = run_fresh(options, side, arguments, {"CAPTIOUS_THREADS": "1"})
        scores[side] = np.array(figures.pop("scores"))
        return figures

    measured = in_turns({"captious": options.repeats, "pycocoevalcap": options.peer_repeats}, run)
    print(f"\n{PROGRAMS[program]}; figures per batch")
    print_ratios(measured, {label: key for label, key in FIGURES.items() if "whole" not in label})
    n = min(batches.values())
    difference = np.abs(scores["captious"][:n] - scores["pycocoevalcap"][:n]).max()
    print(f"largest difference of a reward in {n} batches: {difference:.1e}")
    return bool(difference <= TOLERANCE)


def main() -> None:
    parser = common_options(__doc__, "pycocoevalcap")
    parser.add_argument("--batches", type=int, default=100, help="batches of a run of captious")
    parser.add_argument("--peer-batches", type=int, default=10, help="batches of a run of the peer")
    parser.add_argument("--program", choices=list(PROGRAMS), action="append", help="only this one; may be repeated")
    parser.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        if options.child[0] == "prepare":
            return prepare(options.data, Path(options.child[1]), int(options.child[2]))
        side, program, folder, batches = options.child
        return child(side, program, Path(folder), int(batches))
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    if min(options.repeats, options.peer_repeats, options.batches, options.peer_batches) < 1:
        parser.error("measure each side at least once")
    print(f"{machine()}; one thread; {IMAGES} images x {SAMPLES} samples, and the greedy captions")
    with tempfile.TemporaryDirectory() as folder:
        batches = max(options.batches, options.peer_batches)
        run_child(sys.executable, [__file__, "--data", str(options.data), "--child", "prepare", folder, str(batches)])
        agree = [measure(options, program, folder) for program in options.program or PROGRAMS]
    if not all(agree):
        raise SystemExit(f"rewards differ by more than {TOLERANCE}")


if __name__ == "__main__":
    main()
