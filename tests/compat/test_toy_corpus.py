"""The toy corpus in every toolkit, as calls and what they return: the values of pycocoevalcap 1.2 in the same types."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from captious.compat import meshed_memory, pyciderevalcap, pycocoevalcap
from captious.compat.meshed_memory.cider.cider_scorer import CiderScorer as OfMappings
from captious.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer
from captious.compat.pycocoevalcap.cider.cider_scorer import CiderScorer
from tests.compat import conftest as toy
from tests.compat.conftest import GTS, RES
from tests.support.every_metric import MISSING

CANDIDATES = [{"image_id": image, "caption": texts} for image, texts in RES.items()]


def filled(scorer: Any) -> Any:
    """Return a scorer of counts with the images."""
    for image, references in GTS.items():
        scorer += (RES[image][0], references)
    return scorer


def at_once(name: str) -> tuple[Any, Any]:
    """Return what ``compute_scores`` of meshed-memory returns for one of its metrics."""
    corpus, scores = meshed_memory.compute_scores(GTS, RES)
    assert [*corpus] == [*scores] == ["BLEU", "METEOR", "ROUGE", "CIDEr"]
    return corpus[name], scores[name]


#: Corpus score, scores of images by order if there are several, and types of both and of each score.
BLEUS = toy.BLEU, {0: toy.BLEU_1, 3: toy.BLEU_4}, (list, list, float)
METEORS = toy.CORPUS_METEOR, {None: toy.METEOR}, (float, list, float)
ROUGES = toy.MEAN_ROUGE, {None: toy.ROUGE}, (np.float64, np.ndarray, np.float64)
CIDERS = toy.MEAN_CIDER, {None: toy.CIDER}, (np.float64, np.ndarray, np.float64)
needs_tables = pytest.mark.skipif("meteor" in MISSING, reason=MISSING.get("meteor", ""))
CALLS = [
    (lambda: pycocoevalcap.Bleu().compute_score(GTS, RES, verbose=0), BLEUS, 1e-15),
    pytest.param(lambda: pycocoevalcap.Meteor().compute_score(GTS, RES), METEORS, 1e-15, marks=needs_tables),
    (lambda: pycocoevalcap.Rouge().compute_score(GTS, RES), ROUGES, 1e-15),
    (lambda: pycocoevalcap.Cider().compute_score(GTS, RES), CIDERS, 1e-14),
    (lambda: filled(BleuScorer()).compute_score("closest"), BLEUS, 1e-12),
    (lambda: filled(CiderScorer()).compute_score(), CIDERS, 1e-12),
    (lambda: vars(pyciderevalcap)["CiderD"]().compute_score(GTS, CANDIDATES), CIDERS, 1e-14),
    (lambda: filled(vars(pyciderevalcap)["CiderDScorer"]()).compute_score(), CIDERS, 1e-12),
    (lambda: meshed_memory.Cider().compute_score(GTS, RES), CIDERS, 1e-14),
    (lambda: OfMappings(GTS, RES).compute_score(), CIDERS, 1e-12),
    *(
        pytest.param(lambda name=name: at_once(name), expected, 1e-14, marks=needs_tables)
        for name, expected in (("BLEU", BLEUS), ("METEOR", METEORS), ("ROUGE", ROUGES), ("CIDEr", CIDERS))
    ),
]


@pytest.mark.parametrize(("call", "expected", "tolerance"), CALLS)
def test_scores_and_types(call: Any, expected: Any, tolerance: float, capsys: pytest.CaptureFixture[str]) -> None:
    corpus, scores = call()
    expected_corpus, by_order, (of_corpus, of_scores, of_image) = expected
    assert (type(corpus), type(scores)) == (of_corpus, of_scores)
    assert corpus == pytest.approx(expected_corpus, abs=tolerance)
    for order, by_image in by_order.items():
        row = scores if order is None else scores[order]
        assert type(row) is of_scores
        assert {type(score) for score in row} == {of_image}
        assert list(row) == pytest.approx([by_image[image] for image in GTS], abs=tolerance)
    assert capsys.readouterr().out == ""
