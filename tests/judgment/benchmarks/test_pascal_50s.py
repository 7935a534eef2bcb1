"""PASCAL-50S: the pool of its references."""

from __future__ import annotations

from pathlib import Path

from captious.judgment.benchmarks import names
from captious.judgment.files import data_folder
from tests.support.judgments import load, write, write_jsonl


def test_pascal_50s_pool_excludes_judged_captions(tmp_path: Path) -> None:
    pair = {"image": "a", "sent": ["a dog", "a cat"], "label48": 0, "refs5_fleur": ["the dog"]}
    write_jsonl(tmp_path, "pascal50s/pairs.jsonl", [pair | {"category": part} for part in ("MM", "HC", "HI", "HM")])
    write(tmp_path, "pascal50s/refs.json", {"a": ["A dog!", "two dogs", "the dog"]})
    found = load(tmp_path, "pascal-50s")
    pool = names.get("pascal-50s").pool(found, data_folder(tmp_path))
    assert pool.texts == ("two dogs", "the dog") * 8
    assert [*pool.ids] == found.items
