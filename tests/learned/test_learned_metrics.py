"""nneval and lceval as metrics: scores, signatures, weights of one's own, warnings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.errors import ParameterError, ResourceError
from captious.learned.lceval import LCEval, NNEval
from captious.learned.networks import Feature, FeatureMetric, FeatureSet, NetworkWeights
from captious.learned.training.examples import Examples, make_examples
from captious.resources.grammar import VERSION
from tests.learned.test_network import random_network
from tests.support.corpora import TOY, table

pytestmark = pytest.mark.usefixtures("meteor_tables")

GOOD = (
    "a man rides a brown horse on the beach",
    ["a man riding a horse on a beach", "a man on a brown horse by the sea"],
)
WRONG = ("a plate of food on a wooden table", GOOD[1])

BUNDLED = captious.Settings(parser="bundled")


@pytest.fixture
def vectors(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = shared_data / "vectors" / "glove_100d_captions.txt.gz"
    monkeypatch.setenv("CAPTIOUS_VECTORS", str(path))
    return path


def own(metric: str = "lceval", name: str = "own") -> NetworkWeights:
    features = FeatureSet("two", (Feature("bleu-1"), Feature("rouge-l", 2.0)))
    return NetworkWeights(metric, name, features, random_network(2, 3, 2))


@pytest.mark.parametrize(("kind", "variant"), [(NNEval, "trained"), (LCEval, "trained"), (LCEval, "official-8010")])
def test_scores_are_those_of_the_network(kind: type[NNEval] | type[LCEval], variant: str) -> None:
    metric, captions = kind(variant=variant), TOY.table()
    features = FeatureMetric(feature_set=metric.trained.features).matrix(captions)
    scores = metric.aggregate(metric.statistics(captions))[:, 0]
    np.testing.assert_array_equal(scores, metric.trained.network.human(features))
    assert ((scores > 0) & (scores < 1)).all()
    assert not metric.needs_fit


@pytest.mark.parametrize("name", ["nneval", "lceval", "lceval@official-8010"])
def test_a_caption_of_the_image_scores_above_one_of_another(name: str, vectors: Path) -> None:
    report = captious.score([GOOD[0], WRONG[0]], [GOOD[1], WRONG[1]], [name], settings=BUNDLED)
    good, wrong = report[name].per_caption
    assert good > 0.5 + wrong / 2
    assert not [warning for warning in report.warnings if "trained with" in warning]


def test_human_captions_outscore_captions_of_other_images_on_coco(shared_data: Path, vectors: Path) -> None:
    """On images that were not trained on: those of the evaluation."""
    references = captious.read_references(shared_data / "coco" / "karpathy_test_refs.json.gz")
    examples, _ = make_examples(references, {}, negatives="other", images=100, per_image=2, validation=0)
    for name in ("nneval", "lceval"):
        scores = captious.score(examples.captions, metrics=[name], settings=BUNDLED)[name].per_caption
        assert scores[examples.human].mean() > scores[~examples.human].mean() + 0.5
    assert isinstance(examples, Examples)


def test_users_weights_replace_the_bundled_ones(tmp_path: Path) -> None:
    own().save(tmp_path / "own.safetensors")
    captions = TOY.table()
    from_file, from_object = LCEval(weights=tmp_path / "own.safetensors"), LCEval(weights=own())
    np.testing.assert_array_equal(from_file.statistics(captions), from_object.statistics(captions))
    features = FeatureMetric(feature_set=own().features).matrix(captions)
    np.testing.assert_array_equal(from_file.statistics(captions)[:, 0], own().network.human(features))
    (signature,) = from_file.signatures()
    assert f"|weights:{own().label}|features:{own().features.label}|tokenizer:ptb|" in signature
    report = captious.score({0: "a dog"}, {0: ["a cat"]}, [f"lceval:weights={tmp_path}/own.safetensors"])
    expected = signature.replace("|captious:", "|references:1|captious:")
    assert next(iter(report.values())).signature == expected


def test_scorer_and_streams_agree() -> None:
    metric, captions = LCEval(weights=own()), TOY.table()
    expected = metric.statistics(captions)[:, 0]
    scorer = captious.reward(captions.references, metric)
    np.testing.assert_allclose(scorer(captions.ids, captions.candidates), expected, rtol=1e-12)


def test_weights_of_another_metric_are_refused() -> None:
    with pytest.raises(ParameterError, match="these weights are of lceval, not of nneval") as refused:
        NNEval(weights=own())
    assert "lceval:weights=FILE" in refused.value.hint
    with pytest.raises(ParameterError, match="has its own weights"):
        LCEval(weights=own(), variant="official-8010")
    with pytest.raises(ResourceError, match="cannot read weights"):
        LCEval(weights="none.safetensors")


def test_resources_that_differ_from_training_give_a_warning() -> None:
    metric = NNEval()
    (warning,) = [message for message in metric.warnings(table(["a"], [["b"]]), None) if "trained with" in message]
    assert "vectors glove_100d_captions-" in warning
    assert "vectors vectors-" in warning
    same = replace(own(), resources={"tokenizer": "ptb"})
    assert LCEval(weights=same).warnings(table(["a"], [["b"]]), None) == []


def test_vectors_of_training_under_another_name_are_not_warned_of() -> None:
    """Checksums tell whether resources are the same, not names."""
    metric = NNEval()
    current = str(metric.resources["vectors"])
    renamed = replace(metric.trained, resources={**metric.trained.resources, "vectors": f"other-{current[-8:]}"})
    assert not [text for text in NNEval(weights=renamed).warnings(table(["a"], [["b"]]), None) if "vectors" in text]
    changed = replace(renamed, resources={"vectors": f"{current[:-8]}00000000"})
    assert [text for text in NNEval(weights=changed).warnings(table(["a"], [["b"]]), None) if "trained with" in text]


def test_references_that_were_concatenated_in_training_only_give_a_warning() -> None:
    metric = LCEval(weights=replace(own(), resources={"references": "cat"}))
    captions = table(["a dog"], [["a dog", "the dog"]])
    (warning,) = metric.warnings(captions, None)
    assert "trained with references cat, but its features are computed with references each" in warning
    assert metric.warnings(captions.with_references_as("cat"), None) == []


def test_grammar_that_differs_from_training_gives_a_warning() -> None:
    features = FeatureSet("chains", (Feature("hwcm-2"),))
    trained = NetworkWeights("lceval", "own", features, random_network(1, 2), resources={"parser": "bundled-1"})
    (warning,) = LCEval(weights=trained, parser="bundled").warnings(table(["a"], [["b"]]), None)
    assert f"trained with parser bundled-1, but its features are computed with parser {VERSION}:" in warning
