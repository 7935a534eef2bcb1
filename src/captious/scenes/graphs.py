"""Scene graphs, the synonyms by which their words match, and the facts that two of them share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.files import sections
from captious.native import MeteorLexicon
from captious.resources.meteor_tables import MeteorTables
from captious.scenes.tuples import Tuple

# Synonyms in SPICE: the synonym sets of METEOR's dictionary, which come from WordNet 3.0.

Concept: TypeAlias = frozenset[str | int]
"""The names of a thing, and the numbers of their synonym sets. Two concepts match if they share any."""


def names_of(concept: Concept) -> list[str]:
    """Return the names of a concept, in alphabetical order."""
    return sorted(name for name in concept if isinstance(name, str))


class Synonyms:
    """The synonym sets of strings, looked up on first use.

    Args:
        tables: METEOR's tables.

    Raises:
        ResourceError: damaged tables, or a cache folder that cannot be used.
    """

    def __init__(self, tables: MeteorTables) -> None:
        self._lexicon = MeteorLexicon({**tables.arrays()})
        self._concepts: dict[str, Concept] = {}

    def concept_of(self, name: str) -> Concept:
        """Return a concept for a name of one or several words, with the synonym sets of its entry and of its base
        forms.
        """
        concept = self._concepts.get(name)
        if concept is None:
            concept = self._concepts[name] = frozenset((name, *self._sets(name.replace(" ", "_"))))
        return concept

    def _sets(self, entry: str) -> list[int]:
        lexicon = self._lexicon.copy()
        try:
            lexicon.learn(0, (entry,), (entry,))
        except UnicodeEncodeError:  # a lone surrogate, which no entry has
            return []
        sets: list[int] = lexicon.arrays()["synsets"].tolist()
        return sets


#: The synonyms of METEOR's tables; lookups are cached.
synonyms = cache(Synonyms)


class LemmaNames:
    """The lemmas of all synonym sets of strings, looked up on first use.

    Args:
        tables: METEOR's tables.

    Raises:
        ResourceError: damaged tables, or a cache folder that cannot be used.
    """

    def __init__(self, tables: MeteorTables) -> None:
        arrays = tables.arrays()
        self._synonyms = synonyms(tables)
        order = np.argsort(arrays["synsets"], kind="stable")
        self._sets = arrays["synsets"][order]
        starts: NDArray[np.int64] = arrays["synset_starts"].astype(np.int64)
        self._words = np.repeat(np.arange(len(starts) - 1), np.diff(starts))[order]
        self._names: dict[str, frozenset[int]] = {}

    def lemmas(self, name: str) -> frozenset[int]:
        """Return the lemmas, by number, of the synonym sets of a name; empty if it is not in the dictionary."""
        names = self._names.get(name)
        if names is None:
            sets = np.array([item for item in self._synonyms.concept_of(name) if isinstance(item, int)], np.int64)
            starts = np.searchsorted(self._sets, sets, side="left").tolist()
            ends = np.searchsorted(self._sets, sets, side="right").tolist()
            pieces = (self._words[start:end].tolist() for start, end in zip(starts, ends, strict=True))
            names = self._names[name] = frozenset(word for piece in pieces for word in piece)
        return names


#: The lemmas of METEOR's tables; lookups are cached.
lemma_names = cache(LemmaNames)


# Scene graphs: objects with their attributes and the relations between them, synonyms merged.
#
# Anderson, Fernando, Johnson and Gould 2016 (SPICE), section 3.2. The references of an image share one graph, built
# tuple by tuple in their order; a candidate has a graph of its own.


class SceneGraph:
    """A scene graph built from tuples.

    Args:
        synonyms: synonym sets of words.
        tuples: initial tuples.
    """

    __slots__ = ("_anything", "_places", "_synonyms", "attributes", "objects", "relations")

    def __init__(self, synonyms: Synonyms, tuples: Iterable[Tuple] = ()) -> None:
        self._synonyms = synonyms
        self._places: dict[str, int] = {}  # objects of names, for as long as no object changes
        self._anything: set[str | int] = set()  # the names of objects
        #: Each object is identified by its place.
        self.objects: list[Concept] = []
        #: Per object.
        self.attributes: list[list[Concept]] = []
        #: Per subject and object.
        self.relations: dict[tuple[int, int], list[Concept]] = {}
        for item in tuples:
            self.add(item)

    def add(self, item: Tuple) -> None:
        """Add a tuple, merging it with what the graph already contains."""
        place = self._object(item[0])
        if len(item) == 2:
            _merge(self.attributes[place], self._synonyms.concept_of(item[1]))
        elif len(item) == 3:
            relation = self._synonyms.concept_of(item[2].removeprefix("be "))
            _merge(self.relations.setdefault((place, self._object(item[1])), []), relation)

    def _object(self, name: str) -> int:
        """Return the object of a name: one with the same concept, the most similar one, which takes the name, or a new
        one.
        """
        place = self._places.get(name)
        if place is None:
            place = self._places[name] = self._find_object(self._synonyms.concept_of(name))
        return place

    def _find_object(self, concept: Concept) -> int:
        objects = self.objects
        if self._anything.isdisjoint(concept):
            self._anything |= concept
            objects.append(concept)
            self.attributes.append([])
            return len(objects) - 1
        if concept in objects:
            return objects.index(concept)
        self._anything |= concept
        similarities = [_similarity(thing, concept) for thing in objects]
        place = similarities.index(max(similarities))
        merged = objects[place] | concept
        if merged != objects[place]:
            objects[place] = merged
            self._places.clear()
        return place


def _similarity(a: Concept, b: Concept) -> float:
    """Return 1 for concepts with a name in common, or else the share of their synonym sets that they have in common."""
    if a.isdisjoint(b):
        return 0.0
    common = a & b
    if any(isinstance(item, str) for item in common):
        return 1.0
    return len(common) / sum(isinstance(item, int) for item in a | b)


def _merge(concepts: list[Concept], concept: Concept) -> None:
    """Add a concept to a list unless present: merge it with the first concept that matches, or append it."""
    if concept in concepts:
        return
    for place, known_concept in enumerate(concepts):
        if not known_concept.isdisjoint(concept):
            concepts[place] = known_concept | concept
            return
    concepts.append(concept)


# Facts, the distinct tuples of scene graphs, and their matching between candidate and references, by category.
#
# Anderson, Fernando, Johnson and Gould 2016 (SPICE), sections 3.3 and 3.4. Two tuples match if each concept of one
# matches the corresponding concept of the other. A tuple of the candidate is counted once, a tuple of the references as
# often as it is matched.

Fact: TypeAlias = tuple[Concept, ...]
"""A tuple of merged concepts: ``(object,)``, ``(object, attribute)`` or ``(subject, relation, object)``."""

KINDS = ("object", "attribute", "relation")
#: All facts; three kinds of them; three kinds of attributes.
CATEGORIES = ("all", *KINDS, "cardinality", "color", "size")

_TEXT = sections(Path(__file__).with_name("words.txt"))
#: Attributes that are counted separately: cardinality, color or size, by word.
CATEGORY_OF = {word: category for category in CATEGORIES[4:] for word in _TEXT[category].split()}


class Facts:
    """The distinct facts of a scene graph.

    Args:
        by_category: the facts of each category except ``all``.
    """

    __slots__ = ("_anything", "by_category")

    def __init__(self, by_category: dict[str, list[Fact]]) -> None:
        self.by_category = by_category
        self._anything: Concept = frozenset().union(*(thing for (thing,) in by_category["object"]))

    @classmethod
    def of(cls, graph: SceneGraph) -> Facts:
        """Return the facts of a scene graph."""
        objects = graph.objects
        attributes = dict.fromkeys(
            (thing, attribute)
            for thing, attributes in zip(objects, graph.attributes, strict=True)
            for attribute in attributes
        )
        relations = dict.fromkeys(
            (objects[subject], relation, objects[thing])
            for (subject, thing), relations in graph.relations.items()
            for relation in relations
        )
        things: list[Fact] = [(thing,) for thing in dict.fromkeys(objects)]
        by_category: dict[str, list[Fact]] = {"object": things, "attribute": [*attributes], "relation": [*relations]}
        by_category |= {category: [] for category in CATEGORIES[4:]}
        for fact in attributes:
            if (category := _category(fact[1])) is not None:
                by_category[category].append(fact)
        return cls(by_category)

    def __len__(self) -> int:
        """Return the number of facts."""
        return sum(len(self.by_category[kind]) for kind in KINDS)

    def find(self, fact: Fact, category: str) -> Fact | None:
        """Return the first fact of a category that matches a fact of another graph, or None."""
        if self._anything.isdisjoint(fact[0]):
            return None
        return next((candidate for candidate in self.by_category[category] if _match(fact, candidate)), None)


def count(candidate: Facts, references: Facts) -> list[tuple[int, int, int]]:
    """Return, per category, the numbers of matching facts, of the candidate's facts, and of the references' facts."""
    counts = [
        (sum(references.find(fact, name) is not None for fact in facts), len(facts), len(references.by_category[name]))
        for name, facts in candidate.by_category.items()
    ]
    matched = sum(counts[CATEGORIES.index(kind) - 1][0] for kind in KINDS)
    return [(matched, len(candidate), len(references)), *counts]


def _match(fact: Fact, match: Fact) -> bool:
    for concept, counterpart in zip(fact, match, strict=True):  # noqa: SIM110 - twice as fast as all()
        if concept.isdisjoint(counterpart):
            return False
    return True


def _category(attribute: Concept) -> str | None:
    """Return the kind of an attribute; an attribute merged from several names has none."""
    names = names_of(attribute)
    return CATEGORY_OF.get(names[0]) if len(names) == 1 else None


def agreement(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return precision, recall and F1, float64[..., 3], from the result of ``count``, float64[..., 3].

    Each is 0 if its denominator is 0.
    """
    matched, in_candidate, in_references = np.moveaxis(counts, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(in_candidate > 0, matched / in_candidate, 0.0)
        recall = np.where(in_references > 0, matched / in_references, 0.0)
        f1 = np.where(matched > 0, 2 * precision * recall / (precision + recall), 0.0)
    return np.stack([precision, recall, f1], axis=-1)
