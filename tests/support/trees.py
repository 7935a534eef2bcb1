"""Phrase structure trees: constituents above words, as a constituency parser makes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from captious.parsing.dependencies import constituents, dependencies
from captious.parsing.tree_parser import TreeParser

__all__ = ["Tree", "basic_dependencies", "in_preorder", "parse"]

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
            ValueError: brackets that do not pair, or text outside of them.
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
        raise ValueError(f"not a tree in brackets: {text}")

    def __str__(self) -> str:
        """Return the tree in brackets, on one line."""
        if self.word is not None:
            return f"({self.label} {self.word})"
        return f"({self.label} {' '.join(map(str, self.children))})"

    def tags(self) -> Iterator[Tree]:
        """Yield the tags above the words, from left to right."""
        if self.word is not None:
            yield self
        for child in self.children:
            yield from child.tags()


def in_preorder(tree: Tree) -> list[tuple[str, int, str]]:
    """Label, number of children and word of every node, as ``constituents`` takes them."""
    items: list[tuple[str, int, str]] = []
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        if node.word is None:
            items.append((node.label, len(node.children), ""))
            waiting.extend(node.children[::-1])
        else:
            items.append((node.label, 0, node.word))
    return items


def basic_dependencies(tree: Tree) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Return the head of each word, counted from 1 with 0 for the root, and the relation of each word to its head."""
    return dependencies(constituents(in_preorder(tree)))


def parse(parser: TreeParser, sentences: Sequence[Sequence[str]]) -> list[Tree | None]:
    """Return the tree of each sentence, given as its words; None for one without words."""
    trees = parser.trees(sentences)
    bounds = trees.offsets.tolist()
    columns = (trees.labels.tolist(), trees.parents.tolist(), trees.begins.tolist(), trees.is_tag.tolist())
    nodes = list(zip(*columns, strict=True))
    return [
        _tree(nodes[begin:end], trees.names, sentence)
        for begin, end, sentence in zip(bounds[:-1], bounds[1:], sentences, strict=True)
    ]


def _tree(nodes: list[tuple[int, int, int, bool]], names: tuple[str, ...], words: Sequence[str]) -> Tree | None:
    """Return a tree of nodes in preorder: label, node above, first word, whether it is a tag."""
    children: list[list[Tree]] = [[] for _ in nodes]
    tree = None
    for place in range(len(nodes) - 1, -1, -1):
        label, parent, begin, is_tag = nodes[place]
        tree = Tree(names[label], (), words[begin]) if is_tag else Tree(names[label], tuple(reversed(children[place])))
        if parent >= 0:
            children[parent].append(tree)
    return tree
