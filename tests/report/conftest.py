"""Fixtures of the tests of captious.report: two systems of known scores, with captions that are awkward to show."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path

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


# Fixtures of the tests of pages: systems on awkward captions, and on those of the examples.


EXAMPLES = Path(__file__).parents[2] / "examples"

#: Captions that are hard to carry: markup, controls, scripts from right to left, emoji, tokens that depend on others.
HOSTILE = {
    1: "</script><script>alert(1)</script><!-- <b>bold</b>",
    2: "a\0b \ufeff \u202e desrever  two  blanks ",
    3: "כלב רץ ברחוב 👩‍🚀 \U0001f600 \u2028 end",
    4: "",
    5: "Mr. Smith's dog can't run, 3 1/2 miles... \"quoted\" (etc.)",
    6: "dog " * 20_000,
    7: "= HYPERLINK(\"http://x.invalid\") 'single' & ampersand; &lt;",
}


def systems(metrics: list[str], settings: captious.Settings | None = None) -> list[captious.Report]:
    """Return both systems of the examples."""
    references = captious.read_references(EXAMPLES / "references.json")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [
            captious.score(EXAMPLES / f"{name}.json", references, metrics, system=name, settings=settings)
            for name in ("baseline", "improved")
        ]


def hostile(metrics: list[str]) -> list[captious.Report]:
    """Return two systems whose captions and names are hard to display, with such references."""
    texts = [*HOSTILE.values()]
    references = {image: [texts[image % 7], "a dog runs down the street .", text] for image, text in HOSTILE.items()}
    other = dict(zip(HOSTILE, texts[::-1], strict=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = captious.read_references(references)
        return [
            captious.score(candidates, table, metrics, system=name)
            for name, candidates in (("</title><script>x</script>\0", HOSTILE), ("b & 'c' \"d\"", other))
        ]


@pytest.fixture(scope="session")
def examples() -> list[captious.Report]:
    return systems(["bleu", "rouge-l", "cider-d", "cider", "cider-d@paper", "wmd", "wmd@lceval"])
