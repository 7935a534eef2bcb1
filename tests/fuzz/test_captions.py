"""Odd captions through every tokenizer and every metric that needs no model.

Nothing crashes or hangs; scores are finite and in their range; the number of threads and the order of the images change
no bit. By default a few hundred captions; ``--fuzz N`` takes N, of which a twentieth go through METEOR and a thousandth
are parsed.
"""

from __future__ import annotations

import itertools
import random
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import captious
from captious.data import Captions
from captious.evaluation.reward import RewardTerm
from captious.metrics.contract import registry
from captious.metrics.contract.metric import Metric
from captious.native import Vocabulary
from captious.text import PTB, PTB_RAW, SPACES, WHITESPACE, Tokenizer
from tests.fuzz.captions import caption, corpus, long_caption
from tests.support.corpora import table
from tests.support.every_metric import LOWEST, variants_here

METRICS = [registry.get(name)(variant=variant) for name, variant in variants_here()]
#: Those that compare every word with every other, and so take long over long captions.
QUADRATIC = [metric for metric in METRICS if metric.name == "meteor"]
#: Those that parse, themselves or in a feature, which takes longer still.
PARSED = [metric for metric in METRICS if metric.name in ("spice", "spider", "hwcm", "nneval", "lceval")]
OTHERS = [metric for metric in METRICS if metric not in QUADRATIC + PARSED]
#: How many outputs every caption has a score of, where that is not all.
ALWAYS_THERE = {"spice": 3}
#: The highest score, where it is not 1; a score may be above it by rounding.
HIGHEST = {"cider": 10.0, "cider-d": 10.0, "cider-r": 10.0, "spider": 5.5, "length": np.inf}
#: Metrics that must see all references: sums over them may be in another order.
FITTED = ("cider", "cider-d", "cider-r", "spider")
TOKENIZERS = (PTB, PTB_RAW, WHITESPACE, SPACES)

#: Captions of a chunk: enough for all kernels to use two threads.
CHUNK = 1_100
#: One in so many goes through METEOR, and one in so many is parsed.
QUADRATIC_SHARE, PARSED_SHARE = 20, 1_000


@pytest.fixture
def many(pytestconfig: pytest.Config) -> int:
    return pytestconfig.getoption("fuzz") or 0


def check(captions: Captions, metrics: list[Metric] = METRICS) -> dict[str, NDArray[np.float64]]:
    """Return statistics by metric, after checking that the scores are valid."""
    result = {}
    for metric in metrics:
        statistics = metric.statistics(captions, metric.fit(captions.references))
        assert np.isfinite(statistics).all(), metric
        present = ALWAYS_THERE.get(metric.name, len(metric.outputs))
        for sums in (statistics, statistics.sum(axis=0)):
            scores = metric.aggregate(sums)[..., :present]
            assert (scores >= LOWEST.get(metric.name, 0.0) - 1e-9).all(), metric
            assert (scores <= HIGHEST.get(metric.name, 1.0) + 1e-9).all(), metric
        result[repr(metric)] = statistics
    return result


def reordered(captions: Captions, order: list[int]) -> Captions:
    starts = captions.references.offsets.tolist()
    texts = captions.references.texts
    return table([captions.candidates[i] for i in order], [list(texts[starts[i] : starts[i + 1]]) for i in order])


def check_everything(
    captions: Captions, metrics: list[Metric], rng: random.Random, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Scores in range, and the same with two threads and in another order."""
    monkeypatch.setenv("CAPTIOUS_THREADS", "1")
    expected = check(captions, metrics)
    order = list(range(len(captions)))
    rng.shuffle(order)
    monkeypatch.setenv("CAPTIOUS_THREADS", "2")
    result = check(reordered(captions, order), metrics)
    for metric in metrics:
        same = np.testing.assert_array_equal
        if metric.name in FITTED:
            same = partial(np.testing.assert_allclose, rtol=1e-9, atol=1e-12)
        same(result[repr(metric)], expected[repr(metric)][order], err_msg=repr(metric))


def check_tokenizer(tokenizer: Tokenizer, texts: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", "1")
    alone = [tokenizer(text) for text in texts[::50]]
    vocabulary = Vocabulary()
    ids, offsets = tokenizer.encode(texts, vocabulary)
    words = vocabulary.words()
    tokens = [[words[i] for i in ids[a:b]] for a, b in itertools.pairwise(offsets.tolist())]
    assert tokens[::50] == alone
    if tokenizer is not SPACES:
        assert all(map(all, tokens))
    monkeypatch.setenv("CAPTIOUS_THREADS", "2")
    other = Vocabulary()
    again = tokenizer.encode(texts, other)
    np.testing.assert_array_equal(again[0], ids)
    np.testing.assert_array_equal(again[1], offsets)
    assert other.words() == words


@pytest.mark.parametrize("tokenizer", TOKENIZERS, ids=lambda tokenizer: tokenizer.name)
def test_tokenizers_handle_random_captions(tokenizer: Tokenizer, many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(19)
    for _ in range(max(1, many // CHUNK)):
        check_tokenizer(tokenizer, [caption(rng) for _ in range(CHUNK)], monkeypatch)


def test_metrics_handle_random_captions(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(20)
    sizes = [CHUNK] * (many // CHUNK) if many else [200]
    for size in sizes:
        check_everything(corpus(rng, size), OTHERS, rng, monkeypatch)


def test_quadratic_metrics_handle_random_captions(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(21)
    for _ in range(max(1, many // CHUNK // QUADRATIC_SHARE)):
        check_everything(corpus(rng, CHUNK if many else 200), QUADRATIC, rng, monkeypatch)


def test_parsing_metrics_handle_random_captions(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = random.Random(21)
    for _ in range(max(1, many // 50 // PARSED_SHARE)):
        check_everything(corpus(rng, 50 if many else 20), PARSED, rng, monkeypatch)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.text(max_size=30), st.lists(st.text(max_size=30), min_size=1, max_size=3)), min_size=1))
def test_metrics_handle_any_text(images: list[tuple[str, list[str]]]) -> None:
    check(table([candidate for candidate, _ in images], [references for _, references in images]))


@pytest.mark.parametrize(
    ("metrics", "size"),
    [(OTHERS, 100_000), (QUADRATIC, 10_000), (PARSED, 2_000)],
    ids=["others", "quadratic", "parsed"],
)
def test_metrics_handle_long_captions(metrics: list[Metric], size: int, many: int) -> None:
    rng = random.Random(22)
    for _ in range(max(1, many // 30_000)):
        long = long_caption(rng, size)
        captions = table(["a dog", long, ""], [["a dog on a mat"], [long[: size * 7 // 10], "a dog"], [long]])
        check(captions, metrics)


def test_rewards_equal_caption_scores_of_random_captions(many: int) -> None:
    rng = random.Random(23)
    for _ in range(max(1, many // 20_000)):
        for captions, metrics in ((corpus(rng, 10), PARSED), (corpus(rng, 100), OTHERS + QUADRATIC)):
            for metric in metrics:
                scorer = captious.Reward([RewardTerm(metric, metric.outputs[0])], captions.references)
                expected = metric.aggregate(metric.statistics(captions, metric.fit(captions.references)))[:, 0]
                np.testing.assert_allclose(scorer(captions.ids, captions.candidates), expected, rtol=1e-12, atol=1e-14)
