"""Fixtures of the tests of captious.report: two systems of known scores, with captions that are awkward to show."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious import Captions, MeanMetric, Report
from captious.metrics.contract.metric import State

REFERENCES = {
    7: ["a brown dog runs", "the dog is running"],
    3: ["two cats sit on a chair", "a pair of cats"],
    12: ["a man rides a bike", "someone on a bicycle"],
}

# Scores of the two outputs by caption.
FIRST = {"a dog runs": (0.5, 1.0), 'two "cats", on a <chair>': (0.25, 2.0), "an\nold\tbicycle": (0.0, 30.0)}
SECOND = {"the dog, running": (0.75, 1.0), "猫 & cats": (0.25, 2.5), "a man rides a red bike": (0.5, 28.0)}


class Known(MeanMetric):
    """Scores that are looked up, so that tables can be worked out by hand."""

    name = "known"
    outputs = ("share", "amount")
    table: Mapping[str, tuple[float, float]] = {**FIRST, **SECOND}

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.array([self.table[candidate] for candidate in captions.candidates])


@pytest.fixture
def first() -> Report:
    """share .2500, amount 11.0000"""
    return captious.score(dict(zip(REFERENCES, FIRST, strict=True)), REFERENCES, Known(), system="first")


@pytest.fixture
def second() -> Report:
    """share .5000, amount 10.5000"""
    return captious.score(dict(zip(REFERENCES, SECOND, strict=True)), REFERENCES, Known(), system="second")
