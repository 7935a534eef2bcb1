"""Invalid arguments raise: a kernel must never read outside of its arrays."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

from captious import native
from captious.errors import ParameterError
from captious.native import (
    CiderReferences,
    NgramFrequencies,
    ReferenceNgrams,
    TokenizerRule,
    Vocabulary,
    bleu_statistics,
    lcs_lengths,
    ngram_matches,
    skip_bigram_matches,
)
from tests.native.arrays import NO_WORDS

IDS = np.array([0, 1, 2], np.int32)
OFFSETS = np.array([0, 2, 3])
IMAGES = np.array([0, 1, 2])


def long(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def index() -> ReferenceNgrams:
    return ReferenceNgrams(IDS, OFFSETS, IMAGES, 1)


def weighted() -> CiderReferences:
    return CiderReferences(
        index(),
        NgramFrequencies(),
        NO_WORDS,
        math.log(2),
        sigma=6.0,
        clip=True,
        relative=False,
        length_in_words=False,
        threads=1,
    )


def test_fitting_arguments_are_accepted() -> None:
    assert bleu_statistics(index(), IDS, OFFSETS, 1).shape == (2, 10)
    assert lcs_lengths(IDS, OFFSETS, IDS, OFFSETS, IMAGES, 1).tolist() == [2, 1]
    assert weighted().score(IDS, OFFSETS, long(1, 0), NO_WORDS, 1).shape == (2,)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ReferenceNgrams(IDS, long(0, 2), IMAGES, 1),
        lambda: ReferenceNgrams(IDS, long(1, 2, 3), IMAGES, 1),
        lambda: ReferenceNgrams(IDS, long(), IMAGES, 1),
        lambda: ReferenceNgrams(IDS, OFFSETS, long(0, 1), 1),
        lambda: ReferenceNgrams(IDS, OFFSETS, long(), 1),
        lambda: bleu_statistics(index(), IDS, long(0, 3), 1),
        lambda: bleu_statistics(index(), IDS, long(0, 1, 2, 3), 1),
        lambda: bleu_statistics(index(), IDS, long(0, 2, 4), 1),
        lambda: ngram_matches(index(), IDS, long(0, 3), 1),
        lambda: lcs_lengths(IDS, OFFSETS, IDS, OFFSETS, long(0, 2), 1),
        lambda: lcs_lengths(IDS, OFFSETS, IDS, OFFSETS, long(0, 1, 1), 1),
        lambda: skip_bigram_matches(IDS, OFFSETS, IDS, OFFSETS, long(0, 1, 5), 4, 1),
        lambda: weighted().score(IDS, OFFSETS, long(0), NO_WORDS, 1),
        lambda: NgramFrequencies().add(np.zeros((2, 4), np.int32), long(1)),
    ],
)
def test_sizes_that_do_not_fit(call: Callable[[], object]) -> None:
    with pytest.raises(ValueError, match=r"do not fit|not one"):
        call()


@pytest.mark.parametrize("row", [-1, 2, 2**40])
def test_rows_that_no_image_has(row: int) -> None:
    with pytest.raises(IndexError):
        weighted().score(IDS, OFFSETS, long(0, row), NO_WORDS, 1)


@pytest.mark.parametrize("word", [0, 5])
def test_words_that_do_not_exist(word: int) -> None:
    with pytest.raises(IndexError):
        Vocabulary().word(word)


@pytest.mark.parametrize(
    "call",
    [
        lambda: ReferenceNgrams(IDS.reshape(1, 3), OFFSETS, IMAGES, 1),
        lambda: ReferenceNgrams([0, 1, 2], OFFSETS, IMAGES, 1),
        lambda: NgramFrequencies().add(np.zeros((2, 3), np.int32), long(1, 1)),
        lambda: Vocabulary().add(["a", "list"]),
        lambda: Vocabulary().add(("a", 1)),
        lambda: Vocabulary().find(("a", None)),
        lambda: Vocabulary().encode(("a", b"b"), TokenizerRule.ptb, 1),
        lambda: Vocabulary().encode(("a",), "ptb", 1),
        lambda: Vocabulary().encode("a", TokenizerRule.ptb, 1),
        lambda: bleu_statistics(None, IDS, OFFSETS, 1),
    ],
)
def test_types_that_do_not_fit(call: Callable[[], object]) -> None:
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize("method", ["add", "find"])
def test_lone_surrogates_raise_unicode_errors(method: str) -> None:
    with pytest.raises(UnicodeEncodeError):
        getattr(Vocabulary(), method)(("a", "\ud800"))
    vocabulary = Vocabulary()
    for encode in (vocabulary.encode, vocabulary.lookup):
        with pytest.raises(UnicodeEncodeError):
            encode(("a dog", "a \udcff dog"), TokenizerRule.ptb, 1)
    assert len(vocabulary) == 0


#: Offsets that end well but go astray between.
ASTRAY = {
    "falling offsets": "ReferenceNgrams(ids, long(0, 1_000_000_000, 3), images, 1)",
    "negative offsets": "ReferenceNgrams(ids, long(0, -1_000_000_000, 3), images, 1)",
    "falling images": "ReferenceNgrams(ids, offsets, long(0, 1_000_000_000, 2), 1)",
    "images that start late": "ReferenceNgrams(ids, offsets, long(1, 2), 1)",
    "images without references": "ReferenceNgrams(ids, offsets, long(0, 0, 2), 1)",
    "falling candidates": "lcs_lengths(ids, long(0, 1_000_000_000, 3), ids, offsets, images, 1)",
    "falling images of sequences": "lcs_lengths(ids, offsets, ids, offsets, long(0, 1_000_000_000, 2), 1)",
    "late images of sequences": "skip_bigram_matches(ids, offsets, ids, offsets, long(-5, 1, 2), 4, 1)",
    "falling candidates of BLEU": "bleu_statistics(ReferenceNgrams(ids, offsets, images, 1), ids, long(0, 9**9, 3), 1)",
}

ASTRAY_PROGRAM = """
import numpy as np
from captious.native import *
def long(*values): return np.array(values, np.int64)
ids, offsets, images = np.array([0, 1, 2], np.int32), long(0, 2, 3), long(0, 1, 2)
for name, call in {calls}.items():
    try:
        eval(call)
    except ValueError:
        print(name, flush=True)
