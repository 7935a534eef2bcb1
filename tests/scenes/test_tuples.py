"""Tuples: each rule on a sentence made for it, and the official program's lists on real captions, order included."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious.scenes.tuples import tuples_of
from tests.support.parses import GOLD, TREEBANK, parse, records

RULES = {
    "object of a verb": (
        "dogs/NNS/dog chase/VBP cats/NNS/cat up/IN hills/NNS/hill",
        "0<2:root 2<1:nsubj 2<3:dobj 2<5:nmod:up 5<4:case",
        "dog cat chase|dog hill chase up|hill|cat|dog",
    ),
    "subjects must be nouns": ("he/PRP chases/VBZ/chase cats/NNS/cat", "0<2:root 2<1:nsubj 2<3:dobj", "cat"),
    "particles": (
        "dog/NN picks/VBZ/pick up/RP stick/NN",
        "0<2:root 2<1:nsubj 2<3:compound:prt 2<4:dobj",
        "dog stick pick up|stick|dog",
    ),
    "be gives way to a particle": (
        "dog/NN is/VBZ/be up/RP stick/NN",
        "0<2:root 2<1:nsubj 2<3:compound:prt 2<4:dobj",
        "dog stick  up|stick|dog",
    ),
    "clauses": ("dog/NN chasing/VBG/chase cat/NN", "0<1:root 1<2:acl 2<3:dobj", "dog cat chase|dog|cat"),
    "clauses of anything but verbs": ("dog/NN fond/JJ cat/NN", "0<1:root 1<2:acl 2<3:dobj", "dog|cat"),
    "verbs without objects": ("dog/NN gives/VBZ/give up/RP", "0<2:root 2<1:nsubj 2<3:compound:prt", "dog give|dog"),
    "be says nothing": ("dog/NN is/VBZ/be", "0<2:root 2<1:nsubj", "dog"),
    "copulas": ("dog/NN is/VBZ/be brown/JJ", "0<3:root 3<1:nsubj 3<2:cop", "dog brown|dog brown|dog"),
    "copulas with a preposition": (
        "dog/NN is/VBZ/be out/IN of/IN house/NN",
        "0<5:root 5<1:nsubj 5<2:cop 5<3:case 3<4:mwe",
        "dog house out of|house|dog",
    ),
    "two copulas": (
        "dog/NN is/VBZ/be being/VBG/be good/NN",
        "0<4:root 4<1:nsubj 4<2:cop 4<3:cop",
        "dog good|dog good|good|dog",
    ),
    "adjectives before nouns": ("Brown/JJ/Brown dog/NN", "0<2:root 2<1:amod", "dog brown|dog"),
    "adjectives with subjects": ("dog/NN brown/JJ", "0<2:root 2<1:nsubj", "dog brown|dog brown|dog"),
    "prepositions": (
        "dog/NN on/IN top/NN of/IN him/PRP/he",
        "0<1:root 1<5:nmod:on_top_of 5<2:case 2<3:mwe 2<4:mwe",
        "dog dog on top of|dog|top",
    ),
    "owners": ("man/NN dog/NN", "0<2:root 2<1:nmod:poss", "man dog have|dog|man"),
    "agents": (
        "dog/NN held/VBN/hold by/IN man/NN",
        "0<2:root 2<1:nsubjpass 2<4:nmod:agent 4<3:case",
        "man dog hold|man|dog",
    ),
    "compounds": ("sheep/NN dog/NN cat/NN", "0<2:root 2<1:compound 2<3:dep", "dog sheep|cat"),
    "compounds are of nouns": ("well/RB dog/NN", "0<2:root 2<1:compound", "dog"),
    "compounds of anything but nouns": ("dog/NN sitting/VBG/sit", "0<2:root 2<1:compound", "dog"),
}
NUMBERS = {
    "plural nouns": ("two/CD dogs/NNS/dog", "0<2:root 2<1:nummod", "dog two|dog"),
    "not singular ones": ("one/CD dog/NN", "0<2:root 2<1:nummod", "dog"),
    "not numbers behind the noun": ("dogs/NNS/dog 4/CD", "0<1:root 1<2:nummod", "dog"),
    "subject and object": (
        "two/CD dogs/NNS/dog eat/VBP six/CD cats/NNS/cat",
        "0<3:root 2<1:nummod 3<2:nsubj 3<5:dobj 5<4:nummod",
        "dog cat eat|dog two|cat six|cat|dog",
    ),
    "one subject and one object of a verb": (
        "two/CD dogs/NNS/dog eat/VBP six/CD cats/NNS/cat ten/CD rats/NNS/rat",
        "0<3:root 2<1:nummod 3<2:nsubj 3<5:dobj 5<4:nummod 3<7:dobj 7<6:nummod",
        "dog cat eat|dog rat eat|dog two|cat six|rat|cat|dog",
    ),
    "subjects of two verbs with objects": (
        "two/CD dogs/NNS/dog eat/VBP cats/NNS/cat hunt/VBP rats/NNS/rat",
        "0<3:root 2<1:nummod 3<2:nsubj 3<4:dobj 3<5:conj:and 5<2:nsubj 5<6:dobj",
        "dog cat eat|dog rat hunt|dog two|dog two|rat|cat|dog",
    ),
    "subjects of two verbs without": (
        "two/CD dogs/NNS/dog sit/VBP bark/VBP",
        "0<3:root 2<1:nummod 3<2:nsubj 3<4:conj:and 4<2:nsubj",
        "dog sit|dog bark|dog two|dog",
    ),
    "subjects come before other nouns": (
        "two/CD dogs/NNS/dog eat/VBP meat/NN of/IN six/CD cats/NNS/cat",
        "0<3:root 2<1:nummod 3<2:nsubj 3<4:dobj 4<7:nmod:of 7<6:nummod 7<5:case",
        "dog meat eat|meat cat of|dog two|cat six|meat|cat|dog",
    ),
    "objects without a preposition of their own": (
        "dogs/NNS/dog sit/VBP on/IN mat/NN two/CD chairs/NNS/chair",
        "0<2:root 2<1:nsubj 2<4:nmod:on 4<3:case 2<6:nmod:on 6<5:nummod",
        "dog mat sit on|dog chair sit on|chair|mat|dog",
    ),
}
QUANTIFIERS = {
    "a lot of": (
        "a/DT large/JJ lot/NN of/IN dogs/NNS/dog run/VBP",
        "0<6:root 6<3:nsubj 3<1:det 3<2:amod 3<5:nmod:of 5<4:case",
        "dog run|dog a|dog|lot",
    ),
    "the lot of": (
        "the/DT lot/NN of/IN dogs/NNS/dog run/VBP",
        "0<5:root 5<2:nsubj 2<1:det 2<4:nmod:of 4<3:case",
        "lot run|lot dog of|lot|dog",
    ),
    "lots of": ("lots/NNS/lot of/IN dogs/NNS/dog", "0<1:root 1<3:nmod:of 3<2:case", "dog lot|dog|lot"),
    "100s of": ("100s/NNS/100 of/IN dogs/NNS/dog", "0<1:root 1<3:nmod:of 3<2:case", "dog 100|dog|100"),
    "two of the": (
        "at/IN least/JJ two/CD of/IN the/DT dogs/NNS/dog",
        "0<3:root 3<1:case 3<2:amod 3<6:nmod:of 6<4:case 6<5:det",
        "dog at|dog",
    ),
    "two of, without the": ("two/CD of/IN dogs/NNS/dog", "0<1:root 1<3:nmod:of 3<2:case", "dog"),
    "something before of": (
        "a/DT lot/NN more/JJR of/IN dogs/NNS/dog",
        "0<2:root 2<1:det 2<3:amod 2<5:nmod:of 5<4:case",
        "lot more|lot dog of|lot|dog",
    ),
    "first of several heads": (
        "dog/NN eats/VBZ/eat bone/NN and/CC a/DT lot/NN of/IN meat/NN",
        "0<2:root 2<1:nsubj 2<3:dobj 3<4:cc 3<6:conj:and 2<6:dobj 6<5:det 6<8:nmod:of 8<7:case",
        "dog bone eat|dog meat eat|meat|lot|bone|dog",
    ),
    "first of several nouns": (
        "a/DT lot/NN of/IN dogs/NNS/dog cats/NNS/cat run/VBP",
        "0<6:root 6<2:nsubj 2<1:det 2<4:nmod:of 4<3:case 2<5:nmod:of 5<3:case",
        "dog run|lot cat of|dog a|dog|lot|cat",
    ),
}
PRONOUNS = {
    "its": (
        "dog/NN chases/VBZ/chase its/PRP$ tail/NN",
        "0<2:root 2<1:nsubj 2<4:dobj 4<3:nmod:poss",
        "dog tail chase|dog tail have|tail|dog",
    ),
    "their, of a plural": (
        "dog/NN and/CC cats/NNS/cat chase/VBP their/PRP$ tails/NNS/tail",
        "0<4:root 4<1:nsubj 1<2:cc 1<3:conj:and 4<3:nsubj 4<6:dobj 6<5:nmod:poss",
        "dog tail chase|cat tail chase|dog tail have|tail|dog|cat",
    ),
    "his, of a singular": (
        "cats/NNS/cat see/VBP dog/NN chase/VB his/PRP$ tail/NN",
        "0<2:root 2<1:nsubj 2<4:ccomp 4<3:nsubj 4<6:dobj 6<5:nmod:poss",
        "dog tail chase|cat see|dog tail have|tail|dog|cat",
    ),
    "nothing before it": (
        "in/IN its/PRP$ bed/NN lies/VBZ/lie dog/NN",
        "0<4:root 4<3:nmod:in 3<1:case 3<2:nmod:poss 4<5:dobj",
        "dog|bed",
    ),
    "not the first word": ("its/PRP$ tail/NN", "0<2:root 2<1:nmod:poss", "tail"),
}
CASES = {**RULES, **NUMBERS, **QUANTIFIERS, **PRONOUNS}


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
