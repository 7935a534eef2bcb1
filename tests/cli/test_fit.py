"""captious fit"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import captious
from captious.data import read_references
from captious.data.matching import hold_out
from captious.metrics.smurf import Smurf, SmurfConstants
from tests.cli.conftest import Run, assert_refused

REFERENCES = "references.json"


class TestFrequencies:
    def test_fit_counts_concatenated_references(self, folder: Path, run: Run) -> None:
        for name, form in (("each.idf", "each"), ("cat.idf", "cat")):
            assert run("fit", "cider-d", REFERENCES, "--references-as", form, "-o", name).code == 0
        separate, cat = (captious.DocumentFrequencies.load(folder / name) for name in ("each.idf", "cat.idf"))
        assert separate.checksum != cat.checksum

    def test_fitted_frequencies_serve_related_metrics(self, folder: Path, run: Run, tables: Path) -> None:
        files = []
        for metric in ("cider-d", "cider", "cider@paper", "CIDEr-D", "spider"):
            assert run("fit", metric, REFERENCES, "-o", "own.idf").code == 0
            files.append((folder / "own.idf").read_bytes())
        assert len({*files}) == 1

    def test_fit_uses_the_tokenizer(self, folder: Path, run: Run) -> None:
        run("fit", "cider-d", REFERENCES, "-o", "own.idf", "--tokenizer", "whitespace")
        scored = ("score", "baseline.json", REFERENCES, "-m", "cider", "--idf", "own.idf")
        assert "tokens: whitespace" in run(*scored).out
        outcome = run(*scored, "--tokenizer", "ptb")
        assert_refused(outcome, "counted with the tokenizer whitespace, not ptb", "--tokenizer whitespace")


class TestSmurf:
    @pytest.mark.models
    def test_smurf_fit_holds_out_one_reference(self, folder: Path, run: Run, roberta: str) -> None:
        metric = f"smurf:mima_model={roberta},spurts_model={roberta}"
        outcome = run("fit", metric, REFERENCES, "-o", "own.json", "--seed", 2)
        assert outcome.code == 0, outcome
        assert outcome.out == ""
        constants = SmurfConstants.load(folder / "own.json")
        captions, _ = hold_out(read_references(folder / REFERENCES), 2)
        source = "one reference per image of references.json, with the others as references; 24 images"
        assert constants == Smurf(model=roberta).calibrate(captions, "references", source)
        assert outcome.err == f"own.json: {constants.contents}\n"

    @pytest.mark.models
    def test_smurf_fit_uses_given_human_captions(self, folder: Path, run: Run, roberta: str) -> None:
        outcome = run(
            *("fit", "smurf", REFERENCES, "--model", roberta, "--human", "improved.json", "-o", "own.json"),
        )
        assert outcome.code == 0, outcome
        constants = SmurfConstants.load(folder / "own.json")
        people = captious.read_captions(folder / "improved.json", folder / REFERENCES)
        source = "improved.json, with the references references.json; 24 images"
        assert constants == Smurf(model=roberta).calibrate(people, "references", source)


class TestObjects:
    def test_fitted_objects_are_used_by_chair(self, folder: Path, run: Run) -> None:
        instances = {
            "images": [{"id": 1207}],
            "categories": [{"id": 7, "name": "train"}],
            "annotations": [{"image_id": 1207, "category_id": 7}],
        }
        (folder / "instances.json").write_text(json.dumps(instances))
        for name in ("objects.json", "objects.parquet"):
            outcome = run("fit", "chair", "instances.json", REFERENCES, "-o", name)
            assert (outcome.code, outcome.out) == (0, "")
            assert outcome.err.startswith(f"{name}: 49 objects of 24 images\nwarning: 1 of 24 images has no objects")
            scored = run("score", "baseline.json", REFERENCES, "-m", "chair", "--objects", name, "--format", "json")
            metrics = scored.json["systems"][0]["metrics"]
            assert metrics["chair-s"]["score"] == 5 / 24
            assert metrics["chair-s"]["lower_is_better"]
            assert "|objects:24-" in metrics["chair-s"]["signature"]
        assert json.loads((folder / "objects.json").read_text())["1207"] == ["oven", "person", "train"]
