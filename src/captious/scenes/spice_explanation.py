"""Explanation of a SPICE score: the tuples of both sides, which of them match, and by which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from captious.resources.meteor_tables import MeteorTables
from captious.scenes.facts import KINDS, Fact, Facts, agreement, count
from captious.scenes.scene_graph import SceneGraph
from captious.scenes.synonyms import Concept, Synonyms, names_of, synonyms
from captious.scenes.tuples import Tuple

Names: TypeAlias = tuple[tuple[str, ...], ...]
"""The names of each part of (object,), (object, attribute) or (subject, relation, object); there may be several."""


@dataclass(frozen=True)
class SceneFact:
    """A tuple of the candidate's scene graph and its match.

    Args:
        kind: object, attribute or relation.
        names: the tuple.
        match: the first tuple of the references that matches, or None.
        status: how they match: ``same`` names or ``synonyms``; None without a match.
        through: if a synonym among several names matches, the name of the candidate and that of the references.
    """

    kind: str
    names: Names
    match: Names | None
    status: str | None
    through: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ReferenceFact:
    """A tuple of the references' scene graph.

    Args:
        names: the tuple.
        matched: whether a tuple of the candidate matches.
    """

    names: Names
    matched: bool


@dataclass(frozen=True)
class SceneExplanation:
    """The tuples of a candidate and those of its references.

    Args:
        candidate_tuples: tuples of the candidate, before merging.
        reference_tuples: the same for each reference.
        candidate: tuples of the candidate's scene graph.
        references: tuples of the references' scene graph.
        matched: number of the candidate's tuples that match.
        precision: share of the candidate's tuples that match, 0 to 1.
        recall: the same number over the number of reference tuples, 0 or more.
        score: their F1.
    """

    kind: ClassVar[str] = "scene"

    candidate_tuples: tuple[Tuple, ...]
    reference_tuples: tuple[tuple[Tuple, ...], ...]
    candidate: tuple[SceneFact, ...]
    references: tuple[ReferenceFact, ...]
    matched: int
    precision: float
    recall: float
    score: float


def explain(
    candidate: tuple[Tuple, ...], references: Sequence[tuple[Tuple, ...]], tables: MeteorTables
) -> SceneExplanation:
    """Match the tuples of a candidate with those of its references as in SPICE.

    Raises:
        ResourceError: METEOR's tables are damaged.
    """
    lexicon = synonyms(tables)
    candidate_tuples, reference_tuples = candidate, tuple(references)
    facts = Facts.of(SceneGraph(lexicon, candidate_tuples))
    reference_facts = Facts.of(SceneGraph(lexicon, (item for reference in reference_tuples for item in reference)))
    matches = [(kind, fact, reference_facts.find(fact, kind)) for kind in KINDS for fact in facts.by_category[kind]]
    matched = {match for _, _, match in matches}
    precision, recall, score = agreement(np.array(count(facts, reference_facts)[0], np.float64)).tolist()
    return SceneExplanation(
        candidate_tuples=candidate_tuples,
        reference_tuples=reference_tuples,
        candidate=tuple(_scene_fact(kind, fact, match, lexicon) for kind, fact, match in matches),
        references=tuple(
            ReferenceFact(_names(fact), fact in matched) for kind in KINDS for fact in reference_facts.by_category[kind]
        ),
        matched=sum(match is not None for _, _, match in matches),
        precision=precision,
        recall=recall,
        score=score,
    )


def _scene_fact(kind: str, fact: Fact, match: Fact | None, lexicon: Synonyms) -> SceneFact:
    if match is None:
        return SceneFact(kind, _names(fact), None, None, ())
    names, match_names = _names(fact), _names(match)
    pairs = [_common_names(concept, counterpart, lexicon) for concept, counterpart in zip(fact, match, strict=True)]
    through = dict.fromkeys(
        pair
        for pair, concept, counterpart in zip(pairs, names, match_names, strict=True)
        if pair[0] != pair[1] and (len(concept) > 1 or len(counterpart) > 1)
    )
    status = "same" if all(concept == counterpart for concept, counterpart in pairs) else "synonyms"
    return SceneFact(kind, names, match_names, status, tuple(through))


def _names(fact: Fact) -> Names:
    return tuple(tuple(names_of(concept)) for concept in fact)


def _common_names(concept: Concept, counterpart: Concept, lexicon: Synonyms) -> tuple[str, str]:
    """Return a name of each, the same if they have one in common, else two synonyms."""
    pairs = [(name, synonym) for name in names_of(concept) for synonym in names_of(counterpart)]
    common = [pair for pair in pairs if pair[0] == pair[1]]
    alike = (pair for pair in pairs if not lexicon.concept_of(pair[0]).isdisjoint(lexicon.concept_of(pair[1])))
    return common[0] if common else next(alike)
