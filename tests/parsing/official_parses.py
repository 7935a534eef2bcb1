"""Parses of captions by the official program, from the shared data."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from captious.parsing.parses import Edge


class OfficialParse(NamedTuple):
    """Parse of a caption by the official program, without the tree."""

    words: tuple[str, ...]
    tags: tuple[str, ...]
    lemmas: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    collapsed: tuple[Edge, ...]


def official_parses(file: Path, limit: int | None = None) -> Iterator[OfficialParse]:
    """Yield the first parses of a file, all without a limit."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in islice(lines, limit):
            record = json.loads(line)
            basic = sorted(record["basic"], key=lambda edge: edge[1])
            size = len(record["word"])
            yield OfficialParse(
                tuple(record["word"]),
                tuple(record["tag"]),
                tuple(record["lemma"]),
                tuple(head for head, _, _ in basic),
                tuple(relation for _, _, relation in basic),
                tuple((_number(h, size), _number(d, size), r) for h, d, r in record["ccprocessed"]),
            )


def _number(word: float, size: int) -> int:
    """Return our number of a word; the data write 2.1 for the first copy of the second word."""
    whole = int(word)
    return whole + round((word - whole) * 10) * size
