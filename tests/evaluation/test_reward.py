"""Rewards give the caption scores of ``captious.score``, with its settings and signatures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import CaptionTypeError, ParameterError, UnknownImageError, UnknownNameError
from captious.evaluation.reward import RewardTerm
from captious.metrics.contract.settings import Settings
from tests.support.corpora import large_corpus

CAPTIONS = large_corpus(120, seed=6).table()


@pytest.mark.parametrize("references_as", ["each", "cat"])
@pytest.mark.parametrize("metric", ["rouge-l", "cider-d", "bleu-2", "rouge-s:gap=2"])
def test_rewards_are_caption_scores(metric: str, references_as: str) -> None:
    settings = Settings(references_as=references_as)
    (result,) = captious.score(CAPTIONS, None, [metric], settings=settings).values()
    reward = captious.reward(CAPTIONS.references, metric, settings=settings)
    scores = reward(CAPTIONS.ids, CAPTIONS.candidates)
    np.testing.assert_allclose(scores, result.per_caption, rtol=1e-12, atol=1e-14)
    assert reward.signature == result.signature


def test_metrics_without_rewards_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="no metric 'all'"):
        captious.reward(CAPTIONS.references, "all")
    with pytest.raises(ParameterError, match="judges several candidates"):
        captious.reward(CAPTIONS.references, "div")
    with pytest.raises(UnknownNameError, match="rouge-l has no output 'rouge'"):
        captious.Reward([RewardTerm(captious.RougeL(), "rouge")], CAPTIONS.references)


IDS = [7, 3, 7]
TEXTS = ["a dog runs", "a cat", "the dog is running"]


class Tensor:
    """The part of torch's tensors that is needed here."""

    def __init__(self, values: object) -> None:
        self.values = values

    def tolist(self) -> object:
        return self.values

    def item(self) -> object:
        return self.values


@pytest.mark.parametrize(
    ("ids", "texts"),
    [
        (np.array(IDS), np.array(TEXTS)),
        (Tensor(IDS), tuple(TEXTS)),
        ([Tensor(image) for image in IDS], TEXTS),
        (iter(IDS), (text for text in TEXTS)),
        (IDS, [text.split() for text in TEXTS]),
        (IDS, [np.str_(text) for text in TEXTS]),
    ],
    ids=["arrays", "tensor", "list of tensors", "generators", "lists of words", "numpy's strings"],
)
def test_ids_and_captions_of_training_loops_are_accepted(ids: Any, texts: Any) -> None:
    reward = captious.reward({7: ["a dog runs fast"], 3: ["two cats", "a cat sits"]}, "rouge-l")
    assert reward(ids, texts).tolist() == reward(IDS, TEXTS).tolist()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_data_frame_columns_are_accepted(library: str) -> None:
    series = pytest.importorskip(library).Series
    reward = captious.reward({7: ["a dog runs fast"], 3: ["two cats", "a cat sits"]}, "rouge-l")
    assert reward(series(IDS), series(TEXTS)).tolist() == reward(IDS, TEXTS).tolist()


@pytest.mark.parametrize(("known", "given"), [(7, "7"), ("7", 7)])
def test_an_integer_and_its_text_are_one_image(known: Any, given: Any) -> None:
    reward = captious.reward({known: ["a dog runs fast"]}, "rouge-l")
    assert reward([given], ["a dog"]).tolist() == reward([known], ["a dog"]).tolist()


def test_ids_that_are_written_differently_are_explained() -> None:
    reward = captious.reward({7: ["a dog runs fast"], 8: ["a cat"]}, "rouge-l")
    for given in ("007", "photos/7.jpg", "7 "):
        with pytest.raises(UnknownImageError) as caught:
            reward([given], ["a dog"])
        assert "the references have it as 7" in caught.value.hint


def test_invalid_ids_and_captions_are_refused() -> None:
    reward = captious.reward({7: ["a dog runs fast"]}, "rouge-l")
    with pytest.raises(CaptionTypeError, match="an image id is a list"):
        reward([[7]], ["a dog"])  # type: ignore[list-item]
    with pytest.raises(CaptionTypeError, match="decode token ids first"):
        reward([7], [[101, 102]])  # type: ignore[list-item]
    with pytest.raises(ParameterError, match="1 image id for 2 captions"):
        reward(iter([7]), iter(["a", "b"]))
