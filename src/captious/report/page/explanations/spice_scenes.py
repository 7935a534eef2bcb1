"""SPICE: the tuples of each candidate and of the references of each image, their matches and their rows."""

from __future__ import annotations

from typing import Any

from captious.metrics.spice import Spice
from captious.report import numbers
from captious.report.explanations.scene_layout import scene_rows
from captious.report.page.explanations.explained import Explained
from captious.scenes.facts import KINDS, Fact, Facts
from captious.scenes.synonyms import names_of

_BETWEEN = "\x1f"  # between the names of one thing


class _Graphs:
    """Scene graphs as numbers: counts of objects, attributes and relations, and their names."""

    def __init__(self, names: dict[str, int]) -> None:
        self._names = names
        self._known: dict[object, int] = {}
        self.counts: list[list[int]] = [[], [], []]
        self.concepts: list[int] = []

    def add(self, facts: Facts) -> None:
        for counts, kind in zip(self.counts, KINDS, strict=True):
            of_kind = facts.by_category[kind]
            counts.append(len(of_kind))
            self.concepts += [self._number(concept) for fact in of_kind for concept in fact]

    def _number(self, concept: Any) -> int:
        number = self._known.get(concept)
        if number is None:
            name = _BETWEEN.join(numbers.single_line(name).strip() for name in names_of(concept))
            number = self._known[concept] = self._names.setdefault(name, len(self._names))
        return number


def pack(metric: Spice, explained: Explained) -> dict[str, Any]:
    """Pack the counts and names of every graph, for every tuple of a candidate the number of its match, from 1, or 0,
    and for each candidate the rows of its tuples and of those of the references.
    """
    columns, rows = explained.columns, explained.rows.tolist()
    names: dict[str, int] = {}
    references: tuple[Facts, ...] = explained.reports[0].captions.references.layer(metric.layer)
    reference_graphs = _Graphs(names)
    for row in rows:
        reference_graphs.add(references[row])
    systems = []
    for report in explained.reports:
        candidates: tuple[Facts, ...] = report.single_captions.layer(metric.layer)[0]
        candidate_graphs = _Graphs(names)
        matches: list[int] = []
        row_lists: tuple[list[int], list[int]] = [], []
        for row in rows:
            candidate_graphs.add(candidates[row])
            partners = _matches(candidates[row], references[row])
            matches += [0 if match is None else match + 1 for match in partners]
            for all_rows, of_image in zip(
                row_lists, scene_rows(_tuples(candidates[row]), _tuples(references[row]), partners), strict=True
            ):
                all_rows += of_image
        systems.append(
            {
                **_packed(candidate_graphs, explained),
                "matches": columns.integers(matches),
                "rows": [columns.integers(side) for side in row_lists],
            }
        )
    return {
        "references": _packed(reference_graphs, explained),
        "systems": systems,
        "names": columns.strings([*names]),
        "between": _BETWEEN,
    }


def _tuples(facts: Facts) -> list[Fact]:
    return [fact for kind in KINDS for fact in facts.by_category[kind]]


def _matches(candidate: Facts, references: Facts) -> list[int | None]:
    """Return the number of the reference tuple that matches each tuple of the candidate."""
    number: dict[Fact | None, int] = {fact: i for i, fact in enumerate(_tuples(references))}
    return [number.get(references.find(fact, kind)) for kind in KINDS for fact in candidate.by_category[kind]]


def _packed(graphs: _Graphs, explained: Explained) -> dict[str, Any]:
    columns = explained.columns
    return {
        "counts": [columns.integers(counts) for counts in graphs.counts],
        "concepts": columns.integers(graphs.concepts),
    }
