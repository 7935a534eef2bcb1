"""Rule-based conversion of phrase structure trees to basic dependencies.

1. Constituents missing in flat phrases are added.
2. Bottom-up, every constituent gets its head child (`captious.parsing.heads`).
3. The head of every other child depends on the head of the constituent; the first rule that fits determines the
  relation
   (`captious.parsing.relations`).

The relations are those of Universal Dependencies, version 1, as in Stanford CoreNLP 3.6.0 (de Marneffe et al. 2014,
"Universal Stanford Dependencies: a cross-linguistic typology"); the rules were derived from a treebank of captions
parsed by this program.

The first step: in ``(NP (DT a) (JJ black) (CC and) (JJ white) (NN dog))`` two adjectives are coordinated, in ``(NP (DT
a) (NN table) (CC and) (JJ wooden) (NNS chairs))`` two noun phrases, but no constituent groups them; nor does one group
*instead of*. The first step adds these constituents, so that every rule needs only a constituent, its head child and
one other child. (Universal Dependencies attach the conjunction and the second conjunct to the first, and the second
word of a multi-word preposition to its first.)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from captious.parsing.heads import MULTI_WORD, MULTI_WORD_ADVERBS, PAIRING, Node, find_head
from captious.parsing.relations import find_rule

Gather = Callable[[str, Sequence[Node]], Node]

_NOMINAL = frozenset(("NP", "NP-TMP", "NX", "NAC"))
_ADJECTIVES = frozenset(("JJ", "JJR", "JJS"))
_HOLDS_EXPRESSION = frozenset(("PP", "SBAR", "QP", "ADVP"))
_PLURAL = frozenset(("NNS", "NNPS"))


def constituents(items: Sequence[tuple[str, int, str]]) -> list[Node]:
    """Return the constituents of a tree with their heads, in postorder; the root is the last.

    Args:
        items: constituents and tags in preorder: label, number of children (0 for a tag) and word (empty for a
            constituent).
    """
    nodes: list[Node] = []

    def gather(label: str, children: Sequence[Node]) -> Node:
        node = Node(label, _grouped(label, children, gather))
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
    """Return the head of each word, counted from 1 with 0 for the root, and the relation of each word to its head.

    Args:
        nodes: the constituents of a tree with their heads, in postorder.
    """
    edges: dict[int, tuple[int, str]] = {}
    root = 0
    for node in nodes:
        head_child = node.head_child
        root = number = node.head.number
        for child in node.children if len(node.children) > 1 else ():
            if child is not head_child:
                rule = find_rule(child)
                governor = number if rule.governor is None else rule.governor(child).head.number
                edges[child.head.number] = governor, rule.relation
    edges[root] = 0, "root"
    heads, relations = zip(*(edges[number] for number in range(1, len(edges) + 1)), strict=True)
    return heads, relations


def _grouped(label: str, children: Sequence[Node], gather: Gather) -> Sequence[Node]:
    """Return the children of a constituent, some of them grouped under new constituents.

    Args:
        label: category of the constituent.
        children: children in the tree.
        gather: creates a constituent from a category and children.
    """
    if len(children) == 1:
        return children
    labels = [child.label for child in children]
    if "CC" in labels and "CC" in labels[1:-1]:
        return _coordination(label, children, labels, gather)
    if label in _HOLDS_EXPRESSION:
        return _expression(label, children, labels, gather)
    return children


def _expression(label: str, children: Sequence[Node], labels: list[str], gather: Gather) -> Sequence[Node]:
    """Group the words of an expression: a preposition, conjunction or adverb, an amount of money."""
    first, second = children[:2]
    if label == "ADVP":
        if _are_one(first, second, MULTI_WORD_ADVERBS):
            return [gather("RB", children[:2]), *children[2:]]  # "as well"
        return children
    if label == "QP" and first.label == "$" and len(labels) > 2:
        return [first, gather("QP", children[1:])]  # $ (5 million)
    if label == "QP" and labels[:2] == ["IN", "JJS"]:
        return [gather("ADVP", children[:2]), *children[2:]]  # at least two
    if _are_one(first, second, MULTI_WORD) or (label == "SBAR" and (first.word, second.word) == ("in", "case")):
        return [gather("IN", children[:2]), *children[2:]]  # because of rain, in case he falls
    return children


def _are_one(first: Node, second: Node, expressions: Mapping[str, Collection[str]]) -> bool:
    """Return whether two words are one expression, even if the second has a constituent of its own: in (order)"""
    if first.word not in expressions:
        return False
    while len(second.children) == 1:
        second = second.children[0]
    return second.word in expressions[first.word]


def _coordination(label: str, children: Sequence[Node], labels: list[str], gather: Gather) -> Sequence[Node]:
    """Group conjuncts and coordinated modifiers under constituents of their own."""
    place = labels.index("CC", 1)
    if label in _NOMINAL or (label == "UCP" and labels[0] == "NP"):
        return _noun_phrase(children, labels, gather)
    if place > 1 or len(labels) < 4:
        return children
    if label == "PP" and children[0].word:
        return [gather(labels[0], children[:3]), *children[3:]]  # on or around a bench
    if label == "QP" and len(labels) == 4:
        return [*children[:2], gather("NP", children[2:])]  # one and a half
    if label == "VP" and len(labels) == 4 and (labels[2] == "RB" or _is_adverb(children[2])):
        return [*children[:2], gather("VP", children[2:])]  # sits and then eats
    return children


def _noun_phrase(children: Sequence[Node], labels: list[str], gather: Gather) -> Sequence[Node]:
    """Group coordinated modifiers under one constituent, or else every conjunct of more than one word."""
    conjunctions = [place for place, tag in enumerate(labels) if tag == "CC" and place]
    first = conjunctions[0]
    if _modify(labels, first) and children[first - 1].word:
        tag = labels[first - 1] if labels[first - 1] in _ADJECTIVES else "NN"
        modifiers = gather(tag, children[first - 1 : first + 2])
        children = [*children[: first - 1], modifiers, *children[first + 2 :]]
        return _grouped("NP", children, gather)
    opening = int(children[0].word in PAIRING)
    starts = [opening, *(place + 1 for place in conjunctions)]
    ends = [*conjunctions, len(labels)]
    if all(end - start == 1 for start, end in zip(starts[1:], ends[1:], strict=True)):
        return children
    parts: list[Node] = list(children[:opening])  # both a fork and a dinner knife
    for start, end in zip(starts, ends, strict=True):
        conjunct = children[start:end]
        if len(conjunct) > 1 and _is_phrase(conjunct):
            parts.append(gather("ADJP" if labels[end - 1] == "JJ" else "NP", conjunct))
        else:
            parts.extend(conjunct)
        parts.extend(children[end : end + 1])
    return parts


def _is_phrase(conjunct: Sequence[Node]) -> bool:
    """Return whether a conjunct consists of ungrouped words, or a phrase after an adverb."""
    first = conjunct[0]
    return _is_adverb(first) or first.label in ("ADJP", "PRN") or (first.word != "" and conjunct[-1].label != "NP")


def _is_adverb(node: Node) -> bool:
    """Return whether it is a single adverb in a constituent of its own: also"""
    return node.label == "ADVP" and [child.label for child in node.children] == ["RB"]


def _modify(labels: list[str], place: int) -> bool:
    """Return whether the words on both sides of a conjunction modify a noun after them.

    They do at the start of a noun phrase (black and white photographs of dogs), and after an article if only the noun
    follows (a black and white dog).
    """
    end = labels.index("CC", place + 1) if "CC" in labels[place + 1 :] else len(labels)
    following = end - place - 1
    if labels[place - 1] in _PLURAL:
        return False
    return (place == 1 and following > 1) or (place == 2 and labels[0] == "DT" and following == 2)
