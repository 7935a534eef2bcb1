"""Relations of what modifies a verb, an adjective, an adverb or a clause, and of what marks a phrase.

advmod, advcl, nmod, nmod:tmod, nmod:npmod, neg, case, mark, and the rest: discourse, punct.
"""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.relations.conditions import (
    begins_with,
    has_noun,
    has_subject,
    is_bare,
    is_coordinated,
    is_negation,
    whole_predicate,
)
from captious.parsing.relations.rule import Rule

__all__ = ["MODIFIERS"]


# ---- prepositions and their phrases


def _is_stranded(node: Node) -> bool:
    """with his shirt [on]"""
    return is_bare(node) and node.before[-1].label == "PP" and has_noun(node.before[-1])


def _question(node: Node) -> Node:
    """[what] it looks like: what stands before the clause that a verb is in; without it or a subject, the clause"""
    clause = whole_predicate(node).parent
    return clause.before[-1] if clause.before and has_subject(clause) else clause


def _ends_question(node: Node) -> bool:
    """what it looks [like]"""
    return is_bare(node) and _question(node).label in ("WHNP", "WHPP")


def _phrase_to_complete(node: Node) -> Node:
    """The first phrase before it; if that is the predicate, the phrase in it: is on skis (with no shirt) [on]"""
    phrase = next(sibling for sibling in node.before if sibling.label == "PP")
    within = phrase.head_child.children
    return within[-1] if phrase is node.governor and within and within[-1].label == "PP" else phrase


def _nests(node: Node) -> bool:
    """Whether a preposition is followed by another: near by"""
    return node.head_child.label == "PP" and begins_with(node, "IN")


def _has_noun_as_verb(node: Node) -> bool:
    """on (shore shaking off water)"""
    phrase = node.governor.head_child
    return phrase.label == "VP" and phrase.head_child.label == "NN"


# ---- adverbs


def _says_not(node: Node) -> bool:
    return is_negation(node) and node.head.word != "no"


