"""captious study smurf, with constants that captious fit smurf wrote"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.judgment.studies.distributions import smurf_analysis
from captious.metrics.smurf import Smurf, SmurfConstants
from tests.cli.conftest import Run, assert_refused


@pytest.mark.models
def test_smurf_command_agrees_with_the_python_function(folder: Path, run: Run, roberta: str) -> None:
    """The models can be given once for all metrics, or for each part."""
    assert run("fit", "smurf", "references.json", "--model", roberta, "-o", "own.json").code == 0
    files = ("baseline.json", "improved.json", "references.json")
    metric = Smurf(model=roberta, constants=SmurfConstants.load(folder / "own.json"))
    systems = {"baseline": folder / "baseline.json", "improved": folder / "improved.json"}
    expected = json.loads(json.dumps(smurf_analysis(systems, folder / "references.json", metric).to_dict()))
    for arguments in (
        ("-m", "smurf:constants=own.json", "--model", roberta),
        ("-m", f"smurf:mima_model={roberta},spurts_model={roberta},constants=own.json"),
    ):
        outcome = run("study", "smurf", *files, *arguments, "--format", "json")
        assert outcome.code == 0, outcome
        assert outcome.json == expected
    assert [record["system"] for record in expected["records"]] == ["people", "baseline", "improved"]
    assert "warnings" not in expected


@pytest.mark.models
def test_smurf_analysis_is_plotted(folder: Path, run: Run, roberta: str) -> None:
    pytest.importorskip("matplotlib")
    files = ("baseline.json", "references.json")
    outcome = run("study", "smurf", *files, "--human", "improved.json", "--model", roberta, "--plot", "pictures")
    assert outcome.code == 0, outcome
    assert (folder / "pictures" / "smurf.png").exists()
    assert "grammar penalty" in outcome.out
    assert "warning: smurf is standardized with karpathy-test, which was computed with other models" in outcome.err


def test_file_without_constants_is_refused(folder: Path, run: Run) -> None:
    pytest.importorskip("transformers")
    outcome = run("study", "smurf", "baseline.json", "references.json", "-m", "smurf:constants=baseline.json")
    assert_refused(outcome, "not a file of SMURF constants", "captious fit smurf")
