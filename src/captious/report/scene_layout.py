"""Where the nodes of two scene graphs stand: objects in the middle, their attributes and relations outside of them.

Each object is a block with the tuples that are about it. Objects and tuples that match are in one row. The pages of
reports have the same layout (``assets/scene_graphs.js``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from captious.scenes.spice_explanation import Names, SceneExplanation

__all__ = ["Layout", "SceneObject", "SceneTuple", "scene_layout"]


@dataclass(eq=False)
class SceneTuple:
    """An attribute or a relation.

    Args:
        names: the tuple.
        match: the tuple of the references that it is or matches, or None.
        target: what a relation ends at.
        row: from the top.
    """

    names: Names
    match: Names | None
    target: SceneObject | None
    row: int = 0


@dataclass(eq=False)
class SceneObject:
    """An object.

    Args:
        names: the tuple.
        match: as for a ``SceneTuple``.
        tuples: its attributes and relations, from top to bottom.
        row: from the top.
    """

    names: Names
    match: Names | None = None
    tuples: list[SceneTuple] = field(default_factory=list)
    row: int = 0


_Block = tuple[SceneObject | None, SceneObject | None]


@dataclass(frozen=True)
class Layout:
    """Both graphs.

    Args:
        sides: the objects of the candidate and those of the references.
        pairs: objects that match.
        n_rows: rows of both.
    """

    sides: tuple[Sequence[SceneObject], Sequence[SceneObject]]
    pairs: Sequence[tuple[SceneObject, SceneObject]]
    n_rows: int


def scene_layout(explanation: SceneExplanation) -> Layout:
    """The layout of the graphs of a candidate and of its references."""
    ours = _objects((fact.names, fact.match) for fact in explanation.candidate)
    theirs = _objects((fact.names, fact.names if fact.matched else None) for fact in explanation.references)
    blocks = _ordered(_blocks(ours, theirs))
    pairs = [(left, right) for left, right in blocks if left is not None and right is not None]
    for left, right in pairs:
        _align(left, right)
    return Layout((ours, theirs), pairs, _place(blocks))


def _objects(facts: Iterable[tuple[Names, Names | None]]) -> list[SceneObject]:
    objects: dict[Names, SceneObject] = {}

    def of(names: Names) -> SceneObject:
        return objects.setdefault(names, SceneObject(names))

    for names, match in facts:
        subject = of(names[:1])
        if len(names) == 1:
            subject.match = match
        else:
            subject.tuples.append(SceneTuple(names, match, of(names[2:]) if len(names) > 2 else None))
    return [*objects.values()]


def _blocks(ours: Sequence[SceneObject], theirs: Sequence[SceneObject]) -> list[_Block]:
    """Pairs of objects that match, and objects that are alone."""
    partners: dict[Names | None, SceneObject] = {other.match: other for other in theirs if other.match is not None}
    blocks: list[_Block] = [(one, partners.pop(one.match, None)) for one in ours]
    paired = {other for _, other in blocks}
    return [*blocks, *((None, other) for other in theirs if other not in paired)]


def _ordered(blocks: Sequence[_Block]) -> list[_Block]:
    """Pairs, then the candidate's, then the references'; each before those that its relations end at."""
    block_of = {one: block for block in blocks for one in block if one is not None}
    ordered: dict[_Block, None] = {}

    def visit(block: _Block, rank: int) -> None:
        if block in ordered or _rank(block) != rank:
            return
        ordered[block] = None
        for one in block:
            for each in one.tuples if one is not None else ():
                if each.target is not None:
                    visit(block_of[each.target], rank)

    for rank in range(3):
        for block in sorted(blocks, key=lambda block: -sum(len(one.tuples) for one in block if one is not None)):
            visit(block, rank)
    return [*ordered]


def _rank(block: _Block) -> int:
    left, right = block
    return 0 if left is not None and right is not None else 1 if left is not None else 2


def _align(left: SceneObject, right: SceneObject) -> None:
    """Put the tuples of both that match first, in one order."""
    partners: Mapping[Names | None, SceneTuple] = {each.match: each for each in right.tuples if each.match is not None}
    shared = {each.match: each for each in reversed(left.tuples) if each.match in partners}
    left.tuples.sort(key=lambda each: each not in shared.values())
    first = [partners[each.match] for each in left.tuples[: len(shared)]]
    right.tuples = [*first, *(each for each in right.tuples if each not in first)]


def _place(blocks: Sequence[_Block]) -> int:
    """Give every node its row; the number of rows."""
    ends = [0, 0]
    for block in blocks:
        sides = [(side, one) for side, one in enumerate(block) if one is not None]
        top = max(ends[side] for side, _ in sides)
        height = max(max(1, len(one.tuples)) for _, one in sides)
        for side, one in sides:
            one.row = top
            for place, each in enumerate(one.tuples):
                each.row = top + place
            ends[side] = top + height
    return max(ends)
