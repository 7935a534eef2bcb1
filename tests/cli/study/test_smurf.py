"""captious study smurf, with constants that captious fit smurf wrote"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.judgment.studies.distributions import smurf_analysis
from captious.metrics.smurf import Smurf, SmurfConstants
from tests.cli.conftest import Run, assert_refused
from tests.support.random_roberta import random_roberta


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return str(random_roberta(tmp_path_factory.mktemp("roberta")))


@pytest.mark.models
def test_smurf_command_agrees_with_the_python_function(folder: Path, run: Run, model: str) -> None:
    """The models can be given once for all metrics, or for each part."""
    assert run("fit", "smurf", "references.json", "--model", model, "-o", "own.json").code == 0
    files = ("baseline.json", "improved.json", "references.json")
    metric = Smurf(model=model, constants=SmurfConstants.load(folder / "own.json"))
    systems = {"baseline": folder / "baseline.json", "improved": folder / "improved.json"}
    expected = json.loads(json.dumps(smurf_analysis(systems, folder / "references.json", metric).to_dict()))
    for arguments in (
        ("-m", "smurf:constants=own.json", "--model", model),
        ("-m", f"smurf:mima_model={model},spurts_model={model},constants=own.json"),
    ):
        outcome = run("study", "smurf", *files, *arguments, "--format", "json")
        assert outcome.code == 0, outcome
        assert outcome.json == expected
    assert [record["system"] for record in expected["records"]] == ["people", "baseline", "improved"]
    assert "warnings" not in expected


@pytest.mark.models
def test_smurf_analysis_is_plotted(folder: Path, run: Run, model: str) -> None:
    pytest.importorskip("matplotlib")
    files = ("baseline.json", "references.json")
    outcome = run("study", "smurf", *files, "--human", "improved.json", "--model", model, "--plot", "pictures")
    assert outcome.code == 0, outcome
    assert (folder / "pictures" / "smurf.png").exists()
    assert "grammar penalty" in outcome.out
    assert "warning: smurf is standardized with karpathy-test, which was computed with other models" in outcome.err


def test_invalid_options_of_the_smurf_study_are_refused(folder: Path, run: Run) -> None:
    assert_refused(run("study", "smurf", "references.json"), "at least one file of candidates")
    files = ("baseline.json", "references.json")
    assert_refused(run("study", "smurf", *files, "-m", "rouge-l"), "rouge-l is not SMURF")
    pytest.importorskip("transformers")
    outcome = run("study", "smurf", *files, "-m", "smurf:constants=baseline.json")
    assert_refused(outcome, "not a file of SMURF constants", "captious fit smurf")


def test_smurf_constants_are_not_overwritten(folder: Path, run: Run) -> None:
    (folder / "own.json").write_text("{}")
    arguments = ("study", "smurf", "baseline.json", "references.json", "-m", "smurf:threshold=-2,constants=own.json")
    assert_refused(run(*arguments, "-o", "own.json"), "own.json is also an input")
    assert (folder / "own.json").read_text() == "{}"
