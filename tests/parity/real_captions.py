"""Captions and references of the shared data, by the names of their sources."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

#: What counts as a space here, and would make the official program see two captions.
CONTROL = re.compile("[\x00-\x08\x0a-\x1f\x7f\u2028\u2029]")

SOURCES = ("val2014", "results", "flickr8k", "composite", "pascal50s", "wmt16")


def read_json(path: Path) -> Any:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return json.load(file)


def read_lines(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return [json.loads(line) for line in file]


def captions(data: Path, source: str) -> list[str]:
    """Return distinct captions of a source, line breaks and control characters turned into spaces."""
    return list(dict.fromkeys(CONTROL.sub(" ", caption) for caption in _captions(data, source)))


def _captions(data: Path, source: str) -> Iterator[str]:
    if source == "val2014":
        yield from (
            record["caption"] for record in read_json(data / "coco" / "captions_val2014.json.gz")["annotations"]
        )
    elif source == "results":
        for path in sorted((data / "coco" / "results_val2014").glob("*.json.gz")):
            yield from (record["caption"] for record in read_json(path))
    elif source == "flickr8k":
        for record in read_lines(data / "flickr8k" / "expert.jsonl.gz"):
            yield from (record["candidate"], *record["refs"])
        yield from (record["candidate"] for record in read_lines(data / "flickr8k" / "crowdflower.jsonl.gz"))
        yield from _flat(read_json(data / "flickr8k" / "crowdflower_refs.json.gz").values())
    elif source == "composite":
        for record in read_lines(data / "composite" / "composite.jsonl.gz"):
            yield from (record["candidate"], *record["refs"])
    elif source == "pascal50s":
        for record in read_lines(data / "pascal50s" / "pairs.jsonl.gz"):
            yield from (*record["sent"], *record["refs5_fleur"])
        yield from _flat(read_json(data / "pascal50s" / "refs.json.gz").values())
    elif source == "wmt16":
        for record in read_lines(data / "wmt16" / "daseg_to_english.jsonl.gz"):
            yield from (record["candidate"], record["reference"])


def _flat(lists: Iterable[list[str]]) -> Iterator[str]:
    for captions in lists:
        yield from captions
