"""Which metrics exist, how they are asked for, and how others join them."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from importlib.metadata import EntryPoint, EntryPoints

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.data import Captions
from captious.errors import CaptiousError, ParameterError, UnknownNameError
from captious.metrics.contract import registry
from captious.metrics.contract.metric import MeanMetric, Metric, Settings, State
from captious.metrics.shared.document_frequencies import DocumentFrequencies
from captious.metrics.spice import Spice
from captious.text import WHITESPACE

from ...support.corpora import references_table, table
from ...support.every_metric import MISSING

OUTPUTS = {
    "bleu": ["bleu-1", "bleu-2", "bleu-3", "bleu-4"],
    "meteor": ["meteor"],
    "rouge-l": ["rouge-l"],
    "rouge-n": ["rouge-1", "rouge-2", "rouge-3", "rouge-4"],
    "rouge-s": ["rouge-s"],
    "cider": ["cider"],
    "cider-d": ["cider-d"],
    "sparcs": ["sparcs"],
    "spurts": ["spurts"],
    "mima": ["mima"],
    "smurf": ["smurf"],
    "bertscore": ["bertscore-p", "bertscore-r", "bertscore-f"],
    "yi2020": ["yi2020"],
    "yi2020-unigram": ["yi2020-unigram"],
    "clipscore": ["clipscore"],
    "refclipscore": ["refclipscore"],
    "spice": [
        "spice",
        *(f"spice-{part}" for part in ("p", "r", "object", "attribute", "relation", "cardinality", "color", "size")),
    ],
    "spider": ["spider"],
    "hwcm": ["hwcm-1", "hwcm-2", "hwcm-3", "hwcm-4"],
    "wmd": ["wmd"],
    "mowe": ["mowe"],
    "wembsim": ["wembsim"],
    "ngram-precision": ["ngram-precision-1", "ngram-precision-2", "ngram-precision-3", "ngram-precision-4"],
    "unigram-recall": ["unigram-recall"],
}
VARIANTS = {
    "bleu": ["official", "paper"],
    "meteor": ["official", "paper"],
    "rouge-l": ["official", "lin2004"],
    "rouge-n": ["paper"],
    "rouge-s": ["paper"],
    "cider": ["official", "paper"],
    "cider-d": ["official", "paper"],
    "sparcs": ["official"],
    "spurts": ["official", "paper"],
    "mima": ["official"],
    "smurf": ["official", "paper"],
    "bertscore": ["official"],
    "yi2020": ["official", "paper"],
    "yi2020-unigram": ["official"],
    "clipscore": ["official"],
    "refclipscore": ["official"],
    "spice": ["official"],
    "spider": ["official"],
    "hwcm": ["official", "paper"],
    "wmd": ["mtanti", "lceval"],
    "mowe": ["official"],
    "wembsim": ["paper"],
    "ngram-precision": ["official", "paper"],
    "unigram-recall": ["paper"],
}


class Length(MeanMetric):
    """Number of characters."""

    name = "length"

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.array([float(len(candidate)) for candidate in captions.candidates])


@pytest.fixture(autouse=True)
def nothing_registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_registered", {})
        yield


@pytest.fixture
def plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """What packages on this machine declare as entry points: what is put into this list."""
    points: list[EntryPoint] = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **chosen: EntryPoints(points).select(**chosen))
    registry._OTHERS.forget()
    yield points
    registry._OTHERS.forget()


def plugin(name: str, value: str) -> EntryPoint:
    return EntryPoint(name=name, value=value, group="captious.metrics")


def labels(asked: list[str | Metric], settings: Settings | None = None) -> list[str]:
    return [label for selection in registry.select(asked, settings) for label in selection.columns]


# ---- what exists


def test_names() -> None:
    assert registry.names() == list(OUTPUTS)


@pytest.mark.parametrize("name", OUTPUTS)
def test_metrics_say_what_they_are(name: str) -> None:
    metric = registry.get(name)
    assert metric.name == name
    assert list(metric.outputs) == OUTPUTS[name]
    assert list(metric.variants) == VARIANTS[name]
    assert metric.summary
    assert all(metric.variants.values())
    if name in MISSING:
        pytest.skip(f"{name} is not installed: {MISSING[name]}")
    assert metric().variant == VARIANTS[name][0]
    assert repr(metric()).startswith(f"<{metric.__name__} variant=")


def test_outputs_have_one_metric_each() -> None:
    every = [output for outputs in OUTPUTS.values() for output in outputs]
    assert len(set(every)) == len(every)


def test_the_coco_set_as_far_as_it_exists(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captious.Meteor, "missing", classmethod(lambda cls: None))
    monkeypatch.setattr(Spice, "missing", classmethod(lambda cls: None))
    run, left_out = registry.available(registry.COCO)
    assert run == ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice"]
    assert not left_out


def test_what_is_not_installed_is_left_out_with_the_command_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captious.Meteor, "missing", classmethod(lambda cls: "pip install 'captious[meteor]'"))
    run, left_out = registry.available(["bleu-4", "meteor", "cider-d"])
    assert run == ["bleu-4", "cider-d"]
    assert left_out == {"meteor": "pip install 'captious[meteor]'"}


# ---- asking


def test_a_metric_an_output_or_a_variant() -> None:
    assert labels(["bleu"]) == ["bleu-1", "bleu-2", "bleu-3", "bleu-4"]
    assert labels(["bleu-4", "cider-d"]) == ["bleu-4", "cider-d"]
    assert labels(["cider-d", "cider-d@paper"]) == ["cider-d", "cider-d@paper"]
    assert labels(["bleu@paper"]) == ["bleu-1@paper", "bleu-2@paper", "bleu-3@paper", "bleu-4@paper"]


def test_outputs_of_one_metric_are_computed_once() -> None:
    selections = registry.select(["bleu-4", "rouge-l", "bleu-1", "bleu-2@paper"])
    assert [dict(selection.columns) for selection in selections] == [
        {"bleu-4": 3, "bleu-1": 0},
        {"rouge-l": 0},
        {"bleu-2@paper": 1},
    ]
    assert [selection.metric.variant for selection in selections] == ["official", "official", "paper"]


def test_a_metric_object_is_taken_as_it_is() -> None:
    metric = captious.CiderD(sigma=3)
    (selection,) = registry.select([metric])
    assert selection.metric is metric
    assert selection.columns == {"cider-d": 0}


def test_settings_reach_the_metrics_they_concern() -> None:
    idf = DocumentFrequencies.of(references_table([["a dog"]] * 9), WHITESPACE)
    bleu, cider = registry.select(["bleu-1", "cider-d"], Settings(idf=idf))
    assert isinstance(cider.metric, captious.CiderD)
    assert cider.metric.idf is idf
    # The frequencies know how they were counted; metrics without them keep their own way.
    assert cider.metric.tokenizer is WHITESPACE
    assert bleu.metric.tokenizer.name == "ptb"
    (lone,) = registry.select(["rouge-l"], Settings(tokenizer="spaces"))
    assert lone.metric.tokenizer.name == "spaces"


@pytest.mark.parametrize(
    ("asked", "suggestion"),
    [
        ("blue-4", "bleu-4"),
        ("BLEU_4", "bleu-4"),
        ("CIDEr-D", "cider-d"),
        ("rougel", "rouge-l"),
        ("unigram recall", "unigram-recall"),
    ],
)
def test_unknown_names_come_with_a_suggestion(asked: str, suggestion: str) -> None:
    with pytest.raises(UnknownNameError) as caught:
        registry.select([asked])
    assert repr(asked) in caught.value.message
    assert f"did you mean {suggestion}?" in caught.value.help


def test_unknown_names_without_a_likeness_list_what_exists() -> None:
    with pytest.raises(UnknownNameError) as caught:
        registry.select(["xyzzy"])
    assert "did you mean" not in caught.value.help
    assert all(name in caught.value.help for name in OUTPUTS)
    with pytest.raises(UnknownNameError, match="no metric 'xyzzy'"):
        registry.get("xyzzy")


def test_unknown_variants() -> None:
    with pytest.raises(UnknownNameError, match="rouge-l has no variant 'papre'") as caught:
        registry.select(["rouge-l@papre"])
    assert "official, lin2004" in caught.value.help
    with pytest.raises(UnknownNameError, match="has no variant"):
        captious.Bleu(variant="lin2004")


@pytest.mark.parametrize(
    "asked",
    [["bleu-4", "bleu-4"], ["bleu", "bleu-2"], ["cider", "cider"], ["bleu-1@paper", "bleu@paper"]],
    ids=lambda asked: "+".join(asked),
)
def test_asking_twice(asked: list[str | Metric]) -> None:
    with pytest.raises(ParameterError, match="asked for twice"):
        registry.select(asked)
    with pytest.raises(ParameterError, match="cider is asked for twice"):
        registry.select(["cider", captious.Cider()])


def test_asking_for_nothing() -> None:
    with pytest.raises(ParameterError, match="no metric is asked for") as caught:
        registry.select([])
    assert "bleu-1" in caught.value.help


# ---- joining


def test_register() -> None:
    @captious.register("letters")
    class Letters(Length):
        outputs = ("letters",)

    assert registry.get("letters") is Letters
    assert registry.names() == [*OUTPUTS, "letters"]
    assert Letters.name == "letters"
    assert labels(["letters", "bleu-1"]) == ["letters", "bleu-1"]
    with pytest.warns(captious.CaptiousWarning):
        report = captious.score(["a dog", "a"], [["x"], ["y"]], metrics=["letters"])
    assert report["letters"].score == 3.0
    assert report["letters"].signature.startswith("letters|variant:official|tokenizer:ptb|captious:")


def test_outputs_follow_the_name() -> None:
    @captious.register("characters")
    class Characters(MeanMetric):
        scores = Length.scores

    assert Characters.outputs == ("characters",)


def test_a_registered_metric_may_build_on_another() -> None:
    # Its outputs are its own, not those of the metric it is derived from.
    @captious.register("narrow-cider")
    class NarrowCider(captious.CiderD):
        """CIDEr-D with another scale."""

    assert NarrowCider.outputs == ("narrow-cider",)
    assert captious.CiderD.outputs == ("cider-d",)


def test_several_outputs_need_names_of_their_own() -> None:
    class Bleuish(captious.Bleu):
        """Four outputs, called as those of BLEU."""

    with pytest.raises(ParameterError, match="outputs"):
        captious.register("bleuish")(Bleuish)


def test_registering_again_replaces() -> None:
    # So that a cell of a notebook can be run twice.
    for _ in range(2):

        @captious.register("length")
        class Again(Length):
            outputs = ("length",)

    assert registry.get("length") is Again


@pytest.mark.parametrize("name", ["bleu", "cider-d", "bleu-4", "rouge-1"])
def test_names_that_are_taken(name: str) -> None:
    class Thief(MeanMetric):
        scores = Length.scores

    with pytest.raises(ParameterError, match="taken"):
        captious.register(name)(Thief)
    assert registry.names() == list(OUTPUTS)
    assert registry.get("bleu") is captious.Bleu


def test_outputs_that_are_taken() -> None:
    class Thief(MeanMetric):
        outputs = ("mine", "bleu-4")
        scores = Length.scores

    with pytest.raises(ParameterError, match="taken"):
        captious.register("thief")(Thief)
    assert "thief" not in registry.names()


@pytest.mark.parametrize("thing", [42, len, dict, captious.Bleu()])
def test_only_metrics_can_register(thing: object) -> None:
    with pytest.raises(ParameterError, match="is not a metric"):
        captious.register("thing")(thing)  # type: ignore[type-var]


def test_entry_points(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("length", f"{Length.__module__}:Length"))
    assert registry.names() == [*OUTPUTS, "length"]
    assert registry.get("length").name == "length"
    assert labels(["length"]) == ["length"]
    metric = registry.select(["length"])[0].metric
    assert metric.statistics(table(["abc"], [["x"]])).tolist() == [[3.0, 1.0]]
    assert registry.available(["length", "width"]) == (["length"], {"width": "not in this version"})


def test_entry_points_of_other_groups_are_none_of_ours(plugins: list[EntryPoint]) -> None:
    plugins.append(EntryPoint("length", "nowhere:Nothing", "console_scripts"))
    assert registry.names() == list(OUTPUTS)


def test_an_entry_point_that_leads_to_something_else(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("wrong", "json:dumps"))
    with pytest.raises(ParameterError, match="json:dumps is not a metric"):
        registry.get("wrong")


def test_a_plugin_that_cannot_be_imported_breaks_nothing_else(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("broken", "no_such_package.metrics:Broken"))
    assert labels(["bleu-4"]) == ["bleu-4"]
    with pytest.raises(CaptiousError, match="broken"):
        registry.get("broken")
    with pytest.raises(UnknownNameError, match="blue-4"):
        registry.select(["blue-4"])


def test_a_built_in_metric_cannot_be_shadowed(plugins: list[EntryPoint]) -> None:
    plugins.append(plugin("bleu", f"{Length.__module__}:Length"))
    assert registry.get("bleu") is captious.Bleu
    assert registry.names() == list(OUTPUTS)


def test_register_without_a_name() -> None:
    with pytest.raises(ParameterError, match="takes the name"):
        captious.register(captious.Bleu)  # type: ignore[arg-type]
