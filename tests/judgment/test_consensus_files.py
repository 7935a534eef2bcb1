"""PASCAL-50S and ABSTRACT-50S in the authors' files of MATLAB: triplets of a reference and two captions, with votes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import loadmat, savemat

from captious.errors import CaptionFileError, ResourceError
from captious.judgment.judgments import CaptionPairs
from tests.support.judgments import load

TOPICS = ("a bear", "an owl", "a kite", "a pie")


def cell(text: str) -> Any:
    """Return a cell of MATLAB with a text in it."""
    content = np.empty((1, 1), object)
    content[0, 0] = text
    return content


def write_triplets(path: Path, pairs: list[tuple[str, str, int]], scenes: list[int] | None = None) -> None:
    """Forty-eight triplets of every pair (B, C, votes for B), with the references of its scene."""
    kinds = [(name, object) for name in ("A", "B", "C", "winner")]
    triplets = np.empty((1, 48 * len(pairs)), kinds)
    for number, (b, c, votes) in enumerate(pairs):
        scene = number if scenes is None else scenes[number]
        for k in range(48):
            winner = np.array([[1 if k < votes else -1]])
            triplets[0, 48 * number + k] = (cell(f" reference {k} of {TOPICS[scene]} "), cell(b), cell(c), winner)
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"triplets": triplets})


def abstract_pairs(path: Path, pairs: list[tuple[str, str, int]], scenes: list[int]) -> CaptionPairs:
    write_triplets(path / "abstract50s" / "consensus_abstract.mat", pairs, scenes)
    found = load(path, "abstract-50s")
    assert isinstance(found, CaptionPairs)
    return found


@pytest.mark.parametrize(
    "pairs",
    [
        [("a bear", "the bear", 40)],
        [("a bear", "the bear", 40), ("a bear", "bears", 40), ("a bear", "a kite", 40)],
        [("a bear", "the bear", 40), ("bears", "a kite", 40)],
        [("a bear", "the bear", 40), ("the bear", "a bear", 40)],
    ],
)
def test_scenes_of_other_pairs_are_refused(pairs: list[tuple[str, str, int]], tmp_path: Path) -> None:
    with pytest.raises(CaptionFileError, match="two pairs that share a caption") as caught:
        abstract_pairs(tmp_path, pairs, [0] * len(pairs))
    assert "consensus_abstract.mat, the scene of 'a bear'" in caught.value.where


def test_pascal_50s_triplets_are_read(tmp_path: Path) -> None:
    pairs = [("a dog", "the dog", 40), ("a dog", "a cat", 47), ("a bus", "a red bus", 3), ("x", "y", 24)]
    write_triplets(tmp_path / "pascal50s" / "consensus_pascal.mat", pairs)
    inputs = np.empty((1, 4), object)
    for number, (b, c, _) in enumerate(pairs):
        inputs[0, number] = np.array([[f"{number // 2}.jpg"], [b], [c]], object)
    savemat(tmp_path / "pascal50s" / "pair_pascal.mat", {"new_input": inputs, "category": np.array([[1, 2, 3, 4]])})
    found = load(tmp_path, "pascal-50s@smurf2021")
    assert isinstance(found, CaptionPairs)
    assert found.preferred.tolist() == [0, 0, 1]
    assert found.units.tolist() == [0, 0, 1]
    assert found.parts.tolist() == [0, 1, 2]
    assert found.captions.references.texts[:5] == tuple(f"reference {k} of a bear" for k in range(5))
    with pytest.raises(ResourceError, match=r"Lee et al\. 2024 drew are missing"):
        load(tmp_path, "pascal-50s")


def test_damaged_triplets_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "abstract50s" / "consensus_abstract.mat"
    write_triplets(path, [("a", "b", 10)])
    whole = path.read_bytes()
    for content in (b"", b"text", whole[:200], whole[:-20]):
        path.write_bytes(content)
        with pytest.raises(CaptionFileError, match=r"MATLAB|triplets|format"):
            load(tmp_path, "abstract-50s")
    savemat(path, {"other": [1]})
    with pytest.raises(CaptionFileError, match="no triplets"):
        load(tmp_path, "abstract-50s")
    write_triplets(path, [("a", "b", 10), ("c", "d", 30)])
    triplets = loadmat(path)["triplets"]
    for wrong, message in ((triplets[:, 1:], "95, is not a multiple of 48"), (triplets[:, ::-2], "of several pairs")):
        savemat(path, {"triplets": wrong})
        with pytest.raises(CaptionFileError, match=message):
            load(tmp_path, "abstract-50s")
