"""Critical failures counted again, by hand and by loops over all pairs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest

from captious.errors import CaptiousError, ParameterError
from captious.judgment import load_judgments
from captious.judgment.scores import as_selection, score_captions
from captious.judgment.studies import critical_failures

SCORES = {"best": 0.9, "good": 0.5, "fair": 0.5, "poor": 0.6, "worst": 0.95, "other best": 0.2, "other worst": 0.2}
RATINGS = {
    "best": [5, 5],
    "good": [4],
    "fair": [3, 3],
    "poor": [2],
    "worst": [1],
    "other best": [5],
    "other worst": [1, 1],
}


def metric(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    return [SCORES[candidate] for candidate in candidates]


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    path = tmp_path / "rated.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for candidate, ratings in RATINGS.items():
            image = "other" if candidate.startswith("other") else "one"
            record = {"candidate": candidate, "references": ["a dog"], "ratings": ratings, "image": image}
            file.write(json.dumps(record) + "\n")
    return path


@pytest.mark.parametrize(
    ("gap", "pairs", "failures", "ties"),
    [
        # best over worst, and the pair of the other image
        (1.0, 2, 1, 1),
        # best over poor, good over worst
        (0.75, 4, 2, 1),
        # best over fair, good over poor, fair over worst
        (0.5, 7, 4, 1),
    ],
)
def test_failures_and_ties_are_counted(rated: Path, gap: float, pairs: int, failures: int, ties: int) -> None:
    study = critical_failures(rated, metric, gap=gap, resamples=50)
    (record,) = study.records
    assert (record["pairs"], record["failures"], record["ties"]) == (pairs, failures, ties)
    assert record["rate"] == pytest.approx((failures + ties / 2) / pairs)
    assert study.settings["scale"] == [1, 5]


def test_intervals_draw_images(rated: Path) -> None:
    """One image has a failure in its one pair, the other a tie: resamples have a half, three quarters or all."""
    study = critical_failures(rated, metric, gap=1, resamples=500)
    assert (study.records[0]["ci95_low"], study.records[0]["ci95_high"]) == (0.5, 1)


def test_failures_on_composite_equal_plain_loops(shared_data: Path) -> None:
    study = critical_failures("composite", ["cider-d", "rouge-l"], data=shared_data, resamples=200)
    judgments = load_judgments("composite", shared_data)
    report = score_captions(judgments.captions, as_selection(["cider-d", "rouge-l"]))  # type: ignore[attr-defined]
    with gzip.open(shared_data / "composite" / "composite.jsonl.gz", "rt", encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    of_image: dict[str, list[int]] = {}
    for row, record in enumerate(records):
        of_image.setdefault(record["image"], []).append(row)
    for found in study.records:
        scores = report[found["metric"]].per_caption
        margins = [
            scores[a] - scores[b]
            for rows in of_image.values()
            for a, b in permutations(rows, 2)
            if records[a]["human"] - records[b]["human"] >= 3
        ]
        assert found["pairs"] == len(margins)
        assert found["failures"] == sum(margin < 0 for margin in margins)
        assert found["ties"] == sum(margin == 0 for margin in margins)
        assert found["rate"] == pytest.approx((1 - np.mean(np.sign(margins))) / 2)
        assert found["ci95_low"] < found["rate"] < found["ci95_high"]
        assert found["ci95_high"] - found["ci95_low"] < 0.05


def test_invalid_failure_studies_are_refused(rated: Path, shared_data: Path, tmp_path: Path) -> None:
    for gap in (0, 1.5, -1):
        with pytest.raises(ParameterError, match="is not a valid gap"):
            critical_failures(rated, metric, gap=gap)
    with pytest.raises(ParameterError, match="preferences"):
        critical_failures("pascal-50s", "bleu-4", data=shared_data)
    with pytest.raises(ParameterError, match="judges systems"):
        critical_failures("coco-2015", "bleu-4", data=shared_data)
    lonely = tmp_path / "lonely.jsonl"
    lonely.write_text(
        "".join(
            json.dumps({"candidate": "best", "references": ["a dog"], "rating": rating}) + "\n" for rating in (1, 5)
        )
    )
    with pytest.raises(CaptiousError, match="no two captions of an image"):
        critical_failures(lonely, metric)
