"""Explanations of n-grams and common subsequences: they add up to the score of the metric."""

from __future__ import annotations

from typing import Any

import pytest

import captious
from captious.errors import ParameterError

REFERENCES = captious.read_references("examples/references.json")
CAPTIONS = captious.read_captions("examples/improved.json", REFERENCES)
OF_IMAGE = [list(REFERENCES.texts[a:b]) for a, b in zip(REFERENCES.offsets[:-1], REFERENCES.offsets[1:], strict=True)]
EDGES = [("", ["a dog"]), ("a dog", [""]), ("", [""]), ("!", ["a"]), ("the the the", ["the cat", "the the"])]
PAIRS = [*zip(CAPTIONS.candidates, OF_IMAGE, strict=True)][:8] + EDGES


def scored(metric: Any, candidate: str, references: list[str], output: str) -> float:
    state = metric.fit(REFERENCES)
    captions = captious.read_captions({0: candidate}, {0: references})
    return float(metric.aggregate(metric.statistics(captions, state))[0][metric.outputs.index(output)])


@pytest.mark.parametrize("variant", ["official", "paper"])
@pytest.mark.parametrize(("candidate", "references"), PAIRS)
def test_explanation_of_bleu_adds_up_to_the_score(variant: str, candidate: str, references: list[str]) -> None:
    metric = captious.Bleu(variant=variant)
    explained = metric.explain(candidate, references)
    assert explained.scores["bleu-4"] == scored(metric, candidate, references, "bleu-4")
    for n, order in enumerate(explained.orders, 1):
        assert {len(ngram.words) for ngram in order.ngrams} <= {n}
        assert order.count == sum(ngram.count for ngram in order.ngrams)
        assert order.matched == sum(ngram.matched for ngram in order.ngrams)
        assert order.precision == pytest.approx(order.matched / order.count if order.count else 0.0, abs=1e-5)


CIDERS = [captious.Cider(), captious.CiderD(), captious.CiderD(variant="paper"), captious.CiderR()]


@pytest.mark.parametrize("metric", CIDERS, ids=str)
@pytest.mark.parametrize(("candidate", "references"), PAIRS)
def test_cider_is_the_sum_over_ngrams(metric: captious.Cider, candidate: str, references: list[str]) -> None:
    explained = metric.explain(candidate, references, metric.fit(REFERENCES))
    assert explained.score == pytest.approx(scored(metric, candidate, references, metric.name), abs=1e-12)
    assert sum(ngram.adds for ngram in explained.ngrams) == pytest.approx(explained.score, abs=1e-9)
    assert sum(explained.orders) == pytest.approx(explained.score, abs=1e-9)


@pytest.mark.parametrize("metric", [captious.RougeL(), captious.RougeL(variant="lin2004")], ids=str)
@pytest.mark.parametrize(("candidate", "references"), PAIRS)
def test_explanation_of_rouge_l_adds_up_to_the_score(
    metric: captious.RougeL, candidate: str, references: list[str]
) -> None:
    explained = metric.explain(candidate, references)
    assert explained.score == scored(metric, candidate, references, "rouge-l")
    precision, recall, square = explained.precision, explained.recall, metric.beta**2
    f = (1 + square) * precision * recall / (recall + square * precision) if precision and recall else 0.0
    assert f == pytest.approx(explained.score)
    for part in explained.references:
        assert all(explained.candidate[i] == part.reference[j] for i, j in part.places)
        assert list(part.places) == sorted(part.places)


def test_cider_needs_document_frequencies() -> None:
    with pytest.raises(ParameterError, match="document frequencies"):
        captious.CiderD().explain("a dog", ["a dog"])
    explained = captious.CiderD(idf="coco").explain("a dog runs fast", ["a dog runs", "the dog is fast"])
    assert explained.ngrams[0].adds