MODIFIERS = (
    Rule("mark", "IN before head in SBAR", "(VP (VBZ waits) (SBAR (IN *while) (S (NP (PRP he)) (VP (VBZ eats)))))"),
    Rule(
        "case", "IN before S in PP", "(PP (IN *on) (S (VP (NN shore) (S (VP (VBG drying))))))", when=_has_noun_as_verb
    ),
    Rule("mark", "IN TO before S SBAR in PP", "(PP (IN *while) (S (VP (VBG riding))))"),
    Rule(
        "dep",
        "VBG before PP in PP",
        "(FRAG (NP (DT a) (NN dog)) (PP (VBG *staring) (PP (IN while) (S (VP (VBG barking))))))",
        when=lambda node: node.governor.head_child.label == "S",
    ),
    Rule("case", "IN TO JJ VBG VBN in PP WHPP", "(PP (IN *on) (NP (DT a) (NN beach)))"),
    Rule("case", "IN in ADVP", "(ADVP (NP (DT a) (NN ramp)) (IN *down))"),
    Rule(
        "nmod",
        "PP in VP ADVP ADJP SINV SQ UCP",
        "(VP (VBG sitting) (PP (IN on) (NP (DT a) (NN *bench))))",
        when=has_noun,
    ),
    Rule(
        "case",
        "PP after head in VP",
        "(SBAR (WHNP (WP what)) (S (NP (PRP it)) (VP (VBZ looks) (PP (IN *like)))))",
        when=_ends_question,
        governor=_question,
    ),
    Rule(
        "case",
        "PP after head in VP ADJP",
        "(VP (VBG skiing) (PP (IN with) (NP (NNS goggles))) (PP (IN *on)))",
        when=_is_stranded,
        governor=_phrase_to_complete,
    ),
    Rule("nmod", "PP in VP ADVP ADJP SINV SQ UCP", "(VP (VBZ walks) (PP (IN *by)))", when=is_bare),
    Rule("dep", "PP in VP ADVP ADJP", "(VP (VBP graze) (PP (IN near) (PP (IN *by))))", when=_nests),
    Rule(
        "nmod",
        "PP before VP in S",
        "(S (PP (IN in) (NP (DT a) (NN *park))) (NP (DT a) (NN dog)) (VP (VBZ barks)))",
        when=has_noun,
    ),
    Rule("nmod", "PP in PP RRC", "(PP (NP (CD two) (NNS people)) (PP (IN in) (NP (DT a) (NN *kitchen))))"),
    Rule("advcl", "PP in VP ADVP ADJP SINV UCP", "(VP (VBG smiling) (PP (IN while) (S (VP (VBG *riding)))))"),
    Rule(
        "advcl",
        "PP in S",
        "(S (NP (DT a) (NN wheel)) (ADJP (JJ visible)) (PP (IN in) (ADVP (RB *back))))",
        when=lambda node: not has_noun(node),
    ),
    Rule(
        "nmod",
        "WHPP before S in SBAR",
        "(SBAR (WHPP (IN on) (WHNP (WDT *which))) (S (NP (DT a) (NN girl)) (VP (VBZ sits))))",
    ),
    # ---- clauses
    Rule(
        "advcl", "SBAR after head in VP ADVP", "(VP (VBZ waits) (SBAR (IN while) (S (NP (PRP he)) (VP (VBZ *eats)))))"
    ),
    Rule(
        "advcl",
        "SBAR before head in S",
        "(S (SBAR (IN as) (S (NP (PRP he)) (VP (VBZ *eats)))) (NP (DT a) (NN dog)) (VP (VBZ waits)))",
    ),
    # ---- noun phrases
    Rule("nmod:tmod", "NP-TMP in VP ADJP PP", "(VP (VBN taken) (NP-TMP (DT this) (NN *morning)))"),
    Rule(
        "nmod:npmod",
        "NP before RB RBR JJ in ADVP",
        "(VP (VBG jumping) (ADVP (NP (CD two) (NNS *feet)) (RB high)))",
    ),
    Rule("nmod:npmod", "NP after RB in ADVP", "(VP (VBG walking) (ADVP (RB down) (NP (DT the) (NN *street))))"),
    Rule(
        "nmod:npmod",
        "NP NN NNS before JJ JJR RB in ADJP",
        "(NP (DT a) (ADJP (NP (CD two) (NN *year)) (JJ old)) (NN boy))",
    ),
    Rule(
        "nmod:npmod",
        "ADVP in QP",
        "(NP (QP (IN at) (JJS *least) (CD two)) (NNS pillows))",
        when=lambda node: begins_with(node, "IN"),
    ),
    # ---- adverbs and adjectives
    Rule("dep", "RB in ADVP", "(ADVP (RB *not) (RB far))", when=lambda node: node.word == "not"),
    Rule("dep", "RB after ADVP in PP", "(PP (ADVP (RB together)) (RB *next) (PP (TO to) (NP (DT a) (NN hut))))"),
    Rule(
        "neg",
        "RB before JJ RB RBR in ADJP ADVP",
        "(NP (DT a) (ADJP (RB *no) (JJ crossing)) (NN sign))",
        when=is_negation,
    ),
    Rule("neg", "RB ADVP in VP S ADJP ADVP PP", "(VP (VBZ is) (RB *not) (VP (VBG running)))", when=_says_not),
    Rule(
        "advmod",
        "RB RBR RBS ADVP WRB WHADVP in VP S SINV SQ SBAR SBARQ RRC ADJP ADVP PP QP WHADVP WHADJP",
        "(VP (VBG standing) (ADVP (RB *outside)))",
    ),
    Rule("advmod", "JJ before RB in ADVP", "(VP (VBN spread) (ADVP (JJ *wide) (RB apart)))"),
    Rule("advmod", "DT PDT IN JJ JJR in QP", "(NP (QP (PDT *half) (DT a) (NN dozen)) (NNS birds))"),
    Rule(
        "dep",
        "DT JJ before head in ADJP",
        "(NP (DT an) (ADJP (JJ *old) (JJ black) (CC and) (JJ white)) (NN photograph))",
        when=is_coordinated,
    ),
    Rule("det", "DT before JJ NN ADJP JJR in ADJP ADVP X", "(VP (VBP are) (ADJP (DT *all) (JJ crowded) (JJ close)))"),
    Rule("amod", "JJ NNP before JJ in ADJP", "(NP (DT a) (ADJP (JJ *large) (JJ lighted)) (NN tree))"),
    Rule("compound", "# FW before FW CD in ADJP ADVP QP", "(NP (DT the) (ADJP (# *#) (CD 2)) (NN dog))"),
    # ---- the rest
    Rule("discourse", "INTJ", "(FRAG (INTJ (UH *hey)) (NP (DT a) (NN dog)))"),
    Rule("punct", ". , : `` ''", "(S (NP (DT a) (NN dog)) (VP (VBZ barks)) (. *.))"),
)
