"""captious study score-distributions"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.judgment import studies

from ..conftest import Run, assert_refused


def test_against_python(folder: Path, run: Run) -> None:
    files = ("baseline.json", "improved.json", "references.json")
    outcome = run(
        "study", "score-distributions", *files, "-m", "rouge-l", "--sample", 20, "--resamples", 30, "--format", "json"
    )
    assert outcome.code == 0, outcome
    systems = {name: folder / f"{name}.json" for name in ("baseline", "improved")}
    expected = studies.score_distributions(systems, folder / "references.json", "rouge-l", sample=20, resamples=30)
    assert outcome.json == json.loads(json.dumps(expected.to_dict()))
    assert [record["captions_of"] for record in outcome.json["records"]] == ["people", "baseline", "improved"]


def test_pictures(folder: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    outcome = run(
        "study",
        "score-distributions",
        "baseline.json",
        "references.json",
        "-m",
        "bleu",
        "--resamples",
        5,
        "--plot",
        "drawn",
    )
    assert outcome.code == 0, outcome
    assert {path.name for path in (folder / "drawn").iterdir()} == {f"distributions-bleu-{n}.png" for n in (1, 2, 3, 4)}


def test_references_alone(folder: Path, run: Run) -> None:
    assert_refused(run("study", "score-distributions", "references.json"), "no candidates given", "at least one file")
