"""Critical failures counted again by loops over images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import captious
from captious.judgment.results import Study
from captious.judgment.studies import critical_failures

HUMAN = {"good": 0.9, "fair": 0.5, "poor": 0.2}
#: The captions of four images: good, fair and poor ones, of which the third has them upside down.
CAPTIONS = {
    "good": ["a dog runs on the grass", "a red bus in the street", "a car", "two cats on a bed"],
    "fair": ["a dog runs", "a bus in the street", "a man on a horse", "two cats on a bed"],
    "poor": ["a red car", "a house", "a man rides a horse", "two cats on a bed"],
}
REFERENCES = [["a dog runs on the grass"], ["a red bus in the street"], ["a man rides a horse"], ["two cats on a bed"]]


def words_missed(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    """Prefer captions with few words of the reference."""
    return [len({*texts[0].split()} - {*text.split()}) for text, texts in zip(candidates, references, strict=True)]


def failures(metrics: object, **options: object) -> Study:
    return critical_failures(CAPTIONS, REFERENCES, metrics, human=HUMAN, **options)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")  # of few images, and of repeated references
def test_failures_are_images_with_a_far_smaller_correlation() -> None:
    study = failures(["bleu-1", words_missed], evaluator="rouge-l")
    assert study.columns == ("metric", "images", "failures", "rate")
    by_metric = {record["metric"]: record for record in study.records}
    y = np.array([*HUMAN.values()])

    def correlations(metric: Any) -> list[float]:
        scores = [
            metric(texts, REFERENCES)
            if callable(metric)
            else captious.score(texts, REFERENCES, metric)[metric].per_caption
            for texts in CAPTIONS.values()
        ]
        return [float(np.corrcoef(of_image, y)[0, 1]) for of_image in np.transpose(scores)[:3]]

    expected = np.array(correlations("rouge-l"))
    assert expected.min() < -0.5 < 0.5 < expected.max()
    for label, metric in (("bleu-1", "bleu-1"), ("words_missed", words_missed)):
        wrong = int((expected - correlations(metric) > 1).sum())
        assert by_metric[label] == {"metric": label, "images": 3, "failures": wrong, "rate": wrong / 3}
    assert by_metric["words_missed"]["failures"] == 2  # the third image is one on which the evaluator fails


def test_images_where_scores_are_equal_are_left_out() -> None:
    """All three have the same caption for the fourth image."""
    (record,) = failures("bleu-1", evaluator="rouge-l").records
    assert record["images"] == 3
    same = {name: ["a cat"] * 4 for name in CAPTIONS}
    (record,) = critical_failures(same, REFERENCES, "bleu-1", human=HUMAN, evaluator="rouge-l").records
    assert (record["images"], record["rate"]) == (0, None)
