"""One ``References`` that many candidates are scored against: threads may share it, and it does not grow with them."""

from __future__ import annotations

import gc
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import numpy as np
import pytest

from captious.data import Captions, References
from captious.data.tables import TextCache
from captious.metrics.contract import registry
from tests.support.corpora import large_corpus
from tests.support.every_metric import MISSING, every_variant

THREADS = 8
ROUNDS = 4
PARSING = ("spice", "spider", "hwcm", "nneval", "lceval")  # one round, as it parses 500 captions


@pytest.fixture
def hurried_threads() -> Iterator[None]:
    """Threads that take turns as often as the interpreter lets them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def with_new_words(captions: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Replace a word by an unknown one, and another by a number, in half of the captions."""

    def changed(caption: str) -> str:
        words = caption.split()
        if words and rng.random() < 0.5:
            words[rng.randrange(len(words))] = "".join(rng.choices("bcdfgklmnprstaeiou", k=8))
            words[rng.randrange(len(words))] = f"{rng.randrange(10)} 1/{rng.randrange(2, 10)}"  # one token, two words
        return " ".join(words)

    return tuple(map(changed, captions))


def copied(references: References) -> References:
    """Return equal references without computed layers."""
    return References(references.ids, references.texts, references.offsets)


@pytest.mark.usefixtures("hurried_threads")
@pytest.mark.parametrize("variant", every_variant())
def test_threads_share_references(variant: tuple[str, str]) -> None:
    corpus = large_corpus(12).table()
    for seed in range(1 if variant[0] in PARSING else ROUNDS):
        rng = random.Random(seed)
        candidates = [with_new_words(corpus.candidates, rng) for _ in range(THREADS)]
        shared, together = copied(corpus.references), Barrier(THREADS)

        def scores(
            own: tuple[str, ...], references: References = shared, start: Barrier = together
        ) -> tuple[np.ndarray, np.ndarray]:
            metric = registry.get(variant[0])(variant=variant[1])
            start.wait()
            statistics = metric.statistics(Captions(own, references))
            return statistics, metric.aggregate(statistics)

        with ThreadPoolExecutor(THREADS) as pool:
            results = list(pool.map(scores, candidates))
        for own, values in zip(candidates, results, strict=True):
            expected = scores(own, copied(corpus.references), Barrier(1))
            np.testing.assert_array_equal(values[0], expected[0])
            np.testing.assert_array_equal(values[1], expected[1])


def resident() -> float:
    """Return memory of this process, MiB."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096 / 2**20


def of_new_words(captions: tuple[str, ...], rng: random.Random) -> tuple[str, ...]:
    """Return captions that begin with the first words of these and end with three words of no caption."""
    return tuple(
        f"{caption[:6]} {rng.getrandbits(48):x} {rng.getrandbits(48):x} a{rng.getrandbits(48):x}"
        for caption in captions
    )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="not here: no /proc")
@pytest.mark.parametrize(
    ("names", "systems"),
    [
        pytest.param(
            ["bleu", "rouge-l", "rouge-s", "cider-d", "sparcs", "unigram-recall", "yi2020-unigram"],
            100,
            marks=pytest.mark.nightly,
        ),
        pytest.param(["meteor"], 100, marks=pytest.mark.nightly),
        pytest.param(["wmd", "mowe"], 100, marks=pytest.mark.nightly),
        (["spice", "hwcm"], 30),
    ],
    ids=["words", "meteor", "vectors", "parses"],
)
def test_references_do_not_grow_with_candidates(names: list[str], systems: int) -> None:
    """200,000 different candidates with words that nobody has written before; fewer where they are parsed."""
    images = 2000 if systems == 100 else 100
    corpus = large_corpus(images).table()
    metrics = [registry.get(name)() for name in names if registry.get(name).missing() is None]
    if not metrics:
        pytest.skip(MISSING[names[0]])
    rng = random.Random(0)
    grown = []
    for system in range(systems):
        captions = Captions(of_new_words(corpus.candidates, rng), corpus.references)
        for metric in metrics:
            metric.statistics(captions)
        if system >= systems // 3:  # caches of words are as large as they get
            grown.append(resident())
    assert max(grown) - grown[0] < 24


# ---- what is remembered of texts


def test_a_memo_keeps_what_was_used_last() -> None:
    batches: list[list[str]] = []

    def compute(texts: list[str]) -> list[int]:
        batches.append(texts)
        return [len(text) for text in texts]

    memo: TextCache[int] = TextCache(3)
    assert memo.get(["a", "bb", "a"], compute) == [1, 2, 1]
    assert memo.get(["bb", "ccc"], compute) == [2, 3]
    assert memo.get(["a", "dddd"], compute) == [1, 4]  # bb is the oldest now
    assert memo.get(["a", "ccc", "dddd"], compute) == [1, 3, 4]
    assert memo.get(["bb"], compute) == [2]
    assert batches == [["a", "bb"], ["ccc"], ["dddd"], ["bb"]]
    assert memo.get([*"abcdefgh"], compute) == [1] * 8  # more than it keeps
    assert len(memo) == 3
    assert memo.get([], compute) == []
    assert batches[-1] == [*"abcdefgh"]  # bb came in place of a
