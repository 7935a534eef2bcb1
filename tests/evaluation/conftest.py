"""Fixtures of the tests of captious.evaluation: a metric that reads its score off the caption, and small corpora."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray

from captious import Captions, MeanMetric, Report, read_captions, read_references
from captious.evaluation import evaluate
from captious.metrics.contract.metric import State
from captious.metrics.contract.selection import select

Numbers: TypeAlias = Callable[..., Report]


class Given(MeanMetric):
    """The score of a caption is its last word, so that expected results can be worked out by hand."""

    name = "given"

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.array([float(candidate.split()[-1]) for candidate in captions.candidates])


@pytest.fixture
def given() -> type[MeanMetric]:
    """The metric class ``Given``."""
    return Given


@pytest.fixture
def report_of() -> Numbers:
    """``report_of(values, system=...)``: the report of a system whose caption scores are these."""

    def make(values: Iterable[float], *, system: str = "candidates") -> Report:
        captions = {image: f"score {float(value)!r}" for image, value in enumerate(values)}
        references = read_references({image: ["one", "two"] for image in captions})
        return evaluate(read_captions(captions, references), select(Given()), system=system)

    return make


@pytest.fixture(scope="session")
def examples() -> Path:
    """The folder of captions that the project carries."""
    return Path(__file__).parents[2] / "examples"
