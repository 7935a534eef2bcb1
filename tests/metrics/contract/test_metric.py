"""Merges that metrics and their states refuse. That they do merge is in test_contract.py."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.cider import CiderD
from captious.metrics.contract.combined import Combined
from captious.metrics.contract.metric import Metric
from captious.metrics.shared.frequencies import DocumentFrequencies, TokenFrequencies
from captious.text import PTB
from tests.support.corpora import references_table


@pytest.mark.parametrize("other", [5, None, "rouge-l", captious.RougeL])
def test_only_streams_merge(other: object) -> None:
    with pytest.raises(ParameterError, match="is not a stream"):
        captious.Stream("rouge-l").merge(other)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [5, None, object()])
def test_only_frequencies_merge(other: object) -> None:
    of_ngrams = captious.CiderD().fit(references_table([["a dog"], ["a cat"]]))
    of_tokens = TokenFrequencies(np.ones(3, np.int64), 2, "model")
    assert of_ngrams is not None
    for state in (of_ngrams, of_tokens):
        with pytest.raises(ParameterError, match="cannot be merged"):
            state.merge(other)  # type: ignore[arg-type]


def test_the_resource_of_a_fit_is_the_state() -> None:
    references = references_table([["a dog", "dogs"], ["a cat"]])
    assert captious.Bleu().fit_resource(references) is None
    fitted = captious.CiderD().fit_resource(references)
    assert fitted.label == "references-2"


class Both(Combined):
    """CIDEr-D with the document frequencies of a file and with those of the references, as far as asked for."""

    name = "both"
    outputs = ("both",)
    summary = "for tests"

    def __init__(self, *parts: CiderD) -> None:
        self._parts = parts
        super().__init__()

    def make_parts(self) -> Sequence[tuple[Metric, str]]:
        return [(part, "cider-d") for part in self._parts]

    def combine(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(scores.mean(axis=1))


def test_a_combined_metric_is_fitted_if_any_part_is() -> None:
    references = references_table([["a dog"], ["a cat"]])
    idf = DocumentFrequencies.of(references, PTB)
    fitted, given = CiderD(), CiderD(idf=idf)
    for parts, has_state in (((fitted, given), [True, False]), ((fitted,), [True]), ((given,), None)):
        state = Both(*parts).fit(references)
        if has_state is None:
            assert state is None
            continue
        assert [part is not None for part in state.states] == has_state
        assert state.label == idf.label


# ---- a metric scores by itself

CAPTIONS = {1: "a yellow tram drives over a bridge", 2: "three goats climb a steep rock"}
REFERENCES = {
    1: ["a yellow tram passes an old bridge", "a tram drives over a bridge in a town"],
    2: ["three goats stand on a steep rock", "some goats climb rocks on a hill"],
}


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
@pytest.mark.parametrize(
    ("metric", "output"),
    [
        (captious.RougeL(), ""),
        (CiderD(idf="coco"), ""),
        (CiderD(), ""),
        (captious.Bleu(), "bleu-2"),
        (captious.Chrf(), ""),
    ],
    ids=lambda value: str(value),
)
def test_a_metric_by_itself_gives_the_result_of_a_report(metric: Metric, output: str) -> None:
    result = metric.score(CAPTIONS, REFERENCES, output=output)
    report = captious.score(CAPTIONS, REFERENCES, [metric])
    assert result == report[result.name]
    assert (result.name, result.signature) == (report[result.name].name, report[result.name].signature)
    assert result.by_image == report[result.name].by_image
    assert result.confidence_interval() == report[result.name].confidence_interval()


def test_a_metric_of_several_candidates_scores_them() -> None:
    several = {1: ["a dog", "a cat"], 2: ["a bus", "a bus"]}
    expected = captious.score(several, None, "div-1", several="mean")["div-1"]
    assert captious.Div().score(several, output="div-1") == expected


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda: captious.Bleu().score(CAPTIONS, REFERENCES), ParameterError, 'output="bleu-1" or output="bleu-2"'),
        (lambda: captious.Bleu().score(CAPTIONS, REFERENCES, output="meteor"), UnknownNameError, "bleu-1 or bleu-2"),
        (lambda: captious.RougeL().score(CAPTIONS), ParameterError, "give references"),
        (lambda: captious.RougeL().score([], []), captious.CaptiousError, "there are no captions"),
    ],
)
def test_what_a_metric_cannot_score_is_refused(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        call()
    assert words in str(caught.value)


# ---- rules that classes of users may break


class Lengths(Metric):
    """The number of letters of a caption, right or wrong in a way that a test chooses."""

    name = "letters"
    without_parameters = frozenset({"tokenizer"})

    def statistics(self, captions: Any, state: Any = None) -> Any:
        return np.array([[len(text), 1.0] for text in captions.candidates])

    def aggregate(self, statistics: Any) -> Any:
        return statistics[..., :1] / statistics[..., 1:]


def halved(self: Any, statistics: Any) -> Any:
    statistics *= 0.5
    return statistics[..., :1]


@pytest.mark.parametrize(
    ("method", "wrong", "message", "hint"),
    [
        ("statistics", lambda *_: np.ones(2), "statistics of the shape (2,) for 2 images", "float64[n, k]"),
        ("statistics", lambda *_: [[1.0, 1.0]], "statistics of the shape (1, 2) for 2 images", "float64[n, k]"),
        ("statistics", lambda *_: None, "statistics of the shape () for 2 images", "float64[n, k]"),
        ("statistics", lambda *_: [[np.nan, 1], [2, 1]], "1 of 2 images a number that is not finite", "finite numbers"),
        ("statistics", lambda *_: 1 / 0, "failed: ZeroDivisionError", "repair it"),
        ("aggregate", lambda _, rows: rows[..., 0], "scores of the shape (2,) from statistics of", "float64[..., 1]"),
        ("aggregate", lambda _, rows: rows[:, :1], "failed: IndexError", "repair it"),
        ("aggregate", lambda *_: None, "scores of the shape ()", "float64[..., 1]"),
        ("aggregate", halved, "failed: ValueError", "repair it"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        lambda metric: captious.score(CAPTIONS, REFERENCES, metric),
        lambda metric: captious.reward(REFERENCES, metric)([1, 2], [*CAPTIONS.values()]),
        lambda metric: metric.score(CAPTIONS, REFERENCES),
        lambda metric: captious.Stream(metric).update(CAPTIONS, REFERENCES),
    ],
    ids=["score", "reward", "by itself", "stream"],
)
def test_a_class_that_breaks_a_rule_is_named(call: Any, method: str, wrong: Any, message: str, hint: str) -> None:
    metric = type("Lengths", (Lengths,), {"name": "letters", method: wrong})()
    with pytest.raises(ParameterError) as caught:
        call(metric)
    assert message in caught.value.message
    assert "letters" in caught.value.message
    assert ".Lengths" in caught.value.where
    assert hint in caught.value.hint
    call(Lengths())


def test_a_metric_without_tokens_has_its_own() -> None:
    assert "tokens: its own" in str(captious.score(CAPTIONS, REFERENCES, Lengths()))
