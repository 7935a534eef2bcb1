"""All forms of metrics are scored alike, and objects without scores are refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import read_captions
from captious.errors import CaptiousError, ParameterError
from captious.judgment.scores import as_selection, score_captions
from captious.metrics.contract.selection import MetricLike

CAPTIONS = read_captions(
    ["a cat sleeps", "a red bus"], [["a cat sleeps", "the cat rests"], ["one bus", "a red bus stops"]]
)


def lengths(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[int]:
    return [len(candidate) + 100 * len(some) for candidate, some in zip(candidates, references, strict=True)]


def test_functions_and_metrics_keep_their_order() -> None:
    metrics: list[MetricLike] = ["rouge-l", lengths, captious.Bleu()]
    report = score_captions(CAPTIONS, as_selection(metrics))
    assert list(report)[:2] == ["rouge-l", "lengths"]
    assert report["lengths"].per_caption.tolist() == [212, 209]
    assert report["lengths"].score == 210.5
    assert report["lengths"].signature.startswith("lengths|function:")
    expected = captious.score(["a cat sleeps", "a red bus"], CAPTIONS.references, ["rouge-l"])
    assert report["rouge-l"].per_caption.tolist() == expected["rouge-l"].per_caption.tolist()


def test_functions_cannot_change_captions() -> None:
    seen: list[object] = []

    def greedy(candidates: Any, references: Any) -> list[float]:
        seen.append((list(candidates), [list(some) for some in references]))
        scores = [float(len(some)) for some in references]
        candidates.clear()
        references.clear()
        return scores

    for _ in range(2):
        assert score_captions(CAPTIONS, as_selection(greedy))["greedy"].score == 2
    assert (
        seen[0]
        == seen[1]
        == (["a cat sleeps", "a red bus"], [list(CAPTIONS.references.texts[i : i + 2]) for i in (0, 2)])
    )


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1.0], "1 score for 2 items"),
        ([[1.0], [2.0]], r"shape \(2, 1\) for 2 items"),
        ([0.5, float("nan")], "1 of 2 captions a score that is not finite"),
        (["good", "bad"], "not numbers"),
        (None, "metric returned nothing"),
    ],
)
def test_functions_with_invalid_scores_are_refused(values: object, message: str) -> None:
    def metric(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> object:
        return values

    with pytest.raises(ParameterError, match=message) as caught:
        score_captions(CAPTIONS, as_selection(metric), name="two captions")  # type: ignore[arg-type]
    assert caught.value.where
    assert caught.value.hint


def test_invalid_metrics_are_refused() -> None:
    wrong: tuple[tuple[object, Callable[[CaptiousError], bool]], ...] = (
        ([captious.Bleu], lambda error: "Bleu()" in error.hint),
        ([3], lambda error: "3 is not a metric" in error.message),
        (["bleu-4", "bleu"], lambda error: "requested twice" in error.message),
        ([lengths, lengths], lambda error: "requested twice" in error.message),
        ([], lambda error: "no metric" in error.message),
    )
    for metrics, right in wrong:
        with pytest.raises(CaptiousError) as caught:
            as_selection(metrics)  # type: ignore[arg-type]
        assert right(caught.value), str(caught.value)
    with pytest.raises(ParameterError, match="needs a name"):
        as_selection(lambda candidates, references: np.zeros(2))
