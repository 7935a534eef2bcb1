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
from tests.support.random_roberta import random_roberta

REFERENCES = "references.json"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    return str(random_roberta(tmp_path_factory.mktemp("roberta")))


class TestFrequencies:
    def test_fit_cider_d_writes_document_frequencies(self, folder: Path, run: Run) -> None:
        outcome = run("fit", "cider-d", REFERENCES, "-o", "own.idf")
        assert (outcome.code, outcome.out) == (0, "")
        frequencies = captious.DocumentFrequencies.load(folder / "own.idf")
        assert frequencies.n_documents == 24
        assert frequencies.tokenizer == "ptb"
        assert outcome.err == "own.idf: 3,153 n-grams of 24 images\n"

    def test_fitted_frequencies_are_those_of_the_references(self, folder: Path, run: Run) -> None:
        run("fit", "cider-d", REFERENCES, "-o", "own.idf")
        scored = ("score", "baseline.json", REFERENCES, "-m", "cider-d", "--format", "json")
        with_file, without = (
            run(*scored, *more).json["systems"][0]["metrics"]["cider-d"]["score"] for more in (("--idf", "own.idf"), ())
        )
        assert with_file == pytest.approx(without, abs=1e-12)

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

    @pytest.mark.parametrize("name", [REFERENCES, "none.idf"])
    def test_idf_file_without_frequencies_is_refused(self, folder: Path, run: Run, name: str) -> None:
        outcome = run("score", "baseline.json", REFERENCES, "-m", "cider-d", "--idf", name)
        assert_refused(outcome, name, "--idf coco", "captious fit cider-d REFERENCES -o FILE; --idf FILE")

    def test_fit_to_candidates_is_warned_about(self, folder: Path, run: Run) -> None:
        outcome = run("fit", "cider-d", "baseline.json", "-o", "own.idf")
        assert outcome.code == 0
        assert "warning: every image has only one caption: are these references" in outcome.err
        assert "warning" not in run("fit", "cider-d", REFERENCES, "-o", "own.idf").err


class TestSmurf:
    @pytest.mark.models
    def test_smurf_fit_holds_out_one_reference(self, folder: Path, run: Run, model: str) -> None:
        metric = f"smurf:mima_model={model},spurts_model={model}"
        outcome = run("fit", metric, REFERENCES, "-o", "own.json", "--seed", 2)
        assert outcome.code == 0, outcome
        assert outcome.out == ""
        constants = SmurfConstants.load(folder / "own.json")
        captions, _ = hold_out(read_references(folder / REFERENCES), 2)
        source = "one reference per image of references.json, with the others as references; 24 images"
        assert constants == Smurf(model=model).calibrate(captions, "references", source)
        assert outcome.err == f"own.json: {constants.contents}\n"

    @pytest.mark.models
    def test_smurf_fit_uses_given_human_captions(self, folder: Path, run: Run, model: str) -> None:
        outcome = run(
            *("fit", "smurf", REFERENCES, "--model", model, "--human", "improved.json", "-o", "own.json"),
        )
        assert outcome.code == 0, outcome
        constants = SmurfConstants.load(folder / "own.json")
        people = captious.read_captions(folder / "improved.json", folder / REFERENCES)
        source = "improved.json, with the references references.json; 24 images"
        assert constants == Smurf(model=model).calibrate(people, "references", source)

    def test_smurf_fit_does_not_overwrite_its_inputs(self, folder: Path, run: Run) -> None:
        before = (folder / "improved.json").read_bytes()
        outcome = run("fit", "smurf", REFERENCES, "--human", "improved.json", "-o", "improved.json")
        assert_refused(outcome, "improved.json is also an input")
        assert (folder / "improved.json").read_bytes() == before


class TestRefused:
    @pytest.mark.parametrize("arguments", [("rouge-l",), ("bleu-4",), ("hwcm", "--parser", "bundled")], ids=" ".join)
    def test_metric_without_fit_is_refused(self, folder: Path, run: Run, arguments: tuple[str, ...]) -> None:
        metric, *options = arguments
        outcome = run("fit", metric, REFERENCES, "-o", "own.json", *options)
        assert_refused(outcome, "cannot be fitted", "cider, cider-d", "smurf")
        assert not (folder / "own.json").exists()

    def test_idf_setting_is_refused_by_fit(self, folder: Path, run: Run) -> None:
        assert run("fit", "cider-d", REFERENCES, "-o", "own.idf").code == 0
        outcome = run("fit", "cider-d", REFERENCES, "--idf", "own.idf", "-o", "other.idf")
        assert_refused(outcome, "which computes document frequencies", "remove --idf")

    def test_human_captions_for_another_metric(self, folder: Path, run: Run) -> None:
        outcome = run("fit", "cider-d", REFERENCES, "--human", "improved.json", "-o", "own.idf")
        assert_refused(outcome, "cider-d does not take human captions", "remove --human FILE, or fit smurf")
        assert not (folder / "own.idf").exists()

    def test_no_output_is_a_usage_error(self, folder: Path, run: Run) -> None:
        assert_refused(run("fit", "cider-d", REFERENCES), "--output", "captious fit --help")

    def test_the_references_are_never_overwritten(self, folder: Path, run: Run) -> None:
        before = (folder / REFERENCES).read_bytes()
        assert_refused(run("fit", "cider-d", REFERENCES, "-o", REFERENCES), "references.json is also an input")
        assert (folder / REFERENCES).read_bytes() == before

    def test_output_in_a_missing_folder_is_refused(self, folder: Path, run: Run) -> None:
        assert_refused(run("fit", "cider-d", REFERENCES, "-o", "none/own.idf"), "cannot write none/own.idf")

    def test_unknown_names_and_unused_settings_are_refused(self, folder: Path, run: Run) -> None:
        assert_refused(run("fit", "nope", REFERENCES, "-o", "x"), "no metric 'nope'")
        outcome = run("fit", "cider-d", REFERENCES, "-o", "x", "--parser", "bundled")
        assert_refused(outcome, "the setting parser was given, but no requested metric uses it")


def test_fit_of_equal_references_writes_equal_bytes(folder: Path, run: Run) -> None:
    run("fit", "cider-d", REFERENCES, "-o", "one.idf")
    run("fit", "cider-d", REFERENCES, "-o", "two.idf")
    assert (folder / "one.idf").read_bytes() == (folder / "two.idf").read_bytes()


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

    def test_invalid_object_files_are_refused(self, folder: Path, run: Run) -> None:
        (folder / "objects.json").write_text('{"7": ["dog"]}')
        assert_refused(run("fit", "chair", REFERENCES, "--objects", "objects.json", "-o", "o.json"), "--objects")
        assert_refused(run("fit", "cider-d", REFERENCES, REFERENCES, "-o", "o.json"), "one file of references")
        assert_refused(run("score", "baseline.json", REFERENCES, "-m", "chair"), "--objects FILE")
