"""WMT16: a part per language pair, every translation drawn on its own."""

from __future__ import annotations

from pathlib import Path

from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load, write_jsonl


def test_wmt16_ratings_are_read(tmp_path: Path) -> None:
    records = [
        {"pair": pair, "candidate": "a dog", "reference": "the dog", "human": human}
        for pair, human in (("cs-en", 0.5), ("de-en", -1.25), ("cs-en", 2))
    ]
    write_jsonl(tmp_path, "wmt16/daseg_to_english.jsonl", records)
    found = load(tmp_path, "wmt16-daseg")
    assert isinstance(found, RatedCaptions)
    assert found.part_names == ["cs-en", "de-en"]
    assert found.parts is not None
    assert found.parts.tolist() == [0, 1, 0]
    assert found.units.tolist() == [0, 1, 2]
    assert [each.tolist() for each in found.ratings] == [[0.5], [-1.25], [2]]
