"""ABSTRACT-50S, with categories and without."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.judgment.judgments import CaptionPairs
from tests.support.judgments import load, write_jsonl


@pytest.mark.parametrize("categories", [(), ("near", "far")])
def test_abstract_50s_pairs_are_read(categories: tuple[str, ...], tmp_path: Path) -> None:
    pairs = [{"image": n, "sent": ["a dog", "a cat"], "label": n, "refs": ["x", f"y {n}"]} for n in (0, 1)]
    if categories:
        pairs = [{**pair, "category": part} for pair, part in zip(pairs, categories, strict=True)]
    write_jsonl(tmp_path, "abstract50s/pairs.jsonl", pairs)
    found = load(tmp_path, "abstract-50s")
    assert isinstance(found, CaptionPairs)
    assert tuple(found.part_names) == categories
    assert found.preferred.tolist() == [0, 1]
    assert found.captions.references.texts == ("x", "y 0", "x", "y 0", "x", "y 1", "x", "y 1")
