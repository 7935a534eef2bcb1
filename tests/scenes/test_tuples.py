"""Tuples: each rule on a sentence made for it, and the official program's lists on real captions, order included."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.scenes.tuples import tuples_of
from tests.support.parses import GOLD, TREEBANK, parse, records
from tests.support.tables import tables

#: A sentence and its dependencies, and the tuples in their order.
CASES = {name: case for table in tables(__file__).values() for name, case in table.items()}


@pytest.mark.parametrize(("text", "dependencies", "expected"), CASES.values(), ids=CASES)
def test_tuple_rules_give_the_expected_tuples(text: str, dependencies: str, expected: str) -> None:
    texts = [" ".join(item) for item in tuples_of(parse(text, dependencies))]
    assert texts == expected.split("|")


def test_copied_words_form_tuples() -> None:
    """A dog on the bed and under blankets: "dog" has a copy, number 1 + 7, for the second phrase."""
    words = "dog/NN on/IN bed/NN and/CC under/IN blankets/NNS/blanket there/RB"
    edges = "0<1:root 1<3:nmod:on 3<2:case 1<4:cc 1<8:conj:and 8<6:nmod:under 6<5:case 1<7:advmod"
    assert tuples_of(parse(words, edges)) == (
        ("dog", "bed", "on"),
        ("dog", "blanket", "under"),
        ("dog",),
        ("bed",),
        ("dog",),
        ("blanket",),
    )


def test_empty_caption_has_no_tuples() -> None:
    assert tuples_of(parse("", "")) == ()


def test_order_of_dependencies_does_not_matter() -> None:
    for text, dependencies, _ in CASES.values():
        backwards = " ".join(reversed(dependencies.split()))
        assert tuples_of(parse(text, backwards)) == tuples_of(parse(text, dependencies))


@pytest.mark.parametrize(("n", "order"), [(13, ("under", "on")), (14, ("on", "under"))])
def test_pronouns_of_short_sentences_are_taken_from_right_to_left(n: int, order: tuple[str, ...]) -> None:
    words = "dog/NN sits/VBZ/sit on/IN it/PRP under/IN it/PRP" + " there/RB" * (n - 6)
    found = tuples_of(parse(words, "0<2:root 2<1:nsubj 2<4:nmod:on 4<3:case 2<6:nmod:under 6<5:case"))
    assert found == (*(("dog", "dog", f"sit {preposition}") for preposition in order), ("dog",))


@pytest.mark.parametrize(
    ("first", "order"),
    [(5, [16, *range(5, 16)]), (4, [*range(4, 17)])],
    ids=["up to 12 dependents in 16 buckets", "more in 32"],
)
def test_dependents_are_in_the_order_of_buckets(first: int, order: list[int]) -> None:
    """Java's hash tables have 16 buckets at first, and 32 when more than three quarters of these would be used."""
    words = " ".join(f"w{number}/JJ" for number in range(1, 20)) + " dog/NN"
    edges = " ".join(["0<20:root", *(f"20<{number}:amod" for number in range(first, 17))])
    assert tuples_of(parse(words, edges)) == (*(("dog", f"w{number}") for number in order), ("dog",))


def test_sentences_of_any_length_and_form() -> None:
    """Chains deeper than Python recurses, cycles, words without a head."""
    n = 5_000
    deep = " ".join(f"{i}<{i + 1}:dep" for i in range(n))
    assert len(tuples_of(parse("dog/NN " * n, deep))) == n
    assert tuples_of(parse("dog/NN cat/NN", "1<2:nmod:of 2<1:nmod:on")) == (
        ("dog", "cat", "of"),
        ("cat", "dog", "on"),
        ("dog",),
        ("cat",),
    )
    assert tuples_of(parse("dog/NN cat/NN", "0<2:root")) == (("cat",),)


def agreement(shared_data: Path, name: str, n: int | None) -> tuple[int, int]:
    """Return the number of captions with the official list of tuples, and the number of captions."""
    same = total = 0
    for record, parsed in records(shared_data, name, n):
        same += tuples_of(parsed) == tuple(map(tuple, record["tuples"]))
        total += 1
    return same, total


@pytest.mark.parametrize("name", [GOLD, TREEBANK])
def test_tuples_agree_with_a_sample_of_the_official_ones(shared_data: Path, name: str) -> None:
    assert agreement(shared_data, name, 2_000) == (2_000, 2_000)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "n"), [(GOLD, 45_254), pytest.param(TREEBANK, 188_090, marks=pytest.mark.nightly)])
def test_tuples_agree_with_all_official_ones(shared_data: Path, name: str, n: int) -> None:
    assert agreement(shared_data, name, None) == (n, n)
