"""A phrase structure tree: constituents above words, as a constituency parser makes it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from captious.errors import ParameterError

__all__ = ["Tree"]

_PIECE = re.compile(r"[()]|[^ \t\r\n()]+")


class Tree:
    """A constituent with its children, or, above a single word, a tag with its word.

    Args:
        label: category of the constituent (``NP``) or part of speech (``NN``).
        children: from left to right; empty where there is a word.
        word: the word under a tag, else None.
    """

    __slots__ = ("children", "label", "word")

    def __init__(self, label: str, children: tuple[Tree, ...] = (), word: str | None = None) -> None:
        self.label = label
        self.children = children
        self.word = word

    @classmethod
    def from_brackets(cls, text: str) -> Tree:
        """Read ``(NP (DT a) (NN dog))``, the form of the Penn Treebank.

        Raises:
            ParameterError: brackets that do not pair, or text outside of them.
        """
        stack: list[tuple[str, list[Tree]]] = []
        pieces = _PIECE.findall(text)
        position = 0
        while position < len(pieces):
            piece = pieces[position]
            if piece == "(" and position + 1 < len(pieces) and pieces[position + 1] not in "()":
                label = pieces[position + 1]
                if position + 3 < len(pieces) and pieces[position + 2] not in "()" and pieces[position + 3] == ")":
                    done = cls(label, word=pieces[position + 2])
                    position += 4
                else:
                    stack.append((label, []))
                    position += 2
                    continue
            elif piece == ")" and stack and stack[-1][1]:
                label, children = stack.pop()
                done = cls(label, tuple(children))
                position += 1
            else:
                break
            if stack:
                stack[-1][1].append(done)
            elif position == len(pieces):
                return done
            else:
                break
        raise ParameterError("not a tree in brackets", where=text, help="write trees as (NP (DT a) (NN dog))")

    def __str__(self) -> str:
        """The tree in brackets, on one line."""
        if self.word is not None:
            return f"({self.label} {self.word})"
        return f"({self.label} {' '.join(map(str, self.children))})"

    def tags(self) -> Iterator[Tree]:
        """The tags above the words, from left to right."""
        if self.word is not None:
            yield self
        for child in self.children:
            yield from child.tags()
