"""Length: words of candidates, also relative to those of references."""

from __future__ import annotations

import numpy as np
import pytest

from captious.data import read_captions
from captious.evaluation import evaluate
from captious.metrics.contract.selection import select
from captious.metrics.length import Length

CANDIDATES = {1: "a dog runs.", 2: "", 3: "a cat on the mat"}
REFERENCES = {
    1: ["a dog", "a dog is running", "dogs"],
    2: ["a boat", "boats"],
    3: ["a cat", "the cat is on a big red mat"],
}


@pytest.mark.parametrize(
    ("variant", "others"), [("official", [2, 1, 2]), ("mean", [7 / 3, 1.5, 5])], ids=["closest", "mean"]
)
def test_length_statistics_equal_a_table_made_by_hand(variant: str, others: list[float]) -> None:
    length = Length(variant=variant)
    statistics = length.statistics(read_captions(CANDIDATES, REFERENCES))
    np.testing.assert_allclose(statistics, np.stack([[3, 0, 5], others, [1, 1, 1]], axis=1))
    np.testing.assert_allclose(length.aggregate(statistics.sum(axis=0)), [8 / 3, 8 / sum(others)])


def test_length_against_empty_references_is_defined() -> None:
    report = evaluate(read_captions({1: "a dog", 2: "a cat"}, {1: ["", ""], 2: ["...", ""]}), select("length"))
    assert [result.score for result in report.values()] == [2, 0]
    assert [result.lower_is_better for result in report.values()] == [None, None]
