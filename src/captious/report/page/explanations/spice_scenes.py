"""SPICE: the tuples of each candidate and of the references of each image, and which of them match."""

from __future__ import annotations

from typing import Any

from captious.metrics.spice import Spice
from captious.report import numbers
from captious.report.page.explanations.explained import Explained
from captious.scenes.facts import Fact, Facts
from captious.scenes.synonyms import names_of

__all__ = ["pack"]

_KINDS = ("object", "attribute", "relation")
_BETWEEN = "\x1f"  # between the names of one thing


class _Graphs:
    """Scene graphs as numbers: of each the number of its objects, attributes and relations, and their names."""

    def __init__(self, names: dict[str, int]) -> None:
        self._names = names
        self._known: dict[object, int] = {}
        self.counts: list[list[int]] = [[], [], []]
        self.concepts: list[int] = []

    def add(self, facts: Facts) -> None:
        for counts, kind in zip(self.counts, _KINDS, strict=True):
            of_kind = facts.by_category[kind]
            counts.append(len(of_kind))
            self.concepts += [self._number(concept) for fact in of_kind for concept in fact]

    def _number(self, concept: Any) -> int:
        number = self._known.get(concept)
        if number is None:
            name = _BETWEEN.join(numbers.plain(name).strip() for name in names_of(concept))
            number = self._known[concept] = self._names.setdefault(name, len(self._names))
        return number


def pack(metric: Spice, explained: Explained) -> dict[str, Any]:
    """Of every graph its counts and names; of every tuple of a candidate the number of its match, from 1, or 0."""
    columns, rows = explained.columns, explained.rows.tolist()
    names: dict[str, int] = {}
    references: tuple[Facts, ...] = explained.reports[0].captions.references.layer(metric.layer)
    theirs = _Graphs(names)
    places: list[dict[Fact, int]] = []
    for row in rows:
        theirs.add(references[row])
        facts = [fact for kind in _KINDS for fact in references[row].by_category[kind]]
        places.append({fact: number for number, fact in enumerate(facts, 1)})
    systems = []
    for report in explained.reports:
        candidates: tuple[Facts, ...] = report.single_captions.layer(metric.layer)[0]
        ours = _Graphs(names)
        matches: list[int] = []
        for row, place in zip(rows, places, strict=True):
            ours.add(candidates[row])
            for kind in _KINDS:
                for fact in candidates[row].by_category[kind]:
                    match = references[row].find(fact, kind)
                    matches.append(0 if match is None else place[match])
        systems.append({**_packed(ours, explained), "matches": columns.integers(matches)})
    return {
        "references": _packed(theirs, explained),
        "systems": systems,
        "names": columns.strings([*names]),
        "between": _BETWEEN,
    }


def _packed(graphs: _Graphs, explained: Explained) -> dict[str, Any]:
    columns = explained.columns
    return {
        "counts": [columns.integers(counts) for counts in graphs.counts],
        "concepts": columns.integers(graphs.concepts),
    }
