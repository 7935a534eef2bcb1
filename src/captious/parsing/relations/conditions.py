"""What rules ask about a constituent, besides its label and those of its neighbours.

A phrase is looked at from outside: the node is always the constituent whose relation is sought.
"""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.heads import verb_tag
from captious.parsing.rule_words import BE, GET, NEGATIONS

__all__ = [
    "begins_with",
    "clause_form",
    "has_any_noun",
    "has_noun",
    "has_subject",
    "is_bare",
    "is_coordinated",
    "is_infinitive",
    "is_negation",
    "is_passive_auxiliary",
    "mark",
    "passive",
    "precedes_conjunction",
    "whole_predicate",
]

_CONJUNCTIONS = frozenset(("CC", "CONJP"))
_NOMINAL = frozenset(("NP", "NX", "WHNP", "NP-TMP"))
_PAST = frozenset(("VBN", "VBD"))


def is_coordinated(node: Node) -> bool:
    """Whether it is next to a conjunction."""
    return any(sibling.label in _CONJUNCTIONS for sibling in node.parent.children)


def precedes_conjunction(node: Node) -> bool:
    """Whether a conjunction follows among its siblings."""
    return any(sibling.label in _CONJUNCTIONS for sibling in node.after)


def begins_with(node: Node, *labels: str) -> bool:
    """Whether its first child has one of these labels."""
    return bool(node.children) and node.children[0].label in labels


def is_negation(node: Node) -> bool:
    """Whether it is no, not or never."""
    return node.head.word in NEGATIONS


# ---- prepositional phrases


def has_noun(node: Node) -> bool:
    """Whether a preposition, or two, have a noun: on the table, from under the table; not: while riding, in white."""
    if node.head_child.label in _NOMINAL:
        return True
    return (begins_with(node, "IN", "PP", "DT") or is_coordinated(node.head_child)) and has_any_noun(node)


def has_any_noun(node: Node) -> bool:
    """Whether a preposition or participle, or the preposition after it, has a noun: staring at the table."""
    if node.head_child.label in _NOMINAL:
        return True
    phrases = [child for child in node.children if child.label == "PP"]
    return any(phrase.head_child.label in _NOMINAL for phrase in phrases) and not begins_with(node, "ADVP")


def is_bare(node: Node) -> bool:
    """Whether it is a preposition alone: walks [by]; not: stays [in between]"""
    return len(node.children) == 1 and begins_with(node, "IN", "TO") and node.head_child.word != ""


# ---- verb phrases and clauses


def is_infinitive(clause: Node) -> bool:
    """Whether the verb of a clause has *to* before it."""
    return verb_tag(clause.head_child) == "TO"


def whole_predicate(node: Node) -> Node:
    """The outermost of the verb phrases that it is in."""
    phrase = node.parent
    while phrase.parent.label == "VP":
        phrase = phrase.parent
    return phrase


def has_subject(clause: Node) -> bool:
    """Whether a clause has a noun phrase of its own."""
    return any(child.label == "NP" for child in clause.children)


def clause_form(clause: Node) -> str:
    """What the verb phrase of a clause starts with, a tag for most; empty if there is no verb phrase."""
    for child in clause.children:
        if child.label == "VP":
            return child.children[0].label if child.children else ""
    return ""


def mark(clause: Node) -> str:
    """The word that a subordinate clause starts with, or the label of such a phrase; empty if there is none."""
    if len(clause.children) < 2:
        return ""
    first = clause.children[0]
    return first.word or first.label


def is_passive_auxiliary(node: Node) -> bool:
    """Whether a form of be or get stands before a past participle."""
    return (node.word in BE or node.word in GET) and _is_past(node.governor)


def passive(subject: Node) -> bool:
    """Whether the predicate that it is the subject of has an auxiliary of the passive."""
    phrase = subject.parent
    while phrase.children:
        head = phrase.head_child
        for child in phrase.children:
            if child.word and child is not head and is_passive_auxiliary(child):
                return True
        if head.label not in ("VP", "ADJP", "S", "SQ"):
            return False
        phrase = head
    return False


def _is_past(phrase: Node) -> bool:
    """Whether a verb phrase, or one of those coordinated in it, starts with a past participle."""
    if phrase.label in ("VP", "ADJP") or begins_with(phrase, "ADJP"):
        tag = verb_tag(phrase)
        return tag in _PAST if tag else any(map(_is_past, phrase.children))
    return False
