"""Speed of the reward form of CIDEr-D: captions per second on one core, against pycocoevalcap's Cider, tokenized text.

    python benchmarks/reward.py --peer-python PYTHON

README.md beside this file says what is measured.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import captious
from measurement import (
    References,
    common_options,
    machine,
    print_table,
    read_references,
    read_system,
    run_child,
    spread,
    systems,
)

SIZES = (512, 5120)
TOKENIZERS = ("ptb", "whitespace")
#: Seconds that one figure is measured for.
SECONDS = 1.0

#: Images and their captions, equally many.
Batch: TypeAlias = tuple[list[int], list[str]]


def captious_rates(data: Path, folder: Path, repeats: int) -> dict[str, list[float]]:
    """Captions per second of the reward, for every tokenizer and size of batch; leaves tokenized text for the peer."""
    from captious import CiderD, DocumentFrequencies, read_captions
    from captious.text import as_tokenizer

    references, captions = read_references(data), pool(data)
    rates: dict[str, list[float]] = {}
    for name in TOKENIZERS:
        if name == "whitespace":
            references, captions = tokenized(references, captions)
            (folder / "tokenized.json").write_text(json.dumps([list(references.items()), captions]))
        idf = folder / f"{name}.idf"
        DocumentFrequencies.of(references, as_tokenizer(name)).save(idf)
        metric = CiderD(idf=idf, tokenizer=name)
        scorer = captious.reward(references, metric)

        one_each = dict(zip(*captions, strict=True))
        beside = read_captions(one_each, {image: references[image] for image in one_each})
        if (scorer(beside.ids, beside.candidates) != metric.scores(beside)).any():
            raise SystemExit("the reward is not the score")

        for size in SIZES:
            batches = endless(captions, size)
            scorer(*next(batches))
            rates[f"{name} {size}"] = [rate(scorer, batches, size) for _ in range(repeats)]
    return rates


def tokenized(references: References, captions: Batch) -> tuple[References, Batch]:
    """Return the same with PTB tokens, a space between each."""
    from captious.compat.pycocoevalcap import PTBTokenizer

    tokenizer = PTBTokenizer()
    texts = tokenizer.tokenize({image: [{"caption": text} for text in texts] for image, texts in references.items()})
    candidates = tokenizer.tokenize({0: [{"caption": text} for text in captions[1]]})
    return texts, (captions[0], candidates[0])


def peer_rates(data: Path, folder: Path, repeats: int) -> dict[str, list[float]]:
    """Return captions per second of the peer, batch by batch, on tokenized text."""
    from pycocoevalcap.cider.cider import Cider

    items, captions = json.loads((folder / "tokenized.json").read_text())
    references = dict(items)

    def reward(images: list[int], captions: list[str]) -> object:
        # An image may come several times, so the caption is the key.
        gts = {i: references[image] for i, image in enumerate(images)}
        return Cider().compute_score(gts, {i: [caption] for i, caption in enumerate(captions)})

    rates: dict[str, list[float]] = {}
    for size in SIZES:
        batches = endless(captions, size)
        rates[f"whitespace {size}"] = [rate(reward, batches, size) for _ in range(repeats)]
    return rates


def pool(data: Path) -> Batch:
    """Return all captions of all systems, shuffled."""
    pairs = [pair for system in systems(data) for pair in read_system(data, system).items()]
    random.Random(0).shuffle(pairs)
    return [image for image, _ in pairs], [caption for _, caption in pairs]


def endless(everything: Batch, size: int) -> Iterator[Batch]:
    """Batch after batch; from the start again when all captions were used."""
    images, captions = everything
    while True:
        for start in range(0, len(images) - size + 1, size):
            yield images[start : start + size], captions[start : start + size]


def rate(reward: Callable[[list[int], list[str]], object], batches: Iterator[Batch], size: int) -> float:
    """Return captions per CPU second."""
    n, used, begun = 0, 0.0, time.perf_counter()
    while n == 0 or time.perf_counter() - begun < SECONDS:
        batch = next(batches)
        start = time.process_time()
        reward(*batch)
        used += time.process_time() - start
        n += size
    return n / used


SIDES = {"captious": captious_rates, "pycocoevalcap": peer_rates}


def main() -> None:
    parser = common_options(__doc__, "pycocoevalcap")
    parser.add_argument("--child", nargs=3, metavar=("SIDE", "FOLDER", "REPEATS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        side, folder, repeats = options.child
        print(json.dumps(SIDES[side](options.data, Path(folder), int(repeats))))
        return
    if not options.data.is_dir():
        parser.error(f"no shared data in {options.data}")
    print(f"{machine()}; one thread\n")
    one_thread = dict.fromkeys(("CAPTIOUS_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    with tempfile.TemporaryDirectory() as folder:

        def measure(python: str, side: str, repeats: int) -> dict[str, list[float]]:
            arguments = [__file__, "--data", str(options.data), "--child", side, folder, str(repeats)]
            rates: dict[str, list[float]] = run_child(python, arguments, one_thread)[0]
            return rates

        ours = measure(sys.executable, "captious", options.repeats)
        theirs = measure(options.peer_python, "pycocoevalcap", options.peer_repeats)
    rows = [["captions per CPU second: median (min to max)", f"captious x{options.repeats}"]]
    rows[0].append(f"pycocoevalcap x{options.peer_repeats}")
    for tokenizer in TOKENIZERS:
        for size in SIZES:
            key = f"{tokenizer} {size}"
            rows.append([f"{tokenizer}, batches of {size:,}", spread(ours[key], 0)])
            rows[-1].append(spread(theirs[key], 0) if key in theirs else "")
    print_table(rows)


if __name__ == "__main__":
    main()
