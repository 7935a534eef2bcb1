"""Fixtures of the studies of training: which features and examples a network gets, and how its scores are judged."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kendalltau

from captious.data import read_references
from captious.errors import ParameterError
from captious.judgment.studies import feature_ablation, network_depth, training, training_epochs, training_size
from captious.judgment.studies.training import Trials, Variation
from captious.learned.networks import FeatureMetric, FeatureSet, Network, Recipe, as_recipe
from captious.learned.training.examples import make_examples, write_examples
from captious.learned.training.networks import train_network
from captious.metrics.contract.settings import Settings
from captious.statistics import Sampling

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.models

SMALL = {"name": "small", "features": ["bleu-1", "bleu-2", "rouge-l", "cider-d:idf=coco"]}
RECIPE = replace(
    as_recipe("lceval"),
    name="small",
    features=FeatureSet.from_dict(SMALL),
    hidden=(3,),
    epochs=6,
    batch_size=8,
    learning_rate=0.01,
)
EXAMPLES = Path(__file__).parents[3] / "examples"
ONE_FEATURE = replace(RECIPE, features=FeatureSet.from_dict({"name": "few", "features": ["bleu-1"]}))
ALL = (feature_ablation, network_depth, training_size)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Examples of 24 images, 12 of them for validation."""
    systems = {"baseline": EXAMPLES / "baseline.json", "improved": EXAMPLES / "improved.json"}
    found, _ = make_examples(read_references(EXAMPLES / "references.json"), systems, validation=0.5)
    path = tmp_path_factory.mktemp("examples") / "examples.jsonl"
    write_examples(path, found)
    return path


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ratings of eight captions of four images."""
    path = tmp_path_factory.mktemp("judged") / "own.jsonl"
    lines = [
        f'{{"candidate": "{caption}", "references": ["a {what} on a road", "the {what} is red"], "rating": {rating}, '
        f'"image": "{what}"}}'
        for what in ("dog", "bus", "cat", "car")
        for caption, rating in ((f"a red {what} on a road", 4), ("a tree in a field", 1))
    ]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture
def trials(examples: Path, judged: Path) -> Trials:
    return Trials(examples, RECIPE, [judged], seeds=2, sampling=Sampling(50, 0))


def test_features_are_those_of_the_captions(trials: Trials, examples: Path) -> None:
    own = FeatureMetric(feature_set=RECIPE.features, settings=Settings())
    for judgments, features in zip(trials.judgments, trials.judged_features, strict=True):
        np.testing.assert_array_equal(features, own.matrix(judgments.captions))
    assert len(trials.features) == len(trials.human) == len(trials.units) > 20
    assert trials.human.mean() == 0.5
    assert trials.judgments[0].protocol.full_name == "validation@tau-b"
    assert set(trials.data) == {examples.name, "own.jsonl"}
    assert trials.n_images == len({*trials.units.tolist()})


class Witness:
    """Replaces training; records its arguments, and its network scores by the first feature."""

    def __init__(self) -> None:
        self.calls: list[tuple[Recipe, NDArray[np.float64], NDArray[np.bool_], NDArray[np.float64]]] = []
        self.interrupted = False

    def __call__(self, recipe: Recipe, x: Any, human: Any, validation: Any, target: Any) -> SimpleNamespace:
        self.calls.append((recipe, x, human, validation))
        assert len(validation) == len(target)
        network = SimpleNamespace(human=lambda features: features[:, 0])
        return SimpleNamespace(network=network, interrupted=self.interrupted)


@pytest.fixture
def witness(monkeypatch: pytest.MonkeyPatch) -> Witness:
    found = Witness()
    monkeypatch.setattr(training, "train_network", found)
    return found


def test_a_network_gets_its_features_and_layers(trials: Trials, witness: Witness) -> None:
    scores = trials.scores(Variation(features=(2, 3), hidden=(5, 5)))
    assert [recipe.seed for recipe, *_ in witness.calls] == [RECIPE.seed, RECIPE.seed + 1]
    recipe, x, human, validation = witness.calls[0]
    assert recipe.sizes == (2, 5, 5, 2)
    assert recipe.features.labels == ("rouge-l", "cider-d:idf=coco")
    np.testing.assert_array_equal(x, trials.features[:, 2:])
    np.testing.assert_array_equal(human, trials.human)
    np.testing.assert_array_equal(validation, trials.judged_features[0][:, 2:])
    for features, draws in zip(trials.judged_features, scores, strict=True):
        assert len(draws) == 2
        np.testing.assert_array_equal(draws[0], features[:, 2])


def test_fewer_images_are_nested_and_drawn_with_every_seed(trials: Trials, witness: Witness) -> None:
    def rows() -> list[set[tuple[float, ...]]]:
        witness.calls.clear()
        return []

    drawn = {}
    for size in (3, 6, trials.n_images):
        rows()
        trials.scores(Variation(images=size))
        drawn[size] = [{*map(tuple, x.tolist())} for _, x, *_ in witness.calls]
        assert all(human.mean() == 0.5 for *_, human, _ in witness.calls)
    for of_three, of_six, of_all in zip(*drawn.values(), strict=True):
        assert of_three < of_six < of_all
    assert drawn[3][0] != drawn[3][1]
    assert drawn[trials.n_images][0] == drawn[trials.n_images][1]


def test_an_interrupted_training_ends_the_study(trials: Trials, witness: Witness) -> None:
    witness.interrupted = True
    with pytest.raises(KeyboardInterrupt):
        trials.scores(Variation())
    assert len(witness.calls) == 1


def test_values_have_intervals_and_differences(trials: Trials) -> None:
    """Two draws of scores, by hand; a difference of scores from themselves is 0 in every resample."""
    rng = np.random.default_rng(0)
    matrices = trials.judged_features
    draws = [[matrix[:, 0] + rng.normal(0, 0.1, len(matrix)) for _ in range(2)] for matrix in matrices]
    alone = [[matrix[:, 2]] for matrix in matrices]
    first, second = trials.agreements(draws), trials.agreements(alone)
    validation, _ = trials.records(first)
    target = np.concatenate(trials.judgments[0].ratings)
    by_hand = [kendalltau(draw, target)[0] for draw in draws[0]]
    assert validation["value"] == pytest.approx(np.mean(by_hand))
    assert validation["sd_over_seeds"] == pytest.approx(np.std(by_hand, ddof=1))
    assert validation["ci95_low"] < validation["value"] < validation["ci95_high"]
    assert validation["difference"] is None
    _, compared = trials.records(second, first)
    values = [trials.records(each)[1]["value"] for each in (first, second)]
    assert compared["difference"] == pytest.approx(values[1] - values[0])
    assert compared["difference_low"] <= compared["difference"] <= compared["difference_high"]
    assert compared["sd_over_seeds"] is None
    itself = trials.records(first, first)[0]
    assert (itself["difference"], itself["difference_low"], itself["difference_high"]) == (0, 0, 0)


class TestStudies:
    def test_ablation_trains_every_set_of_features(self, examples: Path, judged: Path) -> None:
        study = feature_ablation(examples, RECIPE, [judged], seeds=2, resamples=10)
        of_validation = [r for r in study.records if r["benchmark"] == "validation@tau-b"]
        sets = [(r["kind"], r["features"]) for r in of_validation]
        labels = list(RECIPE.features.labels)
        assert sets == [
            ("all", "small"),
            *(("without", label) for label in labels),
            ("without", "bleu"),
            ("only", "bleu"),
            *(("alone", label) for label in labels),
        ]
        assert len(study.records) == 2 * len(sets)
        everything, *others = of_validation
        for record in others:
            assert record["difference"] == pytest.approx(record["value"] - everything["value"])
        assert all((record["sd_over_seeds"] is None) == (record["kind"] == "alone") for record in of_validation)
        dots = study.pictures["ablation-validation@tau-b"]
        assert [*dots.rows] == [f"{kind} {features}" for kind, features in sets]
        assert dots.rows["all small"].value == everything["value"]

    def test_two_features_are_enough_for_an_ablation(self, examples: Path) -> None:
        two = FeatureSet.from_dict({"name": "few", "features": ["bleu-1", "rouge-l"]})
        study = feature_ablation(examples, replace(RECIPE, features=two, epochs=1), groups={}, seeds=1, resamples=5)
        kinds = [
            ("all", "few"),
            ("without", "bleu-1"),
            ("without", "rouge-l"),
            ("alone", "bleu-1"),
            ("alone", "rouge-l"),
        ]
        assert [(record["kind"], record["features"]) for record in study.records] == kinds

    def test_ablation_leaves_out_named_groups(self, examples: Path, witness: Witness) -> None:
        groups = {"n-grams": ["bleu-1", "cider-d:idf=coco"]}
        study = feature_ablation(examples, RECIPE, groups=groups, seeds=1, resamples=5)
        assert {r["features"] for r in study.records if r["kind"] == "only"} == {"n-grams"}
        trained = [recipe.features.labels for recipe, *_ in witness.calls]
        assert trained[-2:] == [("bleu-2", "rouge-l"), ("bleu-1", "cider-d:idf=coco")]

    def test_depth_study_ends_with_the_mean_of_features(self, examples: Path, judged: Path) -> None:
        study = network_depth(examples, RECIPE, [judged], (0, 2), width=4, seeds=2, resamples=10)
        layers = [(r["layers"], r["hidden_layers"]) for r in study.records[::2]]
        assert layers == [("4-2", 0), ("4-4-4-2", 2), ("none", None)]
        assert study.records[0]["difference"] is None
        assert study.records[2]["difference"] == pytest.approx(study.records[2]["value"] - study.records[0]["value"])
        curve = study.pictures["depth-own@own"].lines["small"]
        assert curve.x.tolist() == [0, 2]
        assert curve.y.tolist() == [r["value"] for r in study.records[1:4:2]]
        trials = Trials(examples, RECIPE, [judged], seeds=1, sampling=Sampling(10, 1))
        means = trials.judged_features[1].mean(axis=1)
        assert study.records[-1]["value"] == pytest.approx(trials.judgments[1].values(means).mean())
        assert study.records[-1]["sd_over_seeds"] is None

    def test_default_sizes_are_halved(self, examples: Path, judged: Path) -> None:
        study = training_size(examples, RECIPE, [judged], seeds=1, resamples=10)
        sizes = [r["images"] for r in study.records[::2]]
        assert sizes == [12, 6, 3, 1]
        assert study.records[0]["difference"] is None

    @pytest.mark.parametrize(
        ("study", "options", "message"),
        [
            (feature_ablation, {"groups": {"a": ["meteor"]}}, "meteor is not a feature of small"),
            (feature_ablation, {"groups": {"a": []}}, "the group a has no features"),
            (feature_ablation, {"groups": {"a": RECIPE.features.labels}}, "the group a has all features"),
            (feature_ablation, {"recipe": ONE_FEATURE}, "nothing can be left out of a single feature"),
            (network_depth, {"recipe": replace(RECIPE, hidden=())}, "has no hidden layers, so their width is unknown"),
            *((network_depth, {"depths": some}, "numbers of hidden layers") for some in ((0, -1), (17,), ())),
            *((training_size, {"sizes": [n]}, f"{n} is not a number of training images") for n in (0, 13)),
            *((study, {"seeds": 0}, "0 is not a number of random seeds") for study in ALL),
            *((study, {"benchmarks": 2}, "own@own is requested twice") for study in ALL),
        ],
    )
    def test_impossible_studies_are_refused(
        self, study: Any, options: dict[str, Any], message: str, examples: Path, judged: Path
    ) -> None:
        benchmarks = [judged] * options.get("benchmarks", 0)
        with pytest.raises(ParameterError, match=message):
            study(examples, **{"recipe": RECIPE, "seeds": 1, "resamples": 5, **options, "benchmarks": benchmarks})

    def test_validation_captions_of_one_rating_are_refused(self, examples: Path, tmp_path: Path) -> None:
        path = tmp_path / "same.jsonl"
        record = {"candidate": "a red dog", "references": ["a dog on a road"], "rating": 2}
        path.write_text(f"{json.dumps(record)}\n" * 3, encoding="utf-8")
        with pytest.raises(ParameterError, match="all have the same label or rating") as caught:
            training_epochs(examples, RECIPE, validation=path)
        assert caught.value.where == str(path)

    def test_studies_are_deterministic(self, examples: Path, judged: Path) -> None:
        first, again = (network_depth(examples, RECIPE, [judged], (1,), seeds=2, resamples=10) for _ in range(2))
        assert first.to_dict() == again.to_dict()

    def test_epochs_are_those_of_training(self, examples: Path, trials: Trials) -> None:
        """Numbers of each epoch are those of a training that ends after it."""
        study = training_epochs(examples, RECIPE)
        assert [record["epoch"] for record in study.records] == [*range(1, len(study.records) + 1)]
        target = np.concatenate(trials.judgments[0].ratings)  # type: ignore[union-attr]
        for n in (1, 4):
            shorter = replace(RECIPE, epochs=n, patience=n)
            network = train_last(shorter, trials, target)
            record = study.records[n - 1]
            scores = network.human(trials.judged_features[0])
            assert record["tau_b"] == pytest.approx(kendalltau(scores, target)[0])
            assert record["accuracy"] == ((scores > 0.5) == (target == 1)).mean()
            assert record["training_accuracy"] == ((network.human(trials.features) > 0.5) == trials.human).mean()
        curves = study.pictures["epochs"].lines  # type: ignore[union-attr]
        assert curves["validation captions"].y.tolist() == [record["tau_b"] for record in study.records]
        points = study.pictures["accuracy"].lines["epochs"]  # type: ignore[union-attr]
        assert points.points
        assert points.x.tolist() == [record["accuracy"] for record in study.records]
        accuracies, taus = ([record[name] for record in study.records] for name in ("accuracy", "tau_b"))
        best = accuracies.index(max(accuracies))
        assert f"Best agreement {max(taus):.4f} after epoch {taus.index(max(taus)) + 1}; " in study.notes[0]
        assert f"best accuracy {max(accuracies):.4f} after epoch {best + 1}, " in study.notes[0]
        assert f"where agreement is {taus[best]:.4f}." in study.notes[0]

    def test_captions_above_the_middle_of_the_scale_are_good(self, examples: Path, tmp_path: Path) -> None:
        captions = [("a red dog on a road", 3), ("a dog on a road", 2), ("a tree in a field", 1), ("the dog is red", 2)]
        path = tmp_path / "own.jsonl"
        lines = [
            json.dumps({"candidate": text, "references": ["a dog on a road", "the dog is red"], "rating": rating})
            for text, rating in captions
        ]
        path.write_text("\n".join(lines), encoding="utf-8")
        recipe = replace(RECIPE, epochs=1, patience=1)
        (record,) = training_epochs(examples, recipe, validation=path).records
        trials = Trials(examples, recipe, (), validation=path, seeds=1, sampling=Sampling(1, 0))
        target = np.array([rating for _, rating in captions], float)
        scores = train_last(recipe, trials, target).human(trials.judged_features[0])
        shares = [float(((scores > 0.5) == good).mean()) for good in (target > 2, target >= 2)]
        assert record["accuracy"] == shares[0] != shares[1]


def train_last(recipe: Recipe, trials: Trials, target: NDArray[np.float64]) -> Network:
    """Return the network after the last epoch, whether it is the best or not."""
    networks: list[Network] = []
    train_network(recipe, trials.features, trials.human, trials.judged_features[0], target, networks.append)
    return networks[-1]
