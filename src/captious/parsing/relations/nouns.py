"""Relations of the parts of a noun phrase to its noun.

det, det:predet, neg, nummod, amod, compound, nmod:poss, case, nmod, acl, acl:relcl, appos.
"""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.heads import verb_tag
from captious.parsing.relations.conditions import (
    begins_with,
    is_infinitive,
    is_negation,
    lacks_noun,
    mark,
    precedes_conjunction,
)
from captious.parsing.relations.rule import Rule
from captious.parsing.rule_words import BE

__all__ = ["NOUNS"]

_PHRASE = "NP NP-TMP NX NAC WHNP"
_NOUN = "NN NNS NNP NNPS NX"


def _before_determiner(node: Node) -> bool:
    return node.parent.children[node.index + 1].label in ("DT", "PRP$")


def _is_possessive(node: Node) -> bool:
    """the bike 's, in (the bike 's) mirror or in (the bike) 's mirror"""
    return node.parent.children[node.index + 1].label == "POS" or (
        bool(node.children) and node.children[-1].label == "POS"
    )


def _has_clause(node: Node) -> bool:
    return lacks_noun(node) or (begins_with(node, "IN") and begins_with(node.head_child, "TO"))


def _is_participial(node: Node) -> bool:
    return verb_tag(node) in ("VBG", "VBN", "VBD", "TO")


def _is_relative(node: Node) -> bool:
    """Whether the noun can be what a clause lacks: not after *that*, nor if the clause has an object or a predicate."""
    clause = node.head_child
    if is_infinitive(clause) or not node.children or not node.children[0].word:
        return not is_infinitive(clause)
    phrase = clause.head_child
    if phrase.head_child.label == "VP":
        phrase = phrase.head_child
    return mark(node) in ("as", "if", "while") and not any(
        child.label == "NP" or child.word in BE for child in phrase.children
    )


def _is_name_or_follows_comma(node: Node) -> bool:
    return node.parent.children[node.index - 1].label == "," or all(child.label == "NNP" for child in node.children)


NOUNS = (
    Rule(
        relation="neg",
        child="DT RB",
        of=_PHRASE,
        when=is_negation,
        example="(NP (DT *no) (NNS people))",
    ),
    Rule(
        relation="det:predet",
        child="DT PDT",
        of=_PHRASE,
        side="before",
        when=_before_determiner,
        example="(NP (PDT *all) (DT the) (NNS dogs))",
    ),
    Rule(
        relation="dep",
        child="DT",
        of=_PHRASE,
        head="JJ NP",
        side="before",
        when=precedes_conjunction,
        example="(PP (IN in) (NP (DT *a) (JJ brown) (CC and) (JJ white)))",
    ),
    Rule(
        relation="det",
        child="DT WDT",
        of=_PHRASE,
        side="before",
        example="(NP (DT *a) (JJ brown) (NN dog))",
    ),
    Rule(
        relation="nmod:poss",
        child="PRP$ WP$",
        of=_PHRASE,
        example="(NP (PRP$ *her) (NN dog))",
    ),
    Rule(
        relation="nmod:poss",
        child="NP",
        of=_PHRASE,
        side="before",
        when=_is_possessive,
        example="(NP (NP (DT the) (NN *bike) (POS 's)) (NN mirror))",
    ),
    Rule(
        relation="case",
        child="POS",
        example="(NP (NP (DT the) (NN bike) (POS *'s)) (NN mirror))",
    ),
    Rule(
        relation="nummod",
        child="CD QP",
        of=_PHRASE,
        head=_NOUN + " CD FW JJR",
        example="(NP (CD *two) (NNS dogs))",
    ),
    Rule(
        relation="nummod",
        child="ADJP",
        of=_PHRASE,
        when=lambda node: begins_with(node, "QP"),
        example="(NP (DT a) (ADJP (QP (IN over) (CD *six))) (NN bench))",
    ),
    Rule(
        relation="compound",
        child="CD",
        of=_PHRASE + " ADJP QP",
        head="JJ NN NNS CD",
        side="before",
        example="(NP (CD *two) (JJ black) (CC and) (JJ white) (NNS dogs))",
    ),
    Rule(
        relation="amod",
        child="JJ JJR JJS VBG VBN VBD IN ADJP",
        of=_PHRASE,
        example="(NP (DT a) (JJ *brown) (NN dog))",
    ),
    Rule(
        relation="amod",
        child="UCP",
        of=_PHRASE,
        when=lambda node: begins_with(node, "ADJP", "JJ"),
        example="(NP (UCP (ADJP (JJ *big)) (CC and) (NP (NN stone))) (NNS houses))",
    ),
    Rule(
        relation="compound",
        child="NN NNS NNP NNPS NX FW NP UCP",
        of=_PHRASE,
        head=_NOUN + " JJR",
        side="before",
        example="(NP (DT a) (NN *tennis) (NN racket))",
    ),
    Rule(
        relation="acl",
        child="PP",
        of=_PHRASE,
        side="after",
        when=_has_clause,
        example="(NP (NP (DT a) (NN man)) (PP (IN while) (S (VP (VBG *riding)))))",
    ),
    Rule(
        relation="nmod",
        child="PP WHPP",
        of=_PHRASE,
        example="(NP (NP (DT a) (NN dog)) (PP (IN on) (NP (DT a) (NN *beach))))",
    ),
    Rule(
        relation="acl:relcl",
        child="SBAR",
        of=_PHRASE,
        head="NP WHNP",
        side="after",
        when=_is_relative,
        example="(NP (NP (DT a) (NN dog)) (SBAR (WHNP (WDT that)) (S (VP (VBZ *barks)))))",
    ),
    Rule(
        relation="acl",
        child="SBAR",
        of=_PHRASE,
        head="NP WHNP",
        side="after",
        when=lambda node: is_infinitive(node.head_child) and mark(node) == "",
        example="(NP (NP (DT a) (NN game)) (SBAR (S (NP (DT a) (NN boy)) (VP (TO to) (VP (VB *play))))))",
    ),
    Rule(
        relation="ccomp",
        child="SBAR",
        of=_PHRASE,
        head=_NOUN,
        side="after",
        example="(NP (DT a) (NN sign) (SBAR (S (NP (PRP it)) (VP (VBZ *says) (NP (NN stop))))))",
    ),
    Rule(
        relation="acl",
        child="VP",
        of=_PHRASE,
        side="after",
        when=_is_participial,
        example="(NP (NP (DT a) (NN man)) (VP (VBG *riding) (NP (DT a) (NN horse))))",
    ),
    Rule(
        relation="acl",
        child="S",
        of=_PHRASE,
        side="after",
        when=is_infinitive,
        example="(NP (DT a) (NN knife) (S (VP (TO to) (VP (VB *cut) (NP (NN cake))))))",
    ),
    Rule(
        relation="appos",
        child="NP",
        of="NP",
        head="NP",
        side="after",
        when=_is_name_or_follows_comma,
        example="(NP (NP (DT a) (NN man)) (, ,) (NP (DT a) (NN *cook)))",
    ),
    Rule(
        relation="advmod",
        child="RB RBR RBS ADVP",
        of=_PHRASE,
        example="(NP (NP (DT a) (NN dog)) (ADVP (RB *outside)))",
    ),
    Rule(
        relation="nmod:tmod",
        child="NP-TMP",
        of=_PHRASE,
        example="(NP (NP (DT a) (NN game)) (NP-TMP (DT this) (NN *morning)))",
    ),
)
