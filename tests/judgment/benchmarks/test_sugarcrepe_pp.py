"""SugarCrepe++: text against text, and the forced choice with COCO's captions."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.errors import CaptionFileError, ResourceError
from captious.judgment import judge
from captious.judgment.judgments import CaptionPairs
from tests.support.judgments import load, write

CHANGES = ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for k, change in enumerate(CHANGES):
        triple = {
            "id": 0,
            "filename": "000000000001.jpg",
            "caption": f"a dog {k}",
            "caption2": f"one dog {k}",
            "negative_caption": f"a cow {k}",
        }
        write(tmp_path, f"scpp/{change}.json", [triple] * (1 + (k == 0)))
    return tmp_path


def letters(candidate: str, references: list[str]) -> int:
    return len(candidate)


def test_sugarcrepe_pp_forced_choice_uses_coco_references(folder: Path) -> None:
    with pytest.raises(ResourceError, match=r"captions_val2017\.json was not found"):
        load(folder, "sugarcrepe-pp@forced-choice")
    annotations = [{"image_id": 1, "caption": text} for text in ("A dog 0!", "the dog")]
    write(folder, "coco/captions_val2014.json", {"annotations": annotations})
    found = load(folder, "sugarcrepe-pp@forced-choice")
    assert isinstance(found, CaptionPairs)
    assert found.n == 12
    assert found.captions.candidates[:4] == ("a dog 0", "a cow 0", "one dog 0", "a cow 0")
    assert found.captions.references.texts[:4] == ("the dog",) * 4
    assert "captions_val2014.json" in found.data
    names = ["sugarcrepe-pp", "sugarcrepe-pp@forced-choice"]  # one of which needs more files than the other
    assert len(judge(names, letters, data=folder, resamples=5)) == 2
    write(folder, "coco/captions_val2014.json", {"annotations": [{"image_id": 2, "caption": "a"}]})
    with pytest.raises(CaptionFileError, match="1 has no caption") as caught:
        load(folder, "sugarcrepe-pp@forced-choice")
    assert "replace_att.json, record 1" in caught.value.where


def test_sugarcrepe_pp_figures_are_as_measured(shared_data: Path) -> None:
    result = judge("sugarcrepe-pp", ["cider-d", "concur"], data=shared_data, resamples=10)["sugarcrepe-pp"]
    assert result.n == 4757
    assert 100 * result["cider-d"].value == pytest.approx(15.5, abs=0.05)
    assert 100 * result["concur"].value == pytest.approx(81.2, abs=0.05)
    assert 100 * result["concur"].parts["swap_obj"] == pytest.approx(76.3, abs=0.05)
