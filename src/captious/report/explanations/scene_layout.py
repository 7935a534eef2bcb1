"""Layout of two scene graphs: the row of each tuple, which the drawings of files and pages share.

Each object is a block with the tuples about it. Objects and tuples that match share a row. ``scene_drawing`` draws the
rows to files, ``assets/explanations/scene_graphs.js`` on pages.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from captious.scenes.spice_explanation import SceneExplanation

_Tuples: TypeAlias = Sequence[tuple[Hashable, ...]]
_Block: TypeAlias = tuple[int | None, int | None]
"""The numbers of two objects that match, or of one without a match."""


def explained_rows(explanation: SceneExplanation) -> tuple[list[int], list[int]]:
    """Return ``scene_rows`` of an explanation."""
    references = [fact.names for fact in explanation.references]
    number = {names: i for i, names in enumerate(references)}
    matches = [None if fact.match is None else number[fact.match] for fact in explanation.candidate]
    return scene_rows([fact.names for fact in explanation.candidate], references, matches)


def scene_rows(candidate: _Tuples, references: _Tuples, matches: Sequence[int | None]) -> tuple[list[int], list[int]]:
    """Return the row of each tuple of the candidate and of the references, from the top.

    Args:
        candidate, references: distinct tuples, including all objects that occur in them.
        matches: the number of the reference tuple that matches each of the candidate's, or None.
    """
    sides = _Side.of(candidate), _Side.of(references)
    blocks = _ordered(_blocks(sides, matches), sides)
    for left, right in blocks:
        if left is not None and right is not None:
            _align(sides[0].about[left], sides[1].about[right], matches)
    return _placed(blocks, sides)


@dataclass(frozen=True)
class _Side:
    """A scene graph: for each object, the numbers of its tuples, and of the objects that its relations lead to.

    Args:
        n_tuples: number of tuples.
    """

    n_tuples: int
    about: dict[int, list[int]]
    ends: dict[int, list[int]]

    @classmethod
    def of(cls, tuples: _Tuples) -> _Side:
        number = {names[0]: i for i, names in enumerate(tuples) if len(names) == 1}
        about: dict[int, list[int]] = {i: [] for i in number.values()}
        ends: dict[int, list[int]] = {i: [] for i in number.values()}
        for i, names in enumerate(tuples):
            if len(names) > 1:
                about[number[names[0]]].append(i)
            if len(names) > 2:
                ends[number[names[0]]].append(number[names[2]])
        return cls(len(tuples), about, ends)


_Sides: TypeAlias = tuple[_Side, _Side]


def _blocks(sides: _Sides, matches: Sequence[int | None]) -> list[_Block]:
    """Return pairs of matching objects, then unmatched ones of the candidate, then of the references, largest first."""
    candidate, reference = sides
    alone = dict.fromkeys(reference.about)
    pairs: list[_Block] = []
    singles: list[_Block] = []
    for fact in candidate.about:
        match = matches[fact]
        if match in alone:
            pairs.append((fact, match))
            del alone[match]
        else:
            singles.append((fact, None))
    groups: tuple[list[_Block], ...] = (pairs, singles, [(None, fact) for fact in alone])
    return [block for group in groups for block in sorted(group, key=lambda block: -_size(block, sides))]


def _size(block: _Block, sides: _Sides) -> int:
    return sum(len(sides[side].about[one]) for side, one in _members(block))


def _ordered(blocks: Sequence[_Block], sides: _Sides) -> list[_Block]:
    """Order blocks so that each is before those of its kind that its relations lead to."""
    block_of = {(side, one): block for block in blocks for side, one in enumerate(block)}
    ordered: dict[_Block, None] = {}
    for first in blocks:
        waiting = [first]
        while waiting:
            block = waiting.pop()
            if block in ordered or _kind(block) != _kind(first):
                continue
            ordered[block] = None
            for side, one in reversed(_members(block)):
                waiting += [block_of[side, end] for end in reversed(sides[side].ends[one])]
    return [*ordered]


def _kind(block: _Block) -> tuple[bool, bool]:
    return block[0] is None, block[1] is None


def _members(block: _Block) -> list[tuple[int, int]]:
    """Return the side and the number of each object of a block."""
    return [(side, one) for side, one in enumerate(block) if one is not None]


def _align(candidate: list[int], reference: list[int], matches: Sequence[int | None]) -> None:
    """Put matching tuples of two objects first, in the same order."""
    shared = {match: row for row in reversed(candidate) if (match := matches[row]) in reference}
    first = [match for row in candidate if (match := matches[row]) in shared and shared[match] == row]
    candidate.sort(key=lambda row: row not in shared.values())
    reference[:] = [*first, *(row for row in reference if row not in first)]


def _placed(blocks: Sequence[_Block], sides: _Sides) -> tuple[list[int], list[int]]:
    rows = [0] * sides[0].n_tuples, [0] * sides[1].n_tuples
    ends = [0, 0]
    for block in blocks:
        members = [(side, one, sides[side].about[one]) for side, one in _members(block)]
        top = max(ends[side] for side, _, _ in members)
        height = max(max(1, len(about)) for _, _, about in members)
        for side, one, about in members:
            rows[side][one] = top
            for row, place in enumerate(about, top):
                rows[side][place] = row
            ends[side] = top + height
    return rows
