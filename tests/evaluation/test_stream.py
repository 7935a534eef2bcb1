"""Streams give the scores of ``captious.score``, to the last bit, and refuse the same input."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.data import Captions
from captious.errors import DuplicateCandidateError, EmptyInputError, ParameterError
from captious.evaluation.scoring import evaluate
from captious.metrics.contract.metric import State
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from tests.support.corpora import large_corpus

CAPTIONS = large_corpus(120, seed=5).table()
METRICS = ["bleu", "rouge-l", "cider-d", "length"]


@pytest.mark.filterwarnings("ignore:.* references are empty or without words:captious.CaptiousWarning")
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


def test_the_first_different_metrics_are_named() -> None:
    one, two = captious.Stream(["rouge-l", "bleu-1", "cider-d"]), captious.Stream(["rouge-l", "bleu-2", "length"])
    with pytest.raises(ParameterError, match="a stream of other metrics cannot be merged") as caught:
        one.merge(two)
    other, own = caught.value.where.split(" into ")
    assert ("bleu-2" in other, "bleu-1" in own) == (True, True)
    assert "rouge" not in caught.value.where


def test_empty_batches_are_refused_and_change_nothing() -> None:
    stream = captious.Stream("rouge-l")
    stream.update({1: "a dog"}, {1: ["a dog"]})
    with pytest.raises(EmptyInputError, match="there are no captions"):
        stream.update({}, {})
    assert stream.compute() == {"rouge-l": 1.0}


def test_metrics_that_need_references_are_refused_without() -> None:
    with pytest.raises(ParameterError, match="length cannot be computed without references"):
        captious.Stream("length").update({1: "a dog"})


def test_metrics_of_captions_and_of_sets_are_not_mixed() -> None:
    with pytest.raises(ParameterError, match="div judges several candidates per image together"):
        captious.Stream(["div", "rouge-l"])


CAPTIONS_OF_TWO = ({1: "a dog runs", 2: "a cat"}, {1: ["a dog is running"], 2: ["a cat sleeps", "the cat"]})


class Failing(captious.MeanMetric):
    """Has no score for a caption without the letter o, and fails at an empty one."""

    name = "letters-o"

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        if "" in captions.candidates:
            raise RuntimeError("empty")
        return np.array([1.0 if "o" in text else np.nan for text in captions.candidates])


def test_numbers_that_are_not_finite_are_refused_as_by_score() -> None:
    stream = captious.Stream([Failing(), "length-words"])
    for call in (stream.update, lambda *captions: captious.score(*captions, [Failing(), "length-words"])):
        with pytest.raises(ParameterError, match="letters-o gave 1 of 2 images a number that is not finite"):
            call(*CAPTIONS_OF_TWO)
    with pytest.raises(ParameterError, match="no captions have been added"):
        stream.compute()


def test_an_update_that_fails_adds_nothing() -> None:
    stream = captious.Stream(["rouge-l", "cider-d", Failing()])
    stream.update({1: "a dog"}, {1: ["the dog"]})
    with pytest.warns(captious.CaptiousWarning):
        before = stream.compute()
    with pytest.raises(ParameterError, match="letters-o failed: RuntimeError: empty"):
        stream.update({2: ""}, {2: ["a cat"]})
    assert stream.compute() == before
    stream.update({2: "a dog"}, {2: ["a cat"]})


def test_every_metric_can_be_streamed() -> None:
    every, of_sets = captious.Stream("all"), captious.Stream("div")
    with pytest.raises(ParameterError, match=r"no captions have been added to .*bleu.*cider-d"):
        every.compute()
    of_sets.update({1: ["a dog", "a cat"]}, {1: ["a dog"]})
    assert "div-1" in of_sets.compute()


def test_an_image_is_added_once() -> None:
    stream = captious.Stream("rouge-l")
    stream.update(*CAPTIONS_OF_TWO)
    with pytest.raises(DuplicateCandidateError, match="1 image was added before") as caught:
        stream.update({2: "a cat"}, {2: ["the cat"]})
    assert "2" in caught.value.where
    with pytest.raises(DuplicateCandidateError, match="1 image was added before") as caught:
        stream.update({"2": "a cat"}, {"2": ["the cat"]})
    assert caught.value.where == "image_id '2'"
    other = captious.Stream("rouge-l")
    other.update({2: "a cat"}, {2: ["the cat"]})
    with pytest.raises(DuplicateCandidateError):
        stream.merge(other)
    stream.reset()
    stream.update(*CAPTIONS_OF_TWO)


def test_lists_have_new_images_each_time() -> None:
    stream = captious.Stream("length-words")
    for _ in range(2):
        stream.update(["a dog", "a cat"], [["the dog", "dogs"], ["the cat"]])
    assert stream.compute() == {"length-words": 2.0}


def test_signatures_and_warnings_are_those_of_score() -> None:
    captions = captious.read_captions(
        dict.fromkeys(range(40), "a dog"), {row: [f"cat {row} sits"] for row in range(40)}
    )
    metrics = ["bleu-4", "cider-d"]
    stream = captious.Stream(metrics, settings=Settings(references_as="cat"))
    stream.update(captions.select(range(20)))
    stream.update(captions.select(range(20, 40)))
    with pytest.warns(captious.CaptiousWarning) as issued:
        stream.compute()
    report = evaluate(captions, select(metrics, Settings(references_as="cat")))
    assert stream.signatures == {label: result.signature for label, result in report.items()}
    assert stream.warnings == report.warnings == [str(warning.message) for warning in issued]
    assert "there are only 40" in stream.warnings[-1]


def test_stream_accepts_reading_options_of_score() -> None:
    stream = captious.Stream("bleu-1")
    candidates = {"1.jpg": "**a dog**", "3.jpg": "a bird"}
    references = {1: "a dog", 2: "a cat"}
    options = {"match": "common", "clean": "markdown", "ids": "stem"}
    stream.update(candidates, references, **options)  # type: ignore[arg-type]
    report = captious.score(candidates, references, "bleu-1", **options)  # type: ignore[call-overload]
    assert stream.compute() == {"bleu-1": report["bleu-1"].score}
    assert stream.signatures == {"bleu-1": report["bleu-1"].signature}
    with pytest.raises(ParameterError, match="cleaned by other rules"):
        stream.update({4: "a bird"}, {4: ["a bird"]})


def test_repr_says_what_was_added() -> None:
    stream = captious.Stream(["bleu-4", "cider-d"])
    stream.update(["a dog", "a cat"], [["a dog runs"], ["the cat"]])
    assert repr(stream) == "<Stream of bleu-4, cider-d: 2 images>"
