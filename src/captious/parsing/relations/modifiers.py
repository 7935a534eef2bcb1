"""Relations of what modifies a verb, an adjective, an adverb or a clause, and of what marks a phrase.

advmod, advcl, nmod, nmod:tmod, nmod:npmod, neg, case, mark, and the rest: discourse, punct.
"""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.relations.conditions import (
    begins_with,
    has_noun,
    is_bare,
    is_coordinated,
    is_negation,
    lacks_noun,
)
from captious.parsing.relations.rule import Rule

__all__ = ["MODIFIERS"]

_VERBAL = "VP SINV SQ"


# ---- prepositions and their phrases


def _is_stranded(node: Node) -> bool:
    """with his shirt [on]"""
    return is_bare(node) and node.before[-1].label == "PP"


def _first_phrase(node: Node) -> Node:
    return next(sibling for sibling in node.before if sibling.label == "PP")


def _nests(node: Node) -> bool:
    """Whether a preposition is followed by others, without a noun after two."""
    return node.head_child.label == "PP" and begins_with(node, "IN") and lacks_noun(node)


def _has_noun_within(node: Node) -> bool:
    object = node.head_child
    if object.label == "PP":
        return has_noun(node) or (not begins_with(node, "IN") and has_noun(object))
    return has_noun(node) or (object.label == "UCP" and begins_with(object, "NP"))


def _has_noun_as_verb(node: Node) -> bool:
    """on (shore shaking off water)"""
    phrase = node.governor.head_child
    return phrase.label == "VP" and phrase.head_child.label == "NN"


