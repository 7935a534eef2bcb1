"""Metrics refuse to run without the requirements that they declare."""

from __future__ import annotations

import pytest

from captious.errors import CaptiousError, MissingExtraError, ParameterError
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
