"""Constituents and their heads: the head child's word represents the constituent, and the others depend on it.

Heads are semantic, as in Universal Dependencies: the content verb rather than its auxiliary, the predicate rather than
its copula, the noun rather than its preposition, the clause rather than its conjunction. Every category has a short
list of searches, of which the first that finds a child decides; for verb phrases, the initial verb is checked first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from captious.files import sections

# Words that dependency rules test for; ``words.txt`` says what they have in common.

_TEXT = sections(Path(__file__).with_name("words.txt"))


def words(name: str) -> frozenset[str]:
    """Return the words of a list in ``words.txt``."""
    return frozenset(_TEXT[name].split())


def _expressions(name: str) -> dict[str, frozenset[str]]:
    """Return the words that may follow the first word of an expression of two words, by that word."""
    pairs = [line.split() for line in _TEXT[name].splitlines()]
    return {first: frozenset(second for word, second in pairs if word == first) for first, _ in pairs}


BE, GET, HAVE = words("be"), words("get"), words("have")
#: Verbs that give way to the verb after them, besides modals.
AUXILIARIES = BE | GET | HAVE | words("do")
LINKING, TELL = words("linking"), words("tell")
NEGATIONS, PAIRING, TEMPORAL = words("negations"), words("pairing"), words("temporal")
MULTI_WORD, MULTI_WORD_ADVERBS = _expressions("multi-word"), _expressions("multi-word adverbs")


# Constituents, and the search for their heads.


class Node:
    """A constituent with its children, or the tag above a word.

    Args:
        label: category or part of speech.
        children: from left to right; none above a word.
        word: the word under a tag in lower case, else empty.
        number: position of the word, from 1; 0 for constituents.

    Attributes:
        parent: the constituent around it; itself for the root.
        index: its index among its siblings, from 0.
        head_child: the child that its other children depend on; above a word, itself.
        head: the tag of its head word; above a word, itself.
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
        """Head child of its parent, which it depends on unless it is that child."""
        return self.parent.head_child

    @property
    def before(self) -> Sequence[Node]:
        """Siblings to the left."""
        return self.parent.children[: self.index]

    @property
    def after(self) -> Sequence[Node]:
        """Siblings to the right."""
        return self.parent.children[self.index + 1 :]


# By category, the searches for its head: whether from the last child, and labels to look for.
_SEARCHES: dict[str, list[tuple[bool, frozenset[str]]]] = {
    category: [(search[0] == ">", frozenset(search[1:].split())) for search in re.findall("[<>][^<>]+", searches)]
    for categories, searches in (line.split(":") for line in _TEXT["searches"].splitlines())
    for category in categories.split()
}

# is [sleeping], is [happy], is [a dog], is [on the table], is [small and on the table]
_PREDICATES = (("VP",), ("ADJP",), ("NP", "NX"), ("PP",), ("UCP",))

_VERBAL = frozenset(("VP", "SQ", "SINV"))
_VERB_TAGS = frozenset(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "MD", "TO"))
_CONJUNCTIONS = frozenset(("CC", "CONJP"))
_PARTICIPLES = frozenset(("VBG", "VBN", "VBD"))


def find_head(node: Node) -> None:
    """Set the head child and the head of a constituent whose children have theirs."""
    children = node.children
    if len(children) == 1:
        child = children[0]
    else:
        labels = tuple([child.label for child in children])
        child = children[_verb_phrase(node, labels) if node.label in _VERBAL else _search(node.label, labels)]
    node.head_child = child
    node.head = child.head


def verb_tag(node: Node) -> str:
    """Return the tag of the verb that a verb phrase starts with; empty for coordinated verb phrases."""
    return next((child.label for child in node.children if child.label in _VERB_TAGS), "")


def is_existential(node: Node) -> bool:
    """Return whether *there* precedes a verb phrase."""
    waiting = list(node.before)
    while waiting:
        earlier = waiting.pop()
        if earlier.label == "EX":
            return True
        waiting.extend(earlier.children)
    return False


def _verb_phrase(node: Node, labels: tuple[str, ...]) -> int:
    """Return the head of a verb phrase: the predicate after a form of be, the other verb after an auxiliary."""
    verb = next((child for child in node.children if child.label in _VERB_TAGS), None)
    if verb is None:
        return _search(node.label, labels)
    if verb.word in BE:
        place = _predicate(labels, verb.index)
        return place if place >= 0 and _can_be_predicate(node.children[place], node) else verb.index
    if "VP" in labels and verb.word not in AUXILIARIES and verb.label not in ("MD", "TO"):
        return verb.index
    return _search(node.label, labels)


def _can_be_predicate(predicate: Node, phrase: Node) -> bool:
    if predicate.label == "VP":
        return not is_existential(phrase) or verb_tag(predicate) in _PARTICIPLES
    if predicate.label == "UCP" and any(child.label == "ADVP" for child in predicate.children[:1]):
        return False
    if phrase.label == "SQ" and predicate.label != "ADJP":
        return False  # is [there a dog]
    return not is_existential(phrase)  # there is [a dog]


@lru_cache(1 << 14)
def _predicate(labels: tuple[str, ...], verb: int) -> int:
    """Return the index of the predicate after a verb, -1 for none."""
    for predicates in _PREDICATES:
        for place in range(verb + 1, len(labels)):
            if labels[place] in predicates:
                return place
    return -1


@lru_cache(1 << 14)
def _search(label: str, labels: tuple[str, ...]) -> int:
    """Return the index of the head by the searches of a category; the first child if they find none.

    Children after a conjunction are skipped in favor of those before it, so that the first of several conjuncts is the
    head; in adjective phrases they are skipped once (sunny and [old] and rusty).
    """
    for from_last, heads in _SEARCHES.get(label, ()):
        for place in range(len(labels) - 1, -1, -1) if from_last else range(len(labels)):
            if labels[place] in heads:
                while place > 1 and labels[place - 1] in _CONJUNCTIONS:
                    place -= 3 if labels[place - 2] == "," and place > 2 else 2
                    if label == "ADJP":
                        break
                return place
    return 0
