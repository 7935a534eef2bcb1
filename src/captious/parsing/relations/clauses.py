"""Relations of subjects, verbs and complements to the predicate of a clause.

nsubj, nsubjpass, csubj, expl, aux, auxpass, cop, mark, dobj, iobj, xcomp, ccomp, parataxis, compound:prt.
"""

from __future__ import annotations

from captious.parsing.head_tree import Node
from captious.parsing.heads import is_existential, verb_tag
from captious.parsing.relations.conditions import (
    begins_with,
    clause_form,
    has_subject,
    is_bare,
    is_coordinated,
    is_infinitive,
    is_passive_auxiliary,
    mark,
    passive,
    whole_predicate,
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
    return node.parent.parent.label == "VP" and not node.parent.governor.children and verb_tag(node.governor) == "TO"


def _verb_outside(node: Node) -> Node:
    return node.parent.governor


def _has_no_verb(node: Node) -> bool:
    """[a bear] next to a log; not: has [her eyes] open"""
    if node.governor.label == "SBAR":
        return not _stands_before(node, "ADJP")
    return node.parent.parent.label != "VP" or node.index > node.governor.index


def _stands_before(node: Node, label: str) -> bool:
    after = node.after
    return bool(after) and after[0].label == label


def _asks_for_object(node: Node) -> bool:
    """[what] a man eats; not before a clause without a verb: [two boys] are side by side"""
    clause = node.governor
    is_copular = clause.head_child.label != "VP" and any(child.label == "PP" for child in clause.children)
    return has_subject(clause) and not is_copular


def _is_of_preposition(node: Node) -> bool:
    """[what] it looks like: the last verb phrase has a preposition alone"""
    phrase = node.governor.head_child
    while phrase.children and phrase.head_child.label == "VP":
        phrase = phrase.head_child
    return _asks_for_object(node) and any(map(is_bare, phrase.children)) and phrase.head_child.label != "PP"


def _is_what_exists(node: Node) -> bool:
    return node.governor.word in BE and is_existential(node.parent)


def _exists_too(node: Node) -> bool:
    """there is a man and has [a glove]"""
    phrase = whole_predicate(node)
    return phrase is not node.parent and phrase.head is not node.governor.head and is_existential(phrase)


def _follows_be(node: Node) -> bool:
    """is [the only thing] visible"""
    return any(sibling.word in BE for sibling in node.before)


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
    return _after_object(node) and clause_form(node) == "TO" and begins_with(node, "VP", "ADVP")


def _is_only_infinitive(node: Node) -> bool:
    """ready [to swing]; not: careful [not to fall]"""
    return is_infinitive(node) and begins_with(node, "VP")


def _is_open(node: Node) -> bool:
    form = clause_form(node)
    if has_subject(node):
        return form == "" or (form == "TO" and node.governor.word not in HAVE)
    return form in ("", "TO", "VBG")


def _is_closed(node: Node) -> bool:
    return not _after_object(node) and clause_form(node) not in ("VBG", "VBN")


def _is_simple_verb(node: Node) -> bool:
    return verb_tag(node) in ("VB", "VBG") and node.before[-1] is node.governor


def _asks_how(node: Node) -> bool:
    return node.children[0].children[0].word == "how"


def _asks_to(node: Node) -> bool:
    return mark(node) == "WHADVP" and is_infinitive(node.head_child)


def _asks_what_to_do(node: Node) -> bool:
    """knows [where to go], teaching a boy [how to ski]; not: learning [how to ski]"""
    return _asks_to(node) and (_after_object(node) or not _asks_how(node))


def _is_content(node: Node) -> bool:
    """Whether a clause has no conjunction, or one that says no more than that a clause begins."""
    word = mark(node)
    if word == "WHADVP":
        return _asks_how(node) or node.governor.word in TELL
    if _after_object(node) or is_coordinated(node.head_child.head_child):
        return word in ("that", "whether", "WHNP")
    return word in ("", "that", "but", "only", "whether", "WHNP", "WHADJP")


def _is_apart(node: Node) -> bool:
    return mark(node) in ("", "but")


def _completes_adjective(node: Node) -> bool:
    """happy [that he wins]; not: tall [as a tree is]"""
    return mark(node) != "as" and node.head_child.label != "FRAG"


CLAUSES = (
    # ---- subjects
    Rule("expl", "NP in S SINV SQ", "(S (NP (EX *there)) (VP (VBZ is) (NP (DT a) (NN dog))))", when=_is_there),
    Rule(
        "dobj",
        "NP before VP in S",
        "(VP (VBG telling) (S (NP (PRP *you)) (VP (TO to) (VP (VB watch)))))",
        when=_is_raised,
        governor=_verb_outside,
    ),
    Rule(
        "dep",
        "NP beside ADJP SBAR in S",
        "(S (NP (DT a) (NN *bear)) (ADJP (JJ next) (PP (TO to) (NP (DT a) (NN log)))))",
        when=_has_no_verb,
    ),
    Rule(
        "dep",
        "NP in SBAR",
        "(SBAR (NP (DT the) (NN *jump)) (IN while) (S (NP (NNS others)) (VP (VBP watch))))",
    ),
    Rule(
        "nmod",
        "WHNP in SBAR SBARQ",
        "(SBAR (WHNP (WP *what)) (S (NP (PRP it)) (VP (VBZ looks) (PP (IN like)))))",
        when=_is_of_preposition,
    ),
    Rule(
        "dobj",
        "WHNP in SBAR SBARQ",
        "(SBAR (WHNP (WP *what)) (S (NP (DT a) (NN man)) (VP (VBZ eats))))",
        when=_asks_for_object,
    ),
    Rule(
        "nsubjpass",
        "NP WHNP in S SINV SQ SBAR SBARQ",
        "(S (NP (NN *bread)) (VP (VBZ is) (VP (VBG being) (VP (VBN baked)))))",
        when=passive,
    ),
    Rule("nsubj", "NP WHNP in S SINV SQ SBAR SBARQ", "(S (NP (DT a) (NN *dog)) (VP (VBZ barks)))"),
    Rule(
        "csubj",
        "S SBAR before VP in S",
        "(S (S (VP (VBG *running))) (VP (VBZ is) (ADJP (JJ fun))))",
        when=lambda node: not has_subject(node.parent),
    ),
    # ---- auxiliaries and copulas
    Rule("mark", "TO before VP in VP", "(VP (VBG trying) (S (VP (TO *to) (VP (VB eat)))))"),
    Rule(
        "auxpass",
        f"{_VERBS} before head in VP SQ SINV",
        "(S (NP (NN bread)) (VP (VBZ *is) (VP (VBN baked))))",
        when=is_passive_auxiliary,
    ),
    Rule("aux", f"{_VERBS} MD before VP in VP SQ SINV", "(S (NP (DT a) (NN dog)) (VP (VBZ *is) (VP (VBG barking))))"),
    Rule(
        "cop",
        f"{_VERBS} before NP NX PP ADJP UCP in VP SQ",
        "(S (NP (DT a) (NN cat)) (VP (VBZ *is) (PP (IN on) (NP (DT a) (NN mat)))))",
    ),
    # ---- noun phrases after a verb
    Rule(
        "nsubj",
        "NP in VP",
        "(S (NP (EX there)) (VP (VP (VBZ is) (NP (DT a) (NN man))) (CC and) (VP (VBZ has) (NP (DT a) (NN *glove)))))",
        when=_exists_too,
        governor=whole_predicate,
    ),
    Rule(
        "dep",
        "NP beside NP ADJP VP in VP",
        "(VP (VBZ is) (NP (DT the) (JJ only) (NN *thing)) (ADJP (JJ visible)))",
        when=_follows_be,
    ),
    Rule(
        "iobj",
        "NP after head in VP",
        "(VP (VBG giving) (NP (DT a) (NN *dog)) (NP (DT a) (NN bath)))",
        when=lambda node: _stands_before(node, "NP") and not begins_with(node, "PRP$"),
    ),
    Rule(
        "nsubj",
        "NP after head in VP SINV SQ",
        "(S (NP (EX there)) (VP (VBZ is) (NP (DT a) (NN *dog))))",
        when=_is_what_exists,
    ),
    Rule("nmod:tmod", "NP after head in VP", "(VP (VBG enjoying) (NP (DT a) (JJ sunny) (NN *day)))", when=_is_time),
    Rule(
        "dep",
        "NP after head in VP",
        "(VP (VBG giving) (NP (PRP$ her) (NN *dog)) (NP (DT a) (NN bath)))",
        when=_is_owned_before_object,
    ),
    Rule("xcomp", "NP after head in VP", "(VP (VBG resembling) (NP (DT a) (NN *dragon)))", when=_is_predicate),
    Rule("dobj", "NP in VP", "(VP (VBG eating) (NP (DT an) (NN *apple)))"),
    Rule("compound:prt", "PRT in VP", "(VP (VBG sitting) (PRT (RP *down)))"),
    Rule("compound:prt", "RP beside VBN in ADJP", "(NP (DT a) (ADJP (VBN taped) (RP *off)) (NN street))"),
    # ---- complements: adjectives, verb phrases, clauses
    Rule("xcomp", "ADJP in VP", "(VP (VBZ looks) (ADJP (JJ *happy)))"),
    Rule("xcomp", "VP after VB VBD VBN VBP VBZ in VP", "(VP (VB help) (VP (VB *clean)))", when=_is_simple_verb),
    Rule(
        "xcomp",
        "S after head in VP",
        "(VP (VBG telling) (NP (NNS people)) (S (VP (TO to) (VP (VB *stop)))))",
        when=_is_told,
    ),
    Rule(
        "advcl",
        "S after head in VP",
        "(VP (VBG jumping) (NP (DT a) (NN fence)) (S (VP (TO to) (VP (VB *catch) (NP (DT a) (NN ball))))))",
        when=_says_what_for,
    ),
    Rule(
        "advcl",
        "S after VBG in VP",
        "(VP (VBG standing) (S (VP (VBG *holding) (NP (DT a) (NN bat)))))",
        when=lambda node: node.head_child.label == "VP" and verb_tag(node.head_child) == "VBG",
    ),
    Rule("xcomp", "S after head in VP", "(VP (VBG trying) (S (VP (TO to) (VP (VB *eat)))))", when=_is_open),
    Rule(
        "ccomp", "S after head in VP", "(VP (VBG helping) (S (NP (DT a) (NN child)) (VP (VB *walk))))", when=_is_closed
    ),
    Rule(
        "xcomp", "S after head in ADJP", "(ADJP (JJ ready) (S (VP (TO to) (VP (VB *swing)))))", when=_is_only_infinitive
    ),
    Rule(
        "xcomp",
        "SBAR after head in VP",
        "(VP (VBG teaching) (NP (DT a) (NN boy)) (SBAR (WHADVP (WRB how)) (S (VP (TO to) (VP (VB *ski))))))",
        when=_asks_what_to_do,
    ),
    Rule(
        "ccomp",
        "SBAR after head in VP",
        "(VP (VBZ shows) (SBAR (IN that) (S (NP (DT a) (NN dog)) (VP (VBZ *barks)))))",
        when=_is_content,
    ),
    Rule(
        "dep",
        "SBAR after head in VP ADVP",
        "(VP (VBG giving) (NP (DT a) (NN talk)) (SBAR (S (NP (PRP he)) (VP (VBZ *smiles)))))",
        when=_is_apart,
    ),
    Rule(
        "parataxis",
        "S after NP in FRAG",
        "(FRAG (NP (DT a) (NN fridge)) (: /) (S (NP (DT a) (NN freezer)) (VP (VBD *opened))))",
        when=lambda node: node.before[-1].label == ":",
    ),
    Rule(
        "ccomp",
        "SBAR after JJ JJR RB ADJP VBN in ADJP",
        "(ADJP (JJ happy) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ *wins)))))",
        when=_completes_adjective,
    ),
)
