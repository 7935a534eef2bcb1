"""Scene graphs: objects with their attributes and the relations between them, synonyms merged.

Anderson, Fernando, Johnson and Gould 2016 (SPICE), section 3.2. The references of an image share one graph, built tuple
by tuple in their order; a candidate has a graph of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

from captious.scenes.synonyms import Concept, Synonyms
from captious.scenes.tuples import Tuple


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
