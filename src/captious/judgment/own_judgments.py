"""Judgments of the user's: one JSON object per line, ratings or pairs. docs/judgment.md shows the form."""

from __future__ import annotations

import re
import reprlib
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from captious.errors import CaptionFileError, EmptyInputError, ResourceError
from captious.judgment.benchmarks import numbered, pairs_of, table
from captious.judgment.evidence import Evidence, RatedCaptions
from captious.judgment.judgment_files import DataFolder
from captious.judgment.protocols import Protocol

__all__ = ["load_own"]

_LARGEST_RATING = sys.float_info.max
_FORM = (
    'write {"candidate": "...", "references": ["..."], "rating": 3}'
    ' or {"better": "...", "worse": "...", "references": ["..."]} on every line'
)


def load_own(path: Path) -> Evidence:
    """Judgments of the user's, one JSON object per line: ratings or pairs.

    Ratings: ``{"candidate": ..., "references": [...], "rating": 3}``, or ``"ratings": [3, 4, 3]`` of which each is a
    point. Pairs: ``{"better": ..., "worse": ..., "references": [...]}``. With ``"image"``, the captions of an image are
    drawn together in resamples; with ``"part"``, the statistic is computed for each part and averaged.

    Pairs serve for every forced choice: the distractors of Hodosh and Hockenmaier 2016 (a part per kind of change) and
    FOIL (better: the caption with ``"foil": false``; worse: the one with ``"foil": true`` made from it).

    Raises:
        ResourceError: there is no such file.
        CaptionFileError: a line is not of that form.
        EmptyInputError: no lines.
    """
    folder = DataFolder(path.parent)
    if not folder.has(path.name):
        raise ResourceError("there is no such file of judgments", where=str(path), help="check the path")
    lines = list(folder.numbered_records(path.name))
    if not lines:
        raise EmptyInputError("there are no judgments", where=str(path), help=_FORM)
    pairs = "better" in lines[0][1]
    for number, record in lines:
        if wrong := _wrong(record, pairs):
            raise CaptionFileError(wrong, where=f"{path}, line {number}", help=_FORM)
    records = [record for _, record in lines]
    # An image is known by what its id says, "7" and 7 alike; a line without one is an image of its own.
    images = [str(r["image"]) if r.get("image") is not None else number for number, r in lines]
    parts, names = numbered(str(record.get("part", "all")) for record in records)
    given = "as the file gives them"
    if pairs:
        protocol = Protocol(path.stem, "own", "accuracy", "majority", "pairs", given, ties="one half")
        triples = [(i, (r["better"], r["worse"]), r["references"]) for i, r in zip(images, records, strict=True)]
        return pairs_of(protocol, folder, triples, np.zeros(len(records), np.int64), parts, names)
    protocol = Protocol(path.stem, "own", "kendall-tau-c", "each", "captions", given)
    ratings = [np.array(r["ratings"] if "ratings" in r else [r["rating"]], float) for r in records]
    ids = [str(number) for number, _ in lines]
    captions = table(ids, [r["candidate"] for r in records], [r["references"] for r in records])
    several = (parts, names) if len(names) > 1 else (None, ())
    return RatedCaptions(protocol, folder.read, captions, ratings, numbered(images)[0], *several)


def _wrong(record: Mapping[str, Any], pairs: bool) -> str:
    """What is wrong with a record; nothing if it can be used."""
    keys = ("better", "worse") if pairs else ("candidate",)
    for key in keys:
        if key not in record:
            return f"no {key}"
        if not isinstance(record[key], str):
            return f"{key} is not a string"
    if "references" not in record:
        return "no references"
    references = record["references"]
    if not (isinstance(references, list) and references and all(isinstance(text, str) for text in references)):
        return "references are not a list of strings, one or more"
    for key in ("image", "part"):
        if not isinstance(record.get(key), str | int | float | None):
            return f"{key} is neither a string nor a number"
    texts = [*(record[key] for key in keys), *references, str(record.get("part"))]
    if re.search("[\ud800-\udfff]", "".join(texts)):
        return "a lone surrogate, half of a character, which is not text"
    return "" if pairs else _wrong_rating(record)


def _wrong_rating(record: Mapping[str, Any]) -> str:
    if ("rating" in record) == ("ratings" in record):
        return "both rating and ratings" if "rating" in record else "no rating"
    ratings = record["ratings"] if "ratings" in record else [record["rating"]]
    if not isinstance(ratings, list) or not ratings:
        return "ratings are not a list of numbers, one or more"
    for rating in ratings:
        if isinstance(rating, bool) or not isinstance(rating, int | float) or not abs(rating) <= _LARGEST_RATING:
            return f"a rating is no number: {reprlib.repr(rating)}"
    return ""
