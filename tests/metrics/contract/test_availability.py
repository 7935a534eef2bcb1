"""Metrics refuse to run without the requirements that they declare."""

from __future__ import annotations

import pytest

import captious
from captious.errors import CaptiousError, MissingExtraError, ParameterError, UnknownNameError
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request
from captious.metrics.contract.selection import availability
from captious.metrics.contract.settings import Settings


@pytest.mark.parametrize("name", registry.metric_names())
def test_metrics_with_required_parameters_name_them(name: str) -> None:
    metric = registry.get(name)
    required = {parameter for parameter, declared in metric.declared.items() if declared.required}
    try:
        Request(name).make(metric, Settings())
    except CaptiousError as error:
        assert required or isinstance(error, MissingExtraError)
        assert isinstance(error, MissingExtraError) or not availability(name).runs
    else:
        assert not required


def test_leic_needs_weights() -> None:
    here = availability("leic")
    assert here.state == "missing"
    assert here.help.startswith("give leic:weights=..., a critique")
    with pytest.raises(ParameterError, match="leic needs weights"):
        Request("leic").make(registry.get("leic"), Settings())


def test_models_and_what_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are said."""
    monkeypatch.setattr(registry.get("clipscore"), "missing", classmethod(lambda cls: None))
    here = availability("clipscore")
    assert here.state == "no model"
    assert here.help.startswith("hf download openai/clip")
    assert "; give clipscore:images=..., folder of image files" in here.help


@pytest.mark.parametrize("name", registry.metric_names())
def test_information_is_that_of_the_class(name: str) -> None:
    metric, info = registry.get(name), captious.metric_info(name)
    assert (info.name, info.outputs) == (name, metric.outputs)
    assert {output for output, lower in info.lower_is_better.items() if lower} == metric.lower_is_better
    assert {output for output, lower in info.lower_is_better.items() if lower is None} == metric.no_direction
    assert ("references" in info.needs) == metric.needs_references
    assert (info.missing is None) == availability(name).runs
    assert info.languages == (("en",) if info.languages else None)


def test_information_about_all_metrics() -> None:
    infos = captious.list_metrics()
    assert [info.name for info in infos] == registry.metric_names()
    assert {info.name: info.needs for info in infos}["clipscore"] == ("images", "model")
    assert {info.name for info in infos if info.languages} >= {"spice", "concur", "chair"}


def test_information_by_output_object_and_function() -> None:
    def overlap(candidate: str, references: list[str]) -> float:
        return float(candidate in references)

    assert captious.metric_info("Bleu_4").name == captious.metric_info(captious.Bleu()).name == "bleu"
    assert captious.metric_info(overlap) == captious.MetricInfo(
        "overlap", ("overlap",), {"overlap": False}, ("references",), None, None, {"overlap": "overlap"}
    )
    assert captious.metric_info("rouge-s:gap=1").labels == {"rouge-s:gap=1": "rouge-s"}
    assert captious.metric_info("Bleu_4").labels == {"bleu-4": "bleu-4"}
    with pytest.raises(UnknownNameError, match="no metric 'blue-4'"):
        captious.metric_info("blue-4")


def test_settings_and_parameters_give_what_a_metric_needs() -> None:
    assert captious.metric_info("chair").missing
    settings = Settings(objects={1: ["dog"]})
    assert captious.metric_info("chair", settings=settings).missing is None
    assert captious.metric_info("chair-i", settings=settings).missing is None
    assert captious.metric_info("novel:training=examples/references.json").missing is None
