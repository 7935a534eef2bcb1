"""Raw captions of COCO val2014 through the tokenizers of toolkit and drop-in: no caption differs."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.compat import pycocoevalcap as ours

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


def test_references(official: Any, references: dict[int, list[dict[str, Any]]]) -> None:
    assert ours.PTBTokenizer().tokenize(references) == official().tokenize(references)


def test_candidates_of_nine_systems(official: Any, shared_data: Path) -> None:
    found = systems(shared_data)
    assert len(found) == 9
    for path in found.values():
        raw = candidates(path)
        assert ours.PTBTokenizer().tokenize(raw) == official().tokenize(raw), path.name


@pytest.mark.nightly
def test_scores_of_nine_systems(official: Any, shared_data: Path, references: dict[int, list[dict[str, Any]]]) -> None:
    """BLEU, ROUGE-L and CIDEr-D of every image, from raw captions."""
    homes = {"Bleu": "bleu.bleu", "Rouge": "rouge.rouge", "Cider": "cider.cider"}
    toolkit = {name: getattr(pytest.importorskip(f"pycocoevalcap.{home}"), name) for name, home in homes.items()}
    gts, our_gts = official().tokenize(references), ours.PTBTokenizer().tokenize(references)
    for path in systems(shared_data).values():
        raw = candidates(path)
        res, our_res = official().tokenize(raw), ours.PTBTokenizer().tokenize(raw)
        for name, theirs in toolkit.items():
            verbose = {"verbose": 0} if name == "Bleu" else {}
            score, scores = theirs().compute_score(gts, res, **verbose)
            our_score, our_scores = getattr(ours, name)().compute_score(our_gts, our_res, **verbose)
            np.testing.assert_allclose(our_score, score, rtol=0, atol=1e-12)
            np.testing.assert_allclose(our_scores, scores, rtol=0, atol=1e-12)