MODIFIERS = (
    Rule(
        relation="mark",
        child="IN",
        of="SBAR",
        side="before",
        example="(VP (VBZ waits) (SBAR (IN *while) (S (NP (PRP he)) (VP (VBZ eats)))))",
    ),
    Rule(
        relation="case",
        child="IN",
        of="PP",
        head="S",
        side="before",
        when=_has_noun_as_verb,
        example="(PP (IN *on) (S (VP (NN shore) (S (VP (VBG drying))))))",
    ),
    Rule(
        relation="mark",
        child="IN TO",
        of="PP",
        head="S SBAR",
        side="before",
        example="(PP (IN *while) (S (VP (VBG riding))))",
    ),
    Rule(
        relation="case",
        child="IN TO JJ VBG VBN",
        of="PP WHPP",
        example="(PP (IN *on) (NP (DT a) (NN beach)))",
    ),
    Rule(
        relation="case",
        child="IN",
        of="ADVP",
        example="(ADVP (NP (DT a) (NN ramp)) (IN *down))",
    ),
    Rule(
        relation="case",
        child="PP",
        of="VP",
        side="after",
        when=_is_stranded,
        governor=_first_phrase,
        example="(VP (VBG skiing) (PP (IN with) (NP (NNS goggles))) (PP (IN *on)))",
    ),
    Rule(
        relation="dep",
        child="PP",
        of="VP ADVP ADJP",
        when=_nests,
        example="(VP (VBP graze) (PP (IN near) (PP (IN *by))))",
    ),
    Rule(
        relation="nmod",
        child="PP",
        of="VP ADVP ADJP SINV SQ",
        when=lambda node: has_noun(node) or is_bare(node),
        example="(VP (VBG sitting) (PP (IN on) (NP (DT a) (NN *bench))))",
    ),
    Rule(
        relation="nmod",
        child="PP",
        of="S",
        head="VP",
        side="before",
        when=has_noun,
        example="(S (PP (IN in) (NP (DT a) (NN *park))) (NP (DT a) (NN dog)) (VP (VBZ barks)))",
    ),
    Rule(
        relation="nmod",
        child="PP",
        of="FRAG",
        head="NP X",
        when=_has_noun_within,
        example="(FRAG (NP (DT a) (NN kitchen)) (PP (IN with) (NP (DT a) (NN *table))))",
    ),
    Rule(
        relation="nmod",
        child="PP",
        of="PP",
        when=has_noun,
        example="(PP (NP (CD two) (NNS people)) (PP (IN in) (NP (DT a) (NN *kitchen))))",
    ),
    Rule(
        relation="advcl",
        child="PP",
        of="VP ADVP ADJP SINV",
        example="(VP (VBG smiling) (PP (IN while) (S (VP (VBG *riding)))))",
    ),
    Rule(
        relation="advcl",
        child="PP",
        of="S",
        side="after",
        when=lacks_noun,
        example="(S (NP (DT a) (NN wheel)) (ADJP (JJ visible)) (PP (IN in) (ADVP (RB *back))))",
    ),
    Rule(
        relation="nmod",
        child="WHPP",
        of="SBAR",
        example="(SBAR (WHPP (IN on) (WHNP (WDT *which))) (S (NP (DT a) (NN girl)) (VP (VBZ sits))))",
    ),
    # ---- clauses
    Rule(
        relation="advcl",
        child="SBAR",
        of="VP ADVP",
        side="after",
        example="(VP (VBZ waits) (SBAR (IN while) (S (NP (PRP he)) (VP (VBZ *eats)))))",
    ),
    Rule(
        relation="advcl",
        child="SBAR",
        of="S",
        side="before",
        example="(S (SBAR (IN as) (S (NP (PRP he)) (VP (VBZ *eats)))) (NP (DT a) (NN dog)) (VP (VBZ waits)))",
    ),
    # ---- noun phrases
    Rule(
        relation="nmod:tmod",
        child="NP-TMP",
        of="VP ADJP PP",
        example="(VP (VBN taken) (NP-TMP (DT this) (NN *morning)))",
    ),
    Rule(
        relation="nmod:npmod",
        child="NP",
        of="ADVP",
        head="RB RBR JJ IN RP",
        side="before",
        example="(VP (VBG jumping) (ADVP (NP (CD two) (NNS *feet)) (RB high)))",
    ),
    Rule(
        relation="nmod:npmod",
        child="NP",
        of="ADVP",
        head="RB IN",
        side="after",
        example="(VP (VBG walking) (ADVP (RB down) (NP (DT the) (NN *street))))",
    ),
    Rule(
        relation="nmod:npmod",
        child="NP NN NNS",
        of="ADJP",
        head="JJ JJR",
        side="before",
        example="(NP (DT a) (ADJP (NP (CD two) (NN *year)) (JJ old)) (NN boy))",
    ),
    # ---- adverbs and adjectives
    Rule(
        relation="dep",
        child="RB",
        of="ADVP",
        when=lambda node: node.word == "not",
        example="(ADVP (RB *not) (RB far))",
    ),
    Rule(
        relation="neg",
        child="RB",
        of="VP S ADJP ADVP PP",
        when=is_negation,
        example="(VP (VBZ is) (RB *not) (VP (VBG running)))",
    ),
    Rule(
        relation="neg",
        child="ADVP",
        of="VP S",
        when=is_negation,
        example="(VP (VBP are) (ADVP (RB *never)) (ADJP (JJ old)))",
    ),
    Rule(
        relation="advmod",
        child="RB RBR RBS ADVP WRB WHADVP",
        of="VP S SINV SQ SBAR SBARQ RRC UCP ADJP ADVP PP QP WHADVP WHADJP",
        example="(VP (VBG standing) (ADVP (RB *outside)))",
    ),
    Rule(
        relation="advmod",
        child="UCP",
        of="VP",
        when=lambda node: begins_with(node, "ADVP"),
        example="(VP (VBN tangled) (UCP (ADVP (RB together)) (CC *and) (VP (VBG playing))))",
    ),
    Rule(
        relation="advmod",
        child="DT PDT IN JJ JJR",
        of="QP",
        side="before",
        example="(NP (QP (PDT *half) (DT a) (NN dozen)) (NNS birds))",
    ),
    Rule(
        relation="dep",
        child="DT JJ",
        of="ADJP",
        side="before",
        when=is_coordinated,
        example="(NP (DT an) (ADJP (JJ *old) (JJ black) (CC and) (JJ white)) (NN photograph))",
    ),
    Rule(
        relation="det",
        child="DT",
        of="ADJP ADVP X",
        head="JJ NN ADJP JJR",
        side="before",
        example="(VP (VBP are) (ADJP (DT *all) (JJ crowded) (JJ close)))",
    ),
    Rule(
        relation="amod",
        child="JJ NNP",
        of="ADJP",
        head="JJ",
        side="before",
        example="(NP (DT a) (ADJP (JJ *large) (JJ lighted)) (NN tree))",
    ),
    Rule(
        relation="compound",
        child="#",
        of="ADJP",
        side="before",
        example="(NP (DT the) (ADJP (# *#) (CD 2)) (NN dog))",
    ),
    # ---- the rest
    Rule(
        relation="discourse",
        child="INTJ",
        example="(FRAG (INTJ (UH *hey)) (NP (DT a) (NN dog)))",
    ),
    Rule(
        relation="punct",
        child=". , : `` ''",
        example="(S (NP (DT a) (NN dog)) (VP (VBZ barks)) (. *.))",
    ),
)
