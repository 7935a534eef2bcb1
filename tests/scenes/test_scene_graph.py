"""Scene graphs: merging of nodes, matches of tuples, and synonyms as in METEOR's files."""

from __future__ import annotations

import random
import zipfile
from typing import Any

import numpy as np
import pytest

from captious.data import Stored
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.graphs import (
    CATEGORIES,
    CATEGORY_OF,
    Concept,
    Facts,
    SceneGraph,
    Synonyms,
    count,
    lemma_names,
    names_of,
    synonyms,
)
from captious.scenes.layers import SceneGraphLayer
from captious.scenes.tuples import Tuple
from captious.text import PTB
from tests.support.corpora import references_table
from tests.support.parses import KnownParses


class Words(Synonyms):
    """Synonym sets made up for tests."""

    def __init__(self, **sets: set[int]) -> None:
        self.sets = sets

    def concept_of(self, name: str) -> Concept:
        return frozenset((name, *self.sets.get(name, ())))


WORDS = Words(
    **{
        "sofa": {1},
        "couch": {1, 2, 3},
        "settee": {1, 4},
        "bed": {2, 3},
        "red": {7},
        "crimson": {7},
        "in": {8},
        "on": {8},
    }
)


def graph(*tuples: Tuple) -> SceneGraph:
    return SceneGraph(WORDS, tuples)


def names(concepts: list[Concept]) -> list[str]:
    return ["/".join(names_of(concept)) for concept in concepts]


def counted(candidate: SceneGraph, references: SceneGraph) -> dict[str, tuple[int, int, int]]:
    return dict(zip(CATEGORIES, count(Facts.of(candidate), Facts.of(references)), strict=True))


def test_objects_with_a_common_set_are_one() -> None:
    assert names(graph(("sofa",), ("dog",), ("couch",), ("sofa",)).objects) == ["couch/sofa", "dog"]


def test_the_most_similar_object_is_merged_with() -> None:
    # couch {1, 2, 3} is a third like sofa {1}, and two thirds like bed {2, 3}.
    assert names(graph(("sofa",), ("bed",), ("couch",)).objects) == ["sofa", "bed/couch"]


def test_object_merges_with_the_first_of_equally_similar_ones() -> None:
    words = Words(a={1}, b={2}, c={1, 2})
    assert names(SceneGraph(words, [("a",), ("b",), ("c",)]).objects) == ["a/c", "b"]
    assert names(SceneGraph(words, [("b",), ("a",), ("c",)]).objects) == ["b/c", "a"]


def test_a_name_may_move_to_an_object_that_has_become_as_similar() -> None:
    # At first s is most like q; when p has learned c, it has all sets of s and no other, and comes before q.
    words = Words(p={1}, q={2, 3}, s={1, 2, 3}, z={3, *range(10, 30)}, c={1, 2, 3})
    merged = SceneGraph(words, [("p",), ("q",), ("s", "old"), ("z",), ("c",), ("s", "new")])
    assert names(merged.objects) == ["c/p/s", "q/s/z"]
    assert [names(attributes) for attributes in merged.attributes] == [["new"], ["old"]]


def test_attributes_are_merged_with_the_first_that_is_like_them() -> None:
    merged = graph(("dog", "red"), ("dog", "old"), ("dog", "crimson"), ("dog", "red"), ("cat", "red"))
    assert [names(attributes) for attributes in merged.attributes] == [["crimson/red", "old"], ["red"]]


def test_relations_are_merged_between_the_same_objects() -> None:
    merged = graph(("dog", "bed", "be on"), ("dog", "bed", "in"), ("bed", "dog", "in"), ("dog", "bed", "under"))
    assert {ends: names(relations) for ends, relations in merged.relations.items()} == {
        (0, 1): ["in/on", "under"],
        (1, 0): ["in"],
    }


