"""Relations of coordination, and of words that are one expression together: cc, conj, cc:preconj, mwe."""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.relations.conditions import begins_with, has_any_noun, precedes_conjunction
from captious.parsing.relations.rule import Rule
from captious.parsing.rule_words import PAIRING

__all__ = ["COORDINATION"]


def _announces(node: Node) -> bool:
    """[both] a fork and a knife"""
    return node.word in PAIRING and precedes_conjunction(node)


def _follows_conjunction(node: Node) -> bool:
    """and [eats], and then [eats]"""
    siblings = node.parent.children
    place = node.index - 1
    if siblings[place].label == "ADVP":
        place -= 1
    return place > 0 and siblings[place].label in ("CC", "CONJP")


def _opens_conjunct(node: Node) -> bool:
    """in red and [then] in blue"""
    return len(node.children) == 1 and _follows_conjunction(node) and bool(node.after)


def _next(node: Node) -> Node:
    return node.after[0]


def _is_first(node: Node) -> bool:
    return node.index == 0


def _has_noun(node: Node) -> bool:
    """with a table, staring at a table, with (a table and sleeping)"""
    object = node.head_child
    return has_any_noun(node) or (object.label == "UCP" and begins_with(object, "NP"))


def _is_fixed(node: Node) -> bool:
    """as well as, rather than, instead of; not: as if"""
    return len(node.parent.children) > 2 or node.word in ("than", "of")


COORDINATION = (
    Rule(
        "case",
        "CC beside NP in PP",
        "(NP (NP (DT a) (NN desk)) (PP (CC *plus) (NP (DT a) (NN chair))))",
        when=_is_first,
    ),
    Rule(
        "cc:preconj",
        "DT PDT CC in NP VP ADJP PP",
        "(NP (PDT *both) (DT a) (NN fork) (CC and) (NN knife))",
        when=_announces,
    ),
    Rule(
        "dep",
        "CC",
        "(NP (NP (DT a) (NN pair)) (PP (CC *both) (S (VP (VBG wearing) (NP (NN white))))))",
        when=lambda node: node.word in PAIRING,
    ),
    Rule("cc", "CC CONJP", "(NP (NP (DT a) (NN cat)) (CC *and) (NP (DT a) (NN dog)))"),
    Rule(
        "advmod",
        "ADVP RB after NP NN NNS JJ ADJP VP in UCP NP NP-TMP ADJP VP",
        "(UCP (NP (DT a) (NN tattoo)) (CC and) (ADVP (RBR lower) (RB *back)))",
        when=lambda node: _follows_conjunction(node) and node.word != "not",
    ),
    Rule(
        "advmod",
        "ADVP in PP",
        "(PP (PP (IN in) (NP (NN red))) (CC and) (ADVP (RB *then)) (PP (IN in) (NP (NN blue))))",
        when=_opens_conjunct,
        governor=_next,
    ),
    Rule(
        "acl",
        "VP beside NP in UCP",
        "(UCP (NP (DT a) (NN horse)) (CC and) (VP (VBG *standing) (PP (IN by) (NP (DT a) (NN road)))))",
        when=lambda node: begins_with(node, "VBG", "VBN", "VBD", "ADVP"),
    ),
    Rule(
        "acl:relcl",
        "RRC in UCP NP",
        "(UCP (NP (DT a) (NN cake)) (CC and) (RRC (ADVP (RB jelly)) (PP (IN on) (NP (PRP *it)))))",
    ),
    Rule(
        "nmod",
        "PP in FRAG X",
        "(FRAG (NP (DT a) (NN kitchen)) (CC and) (PP (IN with) (NP (DT a) (NN *table))))",
        when=_has_noun,
    ),
    Rule(
        "dep",
        "any after head in FRAG PRT X",
        "(VP (VBN lined) (PRT (RP up) (CC and) (RP *down)))",
        when=_follows_conjunction,
    ),
    Rule(
        "advmod",
        "ADVP beside CC in ADVP UCP",
        "(VP (VBG running) (ADVP (ADVP (RB forward)) (CC and) (ADVP (RB *backward))))",
    ),
    Rule("case", "IN beside CC in ADVP", "(VP (VBG jumping) (ADVP (IN up) (CC and) (IN *down)))"),
    Rule(
        "conj", "any after head", "(NP (NP (DT a) (NN cat)) (CC and) (NP (DT a) (NN *dog)))", when=_follows_conjunction
    ),
    Rule(
        "conj",
        "JJ NN PP before head in ADJP PP",
        "(NP (ADJP (JJ red) (CC and) (JJ *green) (JJ metallic)) (NNS cups))",
        when=_follows_conjunction,
    ),
    Rule(
        "mwe",
        "any in CONJP",
        "(NP (NP (DT a) (NN tv)) (CONJP (RB as) (RB well) (IN *as)) (NP (DT a) (NN couch)))",
        when=_is_fixed,
    ),
    # Made by captious.parsing.implied_constituents.
    Rule("mwe", "any in IN RB", "(VP (VBG painting) (PP (RB instead) (IN *of) (NP (NNS numbers))))"),
)
