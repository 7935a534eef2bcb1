"""The captions that the bundled grammar is learned from, as words; none of them describes an image of an evaluation.

The official parses of training captions (COCO train2014, Flickr8k), captions of COCO val2014 by people and by nine
published systems, and those of Multi30k. Images of evaluation sets are left out: those that
``coco/evaluation_images.json.gz`` lists, and those of Flickr8k and Composite in Multi30k.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

from captious.text import PTB
from captious.text.tokens import Tokens

__all__ = ["other_captions", "treebank_captions"]

_LONGEST = 60


def treebank_captions(data: Path) -> list[tuple[str, ...]]:
    """Return the words of each caption of the treebank."""
    return [tuple(record["word"]) for record in _rows(data / "spice" / "treebank.jsonl.gz")]


def other_captions(data: Path) -> list[tuple[str, ...]]:
    """Return distinct captions of other images, in the order of their words."""
    texts = [*_coco(data / "coco"), *_multi30k(data)]
    tokens = Tokens.of(texts, PTB).split()
    vocabulary, ids = tokens.vocabulary.words(), tokens.ids.tolist()
    offsets = tokens.offsets.tolist()
    sentences = {tuple(vocabulary[i] for i in ids[start:end]) for start, end in pairwise(offsets)}
    judged = {tuple(record["word"]) for record in _rows(data / "spice" / "gold_parses.jsonl.gz")}
    return sorted(words for words in sentences - judged if 0 < len(words) <= _LONGEST)


def _coco(folder: Path) -> Iterator[str]:
    evaluated = set(_read(folder / "evaluation_images.json.gz"))
    files = sorted((folder / "results_val2014").glob("*.json.gz"))
    for records in (_read(folder / "captions_val2014.json.gz")["annotations"], *map(_read, files)):
        yield from (record["caption"] for record in records if record["image_id"] not in evaluated)


def _multi30k(data: Path) -> Iterator[str]:
    judged = {
        _number(record["image"])
        for file in (data / "flickr8k" / "captions.jsonl.gz", data / "composite" / "composite.jsonl.gz")
        for record in _rows(file)
    }
    for part in ("train", "val"):
        images = (data / "multi30k" / f"{part}_images.txt").read_text("utf-8").split()
        for number in range(1, 6):
            with gzip.open(data / "multi30k" / f"{part}.{number}.en.gz", "rt", encoding="utf-8") as lines:
                for image, line in zip(images, lines, strict=True):
                    if _number(image) not in judged:
                        yield line.rstrip("\n")


def _number(image: object) -> str:
    """Return the number that begins the name of an image of Flickr."""
    return str(image).split(".")[0].split("_")[0]


def _read(file: Path) -> Any:
    with gzip.open(file, "rt", encoding="utf-8") as stream:
        return json.load(stream)


def _rows(file: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)
