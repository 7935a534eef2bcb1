"""``to_dict`` of every kind of result: plain JSON values, equal to the output of ``--format json``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import captious
from captious.judgment import Agreement, BenchmarkResult, Judgment, Study
from captious.judgment.benchmarks.names import protocol
from captious.statistics import Sampling
from captious.tables import json_document

REFERENCES = {i: [f"a dog runs on road {i}", "the dog"] for i in range(4)}
#: One candidate per image: self-similarity has no score for any image, so corpus scores and intervals are nan.
ALONE = {i: ["a dog"] for i in REFERENCES}


def result(kind: str) -> Any:
    """Return a result with non-finite numbers."""
    nan = float("nan")
    if kind == "judgment":
        agreement = Agreement("odd", nan, (nan, nan), 1, "odd|1", {"part": nan})
        verdict = BenchmarkResult(protocol("composite"), 3, {}, {"odd": agreement}, {("odd", "other"): nan})
        return Judgment([verdict], Sampling(10, 0, 0.95))
    if kind == "study":
        return Study("name", "title", ("value",), [{"value": np.float64("nan")}], settings={"sizes": (1, np.int64(2))})
    if "comparison" in kind:
        with pytest.warns(captious.CaptiousWarning):
            compared = captious.compare({"a": ALONE, "b": ALONE}, REFERENCES, ["lsa"], several="mean", resamples=5)
    else:
        with pytest.warns(captious.CaptiousWarning):
            compared = captious.score(ALONE, REFERENCES, ["lsa"], several="mean")
    return captious.by_group(compared, {i: i % 2 for i in REFERENCES}) if kind.startswith("grouped") else compared


@pytest.mark.parametrize("kind", ["report", "comparison", "grouped report", "grouped comparison", "judgment", "study"])
def test_nan_is_null(kind: str) -> None:
    document = result(kind).to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert ": null" in json.dumps(document) or "[null" in json.dumps(document)


@pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
def test_intervals_say_how_they_were_resampled() -> None:
    report = captious.score({0: "a"}, {0: ["a b", "c"]}, ["rouge-l"])
    assert not {"level", "resamples", "seed"} & report.to_dict().keys()
    document = report.to_dict(intervals=True)
    assert (document["level"], document["resamples"], document["seed"]) == (0.95, 1000, 12345)
    assert result("judgment").to_dict()["level"] == 0.95


def test_values_become_json_types() -> None:
    values = {"a": (1, np.float32(0.5)), "b": np.array([np.inf, 2.0]), "c": None, "d": "text", "e": True}
    assert json_document(values) == {"a": [1, 0.5], "b": [None, 2.0], "c": None, "d": "text", "e": True}
