"""Kernels of word vectors: transport against linear programming, distances, means, words of files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from captious.native import (
    closest_words,
    find_words,
    mean_vectors,
    nearest_word_mover_distances,
    parse_vector_lines,
    sorted_words,
    subword_buckets,
    transport_plan,
    word_distances,
    word_mover_distances,
)
from tests.oracles import wmd as oracle
from tests.support.vector_files import fasttext_pieces

VECTORS = np.random.default_rng(1).normal(size=(30, 7)).astype(np.float32)
VECTORS[11] = VECTORS[10]  # two words that mean the same

bags = st.lists(st.integers(0, 29), max_size=9)


def long(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def packed(*documents: list[int]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return documents as bags: distinct words, counts, offsets."""
    words = [[*dict.fromkeys(document)] for document in documents]
    counts = [document.count(word) for document, own in zip(documents, words, strict=True) for word in own]
    flat = [word for own in words for word in own]
    return np.array(flat, np.int32), np.array(counts, np.int32), np.cumsum([0, *map(len, words)])


# ---- transport


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Costs with many ties, and weights whose sums are equal."""
    rows, columns = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    costs = draw(st.lists(st.sampled_from([0, 0.25, 0.5, 1, 3]), min_size=rows * columns, max_size=rows * columns))
    from_, to = (np.array(draw(st.lists(st.integers(1, 4), min_size=n, max_size=n)), np.int64) for n in (rows, columns))
    return np.array(costs, float).reshape(rows, columns), from_ * to.sum(), to * from_.sum()


@given(problem=problems())
def test_plans_are_optimal(problem: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    costs, supplies, demands = problem
    plan = transport_plan(costs, supplies, demands)
    assert (plan >= 0).all()
    np.testing.assert_array_equal(plan.sum(axis=1), supplies)
    np.testing.assert_array_equal(plan.sum(axis=0), demands)
    total = supplies.sum()
    expected = oracle.least_cost(costs, (supplies / total).tolist(), (demands / total).tolist())
    assert (plan * costs).sum() / total == pytest.approx(expected, abs=1e-9)


def test_transport_plan_revises_its_first_choice() -> None:
    # The cheapest way into each column starts at the first row, which has not enough for both.
    costs = np.array([[0.0, 1.0], [5.0, 9.0]])
    assert transport_plan(costs, long(1, 1), long(1, 1)).tolist() == [[0, 1], [1, 0]]


def test_transport_plans_of_large_problems_are_optimal() -> None:
    rng = np.random.default_rng(3)
    costs, supplies, demands = rng.random((60, 50)), rng.integers(1, 9, 60), rng.integers(1, 9, 50)
    plan = transport_plan(costs, supplies * demands.sum(), demands * supplies.sum())
    total = supplies.sum() * demands.sum()
    expected = oracle.least_cost(costs, (supplies / supplies.sum()).tolist(), (demands / demands.sum()).tolist())
    assert (plan * costs).sum() / total == pytest.approx(expected, abs=1e-9)


# ---- distances of captions


@given(a=bags, b=bags)
@example(a=[], b=[])
@example(a=[3], b=[3, 3])
@example(a=[10], b=[11])
@example(a=[10, 11], b=[11])
@example(a=[10], b=[11, 3])
def test_word_mover_distances_equal_the_oracle(a: list[int], b: list[int]) -> None:
    (actual,) = word_mover_distances(VECTORS, *packed(a), *packed(b), long(0, 1), 1)
    named = {str(word): vector for word, vector in enumerate(VECTORS)}
    expected = oracle.distance([*map(str, a)], [*map(str, b)], named)
    assert actual == pytest.approx(expected, abs=1e-9)


@given(candidate=bags, references=st.lists(bags, min_size=1, max_size=6))
def test_nearest_word_is_exact(candidate: list[int], references: list[list[int]]) -> None:
    arguments = *packed(candidate), *packed(*references), long(0, len(references))
    every = word_mover_distances(VECTORS, *arguments, 1)
    (nearest,) = nearest_word_mover_distances(VECTORS, *arguments, 1)
    assert nearest == every.min()  # to the last bit, whatever was skipped


def test_references_that_cannot_win_change_nothing_in_many_images() -> None:
    rng = np.random.default_rng(7)
    documents = [rng.integers(0, 30, rng.integers(0, 12)).tolist() for _ in range(600)]
    candidates, references = documents[:100], documents[100:]
    arguments = *packed(*candidates), *packed(*references), np.arange(0, 501, 5)
    every = word_mover_distances(VECTORS, *arguments, 1)
    for threads in (1, 3):
        actual = nearest_word_mover_distances(VECTORS, *arguments, threads)
        np.testing.assert_array_equal(actual, np.minimum.reduceat(every, np.arange(0, 500, 5)))


def test_word_distances_equal_numpy() -> None:
    actual = word_distances(VECTORS, np.array([0, 1], np.int32), np.array([1, 2, 3], np.int32))
    expected = [[np.linalg.norm(VECTORS[i].astype(float) - VECTORS[j]) for j in (1, 2, 3)] for i in (0, 1)]
    np.testing.assert_allclose(actual, expected, rtol=1e-14)
    assert actual[1, 0] == 0


@given(documents=st.lists(bags, min_size=1, max_size=4))
def test_mean_vectors_equal_numpy(documents: list[list[int]]) -> None:
    words = np.array([word for document in documents for word in document], np.int32)
    actual = mean_vectors(VECTORS, words, np.cumsum([0, *map(len, documents)]), 2)
    for mean, document in zip(actual, documents, strict=True):
        expected = VECTORS[document].astype(float).mean(axis=0) if document else np.zeros(7)
        np.testing.assert_allclose(mean, expected, rtol=1e-13, atol=1e-15)


@given(documents=st.lists(st.tuples(bags, bags), min_size=1, max_size=40), threads=st.integers(1, 2))
def test_closest_words_are_the_first_with_the_largest_product(
    documents: list[tuple[list[int], list[int]]], threads: int
) -> None:
    sides = []
    for groups in zip(*documents, strict=True):
        sides += [np.array([w for group in groups for w in group], np.int32), np.cumsum([0, *map(len, groups)])]
    products, closest = closest_words(VECTORS, *sides, threads)
    pairs = [(word, others) for words, others in documents for word in words]
    for product, word, (of, others) in zip(products, closest, pairs, strict=True):
        if not others:
            assert (product, word) == (0, -1)
            continue
        expected = VECTORS[others].astype(float) @ VECTORS[of]
        assert product == pytest.approx(expected.max(), rel=1e-5, abs=1e-5)
        assert VECTORS[word].astype(float) @ VECTORS[of] == pytest.approx(expected.max(), rel=1e-5, abs=1e-5)
        equal = [10, 11]  # the same vector twice
        assert word not in equal or word == next(other for other in others if other in equal)


# ---- words of files


@given(
    words=st.lists(st.text(st.characters(blacklist_characters=" \t\n", blacklist_categories=["Cs"]), min_size=1)),
    numbers=st.lists(st.floats(-(2.0**90), 2.0**90, width=32), min_size=2, max_size=2),
)
def test_lines_are_read_as_python_reads_them(words: list[str], numbers: list[float]) -> None:
    words = [word for word in words if word.strip("\r")]
    lines = "".join(f"{word} {numbers[0]!r} {numbers[1]:.7g}\n" for word in words).encode()
    text, ends, vectors, fault, _, _ = parse_vector_lines(lines, 2)
    assert fault == ""
    starts = [0, *ends[:-1].tolist()]
    actual = [text.tobytes()[a:b].decode() for a, b in zip(starts, ends.tolist(), strict=False)]
    assert actual == words
    expected = np.array([numbers[0], float(f"{numbers[1]:.7g}")]).astype(np.float32)
    np.testing.assert_array_equal(vectors, np.tile(expected, (len(words), 1)))


@pytest.mark.parametrize(
    ("line", "fault", "actual", "field"),
    [
        (b"dog 1 2", "wrong count", 2, b""),
        (b"dog 1 2 3 4", "wrong count", 4, b""),
        (b"dog", "wrong count", 0, b""),
        (b"dog 0.5 cat 1 2 3", "wrong count", 5, b""),
        (b"", "empty", 0, b""),
        (b" \t ", "empty", 0, b""),
        (b" 1 2 3", "no word", 0, b""),
        (b"dog 1 2 x", "no number", 0, b"x"),
        (b"dog 1 0x2 3", "no number", 0, b"0x2"),
        (b"dog 1 2,5 3", "no number", 0, b"2,5"),
        (b"dog 1 nan 3", "not finite", 0, b"nan"),
        (b"dog 1 -inf 3", "not finite", 0, b"-inf"),
        (b"dog 1 2 4e38", "not finite", 0, b"4e38"),
    ],
)
def test_malformed_vector_lines_stop_with_a_fault(line: bytes, fault: str, actual: int, field: bytes) -> None:
    result = parse_vector_lines(b"a 1 2 3\n" + line + b"\nb 1 2 3\n", 3)
    assert result[3:] == (fault, actual, field)
    assert result[0].tobytes() == b"a"
    assert result[2].tolist() == [[1, 2, 3]]


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b"dog 1 2 3", b"dog"),
        (b"dog\t1  2 3 \r", b"dog"),
        (b"dog +1 2.0 3e0", b"dog"),
        (b". . . 1 2 3", b". . ."),
        (b"at name@domain.com 1 2 3", b"at name@domain.com"),
        ("1/2\u00a0\u0085x 1 2 3".encode(), "1/2\u00a0\u0085x".encode()),
        (b"7 1 2 3", b"7"),
        (b"\xff 1 2 3", b"\xff"),
    ],
)
def test_words_of_vector_lines_are_read_as_bytes(line: bytes, word: bytes) -> None:
    text, _, vectors, fault, _, _ = parse_vector_lines(line, 3)
    assert (text.tobytes(), fault, vectors.tolist()) == (word, "", [[1, 2, 3]])


@given(words=st.lists(st.binary(max_size=6)))
def test_words_are_sorted_by_bytes(words: list[bytes]) -> None:
    text = np.frombuffer(b"".join(words), np.uint8)
    order = sorted_words(text, np.cumsum([len(word) for word in words], dtype=np.int64))
    assert order.tolist() == sorted(range(len(words)), key=lambda i: words[i])


@given(listed=st.sets(st.text(max_size=4)), looked_up=st.lists(st.text(max_size=4)))
def test_words_are_found_in_a_sorted_list(listed: set[str], looked_up: list[str]) -> None:
    encoded = sorted(word.encode() for word in listed)
    text, ends = np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([len(w) for w in encoded], dtype=np.int64)
    looked_up += [*listed]
    expected = [encoded.index(word.encode()) if word in listed else -1 for word in looked_up]
    assert find_words(text, ends, tuple(looked_up)).tolist() == expected


@given(word=st.text(max_size=8), shortest=st.integers(1, 4), more=st.integers(0, 3))
@example(word="café", shortest=3, more=3)
def test_subword_hashes_equal_those_of_fasttext(word: str, shortest: int, more: int) -> None:
    text = np.frombuffer(word.encode(), np.uint8)
    actual, offsets = subword_buckets(text, long(len(text)), shortest, shortest + more, 1000)
    assert actual.tolist() == fasttext_pieces(word, shortest, shortest + more, 1000)
    assert offsets.tolist() == [0, len(actual)]


# ---- arguments that do not fit

BAG = packed([1, 2])
IMAGES = long(0, 1)


@pytest.mark.parametrize(
    ("kernel", "arguments"),
    [
        (word_mover_distances, (VECTORS, *packed([1, 30]), *BAG, IMAGES, 1)),
        (word_mover_distances, (VECTORS, np.array([1], np.int32), *BAG[1:], *BAG, IMAGES, 1)),
        (word_mover_distances, (VECTORS, BAG[0], np.array([1, 0], np.int32), BAG[2], *BAG, IMAGES, 1)),
        (word_mover_distances, (VECTORS, *BAG, *BAG, long(0, 2), 1)),
        (nearest_word_mover_distances, (VECTORS, *BAG, *BAG, long(0, 0), 1)),
        (nearest_word_mover_distances, (VECTORS, *BAG[:2], long(0, 3), *BAG, IMAGES, 1)),
        (mean_vectors, (VECTORS, np.array([-1], np.int32), long(0, 1), 1)),
        (mean_vectors, (VECTORS, np.array([1], np.int32), long(0, 2), 1)),
        (closest_words, (VECTORS, np.array([1], np.int32), long(0, 1), np.array([30], np.int32), long(0, 1), 1)),
        (closest_words, (VECTORS, np.array([1], np.int32), long(0, 1), np.array([1], np.int32), long(0, 0, 1), 1)),
        (closest_words, (VECTORS, np.array([1], np.int32), long(0, 2), np.array([1], np.int32), long(0, 1), 1)),
        (word_distances, (VECTORS, np.array([30], np.int32), np.array([1], np.int32))),
        (transport_plan, (np.ones((1, 1)), long(1), long(2))),
        (transport_plan, (np.ones((1, 2)), long(1), long(1))),
        (transport_plan, (-np.ones((1, 1)), long(1), long(1))),
        (transport_plan, (np.full((1, 1), math.nan), long(1), long(1))),
        (transport_plan, (np.ones((2, 1)), long(2, 0), long(2))),
        (parse_vector_lines, (b"a 1\n", 0)),
        (sorted_words, (np.zeros(3, np.uint8), long(2))),
        (sorted_words, (np.zeros(3, np.uint8), long(2, 1, 3))),
        (find_words, (np.zeros(3, np.uint8), long(2), ("a",))),
        (find_words, (np.zeros(3, np.uint8), long(9, 3), ("a",))),
        (find_words, (np.zeros(3, np.uint8), long(-2, 3), ("a",))),
        (subword_buckets, (np.zeros(3, np.uint8), long(2, 1, 3), 1, 2, 9)),
        (subword_buckets, (np.zeros(1, np.uint8), long(1), 1, 2, 0)),
    ],
)
def test_arguments_that_do_not_fit(kernel: Any, arguments: Any) -> None:
    with pytest.raises((ValueError, IndexError)):
        kernel(*arguments)
