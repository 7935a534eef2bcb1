"""COCOEvalCap: whole evaluations, with a COCO object of our own and with pycocotools."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.compat.pycocoevalcap import COCOEvalCap
from captious.errors import (
    DuplicateCandidateError,
    EmptyInputError,
    MissingCandidatesError,
    MissingReferencesError,
    ResourceError,
)
from tests.compat.conftest import (
    BLEU,
    CORPUS_METEOR,
    GTS,
    MEAN_CIDER,
    MEAN_ROUGE,
    RES,
    FakeCoco,
)

#: SPICE comes last.
NAMES = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr", "SPICE"]


def scores_of(references: Any, candidates: Any) -> tuple[Any, Any]:
    """Return the scores of an evaluation: of the corpus, and of the images."""
    evaluation = COCOEvalCap(references, candidates)
    evaluation.evaluate()
    assert evaluation.imgToEval == {record["image_id"]: record for record in evaluation.evalImgs}
    return evaluation.eval, evaluation.imgToEval


def test_evaluation_is_empty_before_it_runs(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    assert evaluation.params == {"image_id": [5, 1, 2, 3, 4]}
    assert (evaluation.eval, evaluation.evalImgs, evaluation.imgToEval) == ({}, [], {})
    assert (evaluation.coco, evaluation.cocoRes) == toy_coco


@pytest.mark.usefixtures("no_tables")
def test_evaluation_without_meteor_tables_leaves_out_meteor_and_spice(
    toy_coco: tuple[FakeCoco, FakeCoco], capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    evaluation.evaluate()
    printed = capsys.readouterr().out
    install = "pip install 'captious[meteor]'"
    assert f"skipped: METEOR ({install}); SPICE ({install})\n" in printed
    assert printed.count("METEOR") == 1
    others = [name for name in NAMES if name not in ("METEOR", "SPICE")]
    assert list(evaluation.eval) == others
    assert list(evaluation.eval.values()) == pytest.approx([*BLEU, MEAN_ROUGE, MEAN_CIDER], abs=1e-14)
    assert all(list(record) == ["image_id", *others] for record in evaluation.evalImgs)


def test_damaged_tables_of_meteor_are_an_error(
    toy_coco: tuple[FakeCoco, FakeCoco], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are not left out in silence: whoever has them counts on the score."""
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", str(tmp_path))
    with pytest.raises(ResourceError, match="CAPTIOUS_METEOR_HOME"):
        COCOEvalCap(*toy_coco).evaluate()


@pytest.mark.usefixtures("meteor_tables")
def test_raw_captions_are_tokenized() -> None:
    references = FakeCoco({image: [f"{text.capitalize()} ." for text in texts] for image, texts in GTS.items()})
    candidates = FakeCoco({image: [f"{text.upper()}!\n"] for image, (text,) in RES.items()})
    corpus, of_images = scores_of(references, candidates)
    assert [*of_images] == [*GTS]
    assert list(corpus.values())[:-1] == pytest.approx([*BLEU, CORPUS_METEOR, MEAN_ROUGE, MEAN_CIDER], abs=1e-14)
    np.testing.assert_equal((corpus, of_images), scores_of(FakeCoco(GTS), FakeCoco(RES)))


def test_params_select_images(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    evaluation.evaluate()
    evaluation.params["image_id"] = [3, 1]
    evaluation.evaluate()
    assert [record["image_id"] for record in evaluation.evalImgs] == [3, 1]
    assert evaluation.imgToEval.keys() == {1, 3}
    assert evaluation.eval["CIDEr"] == pytest.approx((2.6601599257788875 + 2.051016520334863) / 2, abs=1e-14)


def test_invalid_evaluations_are_refused(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    references, candidates = toy_coco
    evaluation = COCOEvalCap(references, candidates)
    evaluation.params["image_id"] = []
    with pytest.raises(EmptyInputError):
        evaluation.evaluate()
    evaluation.params["image_id"] = [1, 99]
    with pytest.raises(MissingReferencesError, match="image_id 99"):
        evaluation.evaluate()
    twice = COCOEvalCap(references, FakeCoco({**RES, 2: ["a", "b"]}))
    with pytest.raises(DuplicateCandidateError, match="image_id 2"):
        twice.evaluate()


def test_setters_record_scores(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    evaluation.setEval(0.5, "mine")
    evaluation.setImgToEvalImgs([0.25, 0.75], [1, 2], "mine")
    evaluation.setEvalImgs()
    assert evaluation.eval == {"mine": 0.5}
    assert evaluation.evalImgs == [{"image_id": 1, "mine": 0.25}, {"image_id": 2, "mine": 0.75}]


@pytest.mark.usefixtures("meteor_tables")
def test_pycocotools_objects_are_evaluated(tmp_path: Path) -> None:
    coco_module = pytest.importorskip("pycocotools.coco")
    annotations: list[dict[str, Any]] = [
        {"image_id": image, "id": 10 * image + number, "caption": text}
        for image, texts in GTS.items()
        for number, text in enumerate(texts)
    ]
    document = {"info": {}, "images": [{"id": image} for image in GTS], "annotations": annotations}
    results = [{"image_id": image, "caption": text} for image, (text,) in reversed(RES.items())]
    (tmp_path / "annotations.json").write_text(json.dumps(document))
    (tmp_path / "results.json").write_text(json.dumps(results))
    (tmp_path / "some.json").write_text(json.dumps(results[:2]))
    coco = coco_module.COCO(str(tmp_path / "annotations.json"))

    found = scores_of(coco, coco.loadRes(str(tmp_path / "results.json")))
    np.testing.assert_equal(found, scores_of(FakeCoco(GTS), FakeCoco(RES)))
    assert [*found[1]] == coco.getImgIds()

    some = coco.loadRes(str(tmp_path / "some.json"))
    with pytest.raises(MissingCandidatesError, match="image_id 5"):
        COCOEvalCap(coco, some).evaluate()
    assert 5 not in some.imgToAnns
