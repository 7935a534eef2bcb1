"""Relations of the parts of a noun phrase to its noun.

det, det:predet, neg, nummod, amod, compound, nmod:poss, case, nmod, acl, acl:relcl, appos.
"""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.heads import verb_tag
from captious.parsing.relations.conditions import (
    begins_with,
    has_any_noun,
    has_subject,
    is_infinitive,
    is_negation,
    mark,
    precedes_conjunction,
)
from captious.parsing.relations.rule import Rule
from captious.parsing.rule_words import BE

__all__ = ["NOUNS"]

_PHRASE = "NP NP-TMP NX NAC WHNP"
_NOUN = "NN NNS NNP NNPS"


def _before_determiner(node: Node) -> bool:
    return node.parent.children[node.index + 1].label in ("DT", "PRP$")


def _is_possessive(node: Node) -> bool:
    """the bike 's, in (the bike 's) mirror or in (the bike) 's mirror"""
    end = node
    while end.children and end.label == "NP":
        end = end.children[-1]
    return "POS" in (end.label, *(sibling.label for sibling in node.after[:1]))


def _lacks_noun(node: Node) -> bool:
    """a man [while riding], a man [in to the water]; not: a man [on a horse]"""
    return not has_any_noun(node) or (begins_with(node, "IN") and begins_with(node.head_child, "TO"))


def _is_participial(node: Node) -> bool:
    return verb_tag(node) in ("VBG", "VBN", "VBD", "TO")


def _is_relative(node: Node) -> bool:
    """Whether the noun can be what a clause lacks.

    Not after *that*, nor if the clause has an object or a predicate, or no subject.
    """
    clause = node.head_child
    if is_infinitive(clause) or not node.children or not node.children[0].word:
        return not is_infinitive(clause)
    phrase = clause.head_child
    if phrase.head_child.label == "VP":
        phrase = phrase.head_child
    return (
        mark(node) in ("as", "if", "while")
        and has_subject(clause)
        and not any(child.label == "NP" or child.word in BE for child in phrase.children)
    )


def _is_name_or_follows_comma(node: Node) -> bool:
    return node.parent.children[node.index - 1].label == "," or all(child.label == "NNP" for child in node.children)


NOUNS = (
    Rule("neg", f"DT RB in {_PHRASE}", "(NP (DT *no) (NNS people))", when=is_negation),
    Rule("dep", f"DT before DT WHPP in {_PHRASE}", "(WHNP (DT *all) (WHPP (IN of) (WHNP (WDT which))))"),
    Rule(
        "det:predet", f"DT PDT before head in {_PHRASE}", "(NP (PDT *all) (DT the) (NNS dogs))", when=_before_determiner
    ),
    Rule(
        "dep",
        f"DT before JJ NP in {_PHRASE}",
        "(PP (IN in) (NP (DT *a) (JJ brown) (CC and) (JJ white)))",
        when=precedes_conjunction,
    ),
    Rule("det", f"DT WDT WP before head in {_PHRASE}", "(NP (DT *a) (JJ brown) (NN dog))"),
    Rule("nmod:poss", f"PRP$ WP$ in {_PHRASE} ADJP", "(NP (PRP$ *her) (NN dog))"),
    Rule(
        "nmod:poss",
        f"NP in {_PHRASE}",
        "(NP (NP (DT the) (NN *bike) (POS 's)) (NN mirror))",
        when=_is_possessive,
    ),
    Rule("case", "POS", "(NP (NP (DT the) (NN bike) (POS *'s)) (NN mirror))"),
    Rule("nummod", f"CD QP beside {_NOUN} NX CD FW JJ JJR QP in {_PHRASE}", "(NP (CD *two) (NNS dogs))"),
    Rule("nummod", "CD QP after $ in QP", "(NP (DT a) (ADJP (QP ($ $) (CD *350))) (NN fine))"),
    Rule(
        "nummod",
        f"ADJP in {_PHRASE}",
        "(NP (DT a) (ADJP (QP (IN over) (CD *six))) (NN bench))",
        when=lambda node: begins_with(node, "QP") and node.head.label == "CD",
    ),
    Rule(
        "compound",
        f"CD beside JJ NN NNS CD $ in {_PHRASE} ADJP QP",
        "(NP (CD *two) (JJ black) (CC and) (JJ white) (NNS dogs))",
    ),
    Rule("amod", f"JJ JJR JJS VBG VBN VBD IN ADJP WHADJP in {_PHRASE}", "(NP (DT a) (JJ *brown) (NN dog))"),
    Rule(
        "compound",
        f"NN NNS NNP NNPS NX FW NP before {_NOUN} FW CC in {_PHRASE}",
        "(NP (DT a) (NN *tennis) (NN racket))",
    ),
    Rule(
        "acl",
        f"PP after head in {_PHRASE}",
        "(NP (NP (DT a) (NN man)) (PP (IN while) (S (VP (VBG *riding)))))",
        when=_lacks_noun,
    ),
    Rule(
        "nmod",
        f"UCP in {_PHRASE}",
        "(NP (NP (DT a) (NN dog)) (UCP (PP (IN in) (NP (DT the) (NN *air))) (CC and) (VP (VBG barking))))",
        when=lambda node: begins_with(node, "PP"),
    ),
    Rule("nmod", f"PP WHPP in {_PHRASE}", "(NP (NP (DT a) (NN dog)) (PP (IN on) (NP (DT a) (NN *beach))))"),
    Rule(
        "nmod",
        f"PRN in {_PHRASE}",
        "(NP (NP (DT a) (NN tram)) (PRN (CC but) (PP (IN with) (NP (NNS *ads)))))",
        when=lambda node: node.head_child.label == "PP",
    ),
    Rule(
        "acl:relcl",
        f"SBAR after NP WHNP in {_PHRASE}",
        "(NP (NP (DT a) (NN dog)) (SBAR (WHNP (WDT that)) (S (VP (VBZ *barks)))))",
        when=_is_relative,
    ),
    Rule(
        "acl",
        f"SBAR after NP WHNP {_NOUN} in {_PHRASE}",
        "(NP (NP (DT a) (NN game)) (SBAR (S (NP (DT a) (NN boy)) (VP (TO to) (VP (VB *play))))))",
        when=lambda node: is_infinitive(node.head_child) and mark(node) == "",
    ),
    Rule(
        "ccomp",
        f"SBAR after {_NOUN} in {_PHRASE}",
        "(NP (DT a) (NN sign) (SBAR (S (NP (PRP it)) (VP (VBZ *says) (NP (NN stop))))))",
    ),
    Rule(
        "acl",
        f"VP after head in {_PHRASE}",
        "(NP (NP (DT a) (NN man)) (VP (VBG *riding) (NP (DT a) (NN horse))))",
        when=_is_participial,
    ),
    Rule(
        "acl",
        f"S after {_NOUN} NP in {_PHRASE}",
        "(NP (DT a) (NN knife) (S (VP (TO to) (VP (VB *cut) (NP (NN cake))))))",
        when=is_infinitive,
    ),
    Rule(
        "appos",
        "NP after NP in NP",
        "(NP (NP (DT a) (NN man)) (, ,) (NP (DT a) (NN *cook)))",
        when=_is_name_or_follows_comma,
    ),
    Rule("advmod", f"RB RBR RBS ADVP WHADVP in {_PHRASE}", "(NP (NP (DT a) (NN dog)) (ADVP (RB *outside)))"),
    Rule("nmod:tmod", f"NP-TMP in {_PHRASE}", "(NP (NP (DT a) (NN game)) (NP-TMP (DT this) (NN *morning)))"),
)