def test_matches_are_counted_by_category() -> None:
    candidate = graph(("dog", "sofa", "on"), ("dog", "red"), ("cat", "red"), ("sofa",))
    references = graph(("dog", "couch", "in"), ("dog", "crimson"), ("mouse", "red"), ("ox",))
    assert counted(candidate, references) == {
        "all": (4, 6, 7),
        "object": (2, 3, 4),
        "attribute": (1, 2, 2),
        "relation": (1, 1, 1),
        "cardinality": (0, 0, 0),
        "color": (0, 2, 1),
        "size": (0, 0, 0),
    }


def test_several_tuples_may_match_the_same_tuple() -> None:
    words = Words(a={1}, b={2}, c={1, 2})
    assert counted(SceneGraph(words, [("a",), ("b",)]), SceneGraph(words, [("c",)]))["object"] == (2, 2, 1)


def test_equal_tuples_count_once() -> None:
    assert counted(graph(*[("dog", "sofa", "on")] * 3), graph())["all"] == (0, 3, 0)


def test_attributes_are_counted_by_kind() -> None:
    several = graph(("dog", "two"), ("dog", "2"), ("dog", "brown"), ("dog", "big"), ("cat", "gray"), ("cat", "one"))
    counts = {category: (n, m) for category, (n, _, m) in counted(several, several).items()}
    assert counts["attribute"] == (6, 6)
    assert (counts["cardinality"], counts["color"], counts["size"]) == ((2, 2), (2, 2), (1, 1))


def test_merged_attributes_have_no_kind() -> None:
    merged = graph(("dog", "red"), ("dog", "crimson"))
    assert counted(graph(("dog", "red")), merged)["attribute"] == (1, 1, 1)
    assert counted(graph(("dog", "red")), merged)["color"] == (0, 1, 0)


def test_category_lists_have_their_sizes() -> None:
    by_kind = {kind: [word for word, its in CATEGORY_OF.items() if its == kind] for kind in CATEGORIES[4:]}
    assert {kind: len(words) for kind, words in by_kind.items()} == {"cardinality": 10, "color": 18, "size": 99}


def published(tables: MeteorTables) -> tuple[dict[str, set[int]], dict[str, list[str]]]:
    """Return synonym sets by word, and base forms by irregular form, as METEOR's files list them."""
    with zipfile.ZipFile(tables.jar) as jar:
        lines = jar.read("synonym/english.synsets").decode().splitlines()
        exceptions = jar.read("synonym/english.exceptions").decode().splitlines()
    sets = {word: set(map(int, numbers.split())) for word, numbers in zip(lines[::2], lines[1::2], strict=True)}
    bases: dict[str, list[str]] = {}
    for base, forms in zip(exceptions[::2], exceptions[1::2], strict=True):
        for form in forms.split():
            bases.setdefault(form, []).append(base)
    return sets, bases


def test_synonym_sets_are_those_of_the_files(meteor_tables: MeteorTables) -> None:
    sets, bases = published(meteor_tables)
    lexicon = synonyms(meteor_tables)
    for word in random.Random(4).sample(sorted(sets), 3_000):
        concept = lexicon.concept_of(word.replace("_", " "))
        assert sets[word] <= concept
        assert set(names_of(concept)) == {word.replace("_", " ")}
    for form in random.Random(5).sample(sorted(bases), 500):
        expected = set().union(sets.get(form, ()), *(sets.get(base, ()) for base in bases[form]))
        assert lexicon.concept_of(form) == {form, *expected}


@pytest.mark.parametrize(
    ("form", "base"),
    [
        *(("dogs", "dog"), ("buses", "bus"), ("boxes", "box"), ("churches", "church"), ("firemen", "fireman")),
        *(("puppies", "puppy"), ("jumped", "jump"), ("smiling", "smile"), ("taller", "tall"), ("widest", "wide")),
    ],
)
def test_inflected_forms_have_the_sets_of_their_base(meteor_tables: MeteorTables, form: str, base: str) -> None:
    lexicon = synonyms(meteor_tables)
    assert lexicon.concept_of(base) - {base}
    assert lexicon.concept_of(base) - {base} <= lexicon.concept_of(form)


