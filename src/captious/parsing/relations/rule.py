"""What a rule of dependency is."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from captious.parsing.head_tree import Node

__all__ = ["Rule"]

_PLACE = re.compile(r"(?P<child>.+?)(?: (?P<side>before|after|beside) (?P<head>.+?))?(?: in (?P<of>.+))?")
_ANY = frozenset(("any", "head", "beside"))  # what restricts nothing


@dataclass(frozen=True)
class Rule:
    """Says by which relation a constituent depends on the head of the constituent around it.

    Args:
        relation: a relation of Universal Dependencies, version 1.
        place: where the constituent stands, in labels parted by blanks: ``NP before VP in S SINV`` is an NP before a
            head child that is a VP, in an S or SINV. ``after`` and ``beside`` (either side) are as ``before``; ``any``
            is any constituent, ``head`` any head child, and what is not said may be anything.
        example: a tree where the rule decides; the word whose relation it finds is marked with a star.
        when: what else must be true of it.
        governor: what it depends on, where that is not the head child of the constituent around it.
    """

    relation: str
    place: str
    example: str
    when: Callable[[Node], bool] | None = None
    governor: Callable[[Node], Node] | None = None

    @cached_property
    def _labels(self) -> dict[str, frozenset[str]]:
        """The labels that child, head and of (the constituent around) may have, and the sides; none for any."""
        found = _PLACE.fullmatch(self.place)
        assert found is not None, self.place
        return {part: frozenset((said or "any").split()) - _ANY for part, said in found.groupdict().items()}

    def fits(self, child: str, of: str, head: str, before: bool) -> bool:
        """Whether labels and side are right."""
        given = {"child": child, "of": of, "head": head, "side": "before" if before else "after"}
        return all(not allowed or given[part] in allowed for part, allowed in self._labels.items())
