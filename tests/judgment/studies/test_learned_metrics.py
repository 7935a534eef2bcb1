"""The studies of references, robustness and time with learned metrics, on some real captions."""

from __future__ import annotations

import gzip
import json
from itertools import islice
from pathlib import Path

import pytest

from captious.judgment.studies import reference_counts, robustness, scoring_time
from captious.metrics.contract.registry import get

METRICS = ("concur", "nneval", "lceval")


@pytest.fixture(params=METRICS)
def metric(request: pytest.FixtureRequest, shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A metric with the word vectors that it was trained with."""
    monkeypatch.setenv("CAPTIOUS_VECTORS", str(shared_data / "vectors" / "glove_100d_captions.txt.gz"))
    if (command := get(request.param).missing()) is not None:
        pytest.skip(f"no pycocoevalcap: {command}")
    return str(request.param)


@pytest.fixture(scope="module")
def references(shared_data: Path) -> dict[str, list[str]]:
    content = json.loads(gzip.decompress((shared_data / "coco" / "karpathy_test_refs.json.gz").read_bytes()))
    return {image: texts[:5] for image, texts in islice(content.items(), 60)}


def test_learned_metrics_detect_corrupted_captions(metric: str, references: dict[str, list[str]]) -> None:
    """Captions of other images and random words score far lower than intact captions."""
    study = robustness(references, metric, strengths=[1.0], resamples=5)
    lost = {record["pathology"]: 1 - record["at 1"] for record in study.records}
    # A copy of its only reference has .81 by concur, by networks over features 1; these hardly see permutations.
    intact, captions, permutation = (0.65, 0.4, 0.13) if metric == "concur" else (0.7, 0.45, -0.1)
    assert all(record["intact"] > intact for record in study.records)
    assert lost["random captions"] > captions
    assert lost["random words"] > 0.45
    assert lost["word permutation"] > permutation


def test_learned_metrics_improve_with_references(metric: str, shared_data: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    (folder / "flickr8k").mkdir(parents=True)
    with gzip.open(shared_data / "flickr8k" / "expert.jsonl.gz", "rt", encoding="utf-8") as lines:
        (folder / "flickr8k" / "expert.jsonl").write_text("".join(islice(lines, 300)), encoding="utf-8")
    study = reference_counts("flickr8k-expert", metric, [1, 5], draws=2, data=folder, resamples=5)
    one, five = (record["value"] for record in study.records)
    assert 0.1 < one < five < 0.8


def test_learned_metrics_are_timed(metric: str, references: dict[str, list[str]]) -> None:
    candidates = {image: texts[0] for image, texts in references.items()}
    others = {image: texts[1:] for image, texts in references.items()}
    study = scoring_time(candidates, others, metric, repeats=1)
    assert [record["metric"] for record in study.records] == [metric]
