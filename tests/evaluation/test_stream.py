"""Streams give the scores of ``captious.score``, to the bit, and refuse what it refuses."""

from __future__ import annotations

import pytest

import captious
from captious.errors import ParameterError
from captious.metrics.contract.settings import Settings

from ..support.corpora import large_corpus

CAPTIONS = large_corpus(120, seed=5).table()
METRICS = ["bleu", "rouge-l", "cider-d", "length"]


@pytest.mark.parametrize("references_as", ["each", "cat"])
def test_scores_in_parts_are_those_of_all(references_as: str) -> None:
    settings = Settings(references_as=references_as)
    report = captious.score(CAPTIONS, None, METRICS, settings=settings)
    first, second = (captious.Stream(METRICS, settings=settings) for _ in range(2))
    first.update(CAPTIONS.select(range(25)))
    second.update(CAPTIONS.select(range(25, 120)))
    first.merge(second)
    assert first.compute() == {label: result.score for label, result in report.items()}


def test_streams_of_references_in_another_form_are_not_merged() -> None:
    each, cat = captious.Stream("rouge-l"), captious.Stream("rouge-l", settings=Settings(references_as="cat"))
    with pytest.raises(ParameterError, match="cannot be merged"):
        each.merge(cat)


def test_metrics_that_need_references_are_refused_without() -> None:
    with pytest.raises(ParameterError, match="length cannot be computed without references"):
        captious.Stream("length").update({1: "a dog"})


def test_metrics_of_captions_and_of_sets_are_not_mixed() -> None:
    with pytest.raises(ParameterError, match="div judges several candidates per image together"):
        captious.Stream(["div", "rouge-l"])
