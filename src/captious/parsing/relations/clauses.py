"""Relations of subjects, verbs and complements to the predicate of a clause.

nsubj, nsubjpass, csubj, expl, aux, auxpass, cop, mark, dobj, iobj, xcomp, ccomp, compound:prt.
"""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.heads import is_existential, verb_tag
from captious.parsing.relations.conditions import (
    begins_with,
    clause_form,
    has_subject,
    is_infinitive,
    is_passive_auxiliary,
    mark,
    passive,
)
from captious.parsing.relations.rule import Rule
from captious.parsing.rule_words import BE, HAVE, LINKING, TELL, TEMPORAL

__all__ = ["CLAUSES"]

_VERBS = "VB VBD VBG VBN VBP VBZ"


# ---- of a noun phrase


def _is_there(node: Node) -> bool:
    return node.head.label == "EX"


def _is_raised(node: Node) -> bool:
    """telling [you] to watch: the subject of an infinitive that a verb has for its complement"""
    return verb_tag(node.governor) == "TO" and node.parent.parent.label == "VP" and not node.parent.governor.children


def _verb_outside(node: Node) -> Node:
    return node.parent.governor


def _has_no_verb(node: Node) -> bool:
    """[a bear] next to a log; not: has [her eyes] open"""
    if node.governor.label == "SBAR":
        return not _stands_before(node, "ADJP")
    return node.parent.parent.label != "VP" or node.index > node.governor.index


def _stands_before(node: Node, label: str) -> bool:
    return bool(node.after) and node.after[0].label == label


def _asks_for_object(node: Node) -> bool:
    return has_subject(node.governor)


def _is_what_exists(node: Node) -> bool:
    return node.governor.word in BE and is_existential(node.parent)


def _is_time(node: Node) -> bool:
    return node.head.word in TEMPORAL and node.head.parent is node


def _is_owned_before_object(node: Node) -> bool:
    return _stands_before(node, "NP") and begins_with(node, "PRP$")


def _is_predicate(node: Node) -> bool:
    return node.governor.word in LINKING


# ---- of a clause or verb phrase


def _after_object(node: Node) -> bool:
    return any(sibling.label == "NP" for sibling in node.before)


def _is_told(node: Node) -> bool:
    return _after_object(node) and node.governor.word in TELL


def _says_what_for(node: Node) -> bool:
    return _after_object(node) and clause_form(node) == "TO" and begins_with(node, "VP")


def _is_open(node: Node) -> bool:
    form = clause_form(node)
    if has_subject(node):
        return form == "" or (form == "TO" and node.governor.word not in HAVE)
    return form in ("", "TO", "VBG")


def _is_closed(node: Node) -> bool:
    return not _after_object(node) and clause_form(node) not in ("VBG", "VBN")


def _is_simple_verb(node: Node) -> bool:
    return verb_tag(node) in ("VB", "VBG") and node.before[-1] is node.governor


def _asks_to(node: Node) -> bool:
    return mark(node) == "WHADVP" and is_infinitive(node.head_child)


def _asks_to_after_object(node: Node) -> bool:
    return _asks_to(node) and _after_object(node)


def _is_content(node: Node) -> bool:
    """Whether a clause has no conjunction, or one that says no more than that a clause begins."""
    word = mark(node)
    if word == "WHADVP":
        return node.children[0].head.word == "how" or _asks_to(node)
    if _after_object(node) or begins_with(node.head_child, "S"):
        return word in ("that", "whether", "WHNP")
    return word in ("", "that", "but", "whether", "WHNP", "WHADJP")


def _is_apart(node: Node) -> bool:
    return mark(node) in ("", "but")


def _is_not_as(node: Node) -> bool:
    return mark(node) != "as"


