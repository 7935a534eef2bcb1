"""Raw captions of COCO val2014 through toolkit and drop-in: no caption is tokenized differently, no score differs."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.compat import pycocoevalcap as ours
from captious.compat.pycocoevalcap import eval as our_eval
from tests.compat.conftest import NoSpice, closing_its_pipes

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def official() -> Any:
    """The toolkit's tokenizer."""
    if shutil.which("java") is None:
        pytest.skip("no java")
    return pytest.importorskip("pycocoevalcap.tokenizer.ptbtokenizer").PTBTokenizer


def by_image(records: list[dict[str, Any]]) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for record in records:
        found.setdefault(record["image_id"], []).append(record)
    return found


@pytest.fixture(scope="module")
def references(shared_data: Path) -> dict[int, list[dict[str, Any]]]:
    with gzip.open(shared_data / "coco" / "captions_val2014.json.gz", "rt", encoding="utf-8") as file:
        return by_image(json.load(file)["annotations"])


def systems(shared_data: Path) -> dict[str, Path]:
    return {path.name.split(".")[0]: path for path in sorted((shared_data / "coco" / "results_val2014").iterdir())}


def candidates(path: Path) -> dict[int, list[dict[str, Any]]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return by_image(json.load(file))


def test_tokenized_references_equal_the_toolkit(official: Any, references: dict[int, list[dict[str, Any]]]) -> None:
    assert ours.PTBTokenizer().tokenize(references) == official().tokenize(references)


@pytest.mark.parametrize("system", [0, *(pytest.param(n, marks=pytest.mark.nightly) for n in range(1, 9))])
def test_tokenized_candidates_of_nine_systems_equal_the_toolkit(official: Any, shared_data: Path, system: int) -> None:
    found = [*systems(shared_data).values()]
    assert len(found) == 9
    raw = candidates(found[system])
    assert ours.PTBTokenizer().tokenize(raw) == official().tokenize(raw)


@pytest.fixture
def evaluations(official: Any, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The two classes COCOEvalCap, without SPICE."""
    toolkit = pytest.importorskip("pycocoevalcap.eval")
    monkeypatch.setattr(toolkit, "Meteor", closing_its_pipes(toolkit.Meteor))
    for module in (toolkit, our_eval):
        monkeypatch.setattr(module, "Spice", NoSpice)
    return toolkit.COCOEvalCap, our_eval.COCOEvalCap


@pytest.mark.nightly
@pytest.mark.usefixtures("meteor_tables")
@pytest.mark.parametrize("system", range(9))
def test_scores_of_nine_systems_equal_the_toolkit(
    evaluations: tuple[Any, Any], shared_data: Path, references: dict[int, list[dict[str, Any]]], system: int
) -> None:
    """Every score of an image and of the corpus, from raw captions of val2014."""
    found = [*systems(shared_data).values()]
    assert len(found) == 9
    assert_equal_scores(evaluations, references, candidates(found[system]), 40_504)


def assert_equal_scores(evaluations: tuple[Any, Any], gts: Any, res: Any, images: int) -> None:
    """Toolkit and drop-in evaluate the same raw captions: BLEU, METEOR, ROUGE-L and CIDEr-D within 1e-12."""
    made = []
    for evaluation_class in evaluations:
        evaluation = evaluation_class(Annotations(gts), Annotations(res))
        evaluation.evaluate()
        made.append(evaluation)
    theirs, ours = made
    names = [*(f"Bleu_{n}" for n in range(1, 5)), "METEOR", "ROUGE_L", "CIDEr", "SPICE"]
    assert [*ours.eval] == [*theirs.eval] == names
    assert [*ours.imgToEval] == [*theirs.imgToEval] == [*gts]
    assert len(gts) == images
    for name in names:
        assert abs(ours.eval[name] - theirs.eval[name]) <= 1e-12, name
        our_scores, their_scores = (np.array([each[name] for each in made.evalImgs]) for made in (ours, theirs))
        np.testing.assert_allclose(our_scores, their_scores, rtol=0, atol=1e-12, err_msg=name)


class Annotations:
    """As much of pycocotools' COCO as the toolkit touches."""

    def __init__(self, captions: dict[int, list[dict[str, Any]]]) -> None:
        self.imgToAnns = captions

    def getImgIds(self) -> list[int]:  # noqa: N802
        return [*self.imgToAnns]
