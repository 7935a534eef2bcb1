"""Every number that a metric takes has a range, and what is outside is refused with the range."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from captious.errors import CaptiousError, ParameterError
from captious.metrics.contract import catalogue
from captious.metrics.contract.metric import Metric
from captious.metrics.contract.parameters import Flag, Number, Parameter, Whole
from captious.models import Encoder, WordVectors

from ...support.corpora import table
from ...support.every_metric import MISSING, MODELS

VECTORS = WordVectors.of(["dog", "cat"], [[1, 0], [0, 1]])

#: What each metric needs to be made, and for each of its numbers what is just inside and what is just outside.
SIGMA = ([0.001, 1, 6.0, 1e6, np.float32(2)], [0, -1, 1e-300, 1e-4, 1e7])
SHARE = ([0, 0.5, 1], [-0.1, 1.1, 1e300])
LAYER = ([0, 1, np.int64(2)], [-1, 1.0, 10**30])
NUMBERS: dict[str, dict[str, tuple[list[object], list[object]]]] = {
    "cider-d": {"sigma": SIGMA},
    "spider": {"sigma": SIGMA},
    "wmd": {"sigma": SIGMA},
    "rouge-s": {"gap": ([None, 1, 4, 1_000_000], [0, -1, 1.0, 4.5, 1_000_001, 10**20])},
    "meteor": {
        "alpha": SHARE,
        "beta": ([0, 0.2, 1e6], [-1e-9, 1e7]),
        "gamma": SHARE,
        "delta": ([None, *SHARE[0]], SHARE[1]),
    },
    "clipscore": {"w": SIGMA},
    "smurf": {"threshold": ([-1.96, 0, 3], [1e7, -1e7])},
    "refclipscore": {"w": SIGMA},
    "bertscore": {"layer": LAYER},
    "mowe": {"layer": ([None], [-1, 1.5])},
    "wembsim": {"layer": ([None], [-1, 1.5])},
    "yi2020": {
        "threshold": ([None, 0, 0.4, 0.999], [-0.1, 1, 1.5]),
        "layer": LAYER,
        "combine": ([True, False], [0, 1, None]),
        "cut": ([True, False], [0]),
        "remove": ([True, False], ["yes"]),
    },
}
#: What is not a number at all, and numbers that are none.
NOTHING = [math.nan, math.inf, -math.inf, "1", [1], object()]


def make(name: str, **parameters: object) -> Metric:
    fixed: dict[str, object] = {}
    if name in ("clipscore", "refclipscore"):
        fixed["images"] = Path(".")
    if name == "wmd":
        fixed["vectors"] = VECTORS
    if name in ("mowe", "wembsim"):
        fixed["model"] = Encoder("bert-base-uncased") if parameters.get("layer") is not None else None
        fixed["vectors"] = None if fixed["model"] else VECTORS
    return catalogue.get(name)(**fixed, **parameters)


CASES = [(name, parameter) for name, parameters in NUMBERS.items() for parameter in parameters]


@pytest.mark.parametrize(("name", "parameter"), CASES)
def test_ranges(name: str, parameter: str) -> None:
    if name in MISSING and name not in MODELS:
        pytest.skip(MISSING[name])
    inside, outside = NUMBERS[name][parameter]
    for value in inside:
        make(name, **{parameter: value})
    for value in [*outside, *NOTHING]:
        with pytest.raises(ParameterError) as caught:
            make(name, **{parameter: value})
        assert parameter in caught.value.message
        assert caught.value.help


def test_every_number_is_tested() -> None:
    numbers = {
        (name, parameter)
        for name in catalogue.names()
        for parameter, declaration in catalogue.get(name).declared.items()
        if isinstance(declaration, Number | Whole | Flag)
    }
    # Those of bertscore are in test_bertscore.py, the seed of leic is in test_leic.py.
    assert numbers - {("bertscore", "token_idf"), ("leic", "seed")} == {*CASES}


@pytest.mark.parametrize(
    "asked",
    [
        "rouge-s:gap=99999999999999999999",
        "rouge-s:gap=0",
        "cider-d:sigma=1e-300",
        "cider-d:sigma=1e400",
        "cider-d:sigma=nan",
        "cider-d:sigma=inf",
        "wmd:sigma=-inf",
        "rouge-s:gap=" + "9" * 5_000,
        "meteor:alpha=nan",
    ],
)
def test_values_in_words(asked: str) -> None:
    import captious

    with pytest.raises(CaptiousError):
        captious.score({1: "a dog"}, {1: ["a cat"]}, [asked])


@pytest.mark.parametrize("sigma", [0.001, 1_000_000])
def test_scores_at_the_ends(sigma: float) -> None:
    captions = table(["a dog on a mat", "a dog", ""], [["a dog on a mat"], ["a dog on a very long mat"], ["a"]])
    metric = catalogue.get("cider-d")(sigma=sigma)
    scores = metric.aggregate(metric.statistics(captions, metric.fit(captions.references)))
    assert ((scores >= 0) & (scores <= 10 + 1e-14)).all()


def test_messages() -> None:
    calls: list[tuple[Parameter[Any, Any], object, str]] = [
        (Number(default=0.0, least=0, most=1), math.nan, "x must be a number from 0 to 1"),
        (Number(default=0.0, least=0, most=1, below=True), 1, "x must be a number from 0 to below 1"),
        (Number(default=0.0, least=0, most=1), True, "x must be a number from 0 to 1"),
        (Whole(default=1, least=1), 2.0, "x must be an integer from 1 to 1,000,000"),
        (Flag(default=True), 1, "x must be True or False"),
    ]
    for parameter, value, help in calls:
        parameter.name = "x"
        with pytest.raises(ParameterError, match="invalid x for m") as caught:
            parameter.check(SimpleNamespace(name="m"), value)
        assert caught.value.help == help
