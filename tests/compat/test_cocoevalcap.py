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
    BLEU_1,
    BLEU_4,
    CIDER,
    CORPUS_METEOR,
    GTS,
    MEAN_CIDER,
    MEAN_ROUGE,
    METEOR,
    RES,
    ROUGE,
    FakeCoco,
)

#: SPICE comes last; its own tests hold its scores.
NAMES = ["Bleu_1", "Bleu_2", "Bleu_3", "Bleu_4", "METEOR", "ROUGE_L", "CIDEr", "SPICE"]


def check_toy(evaluation: COCOEvalCap, order: list[int]) -> None:
    """Evaluate the whole toy corpus with the images in this order."""
    assert list(evaluation.eval) == NAMES
    corpus = [*BLEU, CORPUS_METEOR, MEAN_ROUGE, MEAN_CIDER]
    assert list(evaluation.eval.values())[:-1] == pytest.approx(corpus, abs=1e-14)
    of_images = [record["SPICE"]["All"]["f"] for record in evaluation.evalImgs]
    assert evaluation.eval["SPICE"] == pytest.approx(np.mean(of_images))
    assert [record["image_id"] for record in evaluation.evalImgs] == order
    assert list(evaluation.imgToEval) == order
    for record in evaluation.evalImgs:
        image = record["image_id"]
        assert list(record) == ["image_id", *NAMES]
        assert evaluation.imgToEval[image] is record
        of_toolkit = {"Bleu_1": BLEU_1, "Bleu_4": BLEU_4, "METEOR": METEOR, "ROUGE_L": ROUGE, "CIDEr": CIDER}
        for name, scores in of_toolkit.items():
            assert record[name] == pytest.approx(scores[image], abs=1e-14)


def test_evaluation_is_empty_before_it_runs(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    assert evaluation.params == {"image_id": [5, 1, 2, 3, 4]}
    assert (evaluation.eval, evaluation.evalImgs, evaluation.imgToEval) == ({}, [], {})
    assert (evaluation.coco, evaluation.cocoRes) == toy_coco


@pytest.mark.usefixtures("meteor_tables")
def test_evaluate_fills_results_and_prints_like_the_toolkit(
    toy_coco: tuple[FakeCoco, FakeCoco], capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    evaluation.evaluate()
    check_toy(evaluation, [5, 1, 2, 3, 4])
    assert capsys.readouterr().out.startswith(
        "tokenization...\n"
        "setting up scorers...\n"
        "computing Bleu score...\n"
        "{'testlen': 13, 'reflen': 22, 'guess': [13, 9, 6, 4], 'correct': [11, 6, 1, 0]}\n"
        "ratio: 0.5909090908822315\n"
        "Bleu_1: 0.423\nBleu_2: 0.376\nBleu_3: 0.228\nBleu_4: 0.000\n"
        "computing METEOR score...\n"
        "METEOR: 0.258\n"
        "computing Rouge score...\n"
        "ROUGE_L: 0.513\n"
        "computing CIDEr score...\n"
        "CIDEr: 1.550\n"
        "computing SPICE score...\n"
        "SPICE: 0."
    )


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
def test_results_are_json_values(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    evaluation.evaluate()
    for scores in (evaluation.eval, evaluation.evalImgs[0]):
        assert type(scores["Bleu_1"]) is type(scores["METEOR"]) is float
        assert type(scores["ROUGE_L"]) is type(scores["CIDEr"]) is np.float64
    assert type(evaluation.eval["SPICE"]) is np.float64
    assert set(evaluation.evalImgs[0]["SPICE"]["Color"]) == {"pr", "re", "f", "tp", "fp", "fn", "numImages"}
    assert json.loads(json.dumps(evaluation.eval)) == evaluation.eval
    for record in evaluation.evalImgs:
        read = json.loads(json.dumps(record))
        np.testing.assert_equal(read, record)  # where nan is nan


@pytest.mark.usefixtures("meteor_tables")
def test_raw_captions_are_tokenized() -> None:
    references = FakeCoco({image: [f"{text.capitalize()} ." for text in texts] for image, texts in GTS.items()})
    candidates = FakeCoco({image: [f"{text.upper()}!\n"] for image, (text,) in RES.items()})
    evaluation = COCOEvalCap(references, candidates)
    evaluation.evaluate()
    check_toy(evaluation, list(GTS))


def test_params_select_images(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    evaluation = COCOEvalCap(*toy_coco)
    evaluation.evaluate()
    evaluation.params["image_id"] = [3, 1]
    evaluation.evaluate()
    assert [record["image_id"] for record in evaluation.evalImgs] == [3, 1]
    assert evaluation.imgToEval.keys() == {1, 3}
    assert evaluation.eval["CIDEr"] == pytest.approx((2.6601599257788875 + 2.051016520334863) / 2, abs=1e-14)


def test_results_for_some_images_are_evaluated(toy_coco: tuple[FakeCoco, FakeCoco]) -> None:
    references, _ = toy_coco
    evaluation = COCOEvalCap(references, FakeCoco({1: RES[1], 3: RES[3]}))
    with pytest.raises(MissingCandidatesError, match=r"image_id 5\s.*cocoRes\.getImgIds\(\)"):
        evaluation.evaluate()
    evaluation.params["image_id"] = evaluation.cocoRes.getImgIds()
    evaluation.evaluate()
    assert evaluation.imgToEval.keys() == {1, 3}


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

    evaluation = COCOEvalCap(coco, coco.loadRes(str(tmp_path / "results.json")))
    evaluation.evaluate()
    check_toy(evaluation, list(coco.getImgIds()))

    some = coco.loadRes(str(tmp_path / "some.json"))
    with pytest.raises(MissingCandidatesError, match="image_id 5"):
        COCOEvalCap(coco, some).evaluate()
    assert 5 not in some.imgToAnns
