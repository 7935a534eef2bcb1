"""SPICE of several candidates for an image, and the evaluation in a fork."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from captious.compat.pycocoevalcap import COCOEvalCap, Spice
from captious.compat.pycocoevalcap.eval_spice import COCOEvalCapSpice, SpiceEval
from captious.errors import DuplicateCandidateError
from captious.metrics import spice
from captious.scenes.graphs import agreement, count
from captious.scenes.layers import facts_of
from captious.scenes.tuples import tuples_of
from captious.text import WHITESPACE
from tests.compat.conftest import GTS, RES, FakeCoco

pytestmark = pytest.mark.usefixtures("meteor_tables")

SEVERAL = {
    5: ["dog", "a dog"],
    1: ["a dog runs in the park", "a brown dog on green grass"],
    2: ["two men play guitar"],
    3: ["a cat", "a sofa", "a cat on a red sofa"],
    4: [""],
}


def all_spice(candidates: list[str], references: list[str]) -> float:
    """By hand: the tuples of all captions of a side, merged to one scene graph."""
    metric = spice.Spice(tokenizer=WHITESPACE)
    sides = []
    for captions in (candidates, references):
        parses = metric.layer.parses.of_texts(captions).of_captions
        sides.append(facts_of([each for parse in parses for each in tuples_of(parse)], metric.tables))
    return float(agreement(np.array(count(*sides), np.float64))[0, 2])


def test_spice_merges_several_candidates() -> None:
    score, scores = Spice().compute_score(GTS, SEVERAL)
    assert [each["All"]["f"] for each in scores] == pytest.approx([all_spice(SEVERAL[i], GTS[i]) for i in GTS])
    assert score == pytest.approx(np.mean([each["All"]["f"] for each in scores]))
    _, of_one = Spice().compute_score(GTS, RES)
    assert scores[2] == of_one[2]
    assert scores[3]["All"]["tp"] > of_one[3]["All"]["tp"]


def test_spice_ignores_duplicate_candidates() -> None:
    twice = {image: [text, text] for image, (text,) in RES.items()}
    np.testing.assert_equal(Spice().compute_score(GTS, twice), Spice().compute_score(GTS, RES))


def test_spice_evaluation_equals_the_scorer(capsys: pytest.CaptureFixture[str]) -> None:
    evaluation = COCOEvalCapSpice(FakeCoco(GTS), FakeCoco(SEVERAL))
    evaluation.evaluate()
    score, scores = Spice().compute_score(GTS, SEVERAL)
    assert capsys.readouterr().out == (
        f"tokenization...\nsetting up scorers...\ncomputing SPICE score...\nSPICE: {score:0.3f}\n"
    )
    assert evaluation.eval == {"SPICE": score}
    expected = [{"image_id": image, "SPICE": each} for image, each in zip(GTS, scores, strict=True)]
    np.testing.assert_equal(evaluation.evalImgs, expected)
    assert [*evaluation.imgToEval] == [*GTS]


def test_the_other_evaluation_takes_one_candidate() -> None:
    with pytest.raises(DuplicateCandidateError):
        COCOEvalCap(FakeCoco(GTS), FakeCoco(SEVERAL)).evaluate()


def test_spice_evaluation_accepts_dictionaries(capsys: pytest.CaptureFixture[str]) -> None:
    raw: dict[str, Any] = {
        name: {i: [{"image_id": i, "caption": text} for text in texts] for i, texts in captions.items()}
        for name, captions in (("gts", GTS), ("res", SEVERAL))
    }
    evaluator = SpiceEval()
    score, of_images = evaluator.evaluate(**raw)
    assert score == evaluator.eval["spice"] == Spice().compute_score(GTS, SEVERAL)[0]
    assert [each["image_id"] for each in of_images.values()] == [*GTS]
    assert of_images is evaluator.imgToEval
    assert capsys.readouterr().out == f"computing SPICE score...\nspice: {score:0.3f}\n"
