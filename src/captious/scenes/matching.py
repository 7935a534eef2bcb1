"""Which tuples of a candidate's scene graph are in that of its references, overall and by category.

Anderson, Fernando, Johnson and Gould 2016 (SPICE), sections 3.3 and 3.4. Two tuples match if each concept of one is
like the corresponding concept of the other. A tuple of the candidate counts once, one of the references as often as it
is matched.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.scenes.counted_attributes import CATEGORY_OF
from captious.scenes.scene_graph import SceneGraph
from captious.scenes.synonyms import Concept, names_of

__all__ = ["CATEGORIES", "Fact", "Facts", "agreement", "count"]

Fact: TypeAlias = tuple[Concept, ...]
"""``(object,)``, ``(object, attribute)`` or ``(subject, relation, object)``: a tuple of merged concepts."""

#: All facts; three kinds of them; three kinds of attributes.
CATEGORIES = ("all", "object", "attribute", "relation", "cardinality", "color", "size")


class Facts:
    """What a scene graph says, each fact once.

    Args:
        graph: a scene graph.
    """

    __slots__ = ("_anything", "by_category")

    def __init__(self, graph: SceneGraph) -> None:
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
        #: The facts of each category but ``all``.
        self.by_category: dict[str, list[Fact]] = {name: [] for name in CATEGORIES[1:]}
        self.by_category["object"] = [(thing,) for thing in dict.fromkeys(objects)]
        self.by_category["attribute"] = [*attributes]
        self.by_category["relation"] = [*relations]
        for fact in attributes:
            category = _category(fact[1])
            if category is not None:
                self.by_category[category].append(fact)
        self._anything: Concept = frozenset().union(*objects)

    @classmethod
    def of_categories(cls, by_category: dict[str, list[Fact]]) -> Facts:
        """Facts that were taken from a graph before, by category."""
        facts = cls.__new__(cls)
        facts.by_category = by_category
        facts._anything = frozenset().union(*(thing for (thing,) in by_category["object"]))
        return facts

    def __len__(self) -> int:
        """Number of facts."""
        return sum(len(self.by_category[kind]) for kind in _KINDS)

    def find(self, fact: Fact, category: str) -> Fact | None:
        """The first fact of a category that a fact of another graph matches, or None."""
        if self._anything.isdisjoint(fact[0]):
            return None
        return next((other for other in self.by_category[category] if _match(fact, other)), None)


def count(candidate: Facts, references: Facts) -> list[tuple[int, int, int]]:
    """Per category the facts of the candidate that match, all facts of the candidate, and all of the references."""
    counts = [
        (sum(references.find(fact, name) is not None for fact in facts), len(facts), len(references.by_category[name]))
        for name, facts in candidate.by_category.items()
    ]
    matched = sum(counts[CATEGORIES.index(kind) - 1][0] for kind in _KINDS)
    return [(matched, len(candidate), len(references)), *counts]


_KINDS = ("object", "attribute", "relation")


def _match(fact: Fact, other: Fact) -> bool:
    for concept, counterpart in zip(fact, other, strict=True):  # noqa: SIM110 - twice as fast as all()
        if concept.isdisjoint(counterpart):
            return False
    return True


def _category(attribute: Concept) -> str | None:
    """The kind of an attribute; one that several names were merged to has none."""
    names = names_of(attribute)
    return CATEGORY_OF.get(names[0]) if len(names) == 1 else None


def agreement(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Precision, recall and their F1, float64[..., 3], of what ``count`` gives, float64[..., 3].

    Each is 0 where there is nothing to divide by.
    """
    matched, ours, theirs = np.moveaxis(counts, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(ours > 0, matched / ours, 0.0)
        recall = np.where(theirs > 0, matched / theirs, 0.0)
        f1 = np.where(matched > 0, 2 * precision * recall / (precision + recall), 0.0)
    return np.stack([precision, recall, f1], axis=-1)
