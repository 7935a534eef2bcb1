"""Metrics asked for in words: variants and parameters, and what cannot be meant."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.errors import CaptiousError, ParameterError, UnknownNameError
from captious.metrics.bertscore import BertScore
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Settings
from captious.metrics.contract.specification import Asked, parameters_of
from captious.metrics.rouge_s import RougeS
from captious.metrics.shared.token_frequencies import TokenFrequencies
from captious.metrics.smurf import Smurf
from captious.metrics.yi2020 import Yi2020
from captious.models import Encoder

CANDIDATES = {1: "a dog runs over the green grass", 2: "Two men, playing guitar"}
REFERENCES = {1: ["a brown dog runs on grass", "the dog"], 2: ["two men play guitar on a stage"]}


@pytest.mark.parametrize("model", [5, b"bert", ["bert"], object(), "", Encoder])
@pytest.mark.parametrize("metric", ["bertscore", "clipscore", "mowe", "rouge-l"])
def test_what_is_no_model(model: object, metric: str) -> None:
    with pytest.raises(ParameterError, match="is not a model") as caught:
        captious.score(CANDIDATES, REFERENCES, metric, model=model)  # type: ignore[arg-type]
    for form in ("Hugging Face hub", "folder", "captious.Encoder"):
        assert form in caught.value.help
    for make in (BertScore, lambda encoder: captious.metrics.contract.registry.get("mowe")(encoder=encoder)):
        with pytest.raises(ParameterError, match="is not a model"):
            make(encoder=model)


@pytest.mark.parametrize("parser", [5, b"x", ["x"], object()])
def test_what_is_no_parser(parser: object) -> None:
    for metric in ("hwcm", "rouge-l"):
        with pytest.raises(ParameterError, match="is not a parser"):
            captious.score(CANDIDATES, REFERENCES, metric, parser=parser)  # type: ignore[arg-type]


def test_what_is_no_folder_of_images() -> None:
    for metric in ("clipscore", "rouge-l"):
        with pytest.raises(ParameterError):
            captious.score(CANDIDATES, REFERENCES, metric, images=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [5, None, "rouge-l", captious.RougeL])
def test_only_metrics_merge(other: object) -> None:
    with pytest.raises(ParameterError, match="is not a metric"):
        captious.RougeL().merge(other)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [5, None, object()])
def test_only_frequencies_merge(other: object) -> None:
    of_ngrams = captious.CiderD().fit(captious.load(CANDIDATES, REFERENCES).references)
    of_tokens = TokenFrequencies(np.ones(3, np.int64), 2, "model")
    assert of_ngrams is not None
    for state in (of_ngrams, of_tokens):
        with pytest.raises(ParameterError, match="do not belong together"):
            state.merge(other)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("bleu", Asked("bleu")),
        ("cider-d@paper", Asked("cider-d", "paper")),
        ("rouge-s:gap=2", Asked("rouge-s", None, {"gap": "2"})),
        ("rouge-s@paper: gap = 2 , tokenizer=ptb", Asked("rouge-s", "paper", {"gap": "2", "tokenizer": "ptb"})),
        ("bertscore:encoder=C:/models/bert=1", Asked("bertscore", None, {"encoder": "C:/models/bert=1"})),
    ],
)
def test_what_is_asked_for(text: str, asked: Asked) -> None:
    assert Asked.from_text(text) == asked


def test_the_same_metric_with_several_parameters_stands_in_one_report() -> None:
    asked = ["rouge-s", "rouge-s:gap=1", "rouge-s:gap=none", "rouge-s:tokenizer=whitespace,gap=3"]
    report = captious.score(CANDIDATES, REFERENCES, asked, tokenizer="ptb-raw")
    assert list(report) == asked
    made = [RougeS(gap=gap, tokenizer="ptb-raw") for gap in (4, 1, None)] + [RougeS(gap=3, tokenizer="whitespace")]
    for label, metric in zip(asked, made, strict=True):
        expected = captious.score(CANDIDATES, REFERENCES, metric)["rouge-s"]
        np.testing.assert_array_equal(report[label].per_caption, expected.per_caption)
        assert report[label].signature == expected.signature


def test_outputs_of_one_metric_share_its_work() -> None:
    chosen = registry.select(["bleu-1:tokenizer=whitespace", "bleu-4:tokenizer=whitespace", "bleu-4"])
    assert [list(each.columns) for each in chosen] == [
        ["bleu-1:tokenizer=whitespace", "bleu-4:tokenizer=whitespace"],
        ["bleu-4"],
    ]


@pytest.mark.parametrize(
    ("text", "error", "help"),
    [
        ("rouge-s:gap", ParameterError, "parameter=value"),
        ("rouge-s:", ParameterError, "parameter=value"),
        ("rouge-s:gap=1,gap=1", ParameterError, "once"),
        ("rouge-s:gap=wide", ParameterError, "a whole number or none"),
        ("rouge-s:gap=0.5", ParameterError, "a whole number or none"),
        ("cider-d:sigma=true", ParameterError, "a number"),
        ("rouge-s:width=3", UnknownNameError, "gap, tokenizer"),
        ("bleu:variant=paper", UnknownNameError, "its parameters are tokenizer"),
        ("meteor:modules=exact", UnknownNameError, "alpha, beta"),
        ("blue:gap=1", UnknownNameError, "did you mean"),
    ],
)
def test_what_cannot_be_meant(text: str, error: type[CaptiousError], help: str) -> None:
    with pytest.raises(error) as caught:
        registry.select([text])
    assert help in caught.value.help


def test_models_and_switches_can_be_written() -> None:
    settings = Settings(encoder=captious.Encoder("for-all"))
    (ours, parts, fused) = (
        registry.select([text], settings)[0].metric
        for text in (
            "bertscore-f:encoder=mine,layer=3,idf=true",
            "yi2020@paper:cut=no,threshold=0.5",
            "smurf:mima_encoder=other,threshold=-2",
        )
    )
    assert isinstance(ours, BertScore)
    assert (ours.encoder.model, ours.layer, ours.idf) == ("mine", 3, True)
    assert isinstance(parts, Yi2020)
    assert (parts.encoder.model, parts.cut, parts.combine, parts.threshold) == ("for-all", False, True, 0.5)
    assert isinstance(fused, Smurf)
    assert (fused.mima.encoder.model, fused.spurts.encoder.model, fused.threshold) == ("other", "for-all", -2.0)


@pytest.mark.parametrize("name", registry.names())
def test_every_parameter_that_can_be_written_is_one_of_the_class(name: str) -> None:
    metric = registry.get(name)
    for parameter, kinds in parameters_of(metric).items():
        assert parameter != "variant"
        assert kinds
