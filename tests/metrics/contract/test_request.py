"""Metrics as text: names in any case, variants and parameters, and invalid requests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import CaptiousError, UnknownNameError
from captious.metrics.bertscore import BertScore
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import select
from captious.metrics.contract.settings import Settings
from captious.metrics.rouge import RougeS
from captious.metrics.smurf import Smurf
from captious.metrics.yi2020 import Yi2020
from captious.models import Encoder
from tests.golden.command_line import clean
from tests.golden.outcomes import refusal
from tests.golden.record import Record

CANDIDATES = {1: "a dog runs over the green grass", 2: "Two men, playing guitar"}
REFERENCES = {1: ["a brown dog runs on grass", "the dog"], 2: ["two men play guitar on a stage"]}


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("bleu", Request("bleu")),
        ("cider-d@paper", Request("cider-d", "paper")),
        ("rouge-s:gap=2", Request("rouge-s", None, {"gap": "2"})),
        ("rouge-s@paper: gap = 2 , tokenizer=ptb", Request("rouge-s", "paper", {"gap": "2", "tokenizer": "ptb"})),
        ("bertscore:model=C:/models/bert=1", Request("bertscore", None, {"model": "C:/models/bert=1"})),
        ("CIDEr-D", Request("cider-d")),
        (" ROUGE-S@paper:tokenizer=Mine", Request("rouge-s", "paper", {"tokenizer": "Mine"})),
    ],
)
def test_requests_in_text_form(text: str, parsed: Request) -> None:
    assert Request.from_text(text) == parsed


def test_metric_with_several_parameters_has_several_labels() -> None:
    texts = ["rouge-s", "rouge-s:gap=1", "rouge-s:gap=none", "rouge-s:tokenizer=whitespace,gap=3"]
    report = captious.score(CANDIDATES, REFERENCES, texts, settings=Settings(tokenizer="ptb-raw"))
    assert list(report) == texts
    metrics = [RougeS(gap=gap, tokenizer="ptb-raw") for gap in (4, 1, None)] + [RougeS(gap=3, tokenizer="whitespace")]
    for label, metric in zip(texts, metrics, strict=True):
        expected = captious.score(CANDIDATES, REFERENCES, metric)["rouge-s"]
        np.testing.assert_array_equal(report[label].per_caption, expected.per_caption)
        assert report[label].signature == expected.signature


#: What is asked for in one call, right and wrong.
ASKED = [
    *("bleu", "bleu-4 cider-d", "cider-d cider-d@paper", "bleu@paper", "bleu-4 rouge-l bleu-1 bleu-2@paper"),
    *("BLEU-4 CIDEr-D ROUGE-L@Lin2004", "rouge-s:GAP=2", "Bleu_4 ROUGE_L METEOR", "bleu-4:tokenizer=ptb"),
    *("bleu-1:tokenizer=whitespace bleu-4:tokenizer=whitespace bleu-4", "cider-d@official", "CIDEr-D:Sigma=6"),
    *("cider-d@paper:sigma=3.0", "cider-d:idf=coco", "rouge-s:gap=none"),
    # CIDEr of the toolkit is CIDEr-D here, as a warning says.
    *("cider", "CIDEr", "cider@paper bleu", "cider cider-d"),
    # What is asked for twice.
    *(
        "bleu-4@paper BLEU-4@Paper",
        "bleu-4 bleu-4",
        "bleu bleu-2",
        "cider cider",
        "bleu-1@paper bleu@paper",
        "spice SPICE",
    ),
    # What does not exist.
    *("xyzzy", "spcie", "blue:gap=1", "rouge-s:width=3", "bleu:variant=paper", "meteor:modules=exact"),
    # What is malformed, or beyond its range.
    *("rouge-s:gap", "rouge-s:", "rouge-s:gap=1,gap=1", "rouge-s:gap=2,Gap=3", "rouge-s:gap=wide", "rouge-s:gap=0.5"),
    *("rouge-s:gap=99999999999999999999", "rouge-s:gap=0", f"rouge-s:gap={'9' * 5_000}", "cider-d:sigma=true"),
    *("cider-d:sigma=1e-300", "cider-d:sigma=1e400", "cider-d:sigma=nan", "cider-d:sigma=inf", "wmd:sigma=-inf"),
    "meteor:alpha=nan",
]


def test_requests_are_answered_as_recorded(record: Record, meteor_tables: object) -> None:
    found: dict[str, Any] = {}
    for asked in ASKED:
        try:
            selection = select(asked.split())
        except CaptiousError as error:
            assert error.hint
            found[asked[:60]] = refusal(error)
        else:
            found[asked[:60]] = {
                "labels": selection.labels,
                "warnings": selection.warnings,
                "metrics": [[*requested.metric.signatures()] for requested in selection],
                "outputs": [requested.output_indices for requested in selection],
            }
    record("requests", clean(found, {}))


def test_models_and_switches_can_be_written() -> None:
    settings = Settings(model=Encoder("for-all"))
    (ours, parts, fused) = (
        select([text], settings)[0].metric
        for text in (
            "bertscore-f:model=mine,layer=3,token_idf=true",
            "yi2020@paper:cut=no,threshold=0.5",
            "smurf:mima_model=other,threshold=-2",
        )
    )
    assert isinstance(ours, BertScore)
    assert (ours.encoder.model, ours.layer, ours.token_idf) == ("mine", 3, True)
    assert isinstance(parts, Yi2020)
    assert (parts.encoder.model, parts.cut, parts.combine, parts.threshold) == ("for-all", False, True, 0.5)
    assert isinstance(fused, Smurf)
    assert (fused.mima.encoder.model, fused.spurts.encoder.model, fused.threshold) == ("other", "for-all", -2.0)


def test_metric_without_variants_refuses_one() -> None:
    class Plain(captious.RougeL):
        without_parameters = frozenset({"variant"})

    assert type(Request("plain").make(Plain, Settings())) is Plain
    with pytest.raises(UnknownNameError, match="has no variants") as caught:
        Request("plain", "paper").make(Plain, Settings())
    assert caught.value.hint == "use plain alone"


def test_a_parameter_of_one_variant_is_refused_in_the_name_of_the_metric() -> None:
    with pytest.raises(CaptiousError, match="spider@lceval has no parameter 'sigma'") as caught:
        select("spider@lceval:sigma=2")
    assert "another variant" in caught.value.hint