@pytest.mark.parametrize("word", ["xyzzy", "", "a", "glass s", "犬", "ss", "stand on", " up", "\ud800"])
def test_strings_of_any_kind_have_a_concept(meteor_tables: MeteorTables, word: str) -> None:
    assert word in synonyms(meteor_tables).concept_of(word)


# ---- graphs in prepared files

#: Five concepts of one name each; sofa has the sets 0 and 1. The second image says nothing.
IMAGES = (
    Facts.of(SceneGraph(Words(sofa={1, 0}), [("dog", "sofa", "in"), ("dog", "red")])),
    Facts.of(graph()),
    Facts.of(graph(("cat",))),
)
REFERENCES = references_table([["a"], ["b"], ["c"]])


@pytest.fixture
def layer(meteor_tables: MeteorTables) -> SceneGraphLayer:
    return SceneGraphLayer(PTB, KnownParses({}), meteor_tables)


def test_stored_graphs_come_back(layer: SceneGraphLayer) -> None:
    restored = layer.from_stored(layer.to_stored(IMAGES, REFERENCES), REFERENCES)
    assert [facts.by_category for facts in restored] == [facts.by_category for facts in IMAGES]
    assert restored[0].find((frozenset({"couch", 0}),), "object") == (frozenset({"sofa", 0, 1}),)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"attribute": [0]}, "facts of attribute that contradict each other"),
        ({"relation": [0, 1]}, "facts of relation that contradict each other"),
        ({"object": [0, 1, 5]}, "facts of object that contradict each other"),
        ({"object": [0, -1, 1]}, "facts of object that contradict each other"),
        ({"items": [-1, -2, 0, 1, -3, -4, -6]}, "names that contradict each other"),
        ({"items_offsets": [1, 1, 4, 5, 6, 7]}, "names that contradict each other"),
        ({"items_offsets": [0, 1, 4, 5, 6, 8]}, "names that contradict each other"),
        ({"items_offsets": [0, 1, 4, 3, 6, 7]}, "names that contradict each other"),
        ({"items_offsets": []}, "out of bounds"),
        ({"object_offsets": [0, 2, 3]}, "facts of object that contradict each other"),
        ({"object_offsets": [0, 2, 2, 2, 3]}, "facts of object that contradict each other"),
    ],
    ids=str,
)
def test_stored_graphs_that_do_not_fit_are_refused(
    layer: SceneGraphLayer, changes: dict[str, list[int]], message: str
) -> None:
    arrays: dict[str, Any] = {**layer.to_stored(IMAGES, REFERENCES).arrays}
    sizes = {name: arrays[name].size for name in ("object", "attribute", "relation", "items", "items_offsets")}
    assert [*sizes.values()] == [3, 2, 3, 7, 6]
    arrays |= {name: np.array(values, arrays[name].dtype) for name, values in changes.items()}
    with pytest.raises((ValueError, IndexError), match=message):
        layer.from_stored(Stored(arrays), REFERENCES)


# ---- lemmas


def test_lemmas_are_those_of_all_synonym_sets_of_a_name(meteor_tables: MeteorTables) -> None:
    sets, _ = published(meteor_tables)
    entries = sorted(sets)
    lexicon, lemmas = synonyms(meteor_tables), lemma_names(meteor_tables)
    numbers: dict[frozenset[str], frozenset[int]] = {}
    for name in ("sofa", "dog", "hot_dog", "run", entries[0], entries[-1]):
        concept = lexicon.concept_of(name.replace("_", " "))
        expected = frozenset(word for word in entries if not sets[word].isdisjoint(concept))
        numbers[expected] = lemmas.lemmas(name.replace("_", " "))
        assert len(numbers[expected]) == len(expected) > 0
    assert lemmas.lemmas("sofa") == lemmas.lemmas("couch") & lemmas.lemmas("sofa")
    assert lemmas.lemmas("sofa").isdisjoint(lemmas.lemmas("dog"))
    assert lemmas.lemmas("xyzzy") == frozenset()
