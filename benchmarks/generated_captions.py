"""Any number of captions with references, generated shard by shard and never stored: those of val2014, varied.

Row i has image i mod 40,504 and, round by round, the candidate of another of the real systems. From the second round
over the same captions on, a word is left out, said twice, or replaced by a word of another candidate. References are
those of the image, five or so.
"""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from captious.scale import GeneratedShard, RowBatch

BATCH = 8192


@cache
def _corpus(folder: str) -> tuple[list[tuple[str, ...]], list[list[str]], list[str]]:
    """Return references by image, candidates by system and image, and words."""
    coco = Path(folder) / "coco"
    annotations = _read(coco / "captions_val2014.json.gz")["annotations"]
    references: dict[int, list[str]] = {}
    for each in annotations:
        references.setdefault(each["image_id"], []).append(each["caption"])
    systems = []
    for file in sorted((coco / "results_val2014").glob("*.json.gz")):
        candidates = {each["image_id"]: each["caption"] for each in _read(file)}
        systems.append([candidates[image] for image in references])
    words = sorted({word for caption in systems[0] for word in caption.split()})
    return [tuple(each) for each in references.values()], systems, words


def _read(file: Path) -> Any:
    with gzip.open(file) as content:
        return json.loads(content.read())


def rows(folder: str, begin: int, end: int, batch: int = BATCH) -> Iterator[RowBatch]:
    """Yield rows ``begin`` to ``end`` of the endless corpus, in batches."""
    references, systems, words = _corpus(folder)
    n = len(references)
    for start in range(begin, end, batch):
        numbers = range(start, min(start + batch, end))
        rng = random.Random(start)
        candidates = []
        for i in numbers:
            turn, image = divmod(i, n)
            candidate = systems[turn % len(systems)][image]
            if turn >= len(systems):
                candidate = _varied(candidate, words, rng)
            candidates.append(candidate)
        yield RowBatch(
            f"rows {begin:,} to {end:,}",
            "row",
            numbers,
            tuple(numbers),
            tuple(candidates),
            tuple(references[i % n] for i in numbers),
        )


def _varied(caption: str, words: list[str], rng: random.Random) -> str:
    said = caption.split()
    if not said:
        return caption
    place = int(rng.random() * len(said))
    what = rng.random()
    if what < 0.3:
        del said[place]
    elif what < 0.5:
        said.insert(place, said[place])
    else:
        said[place] = words[int(rng.random() * len(words))]
    return " ".join(said)


def shards(folder: Path, captions: int, rows_of_a_shard: int) -> list[GeneratedShard]:
    """Return the first so many captions, in shards."""
    return [
        GeneratedShard(f"rows-{begin:012}", rows, (str(folder), begin, min(begin + rows_of_a_shard, captions)))
        for begin in range(0, captions, rows_of_a_shard)
    ]
