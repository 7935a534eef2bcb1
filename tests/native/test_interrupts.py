"""Long kernels react to signals at any point, and release their memory."""

from __future__ import annotations

import gc
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from captious.data import read_captions
from captious.metrics.meteor import Meteor
from captious.metrics.rouge import RougeL, RougeS
from captious.native import CiderReferences, NgramFrequencies, ReferenceNgrams, Vocabulary, word_mover_distances
from captious.text import PTB
from tests.native.arrays import NO_WORDS

#: Seconds: when the signal comes, and how much longer the kernel may compute; all of its work takes longer.
AFTER, AT_MOST = 0.3, 3.0


class StopError(Exception):
    """The error raised by the handler of the signal, as Ctrl-C raises KeyboardInterrupt."""


@contextmanager
def interrupted() -> Iterator[None]:
    """Check that the block ends soon after the signal. Nothing else may receive it: neither callbacks of the garbage
    collector, whose exceptions are lost, nor whoever runs after work that ended too early."""

    def interrupt(*_: object) -> None:
        raise StopError

    before = signal.signal(signal.SIGALRM, interrupt)
    gc.disable()
    start, computed = time.monotonic(), time.process_time()
    try:
        with pytest.raises(StopError):
            signal.setitimer(signal.ITIMER_REAL, AFTER)
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        gc.enable()
        signal.signal(signal.SIGALRM, before)
    assert time.monotonic() - start >= AFTER
    assert time.process_time() - computed < AFTER + AT_MOST


def meteor(meteor_tables: object) -> None:
    Meteor().statistics(read_captions({0: "dog " * 40_000}, {0: ["dog " * 40_000]}))


def paraphrases(meteor_tables: object) -> None:
    Meteor().statistics(read_captions({0: "large " * 2_500}, {0: ["big " * 2_500] * 50}))


def rouge_s(_: object) -> None:
    text = " ".join(f"w{i % 5_000}" for i in range(200_000))
    RougeS(gap=None).statistics(read_captions({0: text}, {0: [text]}))


def rouge_l(_: object) -> None:
    text = "a b " * 500_000
    RougeL().statistics(read_captions({0: text}, {0: [text] * 9}))


def wmd(_: object) -> None:
    n, ones = 2_000, np.ones(2_000, np.int32)
    vectors = np.random.default_rng(1).normal(size=(2 * n, 50)).astype(np.float32)
    bag, ends = np.arange(n, dtype=np.int32), np.array([0, n])
    word_mover_distances(vectors, bag, ones, ends, bag + np.int32(n), ones, ends, np.array([0, 1]), 1)


def cider(_: object) -> None:
    n, several, many = 1_000, 1_000, 20_000
    ids = np.arange(n, dtype=np.int32)
    references = ReferenceNgrams(np.tile(ids, several), np.arange(several + 1) * n, np.array([0, several]), 1)
    options = {"sigma": 6.0, "clip": True, "relative": False, "length_in_words": False, "threads": 1}
    weighted = CiderReferences(references, NgramFrequencies(), NO_WORDS, 1.0, **options)
    weighted.score(np.tile(ids, many), np.arange(many + 1) * n, np.zeros(many, np.int64), NO_WORDS, 2)


def tokens(_: object) -> None:
    PTB.encode(["a dog's U.S. e-mail http://x.y/z " * 1_000] * 40_000, Vocabulary())


WORK = [meteor, paraphrases, rouge_s, rouge_l, wmd, cider, tokens]


@pytest.mark.parametrize("work", WORK, ids=lambda work: work.__name__)
def test_a_signal_ends_a_kernel(work: Callable[[object], None], request: pytest.FixtureRequest) -> None:
    if work in (meteor, paraphrases):
        tables = request.getfixturevalue("meteor_tables")
        tables.arrays()  # compiled before the clock starts
    with interrupted():
        work(None)


def test_a_signal_ends_other_threads_of_a_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    # All of the work is in the last piece, so the thread that gets the signal only waits.
    monkeypatch.setenv("CAPTIOUS_THREADS", "2")
    text = " ".join(f"w{i % 5_000}" for i in range(200_000))
    n = 200
    captions = read_captions({i: text if i == n - 1 else "a dog" for i in range(n)}, {i: [text] for i in range(n)})
    metric = RougeS(gap=None)
    with interrupted():
        metric.statistics(captions)


def test_an_error_in_one_thread_of_a_kernel_ends_the_others() -> None:
    # The first image, of the thread that calls, is hours of work; the last one, of another thread, has no distance.
    n, images = 2_000, 128
    vectors = np.random.default_rng(1).normal(size=(2 * n, 50)).astype(np.float32)
    vectors[-1] = np.nan
    candidates = np.concatenate([np.arange(n), np.full(images - 1, 2 * n - 1)]).astype(np.int32)
    references = np.concatenate([np.arange(n, 2 * n - 1), np.zeros(images - 1)]).astype(np.int32)
    ends = np.concatenate([[0], np.arange(n, n + images)])
    reference_ends = np.concatenate([[0], np.arange(n - 1, n - 1 + images)])
    before = signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(StopError))
    signal.alarm(60)
    try:
        with pytest.raises(ValueError, match="not finite"):
            word_mover_distances(
                *(vectors, candidates, np.ones_like(candidates), ends),
                *(references, np.ones_like(references), reference_ends, np.arange(images + 1), 2),
            )
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def test_kernel_using_a_vocabulary_does_not_block_other_threads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", "1")
    # The kernel looks for signals under the GIL while it holds the vocabulary, for which the other thread waits.
    vocabulary = Vocabulary()
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            vocabulary.find(("dog",))
            len(vocabulary)

    thread = threading.Thread(target=ask)
    thread.start()
    try:
        with interrupted():
            PTB.encode(["a dog's U.S. e-mail http://x.y/z " * 1_000] * 40_000, vocabulary)
    finally:
        ended.set()
        thread.join(10)
    assert not thread.is_alive()
    PTB.encode(["a dog"], vocabulary)
    assert vocabulary.find(("dog",))[0] >= 0
