"""AudioCaps-Eval and Clotho-Eval: votes, and the references that each caption of a pair gets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from captious.errors import CaptionFileError
from captious.judgment import judge
from captious.judgment.judgments import CaptionPairs, RatedSystems
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


def without(*left_out: str) -> tuple[str, ...]:
    return tuple(text for text in REFERENCES if text not in left_out)


@pytest.mark.parametrize("name", ["audiocaps", "clotho"])
def test_audio_pairs_are_read_with_references(tmp_path: Path, name: str) -> None:
    write(tmp_path, f"fense/{name}_eval.json", [RECORD])
    found = load(tmp_path, f"{name}-eval@kinds")
    assert isinstance(found, CaptionPairs)
    assert list(found.part_names) == ["HC", "HI", "HM", "MM"]
    assert found.preferred.tolist() == [0, 0, 1, 0]
    assert found.captions.candidates == ("r1", "r2", "r1", "other", "r3", "machine", *["m1"] * 5, *["m2"] * 5)
    references = found.captions.references
    of_rows = [references.texts[a:b] for a, b in zip(references.offsets[:-1], references.offsets[1:], strict=True)]
    assert of_rows[:6] == [without("r1"), without("r2"), without("r1"), without("r1"), without("r3"), without("r3")]
    assert of_rows[6:11] == of_rows[11:] == [without(left_out) for left_out in REFERENCES]


def test_null_instead_of_a_pair_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, "fense/audiocaps_eval.json", [{**RECORD, "MM_1": None, "HI": None}])
    read = load(tmp_path, "audiocaps-eval")
    assert isinstance(read, CaptionPairs)
    assert read.preferred.tolist() == [0, 1]


def test_the_mean_over_draws_counts(tmp_path: Path) -> None:
    write(tmp_path, "fense/clotho_eval.json", [RECORD])
    found = load(tmp_path, "clotho-eval@kinds")
    scores = np.array([2, 1, 1, 2, 1, 1, 1, 0, 0, 0, 0, *[0.19] * 5])
    assert found.values(scores).tolist() == [1, 0, 0, 1]  # the tie of HM is wrong
    scores[6] = 0.94
    assert found.values(scores).tolist() == [1, 0, 0, 0]
    total = load(tmp_path, "clotho-eval")
    assert total.values(scores).tolist() == [0.25]
    assert total.resampled(scores, np.ones((1, 1), np.int32)).tolist() == [0.25]


def test_fewer_references_are_repeated(tmp_path: Path) -> None:
    record = {**RECORD, "references": ["r1", "r2", "r1", "r4", "r5"]}
    write(tmp_path, "fense/clotho_eval.json", [{key: record[key] for key in ("HI", "references")}])
    found = load(tmp_path, "clotho-eval")
    assert isinstance(found, CaptionPairs)
    assert found.captions.references.texts == ("r2", "r4", "r5", "r2") * 2


def test_audio_benchmarks_are_judged(tmp_path: Path) -> None:
    words = {f"r{n}": f"a dog barks {n} times" for n in range(1, 6)} | {"m1": "a dog barks", "machine": "a train"}
    written = json.dumps([RECORD, {**RECORD, "raw_name": "b.wav"}])
    for short, text in words.items():
        written = written.replace(f'"{short}"', f'"{text}"')
    write(tmp_path, "fense/audiocaps_eval.json", written)
    verdict = judge("audiocaps-eval@kinds", ["bleu-1", "rouge-l"], data=tmp_path, resamples=10)["audiocaps-eval"]
    assert verdict.n == 8
    assert set(verdict["bleu-1"].parts) == {"HC", "HI", "HM", "MM"}


@pytest.mark.parametrize("votes", [[2, 1], "yes", [1, None]])
def test_invalid_votes_are_refused(tmp_path: Path, votes: object) -> None:
    write(tmp_path, "fense/clotho_eval.json", [RECORD, RECORD | {"HM": ["a", "b", "x", "y", votes]}])
    with pytest.raises(CaptionFileError, match="the votes of HM are not") as caught:
        load(tmp_path, "clotho-eval")
    assert "record 2" in caught.value.where


def test_systems_by_the_share_of_pairs_that_they_won(tmp_path: Path) -> None:
    pairs: dict[str, Any] = {
        "MM_1": ["m1", "m2", "cos_sim_12", "rl", [1, 1, 1, 1]],
        "MM_2": ["m1", "m3", "cos_sim_7", "fc", 0, [1, 1, 1, 0]],  # some records have a number before the votes
        "MM_3": ["m2", "m3", "rl", "fc", [-1, -1, 0, 0]],
    }
    write(tmp_path, "fense/audiocaps_eval.json", [{**RECORD, "MM_4": None, **pairs}])
    found = load(tmp_path, "audiocaps-eval@system-accuracy")
    assert isinstance(found, RatedSystems)
    assert list(found.names) == ["cos_sim", "rl", "fc"]
    assert found.ratings.tolist() == [1, 0, 1, 0, 0, 1]
    assert found.captions.references.texts[:5] == tuple(REFERENCES)
    assert found.values(np.array([1, 0, 1, 0.5, 0, 0.5])).tolist() == [1]
    assert found.values(np.array([1, 3, 1, 0.5, 3, 0.5])) == pytest.approx([1 / 3])
