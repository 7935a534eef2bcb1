"""Files of judgments for tests, and judgments that have to be the same whichever of them it was made of."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from captious.judgment import load_judgments
from captious.judgment.judgments import CaptionPairs, HumanJudgments, RatedCaptions

__all__ = ["assert_same", "load", "read_jsonl", "tokens", "write", "write_jsonl"]


def read_jsonl(path: Path) -> list[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def write(folder: Path, name: str, content: str | list[str] | object) -> None:
    """Write a file of text, lines or json, with its folders."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, list) and all(isinstance(line, str) for line in content):
        content = "".join(f"{line}\n" for line in content)
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def write_jsonl(folder: Path, name: str, items: list[dict[str, Any]]) -> None:
    write(folder, name, [json.dumps(item) for item in items])


def tokens(rated: list[dict[str, Any]], more: Sequence[dict[str, Any]] = ()) -> list[str]:
    """Flickr8k.token.txt: the captions of all images, and of the candidates that other images lend."""
    text_of = {f"{r['image']}#{k}": text for r in rated for k, text in enumerate(r["refs"])}
    for r in [*rated, *more]:
        assert text_of.setdefault(r["caption_id"], r["candidate"]) == r["candidate"]
    return [f"{caption}\t{text}" for caption, text in text_of.items()]


def load(folder: Path, name: str) -> HumanJudgments:
    return load_judgments(name, folder)


def assert_same(found: HumanJudgments, expected: HumanJudgments) -> None:
    """Check for equal candidates, references, judgments and units, in equal order."""
    assert isinstance(found, RatedCaptions | CaptionPairs)
    assert isinstance(expected, RatedCaptions | CaptionPairs)
    assert found.n == expected.n > 0
    assert found.captions.candidates == expected.captions.candidates
    assert found.captions.references.texts == expected.captions.references.texts
    np.testing.assert_array_equal(found.captions.references.offsets, expected.captions.references.offsets)
    np.testing.assert_array_equal(found.units, expected.units)
    if isinstance(found, CaptionPairs):
        assert isinstance(expected, CaptionPairs)
        np.testing.assert_array_equal(found.preferred, expected.preferred)
        np.testing.assert_array_equal(found.parts, expected.parts)
        assert list(found.names) == list(expected.names)
    else:
        assert isinstance(expected, RatedCaptions)
        for a, b in zip(found.ratings, expected.ratings, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
