"""Fixtures of the tests of captious.compat: the toy corpus with the toolkit's scores, and COCO without pycocotools."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock

import pytest

import captious.compat
from captious.resources import meteor_tables as meteor

#: Candidate and references of each image, not in the order of ids.
TOY = {
    5: ("dog", ["dog"]),
    1: ("a dog runs in the park", ["a dog is running in the park", "a brown dog runs on grass"]),
    2: ("two men play guitar", ["two men are playing guitars on stage", "a band performs"]),
    3: ("a cat", ["a cat sleeps on a sofa"]),
    4: ("", ["a red bus on the street"]),
}
GTS = {image: references for image, (_, references) in TOY.items()}
RES = {image: [candidate] for image, (candidate, _) in TOY.items()}

#: What pycocoevalcap 1.2 gives for them.
BLEU = [0.4234322402399545, 0.37584919661936456, 0.22754651957734973, 3.484346183733373e-05]
BLEU_1 = {5: 0.999999998000002, 1: 0.9999999996666668, 2: 0.4999999998750002, 3: 0.13533528310127763, 4: 0.0}
BLEU_4 = {5: 3.162277656215536e-05, 1: 9.036020032446394e-05, 2: 1.699044243962204e-08, 3: 0.00013533528311819452, 4: 0}
ROUGE = {5: 1.0, 1: 0.7587064676616916, 2: 0.346590909090909, 3: 0.45864661654135336, 4: 0.0}
CIDER = {5: 2.5, 1: 2.4738239461662865, 2: 0.7096357697372833, 3: 2.0654806983683702, 4: 0.0}
METEOR = {5: 1.0, 1: 0.393376174249887, 2: 0.31723356421905424, 3: 0.17691468963789833, 4: 0.0}
CORPUS_METEOR = 0.25752952595284834
MEAN_ROUGE, MEAN_CIDER = 0.5127887986587908, 1.5497880828543882


class FakeCoco:
    """As much of ``pycocotools.coco.COCO`` as the toolkit touches."""

    def __init__(self, captions: Mapping[Any, list[str]]) -> None:
        self.imgToAnns = {
            image: [{"image_id": image, "id": number, "caption": text} for number, text in enumerate(texts)]
            for image, texts in captions.items()
        }

    def getImgIds(self) -> list[Any]:  # noqa: N802
        return list(self.imgToAnns)


class NoSpice:
    """A scorer in the place of SPICE, whose official program runs on few machines."""

    def method(self) -> str:
        return "SPICE"

    def compute_score(self, gts: Any, res: Any) -> tuple[float, list[float]]:
        return 0.0, [0.0] * len(gts)


@pytest.fixture
def toy_coco() -> tuple[FakeCoco, FakeCoco]:
    """References and candidates of the toy corpus, the candidates in another order."""
    return FakeCoco(GTS), FakeCoco(dict(sorted(RES.items())))


@pytest.fixture
def replaced_copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Toolkits are replaced, the copies of the test can be imported, and nothing of them stays."""
    before = [*sys.modules]
    monkeypatch.syspath_prepend(tmp_path)
    with captious.compat.redirected():
        yield
    for name in [name for name in sys.modules if name not in before and not name.startswith("captious")]:
        del sys.modules[name]


@pytest.fixture
def no_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without METEOR's tables."""
    monkeypatch.setattr(meteor, "installed_folder", lambda package: None)
    monkeypatch.delenv("CAPTIOUS_METEOR_HOME", raising=False)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path))


def closing_its_pipes(official: Any) -> Any:
    """Return a subclass of the toolkit's Meteor that closes the pipes of its process, which Meteor leaves open."""

    class Meteor(official):  # type: ignore[misc]
        def __del__(self) -> None:
            super().__del__()
            self.meteor_p.stdout.close()
            self.meteor_p.stderr.close()

    return Meteor


@pytest.fixture
def aac_toolkit(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The functions of aac-metrics itself; what it imports for metrics on models may be missing."""
    if importlib.util.find_spec("aac_metrics") is None:
        pytest.skip("no aac_metrics")
    for name in ("msclap", "sentence_transformers"):
        if importlib.util.find_spec(name) is None:
            monkeypatch.setitem(sys.modules, name, MagicMock())
    return importlib.import_module("aac_metrics.functional")
