"""Parses for tests: written by hand, and those that the official program made of real captions."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from captious.parsing.parse_files import read_json_lines
from captious.parsing.parses import Edge, Parse

#: Captions of the evaluation sets, and of the treebank.
GOLD, TREEBANK = "gold_parses.jsonl.gz", "treebank.jsonl.gz"


def parse(text: str, dependencies: str) -> Parse:
    """Return a parse: words like dogs/NNS/dog (the lemma is optional), dependencies like ``3<2:nsubj``, head first."""
    parts = [word.split("/") for word in text.split()]
    edges: list[Edge] = []
    for dependency in dependencies.split():
        numbers, _, relation = dependency.partition(":")
        head, _, dependent = numbers.partition("<")
        edges.append((int(head), int(dependent), relation))
    words, tags, lemmas = (tuple(part[i % len(part) if i < 2 else 2 % len(part)] for part in parts) for i in range(3))
    return Parse(words, tags, lemmas, (0,) * len(parts), ("dep",) * len(parts), tuple(edges))


def records(shared_data: Path, name: str, n: int | None = None) -> Iterator[tuple[dict[str, Any], Parse]]:
    """Yield captions with what the official program says of them, and their parses."""
    with gzip.open(shared_data / "spice" / name, "rt", encoding="utf-8") as lines:
        for line in islice(lines, n):
            record = json.loads(line)
            ((_, parsed, _),) = read_json_lines([line], name)
            yield record, parsed


def gold_parses(shared_data: Path, captions: set[str]) -> dict[str, Parse]:
    """Return the official program's parses of these captions."""
    written = {json.dumps(caption, ensure_ascii=False) for caption in captions}
    with gzip.open(shared_data / "spice" / GOLD, "rt", encoding="utf-8") as lines:
        chosen = [line for line in lines if line[len('{"caption":') : line.index(',"source"')] in written]
    return {caption: parsed for caption, parsed, _ in read_json_lines(chosen, GOLD)}


class KnownParses:
    """A source of parses that were made before; it counts what it is asked for."""

    label = "known"

    def __init__(self, parses: dict[str, Parse]) -> None:
        self.parses = parses
        self.asked: list[str] = []

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> list[Parse]:
        texts = [" ".join(sentence) for sentence in words]
        self.asked += texts
        return [self.parses[text] for text in texts]
