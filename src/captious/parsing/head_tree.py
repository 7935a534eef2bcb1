"""Constituents in their places, linked so that the rules of dependency can look around."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Node"]


class Node:
    """A constituent with its children, or the tag above a word.

    Args:
        label: category or part of speech.
        children: from left to right; none above a word.
        word: the word under a tag in lower case, else empty.
        number: which word it is, from 1; 0 for constituents.

    Attributes:
        parent: the constituent around it; of the root, itself.
        index: its place among its siblings, from 0.
        head_child: the child that its other children depend on; above a word, itself.
        head: the tag of the word that stands for it; above a word, itself.
    """

    __slots__ = ("children", "head", "head_child", "index", "label", "number", "parent", "word")

    def __init__(self, label: str, children: Sequence[Node] = (), word: str = "", number: int = 0) -> None:
        self.label = label
        self.children = children
        self.word = word
        self.number = number
        self.parent = self.head_child = self.head = self
        self.index = 0
        for index, child in enumerate(children):
            child.parent = self
            child.index = index

    @property
    def governor(self) -> Node:
        """The head child of its parent, which it depends on unless it is that child."""
        return self.parent.head_child

    @property
    def before(self) -> Sequence[Node]:
        """Its siblings to the left."""
        return self.parent.children[: self.index]

    @property
    def after(self) -> Sequence[Node]:
        """Its siblings to the right."""
        return self.parent.children[self.index + 1 :]
