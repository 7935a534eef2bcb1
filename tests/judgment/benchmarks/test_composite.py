"""Composite: most protocols do not give the rated human reference to metrics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.judgment import judge
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load, write_jsonl


def record(image: str, slot: int, candidate: str, refs: list[str], human: int) -> dict[str, Any]:
    return {"source": "coco", "image": image, "slot": slot, "candidate": candidate, "refs": refs, "human": human}


def test_composite_references_exclude_the_rated_caption(tmp_path: Path) -> None:
    records = [
        record("a", 1, "A dog, runs!", ["a dog runs", "the dog"], 5),
        record("a", 2, "a cat", ["a dog runs", "the dog"], 1),
        record("b", 1, "a bus", ["a bus", "A bus."], 4),  # nothing would be left
        record("c", 2, "a tree", ["a tree", "the tree"], 3),  # no slot 1
    ]
    write_jsonl(tmp_path, "composite/composite.jsonl", records)
    found = load(tmp_path, "composite")
    assert isinstance(found, RatedCaptions)
    assert found.captions.references.texts == ("the dog", "the dog", "a bus", "A bus.", "a tree", "the tree")
    assert found.units.tolist() == [0, 0, 1, 2]
    assert [each.tolist() for each in found.ratings] == [[5], [1], [4], [3]]
    assert found.items[0] == "coco|a|1"


def test_yi_protocol_leaves_out_only_the_judged_caption(tmp_path: Path) -> None:
    """Yi et al. 2020: a rated reference stays a reference of the other captions."""
    texts = ((1, "A dog."), (2, "cat"))
    records = [record("a", slot, text, ["a dog", "the dog"], slot) for slot, text in texts]
    write_jsonl(tmp_path, "composite/composite.jsonl", records)
    found = load(tmp_path, "composite@yi2020")
    assert isinstance(found, RatedCaptions)
    assert found.captions.references.texts == ("the dog", "a dog", "the dog")
    scores = np.array([1e-7, 2e-7])  # with six digits, a tie
    assert np.isnan(found.values(scores)).all()
    assert found.values(scores * 100).tolist() == load(tmp_path, "composite").values(scores).tolist() == [1.0]
    assert np.isnan(found.resampled(scores, np.ones((1, 1), np.int32))).all()
    assert found.protocol.facts()["scores"] == "rounded to 6 digits after the point"


def test_smurf_protocol_has_images_of_flickr8k_with_all_references(shared_data: Path) -> None:
    """Feinglass and Yang 2021: BLEU-1, ROUGE-L, METEOR and CIDEr are within .006 of the published figures."""
    found = load(shared_data, "composite@smurf2021")
    assert isinstance(found, RatedCaptions)
    assert found.n == 3 * 997
    assert {*np.diff(found.captions.references.offsets)} == {5}
    result = judge(found, ["bleu-1", "rouge-l", "meteor", "cider-d"], resamples=1)["composite@smurf2021"]
    assert [figure.value for figure in result.values()] == pytest.approx([0.386, 0.393, 0.404, 0.407], abs=0.006)


def test_sharif_protocol_uses_first_two_captions(tmp_path: Path) -> None:
    """Sharif et al. 2019 compare the human caption and the first of a system, without the rated reference."""
    records = [
        record("a", slot, text, ["a dog", "the dog"], slot) for slot, text in ((1, "a dog"), (2, "cat"), (3, "x"))
    ]
    write_jsonl(tmp_path, "composite/composite.jsonl", records)
    for name, statistic in (("pearson", "pearson"), ("spearman", "spearman"), ("tau-b", "kendall-tau-b")):
        found = load(tmp_path, f"composite@sharif2019-{name}")
        assert isinstance(found, RatedCaptions)
        assert found.protocol.statistic == statistic
        assert found.captions.candidates == ("a dog", "cat")
        assert found.captions.references.texts == ("the dog", "the dog")


def test_sharif_protocol_keeps_a_rated_reference_of_other_words(tmp_path: Path) -> None:
    texts = ["A T-shirt .", "a boy's shirt"]
    for rated_one, left in (("a t shirt", ("a boy's shirt",)), ("a boys shirt", tuple(texts))):
        write_jsonl(tmp_path, "composite/composite.jsonl", [record("a", 1, rated_one, texts, 5)])
        found = load(tmp_path, "composite@sharif2019-tau-b")
        assert isinstance(found, RatedCaptions)
        assert found.captions.references.texts == left
        assert len(load(tmp_path, "composite").items) == 1
