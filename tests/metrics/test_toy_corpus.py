"""The toy corpus of five images, with its scores in the official COCO toolkit."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.metrics.contract.metric import Metric
from tests.support.corpora import TOY, table

pytestmark = pytest.mark.filterwarnings("ignore:1 of 5 candidates is empty:captious.CaptiousWarning")

CORPUS = {
    "bleu-1": 0.4234322402399545,
    "bleu-2": 0.37584919661936456,
    "bleu-3": 0.22754651957734973,
    "bleu-4": 3.484346183733373e-05,
    "rouge-l": 0.5127887986587908,
    "cider-d": 1.5497880828543882,
}
PER_CAPTION = {
    "bleu-1": [0.9999999996666668, 0.4999999998750002, 0.13533528310127763, 0, 0.999999998000002],
    "bleu-4": [9.036020032446394e-05, 1.699044243962204e-08, 0.00013533528311819452, 0, 3.162277656215536e-05],
    "rouge-l": [0.7587064676616916, 0.346590909090909, 0.45864661654135336, 0, 1],
    "cider-d": [2.4738239461662865, 0.7096357697372833, 2.0654806983683702, 0, 2.5],
}
CANDIDATES = [" ".join(candidate) for candidate in TOY.candidates]
REFERENCES = [[" ".join(reference) for reference in references] for references in TOY.references]


@pytest.fixture(scope="module")
def report() -> captious.Report:
    with pytest.warns(captious.CaptiousWarning, match="only 5"):
        return captious.score(CANDIDATES, REFERENCES, metrics=["bleu", "rouge-l", "cider-d"])


@pytest.mark.parametrize("output", CORPUS)
def test_corpus_scores(report: captious.Report, output: str) -> None:
    assert report[output].score == pytest.approx(CORPUS[output], abs=1e-12, rel=0)


@pytest.mark.parametrize("output", PER_CAPTION)
def test_caption_scores(report: captious.Report, output: str) -> None:
    np.testing.assert_allclose(report[output].per_caption, PER_CAPTION[output], atol=1e-12, rtol=0)


def test_punctuation_case_and_layout_do_not_matter() -> None:
    shouted = [f" {candidate.upper()} . " for candidate in CANDIDATES]
    decorated = [[f'"{reference.capitalize()}!"' for reference in references] for references in REFERENCES]
    for metric in (captious.Bleu(), captious.RougeL(), captious.CiderD()):
        expected = metric.statistics(table(CANDIDATES, REFERENCES))
        np.testing.assert_array_equal(metric.statistics(table(shouted, decorated)), expected)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        # One word that matches: the constants of the official scorer leave neither 0 nor 1.
        (captious.Bleu(), [1 / (1 + 1e-9), (1e-6 / (1 + 1e-9)) ** 0.5, 1e-4, 10**-4.5]),
        (captious.Bleu(variant="paper"), [1, 0, 0, 0]),
        (captious.NgramPrecision(variant="paper"), [1, 0, 0, 0]),
        (captious.RougeN(), [1, 0, 0, 0]),
        (captious.RougeL(), [1]),
        (captious.RougeS(), [0]),
        (captious.UnigramRecall(), [1]),
    ],
    ids=lambda value: type(value).__name__,
)
def test_single_matching_word_scores_as_expected(metric: Metric, expected: list[float]) -> None:
    scores = metric.aggregate(metric.statistics(table(["dog"], [["dog"]])))
    np.testing.assert_allclose(scores, [expected], rtol=3e-9)


def test_empty_candidate_against_empty_reference_is_defined() -> None:
    # The official ROUGE-L splits at spaces, so an empty caption is one empty word, which equals another.
    empty = table([""], [["", "a dog"]])
    assert captious.RougeL().statistics(empty)[0, 0] == 1
    for metric in (captious.Bleu(), captious.Cider(), captious.CiderD(), captious.RougeN(), captious.UnigramRecall()):
        assert (metric.aggregate(metric.statistics(empty)) == 0).all()


def test_bleu_prefers_the_shorter_of_equally_close_references() -> None:
    captions = table(["a b c d"], [["a b c d e", "a b c", "a b c d e f"]])
    assert captious.Bleu().statistics(captions)[0, 9] == 3
