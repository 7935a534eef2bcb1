"""VATEX-EVAL: pickles of numpy arrays, and correlations with each annotator."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from captious.judgment import judge
from captious.judgment.judgments import RatedCaptions
from tests.support.judgments import load

CANDIDATES = ["a man runs", "a woman sings", "un café", "a man"]
REFERENCES = [[f"a man runs {n}" for n in range(9)], ["she sings"] * 9, ["a café"] * 9, ["a man sits"] * 9]
SCORES = [[5, 3, 1, 2], [4, 4, 2, 1], [5, 1, 2, 3]]  # of three annotators
VIDEOS = ["v1", "v1", "v2", "v3"]


def put(folder: Path, protocol: int = 4, kind: Any = None) -> None:
    (folder / "vatex_eval").mkdir(exist_ok=True)
    arrays = {
        "candidates_list": np.array(CANDIDATES, dtype=kind),
        "gts_list": np.array(REFERENCES, dtype=kind),
        "human_scores": np.array(SCORES, dtype=float).ravel(),
        "video_ids": np.array(VIDEOS, dtype=kind),
    }
    for name, values in arrays.items():
        (folder / "vatex_eval" / f"{name}.pkl").write_bytes(pickle.dumps(values, protocol=protocol))


@pytest.mark.parametrize("kind", [None, object])
@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_vatex_eval_pickles_of_all_protocols_are_read(tmp_path: Path, protocol: int, kind: Any) -> None:
    put(tmp_path, protocol, kind)
    found = load(tmp_path, "vatex-eval")
    assert isinstance(found, RatedCaptions)
    assert found.captions.candidates == tuple(CANDIDATES)
    assert found.captions.references.texts[:9] == tuple(REFERENCES[0])
    assert found.units.tolist() == [0, 0, 1, 2]
    assert [each.tolist() for each in found.ratings] == np.transpose(SCORES).tolist()
    assert list(found.part_names) == ["annotator 1", "annotator 2", "annotator 3"]


@pytest.mark.parametrize(("name", "of"), [("kendall", stats.kendalltau), ("spearman", stats.spearmanr)])
def test_vatex_eval_statistic_is_averaged_over_annotators(tmp_path: Path, name: str, of: Any) -> None:
    put(tmp_path)
    found = load(tmp_path, f"vatex-eval@{name}-one-ref")
    assert isinstance(found, RatedCaptions)
    assert found.captions.references.texts == ("a man runs 0", "she sings", "a café", "a man sits")
    scores = np.array([0.9, 0.2, 0.1, 0.4])
    assert found.values(scores) == pytest.approx([of(scores, ratings).statistic for ratings in SCORES])
    verdict = judge(f"vatex-eval@{name}-one-ref", ["rouge-l"], data=tmp_path, resamples=10)["vatex-eval"]
    assert verdict.n == 12
    assert verdict["rouge-l"].value == pytest.approx(np.mean([*verdict["rouge-l"].parts.values()]))
    counts = np.ones((1, 3), np.int32)
    assert found.resampled(scores, counts) == pytest.approx(found.values(scores).mean())
