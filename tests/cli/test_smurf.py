"""captious smurf: constants from captions that people wrote, and the analysis of systems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from captious.data import read_references
from captious.judgment.studies.smurf_analysis import hold_out, smurf_analysis
from captious.metrics.shared.smurf_constants import SmurfConstants
from captious.metrics.smurf import Smurf

from ..support.random_roberta import random_roberta
from .conftest import Run, assert_refused


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return str(random_roberta(tmp_path_factory.mktemp("roberta")))


def models(model: str) -> tuple[str, ...]:
    return "--mima-model", model, "--spurts-model", model


def test_calibrate(folder: Path, run: Run, model: str) -> None:
    outcome = run("smurf", "calibrate", "references.json", *models(model), "-o", "own.json", "--seed", 2)
    assert outcome.code == 0, outcome
    assert outcome.out == ""
    constants = SmurfConstants.load(folder / "own.json")
    captions, _ = hold_out(read_references(folder / "references.json"), 2)
    source = "one reference of each image of references.json, the others as its references; 24 images"
    assert constants == Smurf(model, model).calibrate(captions, "references", source)
    assert constants.label in outcome.err


def test_calibrate_with_captions_of_people(folder: Path, run: Run, model: str) -> None:
    outcome = run(
        *("smurf", "calibrate", "references.json", "--human", "improved.json", "--name", "mine"),
        *(*models(model), "-o", "own.json"),
    )
    assert outcome.code == 0, outcome
    constants = SmurfConstants.load(folder / "own.json")
    assert constants.name == "mine"
    assert constants.source == "improved.json, beside references.json; 24 images"
    assert_refused(run("smurf", "calibrate", "references.json", "-o", "references.json"), "references.json")


def test_analyse(folder: Path, run: Run, model: str) -> None:
    assert run("smurf", "calibrate", "references.json", *models(model), "-o", "own.json").code == 0
    files = ("baseline.json", "improved.json", "references.json")
    outcome = run("smurf", "analyse", *files, *models(model), "--constants", "own.json", "--format", "json")
    assert outcome.code == 0, outcome
    metric = Smurf(model, model, constants=SmurfConstants.load(folder / "own.json"))
    systems = {"baseline": folder / "baseline.json", "improved": folder / "improved.json"}
    assert outcome.json == json.loads(json.dumps(smurf_analysis(systems, folder / "references.json", metric).to_dict()))
    assert [record["system"] for record in outcome.json["records"]] == ["people", "baseline", "improved"]


def test_analyse_draws(folder: Path, run: Run, model: str) -> None:
    pytest.importorskip("matplotlib")
    files = ("baseline.json", "references.json")
    outcome = run("smurf", "analyse", *files, "--human", "improved.json", *models(model), "--plot", "pictures")
    assert outcome.code == 0, outcome
    assert (folder / "pictures" / "smurf.png").exists()
    assert "grammar penalty" in outcome.out
    assert "other models" in outcome.out


def test_refusals(folder: Path, run: Run, model: str) -> None:
    assert_refused(run("smurf", "analyse", "references.json"), "at least one file of captions")
    outcome = run("smurf", "analyse", "baseline.json", "references.json", "--constants", "baseline.json")
    assert_refused(outcome, "not a file of constants", "captious smurf calibrate")
