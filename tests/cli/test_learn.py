"""captious learn"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.learned.leic import CritiqueWeights
from captious.learned.networks import NetworkWeights
from captious.learned.training import networks as training
from captious.models.image_features import ImageFeatures
from tests.cli.conftest import Run, assert_refused
from tests.support.judgments import write_jsonl

REFERENCES, SYSTEMS = "references.json", ("baseline.json", "improved.json")
RECIPE = """base = "lceval"
epochs = 4
hidden = [3]
features = {name = "small", features = ["bleu-1", "rouge-l", "cider-d:idf=coco"]}
"""


@pytest.fixture
def examples(folder: Path, run: Run) -> Path:
    outcome = run("learn", "data", REFERENCES, *SYSTEMS, "--validation", "0.25", "-o", "examples.jsonl")
    assert outcome.code == 0, outcome.err
    return folder / "examples.jsonl"


class TestData:
    def test_counts_of_examples_are_reported(self, examples: Path, run: Run) -> None:
        rows = [json.loads(line) for line in examples.read_text().splitlines()]
        assert {row["system"] for row in rows} == {"human", "baseline", "improved"}
        assert {row["part"] for row in rows} == {"train", "validation"}
        (examples.parent / "out.txt").write_text(f"{rows[0]['image']}\n")
        options = "--negatives other --per-image 1 --references-each 2 --images 12 --validation 0.5"
        command = ("learn", "data", REFERENCES, *SYSTEMS, "--keep-out", "out.txt", "-o", "fewer.jsonl")
        outcome = run(*command, *options.split())
        assert outcome.code == 0
        assert "images kept out: 1," in outcome.err
        fewer = [json.loads(line) for line in (examples.parent / "fewer.jsonl").read_text().splitlines()]
        assert len(fewer) == 24
        assert {len(row["references"]) for row in fewer} == {2}
        assert {row["system"] for row in fewer} == {"human", "other-image"}
        assert rows[0]["image"] not in {row["image"] for row in fewer}

    def test_default_examples_are_from_coco(self, folder: Path, run: Run, tmp_path: Path) -> None:
        coco = tmp_path / "data" / "coco"
        (coco / "results_val2014").mkdir(parents=True)
        assert_refused(run("learn", "data", "--data", tmp_path / "data", "-o", "x.jsonl"), "systems of COCO are not in")
        (coco / "captions_val2014.json.gz").write_bytes((folder / REFERENCES).read_bytes())
        for system in SYSTEMS:
            (coco / "results_val2014" / system).write_bytes((folder / system).read_bytes())
        outcome = run("learn", "data", "--data", tmp_path / "data", "-o", "x.jsonl")
        assert_refused(outcome, "evaluation_images.json.gz")
        (coco / "evaluation_images.json.gz").write_text("[]")


@pytest.mark.models
class TestTrain:
    def test_trained_weights_score_captions(self, examples: Path, run: Run) -> None:
        pytest.importorskip("torch")
        folder = examples.parent
        (folder / "mine.toml").write_text(RECIPE)
        command = ("learn", "train", "examples.jsonl", "--recipe", "mine.toml", "--name", "x")
        outcome = run(*command, "-o", "a.safetensors")  # systems score better than people here
        assert_refused(outcome, "the network is useless: its best validation tau-b is -0.")
        assert not (folder / "a.safetensors").exists()
        for output in ("a.safetensors", "b.safetensors"):
            outcome = run(*command, "--force", "-o", output)
            assert outcome.code == 0, outcome.err
            assert "lceval, 3-3-2, features small, weights x-" in outcome.err
            assert "of 4" in outcome.err
        assert (folder / "a.safetensors").read_bytes() == (folder / "b.safetensors").read_bytes()
        trained = NetworkWeights.load(folder / "a.safetensors")
        assert trained.recipe["epochs"] == 4
        assert trained.data["examples"]["rows"] == len(examples.read_text().splitlines())
        assert trained.resources["idf"].startswith("coco-val-40504-")
        scored = run("score", "improved.json", REFERENCES, "-m", "lceval:weights=a.safetensors", "--format", "json")
        (result,) = scored.json["systems"][0]["metrics"].values()
        assert 0 < result["score"] < 1
        assert f"|weights:{trained.label}|" in result["signature"]

    def test_training_is_validated_by_ratings(self, examples: Path, run: Run) -> None:
        pytest.importorskip("torch")
        folder = examples.parent
        (folder / "mine.toml").write_text(RECIPE)
        rows = [json.loads(line) for line in examples.read_text().splitlines()][:20]
        fields = [{"candidate": r["candidate"], "references": r["references"], "rating": n} for n, r in enumerate(rows)]
        write_jsonl(folder, "rated.jsonl", fields)
        command = ("learn", "train", "examples.jsonl", "--recipe", "mine.toml", "--validation", "rated.jsonl")
        assert run(*command, "--seed", "5", "--force", "-o", "c.safetensors").code == 0
        trained = NetworkWeights.load(folder / "c.safetensors")
        assert trained.data["validation"]["target"] == "rating"
        assert trained.recipe["seed"] == 5
        assert trained.label.startswith("c-")

    def test_features_are_of_concatenated_references_if_asked(self, examples: Path, run: Run) -> None:
        pytest.importorskip("torch")
        (examples.parent / "mine.toml").write_text(RECIPE)
        command = ("learn", "train", "examples.jsonl", "--recipe", "mine.toml", "--force")
        for way in ("each", "cat"):
            assert run(*command, "--references-as", way, "-o", f"{way}.safetensors").code == 0
        each, cat = (NetworkWeights.load(examples.parent / f"{way}.safetensors") for way in ("each", "cat"))
        assert "references" not in each.resources
        assert cat.resources["references"] == "cat"
        assert each.figures["feature_tau_b"]["rouge-l"] != cat.figures["feature_tau_b"]["rouge-l"]

    def test_interrupted_training_keeps_the_best_weights(
        self, examples: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pytest.importorskip("torch")
        (examples.parent / "mine.toml").write_text(RECIPE)
        epochs = iter([0.2, 0.1, None])

        def interrupted(scores: object, target: object) -> float:
            """Interrupt the third epoch; later calls are for the figures of the features."""
            tau = next(epochs, 0.0)
            if tau is None:
                raise KeyboardInterrupt
            return tau

        monkeypatch.setattr(training, "tau", interrupted)
        outcome = run("learn", "train", "examples.jsonl", "--recipe", "mine.toml", "-o", "a.safetensors")
        assert outcome.code == 0
        assert "interrupted after epoch 2 of 4" in outcome.err
        assert NetworkWeights.load(examples.parent / "a.safetensors").figures["best_epoch"] == 1

    def test_invalid_training_options_are_refused(self, examples: Path, run: Run) -> None:
        pytest.importorskip("torch")
        command = ("learn", "train", "examples.jsonl", "-o", "a.safetensors")
        assert_refused(run(*command, "--recipe", "none"), "no recipe 'none'")
        assert_refused(run(*command, "--recipe", "lceval", "--name", "a|b"), "not a valid name for weights")
        assert_refused(run("learn", "train", REFERENCES, "--recipe", "lceval", "-o", "a.safetensors"), "line 1")
        assert_refused(run(*command, "--recipe", "lceval", "--validation", "none.jsonl"), "cannot read the file")


CRITIQUE = """base = "leic"
width = 6
units = 5
hidden = 4
epochs = 2
images_per_batch = 8
"""


@pytest.fixture
def recipe(folder: Path) -> Path:
    (folder / "small.toml").write_text(CRITIQUE)
    return folder / "small.toml"


@pytest.fixture
def features(folder: Path) -> Path:
    captions = captious.read_captions("improved.json", REFERENCES)
    vectors = np.random.default_rng(0).normal(size=(len(captions), 7)).astype(np.float32)
    ImageFeatures(captions.ids, vectors, "noise").save(folder / "features.npz")
    return folder / "features.npz"


@pytest.mark.models
class TestCritique:
    @pytest.fixture(autouse=True)
    def torch(self) -> None:
        pytest.importorskip("torch")

    @pytest.mark.parametrize("images", [False, True], ids=["without images", "with images"])
    def test_a_critique_is_a_metric(self, images: bool, recipe: Path, features: Path, run: Run) -> None:
        with_images = ["--images", features] if images else []
        outcome = run(
            *("learn", "critique", REFERENCES, "baseline.json", "--recipe", recipe, *with_images),
            *("-o", "critique.safetensors"),
        )
        assert (outcome.code, outcome.out) == (0, ""), outcome.err
        assert outcome.err.startswith("critique.safetensors: small, mlp, images: ")
        scored = run("score", "improved.json", REFERENCES, "-m", "leic:weights=critique.safetensors", *with_images)
        assert scored.code == 0, scored.err
        assert "leic" in scored.out

    def test_critique_is_scored_in_two_folds(self, recipe: Path, features: Path, run: Run) -> None:
        command = ["learn", "leic", "improved.json", REFERENCES, "--recipe", recipe, "--format", "json"]
        study = json.loads(run(*command, "--images", features).out)
        assert [row["captions"] for row in study["records"]] == ["improved", "human"]
        for row in study["records"]:
            assert 0 < row["ci95_low"] <= row["score"] <= row["ci95_high"] < 1
            assert row["fold_1"] != row["fold_2"]
        assert study["settings"]["images"] == "context"
        assert study["settings"]["image_features"].startswith("noise-")
        again = json.loads(run(*command, "--images", features).out)
        assert again == study
        averaged = json.loads(run(*command, "--trainings", "2", "--last-epochs", "2").out)
        assert (averaged["settings"]["trainings"], averaged["settings"]["last_epochs"]) == (2, 2)
        assert len(averaged["settings"]["training_accuracy"]) == 4
        assert_refused(run(*command, "--last-epochs", "3"), "recipe small: 2 epochs")
        other = json.loads(run(*command, "--seed", "5").out)
        assert other["settings"]["images"] == "none"
        assert other["records"] != study["records"]

    def test_further_captions_are_negatives_too(self, recipe: Path, run: Run) -> None:
        outcome = run(
            *("learn", "critique", REFERENCES, "--sampled", "baseline.json", "--recipe", recipe),
            *("-o", "c.safetensors", "--name", "mine"),
        )
        assert outcome.code == 0, outcome.err
        trained = CritiqueWeights.load("c.safetensors")
        assert trained.critique.recipe.negatives == ("pathological", "sampled")
        assert trained.name == "mine"


class TestImageFeatures:
    def test_unwritable_image_feature_file_is_refused_early(self, folder: Path, run: Run) -> None:
        assert_refused(run("learn", "image-features", folder, "-o", "f.pkl"), "no format '.pkl'")
