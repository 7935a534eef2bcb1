"""Sums of metrics with equal weights, as judge takes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from captious import score
from captious.errors import ParameterError
from captious.judgment import judge

from ..support.judgments import write_jsonl

REFERENCES = ["a dog runs on grass", "the dog"]
CAPTIONS = ["a dog runs", "a dog", "the cat sleeps on it", "a red bus", "people", "a dog runs on the grass there"]


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    records = [
        {"image": n, "candidate": text, "references": REFERENCES, "rating": rating}
        for n, (text, rating) in enumerate(zip(CAPTIONS, [4, 3, 1, 1, 2, 5], strict=True))
    ]
    write_jsonl(tmp_path, "own.jsonl", records)
    return str(tmp_path / "own.jsonl")


def test_each_part_counts_in_standard_deviations(ratings: str) -> None:
    result = judge(ratings, ["sum:rouge-l+bleu-1", "rouge-l"], resamples=20)["own"]
    assert list(result.agreements) == ["rouge-l", "sum:rouge-l+bleu-1"]  # bleu-1 was not requested by itself
    references = {n: REFERENCES for n in range(6)}
    report = score(dict(enumerate(CAPTIONS)), references, ["rouge-l", "bleu-1"])
    total = sum(stats.zscore(report[name].per_caption) for name in ("rouge-l", "bleu-1"))
    expected = stats.kendalltau(total, [4, 3, 1, 1, 2, 5], variant="c").statistic
    assert result["sum:rouge-l+bleu-1"].value == pytest.approx(expected)
    assert np.isfinite(expected)
    assert "rouge-l|" in result["sum:rouge-l+bleu-1"].signature


def test_parts_have_one_output(ratings: str) -> None:
    with pytest.raises(ParameterError, match="bleu has several outputs"):
        judge(ratings, "sum:rouge-l+bleu", resamples=20)
