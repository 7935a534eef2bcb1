"""FactVC: paragraphs without the marks of wrong words, systems, and pairs of sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptionFileError
from captious.judgment import judge
from tests.support.judgments import load, write


def judged(score: object, *sentences: str) -> dict[str, Any]:
    return {"paragraph_score": score, "sentences": list(sentences)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    systems = {
        "A": judged(4, "a dog runs .", "it [barks] ."),
        "B": judged(5, "a dog ."),
        "C": judged(1, "[a cat] .", "a [cow] ."),
    }
    write(tmp_path, "factvc/activitynet_factuality_annotation.json", {"v1": systems, "v2": systems})
    write(tmp_path, "factvc/youcook2_factuality_annotation.json", {"y1": systems})
    write(tmp_path, "factvc/activitynet_gt_1_para.json", {"v1": "A dog runs.", "v2": "A dog.", "v3": "A cat."})
    write(tmp_path, "factvc/activitynet_gt_2_para.json", {"v1": "The dog."})
    write(tmp_path, "factvc/youcook2_gt_para.json", {"y1": "mix it."})
    return tmp_path


def test_malformed_factvc_files_are_refused(folder: Path) -> None:
    write(folder, "factvc/youcook2_factuality_annotation.json", {"y1": {"A": judged(7, "a .")}})
    with pytest.raises(CaptionFileError, match="7 is not a number between 1 and 5") as caught:
        load(folder, "factvc")
    assert "entry 'y1', A" in caught.value.where
    write(folder, "factvc/youcook2_factuality_annotation.json", {"y2": {"A": judged(3, "a .")}})
    with pytest.raises(CaptionFileError, match="y2 has no caption"):
        load(folder, "factvc")


@pytest.mark.parametrize(
    ("data_set", "n", "figures"),
    [
        ("activitynet", 1200, {"concur": 44.2, "cider-d": 14.7}),
        ("youcook2", 600, {"concur": 41.2, "cider-d": 14.0}),
    ],
)
def test_factvc_figures_are_as_measured(shared_data: Path, data_set: str, n: int, figures: dict[str, float]) -> None:
    result = judge(f"factvc@pearson-{data_set}", [*figures], data=shared_data, resamples=10)["factvc"]
    assert result.n == n
    assert {name: 100 * result[name].value for name in figures} == pytest.approx(figures, abs=0.05)