CLAUSES = (
    # ---- subjects
    Rule(
        relation="expl",
        child="NP",
        of="S SINV SQ",
        when=_is_there,
        example="(S (NP (EX *there)) (VP (VBZ is) (NP (DT a) (NN dog))))",
    ),
    Rule(
        relation="dobj",
        child="NP",
        of="S",
        head="VP",
        side="before",
        when=_is_raised,
        governor=_verb_outside,
        example="(VP (VBG telling) (S (NP (PRP *you)) (VP (TO to) (VP (VB watch)))))",
    ),
    Rule(
        relation="dep",
        child="NP",
        of="S",
        head="ADJP SBAR",
        when=_has_no_verb,
        example="(S (NP (DT a) (NN *bear)) (ADJP (JJ next) (PP (TO to) (NP (DT a) (NN log)))))",
    ),
    Rule(
        relation="dobj",
        child="WHNP",
        of="SBAR SBARQ",
        when=_asks_for_object,
        example="(SBAR (WHNP (WP *what)) (S (NP (DT a) (NN man)) (VP (VBZ eats))))",
    ),
    Rule(
        relation="nsubjpass",
        child="NP WHNP",
        of="S SINV SQ SBAR SBARQ",
        when=passive,
        example="(S (NP (NN *bread)) (VP (VBZ is) (VP (VBG being) (VP (VBN baked)))))",
    ),
    Rule(
        relation="nsubj",
        child="NP WHNP",
        of="S SINV SQ SBAR SBARQ",
        example="(S (NP (DT a) (NN *dog)) (VP (VBZ barks)))",
    ),
    Rule(
        relation="csubj",
        child="S SBAR",
        of="S",
        head="VP",
        side="before",
        when=lambda node: node.governor.index == node.index + 1,
        example="(S (S (VP (VBG *running))) (VP (VBZ is) (ADJP (JJ fun))))",
    ),
    # ---- auxiliaries and copulas
    Rule(
        relation="mark",
        child="TO",
        of="VP",
        head="VP",
        side="before",
        example="(VP (VBG trying) (S (VP (TO *to) (VP (VB eat)))))",
    ),
    Rule(
        relation="auxpass",
        child=_VERBS,
        of="VP SQ SINV",
        side="before",
        when=is_passive_auxiliary,
        example="(S (NP (NN bread)) (VP (VBZ *is) (VP (VBN baked))))",
    ),
    Rule(
        relation="aux",
        child=_VERBS + " MD",
        of="VP SQ SINV",
        head="VP",
        side="before",
        example="(S (NP (DT a) (NN dog)) (VP (VBZ *is) (VP (VBG barking))))",
    ),
    Rule(
        relation="cop",
        child=_VERBS,
        of="VP SQ",
        head="NP NX PP ADJP UCP",
        side="before",
        example="(S (NP (DT a) (NN cat)) (VP (VBZ *is) (PP (IN on) (NP (DT a) (NN mat)))))",
    ),
    # ---- noun phrases after a verb
    Rule(
        relation="dep",
        child="NP",
        of="VP",
        head="NP ADJP",
        example="(VP (VBZ is) (NP (DT the) (JJ only) (NN *thing)) (ADJP (JJ visible)))",
    ),
    Rule(
        relation="iobj",
        child="NP",
        of="VP",
        side="after",
        when=lambda node: _stands_before(node, "NP") and not begins_with(node, "PRP$"),
        example="(VP (VBG giving) (NP (DT a) (NN *dog)) (NP (DT a) (NN bath)))",
    ),
    Rule(
        relation="nsubj",
        child="NP",
        of="VP SINV SQ",
        side="after",
        when=_is_what_exists,
        example="(S (NP (EX there)) (VP (VBZ is) (NP (DT a) (NN *dog))))",
    ),
    Rule(
        relation="nmod:tmod",
        child="NP",
        of="VP",
        side="after",
        when=_is_time,
        example="(VP (VBG enjoying) (NP (DT a) (JJ sunny) (NN *day)))",
    ),
    Rule(
        relation="dep",
        child="NP",
        of="VP",
        side="after",
        when=_is_owned_before_object,
        example="(VP (VBG giving) (NP (PRP$ her) (NN *dog)) (NP (DT a) (NN bath)))",
    ),
    Rule(
        relation="xcomp",
        child="NP",
        of="VP",
        side="after",
        when=_is_predicate,
        example="(VP (VBG resembling) (NP (DT a) (NN *dragon)))",
    ),
    Rule(
        relation="dobj",
        child="NP",
        of="VP",
        example="(VP (VBG eating) (NP (DT an) (NN *apple)))",
    ),
    Rule(
        relation="compound:prt",
        child="PRT",
        of="VP",
        example="(VP (VBG sitting) (PRT (RP *down)))",
    ),
    Rule(
        relation="compound:prt",
        child="RP",
        of="ADJP",
        head="VBN",
        example="(NP (DT a) (ADJP (VBN taped) (RP *off)) (NN street))",
    ),
    # ---- complements: adjectives, verb phrases, clauses
    Rule(
        relation="xcomp",
        child="ADJP",
        of="VP",
        example="(VP (VBZ looks) (ADJP (JJ *happy)))",
    ),
    Rule(
        relation="xcomp",
        child="UCP",
        of="VP",
        when=lambda node: begins_with(node, "ADJP"),
        example="(VP (VBZ sits) (UCP (ADJP (JJ *empty)) (CC and) (VP (VBN covered))))",
    ),
    Rule(
        relation="xcomp",
        child="VP",
        of="VP",
        head="VB VBD VBN VBP VBZ",
        side="after",
        when=_is_simple_verb,
        example="(VP (VB help) (VP (VB *clean)))",
    ),
    Rule(
        relation="xcomp",
        child="S",
        of="VP",
        side="after",
        when=_is_told,
        example="(VP (VBG telling) (NP (NNS people)) (S (VP (TO to) (VP (VB *stop)))))",
    ),
    Rule(
        relation="advcl",
        child="S",
        of="VP",
        side="after",
        when=_says_what_for,
        example="(VP (VBG jumping) (NP (DT a) (NN fence)) (S (VP (TO to) (VP (VB *catch) (NP (DT a) (NN ball))))))",
    ),
    Rule(
        relation="advcl",
        child="S",
        of="VP",
        head="VBG",
        side="after",
        when=lambda node: clause_form(node) == "VBG",
        example="(VP (VBG standing) (S (VP (VBG *holding) (NP (DT a) (NN bat)))))",
    ),
    Rule(
        relation="xcomp",
        child="S",
        of="VP",
        side="after",
        when=_is_open,
        example="(VP (VBG trying) (S (VP (TO to) (VP (VB *eat)))))",
    ),
    Rule(
        relation="ccomp",
        child="S",
        of="VP",
        side="after",
        when=_is_closed,
        example="(VP (VBG helping) (S (NP (DT a) (NN child)) (VP (VB *walk))))",
    ),
    Rule(
        relation="xcomp",
        child="S",
        of="ADJP",
        side="after",
        when=is_infinitive,
        example="(ADJP (JJ ready) (S (VP (TO to) (VP (VB *swing)))))",
    ),
    Rule(
        relation="xcomp",
        child="SBAR",
        of="VP",
        side="after",
        when=_asks_to_after_object,
        example="(VP (VBG teaching) (NP (DT a) (NN boy)) (SBAR (WHADVP (WRB how)) (S (VP (TO to) (VP (VB *ski))))))",
    ),
    Rule(
        relation="ccomp",
        child="SBAR",
        of="VP",
        side="after",
        when=_is_content,
        example="(VP (VBZ shows) (SBAR (IN that) (S (NP (DT a) (NN dog)) (VP (VBZ *barks)))))",
    ),
    Rule(
        relation="dep",
        child="SBAR",
        of="VP",
        side="after",
        when=_is_apart,
        example="(VP (VBG giving) (NP (DT a) (NN talk)) (SBAR (S (NP (PRP he)) (VP (VBZ *smiles)))))",
    ),
    Rule(
        relation="ccomp",
        child="SBAR",
        of="ADJP",
        head="JJ ADJP VBN",
        side="after",
        when=_is_not_as,
        example="(ADJP (JJ happy) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ *wins)))))",
    ),
)
