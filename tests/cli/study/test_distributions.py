"""captious study distributions"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.judgment import studies
from tests.cli.conftest import Run, assert_refused


def test_distributions_command_agrees_with_the_python_function(folder: Path, run: Run) -> None:
    files = ("baseline.json", "improved.json", "references.json")
    outcome = run(
        "study", "distributions", *files, "-m", "rouge-l", "--sample", 20, "--resamples", 30, "--format", "json"
    )
    assert outcome.code == 0, outcome
    systems = {name: folder / f"{name}.json" for name in ("baseline", "improved")}
    expected = studies.score_distributions(systems, folder / "references.json", "rouge-l", sample=20, resamples=30)
    assert outcome.json == json.loads(json.dumps(expected.to_dict()))
    assert [record["captions_of"] for record in outcome.json["records"]] == ["people", "baseline", "improved"]


def test_distributions_are_plotted(folder: Path, run: Run) -> None:
    pytest.importorskip("matplotlib")
    outcome = run(
        "study", "distributions", "baseline.json", "references.json", "-m", "bleu", "--resamples", 5, "--plot", "drawn"
    )
    assert outcome.code == 0, outcome
    assert {path.name for path in (folder / "drawn").iterdir()} == {f"distributions-bleu-{n}.png" for n in (1, 2, 3, 4)}


def test_distributions_need_a_system(folder: Path, run: Run) -> None:
    assert_refused(run("study", "distributions", "references.json"), "only one file was given", "at least one file")
