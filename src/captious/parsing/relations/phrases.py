"""Conditions of rules on phrases and words: coordination, complements of prepositions, parts of a noun phrase.

The node is always the constituent whose relation is sought. The table of rules has an example for each condition; in
further examples here, the constituent is in square brackets. Functions that return a node return the governor of the
constituent.
"""

from __future__ import annotations

from captious.parsing.heads import Node, verb_tag
from captious.parsing.rule_words import NEGATIONS, PAIRING

_CONJUNCTIONS = frozenset(("CC", "CONJP"))
_NOMINAL = frozenset(("NP", "NX", "WHNP", "NP-TMP"))


# ---- shapes of constituents


def begins_with(node: Node, *labels: str) -> bool:
    return bool(node.children) and node.children[0].label in labels


def has_head(node: Node, *labels: str) -> bool:
    return node.head_child.label in labels


def follows(node: Node, *labels: str) -> bool:
    return node.before[-1].label in labels


def precedes(node: Node, *labels: str) -> bool:
    return bool(node.after) and node.after[0].label in labels


def begins_phrase(node: Node) -> bool:
    return node.index == 0


def precedes_clause(node: Node) -> bool:
    return node.governor.head_child.label == "S"


# ---- coordination and fixed expressions


def is_coordinated(node: Node) -> bool:
    return any(sibling.label in _CONJUNCTIONS for sibling in node.parent.children)


def precedes_conjunction(node: Node) -> bool:
    return any(sibling.label in _CONJUNCTIONS for sibling in node.after)


def follows_conjunction(node: Node) -> bool:
    """and [eats], and then [eats]"""
    siblings = node.parent.children
    place = node.index - 1
    if siblings[place].label == "ADVP":
        place -= 1
    return place > 0 and siblings[place].label in _CONJUNCTIONS


def is_pairing_word(node: Node) -> bool:
    return node.word in PAIRING


def opens_conjunct(node: Node) -> bool:
    return len(node.children) == 1 and follows_conjunction(node) and bool(node.after)


def next_sibling(node: Node) -> Node:
    return node.after[0]


def is_fixed_expression(node: Node) -> bool:
    """as well as, rather than, instead of; not: as if"""
    return len(node.parent.children) > 2 or node.word in ("than", "of")


# ---- parts of a noun phrase


def is_negation(node: Node) -> bool:
    return node.head.word in NEGATIONS


def precedes_determiner(node: Node) -> bool:
    return node.parent.children[node.index + 1].label in ("DT", "PRP$")


def is_possessive(node: Node) -> bool:
    """the bike 's, in (the bike 's) mirror or in (the bike) 's mirror"""
    end = node
    while end.children and end.label == "NP":
        end = end.children[-1]
    return "POS" in (end.label, *(sibling.label for sibling in node.after[:1]))


def is_number(node: Node) -> bool:
    return begins_with(node, "QP") and node.head.label == "CD"


def is_apposition(node: Node) -> bool:
    """a man, [a cook]; the singer [Bob Dylan]"""
    return node.parent.children[node.index - 1].label == "," or all(child.label == "NNP" for child in node.children)


def is_participial(node: Node) -> bool:
    return verb_tag(node) in ("VBG", "VBN", "VBD", "TO")


# ---- prepositional phrases


def has_noun(node: Node) -> bool:
    """Return whether a preposition, or two, have a noun: on the table, from under the table; not: while riding, in
    white.
    """
    if node.head_child.label in _NOMINAL:
        return True
    return (begins_with(node, "IN", "PP", "DT") or is_coordinated(node.head_child)) and _has_any_noun(node)


def has_coordinated_noun(node: Node) -> bool:
    """with a table, staring at a table, with (a table and sleeping)"""
    object = node.head_child
    return _has_any_noun(node) or (object.label == "UCP" and begins_with(object, "NP"))


def lacks_noun(node: Node) -> bool:
    """a man [while riding], a man [in to the water]; not: a man [on a horse]"""
    return not _has_any_noun(node) or (begins_with(node, "IN") and begins_with(node.head_child, "TO"))


def _has_any_noun(node: Node) -> bool:
    """Return whether a preposition or participle, or the preposition after it, has a noun: staring at the table."""
    if node.head_child.label in _NOMINAL:
        return True
    phrases = [child for child in node.children if child.label == "PP"]
    return any(phrase.head_child.label in _NOMINAL for phrase in phrases) and not begins_with(node, "ADVP")


def is_bare_preposition(node: Node) -> bool:
    """walks [by]; not: stays [in between]"""
    return len(node.children) == 1 and begins_with(node, "IN", "TO") and node.head_child.word != ""


def is_stranded(node: Node) -> bool:
    """with his shirt [on]"""
    return is_bare_preposition(node) and node.before[-1].label == "PP" and has_noun(node.before[-1])


def phrase_to_complete(node: Node) -> Node:
    """The first phrase before it; if that is the predicate, the phrase in it: is on skis (with no shirt) [on]"""
    phrase = next(sibling for sibling in node.before if sibling.label == "PP")
    within = phrase.head_child.children
    return within[-1] if phrase is node.governor and within and within[-1].label == "PP" else phrase


def has_noun_as_verb(node: Node) -> bool:
    phrase = node.governor.head_child
    return phrase.label == "VP" and phrase.head_child.label == "NN"


# ---- adverbs


def is_not(node: Node) -> bool:
    return node.word == "not"


def is_adverb_of_negation(node: Node) -> bool:
    return is_negation(node) and node.head.word != "no"
