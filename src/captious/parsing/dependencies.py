"""From a phrase structure tree to basic dependencies, by rules.

1. What a flat phrase lacks is added (`captious.parsing.implied_constituents`).
2. From the words up every constituent gets its head child (`captious.parsing.heads`).
3. The head of every other child depends on the head of the constituent; the first rule that fits decides how
   (`captious.parsing.relations`).

The relations are those of Universal Dependencies, version 1, in the form that Stanford CoreNLP 3.6.0 gives them
(de Marneffe et al. 2014, "Universal Stanford Dependencies: a cross-linguistic typology"); the rules were derived from a
treebank of captions that this program parsed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from captious.parsing.heads import Node, find_head
from captious.parsing.implied_constituents import grouped
from captious.parsing.relations.rules import find_rule

__all__ = ["constituents", "dependencies"]


def constituents(items: Sequence[tuple[str, int, str]]) -> list[Node]:
    """The constituents of a tree with their heads, each after all that are inside it; the root is the last.

    Args:
        items: constituents and tags in preorder: label, number of children (0 for a tag) and word (empty for a
            constituent).
    """
    nodes: list[Node] = []

    def gather(label: str, children: Sequence[Node]) -> Node:
        node = Node(label, grouped(label, children, gather))
        nodes.append(node)
        return node

    number = sum(not arity for _, arity, _ in items)
    ready: list[Node] = []  # from right to left
    for label, arity, word in reversed(items):
        if arity:
            children = ready[: -arity - 1 : -1]
            del ready[-arity:]
            ready.append(gather(label, children))
        else:
            ready.append(Node(label, (), word.lower(), number))
            number -= 1
    gather("ROOT", ready)
    for node in nodes:
        find_head(node)
    return nodes


def dependencies(nodes: Iterable[Node]) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The head of each word, counted from 1 with 0 for the root, and the relation of each word to its head.

    Args:
        nodes: the constituents of a tree with their heads, each after all that are inside it.
    """
    edges: dict[int, tuple[int, str]] = {}
    root = 0
    for node in nodes:
        head_child = node.head_child
        root = number = node.head.number
        for child in node.children:
            if child is not head_child:
                rule = find_rule(child)
                governor = number if rule.governor is None else rule.governor(child).head.number
                edges[child.head.number] = governor, rule.relation
    edges[root] = 0, "root"
    heads, relations = zip(*(edges[number] for number in range(1, len(edges) + 1)), strict=True)
    return heads, relations
