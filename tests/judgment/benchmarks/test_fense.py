"""AudioCaps-Eval and Clotho-Eval: votes, and the references that each caption of a pair gets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from captious.errors import CaptionFileError
from captious.judgment.judgments import CaptionPairs
from tests.support.judgments import load, write

REFERENCES = ["r1", "r2", "r3", "r4", "r5"]
RECORD: dict[str, Any] = {
    "HC": ["r1", "r2", "x", "y", [1, 1, -1, 1]],
    "HI": ["r1", "other", "x", "y", [1, 1, 1, 1]],
    "HM": ["r3", "machine", "x", "y", [-1, -1, 0, 0]],
    "MM_1": ["m1", "m2", "x", "y", [1, 1, 1, 1]],
    "MM_4": ["m1", "m3", "x", "y", [1, -1, 0, 0]],  # undecided
    "raw_name": "a.wav",
    "references": REFERENCES,
}


def test_null_instead_of_a_pair_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "fense/audiocaps_eval.json", [{**RECORD, "MM_1": None, "HI": None}])
    read = load(tmp_path, "audiocaps-eval")
    assert isinstance(read, CaptionPairs)
    assert read.preferred.tolist() == [0, 1]


def test_fewer_references_are_repeated(tmp_path: Path) -> None:
    record = {**RECORD, "references": ["r1", "r2", "r1", "r4", "r5"]}
    write(tmp_path, "fense/clotho_eval.json", [{key: record[key] for key in ("HI", "references")}])
    found = load(tmp_path, "clotho-eval")
    assert isinstance(found, CaptionPairs)
    assert found.captions.references.texts == ("r2", "r4", "r5", "r2") * 2


@pytest.mark.parametrize("votes", [[2, 1], "yes", [1, None]])
def test_invalid_votes_are_refused(tmp_path: Path, votes: object) -> None:
    write(tmp_path, "fense/clotho_eval.json", [RECORD, RECORD | {"HM": ["a", "b", "x", "y", votes]}])
    with pytest.raises(CaptionFileError, match="the votes of HM are not") as caught:
        load(tmp_path, "clotho-eval")
    assert "record 2" in caught.value.where
