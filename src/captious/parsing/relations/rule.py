"""What a rule of dependency is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from captious.parsing.head_tree import Node

__all__ = ["Rule"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """Says by which relation a constituent depends on the head of the constituent around it.

    Args:
        relation: a relation of Universal Dependencies, version 1.
        example: a tree where the rule decides; the word whose relation it finds is marked with a star.
        child: labels that the constituent may have, parted by blanks; any if empty.
        of: labels that the constituent around it may have.
        head: labels that the head child of the constituent around it may have.
        side: where it stands, "before" or "after" that head child; either if empty.
        when: what else must be true of it.
        governor: what it depends on, where that is not the head child of the constituent around it.
    """

    relation: str
    example: str
    child: str = ""
    of: str = ""
    head: str = ""
    side: str = ""
    when: Callable[[Node], bool] | None = None
    governor: Callable[[Node], Node] | None = None

    def fits(self, child: str, of: str, head: str, before: bool) -> bool:
        """Whether labels and side are right."""
        return (
            (not self.child or child in self.child.split())
            and (not self.of or of in self.of.split())
            and (not self.head or head in self.head.split())
            and (not self.side or before == (self.side == "before"))
        )
