"""Every numeric parameter of a metric has a range; the error for other values names it."""

from __future__ import annotations

import inspect
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from captious.errors import ParameterError
from captious.metrics.contract import registry
from captious.metrics.contract.parameters import (
    FlagParameter,
    IntegerParameter,
    NumberParameter,
    Parameter,
    ResourceParameter,
)
from tests.support.corpora import table

#: Every number and flag that a metric of the package declares.
CASES = [
    (name, parameter)
    for name in registry.metric_names()
    for parameter, declaration in registry.get(name).declared.items()
    if isinstance(declaration, NumberParameter | IntegerParameter | FlagParameter)
]
#: What is not a number at all, and numbers that are none.
NOTHING = [math.nan, math.inf, -math.inf, "1", [1], object()]


def values_of(declaration: Parameter[Any, Any]) -> tuple[list[object], list[object]]:
    """Return values just inside the range of a parameter, and just outside."""
    if isinstance(declaration, FlagParameter):
        return [True, False], [0, 1, None, "yes"]
    none: list[object] = [None] if declaration.takes_none else []
    if isinstance(declaration, IntegerParameter):
        inside = [declaration.least, np.int64(declaration.least + 1), declaration.most]
        return [*inside, *none], [declaration.least - 1, declaration.most + 1, float(declaration.least), 10**30, True]
    assert isinstance(declaration, NumberParameter)
    least, most = declaration.least, declaration.most
    tenth = (most - least) / 10
    inside = [least, np.float32(least + tenth), *([] if declaration.below else [most])]
    return [*inside, *none], [least - tenth, most + tenth, *([most] if declaration.below else []), True]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Parameter, {}),
        (NumberParameter, {"least": -1_000_000, "most": 1_000_000, "below": False}),
        (IntegerParameter, {"least": 0, "most": 1_000_000, "optional": False}),
        (ResourceParameter, {"read": None, "keep_none": False, "show": None}),
    ],
)
def test_parameters_are_plain_unless_asked(kind: type[Parameter[Any, Any]], values: dict[str, object]) -> None:
    parameter = kind(default=None)
    assert (parameter.summary, parameter.signature_key, parameter.required) == ("", None, False)
    assert (parameter.shown(None), parameter.to_text(None), parameter.takes_none) == ("none", "none", True)
    assert parameter.from_text("None") is None
    defaults = {name: value.default for name, value in inspect.signature(kind).parameters.items()}
    assert {name: defaults[name] for name in values} == values


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_values_outside_the_range_are_refused(name: str, parameter: str) -> None:
    declaration = registry.get(name).declared[parameter]
    metric = SimpleNamespace(name=name)
    inside, outside = values_of(declaration)
    for value in inside:
        checked = declaration.check(metric, value)
        assert checked == value
        assert declaration.from_text(declaration.to_text(checked)) == checked
    for value in [*outside, *NOTHING]:
        with pytest.raises(ParameterError, match=f"invalid {parameter} for {name}") as caught:
            declaration.check(metric, value)
        assert caught.value.hint


@pytest.mark.parametrize("sigma", [0.001, 1_000_000])
def test_scores_at_the_ends(sigma: float) -> None:
    captions = table(["a dog on a mat", "a dog", ""], [["a dog on a mat"], ["a dog on a very long mat"], ["a"]])
    metric = registry.get("cider-d")(sigma=sigma)
    scores = metric.aggregate(metric.statistics(captions, metric.fit(captions.references)))
    assert ((scores >= 0) & (scores <= 10 + 1e-14)).all()


def test_messages_name_parameter_and_range() -> None:
    calls: list[tuple[Parameter[Any, Any], object, str]] = [
        (NumberParameter(default=0.0, least=0, most=1), math.nan, "x must be a number from 0 to 1"),
        (NumberParameter(default=0.0, least=0, most=1, below=True), 1, "x must be a number from 0 to below 1"),
        (NumberParameter(default=0.0, least=0, most=1), True, "x must be a number from 0 to 1"),
        (IntegerParameter(default=1, least=1), 2.0, "x must be an integer from 1 to 1,000,000"),
        (FlagParameter(default=True), 1, "x must be True or False"),
    ]
    for parameter, value, help in calls:
        parameter.name = "x"
        with pytest.raises(ParameterError, match="invalid x for m") as caught:
            parameter.check(SimpleNamespace(name="m"), value)
        assert caught.value.hint == help
