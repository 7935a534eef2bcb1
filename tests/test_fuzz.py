"""Random text through the tokenizer and every metric: no crash, no hang, and no score that is not a number.

By default a few hundred strings; with -m slow 200,000 of them and some of 100 kB.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from captious.data import Captions
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric
from captious.text import PTB, PTB_RAW

from .support.corpora import references_table, table
from .support.every_metric import LOWEST, variants_here

METRICS = [registry.get(name)(variant=variant) for name, variant in variants_here()]
#: Those that compare every word with every other, and so take long over long captions.
QUADRATIC = [metric for metric in METRICS if metric.name == "meteor"]
#: Those that parse, which takes longer still.
PARSED = [metric for metric in METRICS if metric.name in ("spice", "spider", "hwcm")]
OTHERS = [metric for metric in METRICS if metric not in QUADRATIC + PARSED]
#: How many outputs every caption has a score of, where that is not all.
ALWAYS_THERE = {"spice": 3}

#: Pieces of text that mean something to a tokenizer.
PIECES = (
    *" \t\n\r\v\f\0\x1b\x7f.,'-/@#&<>()[]{}:;!?\"$%*_=~^|\\`",
    *"abcABCàßİΣς½£€…–—“”‘’\u00a0\u00ad\u0085\u200b\u2028\u2029\u3000犬😀",
    "n't", "'s", "U.S.", "Mr.", "Inc.", "&amp;", "&quot;", "http://", "www.", ".com", "<b>", "...", "--", "1/2",
    "(555) 555-1234", "3 1/2", "cannot", "The", " a ", " dog ", " dog ", " on ", "0", "12", "1,000.5", "👨\u200d👩",
)  # fmt: skip


def any_character(rng: random.Random) -> str:
    """A character of any plane, most often of the first."""
    while True:
        code = rng.randrange(rng.choice([0x80, 0x100, 0x3000, 0x10000, 0x110000]))
        if not 0xD800 <= code < 0xE000:
            return chr(code)


def caption(rng: random.Random) -> str:
    """Nothing, a word, a jumble of pieces, of characters, or of both."""
    makers: tuple[Callable[[], str], ...] = (lambda: rng.choice(PIECES), lambda: any_character(rng))
    maker = rng.choice((*makers, lambda: rng.choice(makers)()))
    return "".join(maker() for _ in range(rng.choice([0, 1, 2, 5, 10, 30])))


def long_caption(rng: random.Random, size: int = 100_000) -> str:
    """About 100 kB of a few pieces, over and over."""
    unit = "".join(caption(rng) for _ in range(3)) or "a"
    return (unit * (size // len(unit.encode()) + 1))[:size]


def corpus(rng: random.Random, images: int) -> Captions:
    candidates = [caption(rng) for _ in range(images)]
    # Some references are the candidate, or nearly, so that there is something to match.
    references = [
        [rng.choice([caption(rng), candidate, candidate + caption(rng)]) for _ in range(rng.randint(1, 3))]
        for candidate in candidates
    ]
    return table(candidates, references)


def check(captions: Captions, metrics: list[Metric] = METRICS) -> None:
    for metric in metrics:
        state = metric.fit(captions.references)
        statistics = metric.statistics(captions, state)
        assert np.isfinite(statistics).all(), metric
        there = ALWAYS_THERE.get(metric.name, len(metric.outputs))
        scores = metric.aggregate(statistics)[:, :there]
        assert np.isfinite(scores).all(), metric
        assert (scores >= LOWEST.get(metric.name, 0.0)).all(), metric
        assert np.isfinite(metric.aggregate(statistics.sum(axis=0))[:there]).all(), metric


def test_random_text() -> None:
    rng = random.Random(20)
    for _ in range(3):
        check(corpus(rng, 100))


@settings(max_examples=50)
@given(st.lists(st.tuples(st.text(max_size=30), st.lists(st.text(max_size=30), min_size=1, max_size=3)), min_size=1))
def test_any_text(images: list[tuple[str, list[str]]]) -> None:
    check(table([candidate for candidate, _ in images], [references for _, references in images]))


def test_long_captions() -> None:
    for metrics, size in ((OTHERS, 100_000), (QUADRATIC, 10_000), (PARSED, 2_000)):
        long = long_caption(random.Random(21), size)
        captions = table(["a dog", long, ""], [["a dog on a mat"], [long[: size * 7 // 10], "a dog"], [long]])
        check(captions, metrics)


def test_rewards_of_random_text() -> None:
    rng = random.Random(22)
    captions = corpus(rng, 100)
    for metric in METRICS:
        if hasattr(metric, "scorer"):
            expected = metric.statistics(captions, metric.fit(captions.references))[:, 0]
            scorer = metric.scorer(captions.references)
            np.testing.assert_allclose(scorer(captions.ids, captions.candidates), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.slow
def test_two_hundred_thousand_strings() -> None:
    rng = random.Random(23)
    for _ in range(40):
        captions = corpus(rng, 1_700)  # and about 3,400 references
        check(captions)
        for text in captions.candidates[:200]:
            assert all(PTB_RAW(text))
            assert all(PTB(text))


@pytest.mark.slow
@pytest.mark.parametrize(("metrics", "size"), [(OTHERS, 100_000), (QUADRATIC, 20_000)], ids=["100 kB", "20 kB"])
def test_many_long_captions(metrics: list[Metric], size: int) -> None:
    rng = random.Random(24)
    for _ in range(30):
        texts = [long_caption(rng, size) for _ in range(3)]
        references = references_table([[texts[0][: size // 2], texts[1]], [texts[2]]])
        check(Captions((texts[0], "a dog"), references), metrics)
