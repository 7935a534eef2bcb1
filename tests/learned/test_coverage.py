"""Sentences of candidates and references that cover each other."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious import Coverage, CoverageCider
from captious.metrics.contract.metric import MeanMetric
from captious.metrics.shared.coverage import SentenceCoverage

REFERENCES = ["A brown dog runs over green grass. Behind it stands a red barn. The sky is blue.", "A dog near a barn."]
CANDIDATE = "A dog is running on the grass. Two children eat ice cream."


def one(metric: MeanMetric, candidate: str, reference: str) -> float:
    """Return the score of a sentence with one other."""
    return float(np.ravel(metric.scores(captious.read_captions([candidate], [[reference]])))[0])


@pytest.mark.parametrize(
    ("metric", "by", "scale"),
    [
        (Coverage(), captious.Concur(), 1),
        (CoverageCider(idf="coco", sigma=4), captious.CiderD(idf="coco", sigma=4), 10),
    ],
)
def test_cells_are_scores_of_single_sentences(metric: SentenceCoverage, by: MeanMetric, scale: int) -> None:
    explained = metric.explain(CANDIDATE, REFERENCES)
    ours = [sentence.text for sentence in explained.candidate]
    assert ours == ["A dog is running on the grass.", "Two children eat ice cream."]
    assert [sentence.name for sentence in explained.references] == ["1.1", "1.2", "1.3", "2.1"]
    expected = [[one(by, text, other.text) / scale for other in explained.references] for text in ours]
    np.testing.assert_allclose(explained.matrix, expected, atol=1e-6)
    precision = np.mean([max(row) for row in expected])
    covered = [max(column) for column in zip(*expected, strict=True)]
    recall = (np.mean(covered[:3]) + covered[3]) / 2
    assert [sentence.best for sentence in explained.references] == pytest.approx(covered, abs=1e-6)
    assert explained.candidate[0].by == "1.1"
    assert explained.precision == pytest.approx(precision, abs=1e-6)
    assert explained.recall == pytest.approx(recall, abs=1e-6)
    assert explained.score == pytest.approx(2 * precision * recall / (precision + recall), abs=1e-6)


@pytest.mark.filterwarnings("ignore:.* empty or without words")
def test_scores_are_those_that_are_explained() -> None:
    candidates = {1: CANDIDATE, 2: "", 3: "A barn.\nA dog!"}
    references = {1: REFERENCES, 2: REFERENCES, 3: ["", REFERENCES[0]]}
    report = captious.score(candidates, references, ["coverage", "coverage-p", "coverage-r"])
    explained = [Coverage().explain(candidates[i], references[i]) for i in candidates]
    for label, name in (("coverage", "score"), ("coverage-p", "precision"), ("coverage-r", "recall")):
        values = [getattr(of_image, name) for of_image in explained]
        assert report[label].per_caption.tolist() == pytest.approx(values, abs=1e-12)
    assert report["coverage"].per_caption[1] == 0


def test_blocks_of_images_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    candidates = {i: f"A dog runs. {i} cats sleep on a mat." for i in range(20)}
    references = dict.fromkeys(range(20), REFERENCES)
    whole = captious.score(candidates, references, ["coverage", "coverage-cider:idf=coco"])
    monkeypatch.setattr("captious.metrics.shared.coverage._PAIRS_AT_ONCE", 9)
    monkeypatch.setattr("captious.metrics.shared.coverage._IMAGES_AT_ONCE", 7)
    parts = captious.score(candidates, references, ["coverage", "coverage-cider:idf=coco"])
    for label in whole:
        assert whole[label].per_caption.tolist() == pytest.approx(parts[label].per_caption.tolist(), abs=1e-9)


def test_omissions_lower_recall_and_inventions_lower_precision_only() -> None:
    half, more = REFERENCES[0].partition(".")[0] + ".", REFERENCES[0] + " Two children eat ice cream."
    whole, part, longer = (Coverage().explain(text, REFERENCES[:1]) for text in (REFERENCES[0], half, more))
    assert part.recall < whole.recall - 0.2
    assert part.precision == pytest.approx(whole.precision, abs=0.05)
    assert longer.precision < whole.precision - 0.1
    assert longer.recall == pytest.approx(whole.recall)


def test_coverage_weighs_words_by_document_frequencies() -> None:
    metric = CoverageCider()
    captions = captious.read_captions(dict.fromkeys(range(3), CANDIDATE), {i: [f"{i} dogs run."] for i in range(3)})
    state = metric.fit(captions.references)
    assert "idf:references-3" in metric.signatures(state)[0]
    np.testing.assert_array_equal(metric.scores(captions), metric.scores(captions, state))
