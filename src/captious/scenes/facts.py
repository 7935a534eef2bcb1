"""Facts, the distinct tuples of scene graphs, and their matching between candidate and references, by category.

Anderson, Fernando, Johnson and Gould 2016 (SPICE), sections 3.3 and 3.4. Two tuples match if each concept of one
matches the corresponding concept of the other. A tuple of the candidate is counted once, a tuple of the references as
often as it is matched.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from captious.scenes.scene_graph import SceneGraph
from captious.scenes.synonyms import Concept, names_of

Fact: TypeAlias = tuple[Concept, ...]
"""A tuple of merged concepts: ``(object,)``, ``(object, attribute)`` or ``(subject, relation, object)``."""

KINDS = ("object", "attribute", "relation")
#: All facts; three kinds of them; three kinds of attributes.
CATEGORIES = ("all", *KINDS, "cardinality", "color", "size")

_NUMBERS = "one two three four five six seven eight nine ten"
_COLORS = "beige black blue brown cream dark gray green grey light maroon orange pink purple red violet white yellow"
_SIZES = (
    "baby big bony compact curvy enormous expansive fat full-size gaunt giant gigantic grand great heavy huge large "
    "lean life-size little massive mini miniature narrow overweight plump scanty short skinny slender small squat "
    "sturdy tall thick thin tiny trim vast wide"
)
_OTHER_SIZES = (
    "ample boundless brawny bulky burly colossal cosmic elephantine elfin emaciated endless epic extensive fleshy "
    "gargantuan hefty hulking illimitable immeasurable immense infinitesimal lanky limitless mammoth meager measly "
    "mega microscopic minuscule minute monstrous obese oversize petite pint-size pocket-size portly prodigious puny "
    "rangy scraggy scrawny sizable skeletal skimpy slim stocky stout strapping teensy teeny thickset titanic "
    "towering tubby undersized unlimited wee whopping"
)

#: Attributes that are counted separately: cardinality, color or size, by word. Numbers and colors are those of the
#: official program. The first list of sizes has those that show in its scores of some 80,000 captions; the others are
#: words for size that none of these captions has.
CATEGORY_OF: dict[str, str] = {
    **dict.fromkeys(_NUMBERS.split(), "cardinality"),
    **dict.fromkeys(_COLORS.split(), "color"),
    **dict.fromkeys(f"{_SIZES} {_OTHER_SIZES}".split(), "size"),
}


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
        by_category: dict[str, list[Fact]] = {name: [] for name in CATEGORIES[1:]}
        by_category["object"] = [(thing,) for thing in dict.fromkeys(objects)]
        by_category["attribute"] = [*attributes]
        by_category["relation"] = [*relations]
        for fact in attributes:
            category = _category(fact[1])
            if category is not None:
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
