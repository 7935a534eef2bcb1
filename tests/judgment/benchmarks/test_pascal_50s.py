"""PASCAL-50S: its references, parts, preferences and pool."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import CaptionFileError, ResourceError
from captious.judgment.benchmarks import names
from captious.judgment.files import data_folder
from captious.judgment.judgments import CaptionPairs
from tests.support.judgments import load, write, write_jsonl


def files(folder: Path, label: object = 1) -> Path:
    pairs: list[dict[str, Any]] = [
        {"image": "a", "sent": ["a dog", "a cat"], "category": part, "label48": 0, "refs5_fleur": ["the dog"]}
        for part in ("MM", "HC", "HI", "HM")
    ]
    pairs[0]["label48"] = label
    write_jsonl(folder, "pascal50s/pairs.jsonl", pairs)
    write(folder, "pascal50s/refs.json", {"a": ["A dog!", "two dogs", "the dog"]})
    return folder


def test_pascal_50s_sharif_protocol_uses_eleven_votes(tmp_path: Path) -> None:
    """The preferences of eleven people, and the first five references; not in the files of the authors."""
    files(tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "pascal50s/pairs.jsonl").read_text().splitlines()]
    votes = (-11, 1, -1, 3)
    write_jsonl(
        tmp_path, "pascal50s/pairs.jsonl", [row | {"votes11_sum": n} for row, n in zip(rows, votes, strict=True)]
    )
    write(tmp_path, "pascal50s/refs.json", {"a": [f"reference {n}" for n in range(7)]})
    found = load(tmp_path, "pascal-50s@sharif2019")
    assert isinstance(found, CaptionPairs)
    assert found.preferred.tolist() == [1, 0, 1, 0]
    assert found.captions.references.texts[:5] == tuple(f"reference {n}" for n in range(5))
    assert len(set(found.captions.references.texts)) == 5
    ties = np.zeros(len(found.items))
    assert found.values(ties).tolist() == [1, 0, 1, 0]  # HC, HI, HM, MM: the first caption wins ties
    assert load(tmp_path, "pascal-50s@yi2020").values(ties).tolist() == [0, 1, 0, 1]
    write_jsonl(tmp_path, "pascal50s/pairs.jsonl", rows)
    with pytest.raises(ResourceError, match="eleven votes of each pair are missing"):
        load(tmp_path, "pascal-50s@sharif2019")


def test_invalid_preference_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptionFileError, match="neither 0 nor 1"):
        load(files(tmp_path, 2), "pascal-50s")


def test_pascal_50s_pool_excludes_judged_captions(tmp_path: Path) -> None:
    found = load(files(tmp_path), "pascal-50s")
    pool = names.get("pascal-50s").pool(found, data_folder(tmp_path))
    assert pool.texts == ("two dogs", "the dog") * 8
    assert [*pool.ids] == found.items