"""


def test_offsets_that_go_astray_are_refused() -> None:
    """Tried in a process of its own, because a kernel that follows them crashes."""
    program = ASTRAY_PROGRAM.replace("{calls}", repr(ASTRAY))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.splitlines()) == (0, [*ASTRAY]), done.stderr


@pytest.mark.parametrize("count", [-1, 2**31, 2**32 + 1])
def test_frequencies_that_are_no_counts(count: int) -> None:
    with pytest.raises(ValueError, match="31 bits"):
        NgramFrequencies().add(np.zeros((1, 4), np.int32), long(count))


def test_inputs_are_left_alone() -> None:
    for array in (ids := IDS.copy(), offsets := OFFSETS.copy()):
        array.flags.writeable = False
    references = ReferenceNgrams(ids, offsets, IMAGES, 1)
    bleu_statistics(references, ids, offsets, 1)
    np.testing.assert_array_equal(ids, IDS)


@pytest.mark.parametrize(
    "ids", [IDS.copy(), IDS.astype(np.int64), np.repeat(IDS, 2)[::2]], ids=["own", "int64", "strided"]
)
def test_an_index_keeps_its_arrays(ids: np.ndarray) -> None:
    # The kernel looks into the tokens it was made of, or a copy of them, so they must live as long as it does.
    references = ReferenceNgrams(ids * 1, OFFSETS * 1, IMAGES * 1, 1)
    garbage = [np.full(3, 9, np.int32) for _ in range(1_000)]
    assert bleu_statistics(references, IDS, OFFSETS, 1)[0, 0] == 2
    del garbage


def test_frequencies_are_counted_once_and_alone() -> None:
    counts = NgramFrequencies()
    counts.count(index(), 1)
    with pytest.raises(RuntimeError):
        counts.count(index(), 1)
    with pytest.raises(RuntimeError):
        counts.add(np.zeros((1, 4), np.int32), long(1))
    added = NgramFrequencies()
    added.add(np.zeros((1, 4), np.int32), long(1))
    with pytest.raises(RuntimeError):
        added.count(index(), 1)


def test_thread_count_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", "3")
    assert native.threads() == 3
    for nonsense in ("0", "-2", "many", "2.5"):
        monkeypatch.setenv("CAPTIOUS_THREADS", nonsense)
        with pytest.raises(ParameterError, match="CAPTIOUS_THREADS"):
            native.threads()
    monkeypatch.setenv("CAPTIOUS_THREADS", "")
    assert native.threads() >= 1
    monkeypatch.delenv("CAPTIOUS_THREADS")
    assert native.threads() >= 1


def test_interpreter_exit_prints_no_leaks() -> None:
    # Objects that a failing program still holds when it ends are no fault of the kernels.
    program = """
import captious
class Reward:
    pass
reward = Reward()
reward.itself = reward
reward.scorer = captious.reward({1: ["a dog"], 2: ["a cat"]}, captious.CiderD())
raise RuntimeError("the training failed")
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=20)
    assert done.stderr.endswith("RuntimeError: the training failed\n")


def test_thread_count_applies_to_a_block(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAPTIOUS_THREADS", "3")
    with native.using_threads(2):
        assert native.threads() == 2
        with native.using_threads(None):
            assert native.threads() == 2
        with pytest.raises(ValueError, match="failed"), native.using_threads(5):
            assert native.threads() == 5
            raise ValueError("failed")
        assert native.threads() == 2
    assert native.threads() == 3
