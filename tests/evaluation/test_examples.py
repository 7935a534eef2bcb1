"""The captions in examples/ are those that the README scores."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import captious
from captious.errors import CaptiousWarning


def test_examples_are_24_images_with_5_references(examples: Path) -> None:
    references = json.loads((examples / "references.json").read_text(encoding="utf-8"))
    assert len(references) == 24
    assert {len(captions) for captions in references.values()} == {5}
    every = [caption for captions in references.values() for caption in captions]
    assert len(set(every)) == len(every)


@pytest.mark.parametrize("system", ["baseline.json", "improved.json"])
def test_candidates_are_in_the_form_of_coco_results(examples: Path, system: str) -> None:
    records = json.loads((examples / system).read_text(encoding="utf-8"))
    references = json.loads((examples / "references.json").read_text(encoding="utf-8"))
    assert [str(record["image_id"]) for record in records] == list(references)
    for record in records:
        assert set(record) == {"image_id", "caption"}
        assert record["caption"] == record["caption"].lower().strip(" .")
        assert record["caption"] not in references[str(record["image_id"])]


def test_improved_is_better_but_not_perfect(examples: Path) -> None:
    files = {name: examples / f"{name}.json" for name in ("baseline", "improved")}
    with pytest.warns(CaptiousWarning, match="only 24"):
        comparison = captious.compare(files, examples / "references.json")
    for difference in comparison.values():
        assert difference.difference > 0
        assert difference.interval[0] > 0
        assert difference.p_randomization < 0.05
    assert comparison["bleu-1"].score_b < 0.95
    change = comparison.b["cider-d"].per_caption - comparison.a["cider-d"].per_caption
    assert (change < 0).any()
