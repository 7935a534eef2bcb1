"""Relations of coordination, and of words that are one expression together: cc, conj, cc:preconj, mwe."""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.relations.conditions import begins_with, precedes_conjunction
from captious.parsing.relations.rule import Rule
from captious.parsing.rule_words import PAIRING

__all__ = ["COORDINATION"]

_BETWEEN = frozenset(("ADVP", "RB"))  # may stand between a conjunction and a conjunct


def _announces(node: Node) -> bool:
    return node.word in PAIRING and precedes_conjunction(node)


def _follows_conjunction(node: Node) -> bool:
    place = node.index - 1
    siblings = node.parent.children
    if place and siblings[place].label in _BETWEEN:
        place -= 1
    return siblings[place].label in ("CC", "CONJP")


def _is_first(node: Node) -> bool:
    return node.index == 0


def _of_three(node: Node) -> bool:
    return len(node.parent.children) > 2


COORDINATION = (
    Rule(
        relation="case",
        child="CC",
        of="PP",
        head="NP",
        when=_is_first,
        example="(NP (NP (DT a) (NN desk)) (PP (CC *plus) (NP (DT a) (NN chair))))",
    ),
    Rule(
        relation="cc:preconj",
        child="DT PDT CC",
        of="NP VP ADJP",
        side="before",
        when=_announces,
        example="(NP (PDT *both) (DT a) (NN fork) (CC and) (NN knife))",
    ),
    Rule(
        relation="dep",
        child="CC",
        when=lambda node: node.word in PAIRING,
        example="(NP (NP (DT a) (NN pair)) (PP (CC *both) (S (VP (VBG wearing) (NP (NN white))))))",
    ),
    Rule(
        relation="cc",
        child="CC CONJP",
        example="(NP (NP (DT a) (NN cat)) (CC *and) (NP (DT a) (NN dog)))",
    ),
    Rule(
        relation="advmod",
        child="ADVP RB",
        of="UCP NP NP-TMP ADJP",
        head="NP NN NNS JJ CC",
        side="after",
        when=_follows_conjunction,
        example="(UCP (NP (DT a) (NN tattoo)) (CC and) (ADVP (RBR lower) (RB *back)))",
    ),
    Rule(
        relation="acl",
        child="VP",
        of="UCP",
        head="NP",
        when=lambda node: begins_with(node, "VBG", "VBN", "VBD", "ADVP"),
        example="(UCP (NP (DT a) (NN horse)) (CC and) (VP (VBG *standing) (PP (IN by) (NP (DT a) (NN road)))))",
    ),
    Rule(
        relation="acl:relcl",
        child="RRC",
        of="UCP",
        head="NP",
        example="(UCP (NP (DT a) (NN cake)) (CC and) (RRC (ADVP (RB jelly)) (PP (IN on) (NP (PRP *it)))))",
    ),
    Rule(
        relation="dep",
        of="FRAG PRT X",
        side="after",
        when=_follows_conjunction,
        example="(VP (VBN lined) (PRT (RP up) (CC and) (RP *down)))",
    ),
    Rule(
        relation="advmod",
        child="ADVP",
        of="ADVP",
        head="CC",
        example="(VP (VBG running) (ADVP (ADVP (RB forward)) (CC and) (ADVP (RB *backward))))",
    ),
    Rule(
        relation="conj",
        side="after",
        when=_follows_conjunction,
        example="(NP (NP (DT a) (NN cat)) (CC and) (NP (DT a) (NN *dog)))",
    ),
    Rule(
        relation="mwe",
        of="CONJP",
        when=_of_three,
        example="(NP (NP (DT a) (NN tv)) (CONJP (RB as) (RB well) (IN *as)) (NP (DT a) (NN couch)))",
    ),
    Rule(
        relation="mwe",
        of="IN RB",  # made by captious.parsing.implied_constituents
        example="(VP (VBG painting) (PP (RB instead) (IN *of) (NP (NNS numbers))))",
    ),
)
