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


def cell(text: str) -> Any:
    """Return a cell of MATLAB with a text in it."""
    content = np.empty((1, 1), object)
    content[0, 0] = text
    return content


def write_triplets(path: Path, pairs: list[tuple[str, str, int]]) -> None:
    """Forty-eight triplets of every pair (B, C, votes for B)."""
    kinds = [(name, object) for name in ("A", "B", "C", "winner")]
    triplets = np.empty((1, 48 * len(pairs)), kinds)
    for number, (b, c, votes) in enumerate(pairs):
        for k in range(48):
            winner = np.array([[1 if k < votes else -1]])
            triplets[0, 48 * number + k] = (cell(f" reference {number} {k} "), cell(b), cell(c), winner)
    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, {"triplets": triplets})


@pytest.mark.slow  # 9,696 triplets
def test_abstract_50s_triplets_are_read(tmp_path: Path) -> None:
    pairs = [(f"scene {n}", f"other {n}", 30) for n in range(200)] + [("a", "b", 10), ("c", "d", 24)]
    write_triplets(tmp_path / "abstract50s" / "consensus_abstract.mat", pairs)
    found = load(tmp_path, "abstract-50s")
    assert isinstance(found, CaptionPairs)
    assert found.n == 201  # without the tie
    assert found.names == ["HC", "HI"]
    assert np.bincount(found.parts).tolist() == [200, 1]
    assert found.preferred.tolist() == [0] * 200 + [1]
    assert found.captions.candidates[-2:] == ("a", "b")
    assert found.captions.references.texts[-5:] == tuple(f"reference 200 {k}" for k in range(5))


def test_abstract_50s_has_five_references(tmp_path: Path) -> None:
    path = tmp_path / "abstract50s" / "consensus_abstract.mat"
    write_triplets(path, [("a", "b", 30), ("tied", "with", 24), ("c", "d", 20)])
    found = load(tmp_path, "abstract-50s")
    assert isinstance(found, CaptionPairs)
    assert found.captions.candidates == ("a", "b", "c", "d")
    assert found.preferred.tolist() == [0, 1]
    of_pairs = [tuple(f"reference {number} {k}" for k in range(5)) for number in (0, 2)]
    assert found.captions.references.texts == (*of_pairs[0] * 2, *of_pairs[1] * 2)


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
    assert found.captions.references.texts[:5] == tuple(f"reference 0 {k}" for k in range(5))
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
