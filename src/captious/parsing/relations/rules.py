"""The rules that name the relation between a constituent and the head of the constituent around it.

Each rule has two lines. The first gives the relation and the position of the constituent, in labels of the treebank:
``nsubj NP before VP in S SINV`` is an NP before a head child that is a VP, in an S or SINV. ``after`` and ``beside``
(on either side) are used like ``before``. ``any`` is any constituent and ``head`` any head child; omitted parts match
anything. Conditions follow ``if``: functions of ``phrases`` or ``clauses``, some with labels in parentheses. If the
constituent does not depend on the head child of the constituent around it, ``on`` names a function that finds its
governor. The second line is a tree in which the rule determines the relation of the starred word.

Rules are tried from the top; the first that fits decides.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from captious.parsing.heads import Node
from captious.parsing.relations import clauses, phrases

Condition: TypeAlias = Callable[[Node], bool]

_TABLE = r"""
# Coordination, and words that are one expression together.
case CC beside NP in PP if begins_phrase
    (NP (NP (DT a) (NN desk)) (PP (CC *plus) (NP (DT a) (NN chair))))
cc:preconj DT PDT CC in NP VP ADJP PP if is_pairing_word, precedes_conjunction
    (NP (PDT *both) (DT a) (NN fork) (CC and) (NN knife))
dep CC if is_pairing_word
    (NP (NP (DT a) (NN pair)) (PP (CC *both) (S (VP (VBG wearing) (NP (NN white))))))
cc CC CONJP
    (NP (NP (DT a) (NN cat)) (CC *and) (NP (DT a) (NN dog)))
advmod ADVP RB after NP NN NNS JJ ADJP VP in UCP NP NP-TMP ADJP VP if follows_conjunction, not is_not
    (UCP (NP (DT a) (NN tattoo)) (CC and) (ADVP (RBR lower) (RB *back)))
advmod ADVP in PP if opens_conjunct on next_sibling
    (PP (PP (IN in) (NP (NN red))) (CC and) (ADVP (RB *then)) (PP (IN in) (NP (NN blue))))
acl VP beside NP in UCP if begins_with(VBG VBN VBD ADVP)
    (UCP (NP (DT a) (NN horse)) (CC and) (VP (VBG *standing) (PP (IN by) (NP (DT a) (NN road)))))
acl:relcl RRC in UCP NP
    (UCP (NP (DT a) (NN cake)) (CC and) (RRC (ADVP (RB jelly)) (PP (IN on) (NP (PRP *it)))))
nmod PP in FRAG X if has_coordinated_noun
    (FRAG (NP (DT a) (NN kitchen)) (CC and) (PP (IN with) (NP (DT a) (NN *table))))
dep any after head in FRAG PRT X if follows_conjunction
    (VP (VBN lined) (PRT (RP up) (CC and) (RP *down)))
advmod ADVP beside CC in ADVP UCP
    (VP (VBG running) (ADVP (ADVP (RB forward)) (CC and) (ADVP (RB *backward))))
case IN beside CC in ADVP
    (VP (VBG jumping) (ADVP (IN up) (CC and) (IN *down)))
conj any after head if follows_conjunction
    (NP (NP (DT a) (NN cat)) (CC and) (NP (DT a) (NN *dog)))
conj JJ NN PP before head in ADJP PP if follows_conjunction
    (NP (ADJP (JJ red) (CC and) (JJ *green) (JJ metallic)) (NNS cups))
mwe any in CONJP if is_fixed_expression
    (NP (NP (DT a) (NN tv)) (CONJP (RB as) (RB well) (IN *as)) (NP (DT a) (NN couch)))
mwe any in IN RB
    (VP (VBG painting) (PP (RB instead) (IN *of) (NP (NNS numbers))))

# The parts of a noun phrase.
neg DT RB in nominal if is_negation
    (NP (DT *no) (NNS people))
dep DT before DT WHPP in nominal
    (WHNP (DT *all) (WHPP (IN of) (WHNP (WDT which))))
det:predet DT PDT before head in nominal if precedes_determiner
    (NP (PDT *all) (DT the) (NNS dogs))
dep DT before JJ NP in nominal if precedes_conjunction
    (PP (IN in) (NP (DT *a) (JJ brown) (CC and) (JJ white)))
det DT WDT WP before head in nominal
    (NP (DT *a) (JJ brown) (NN dog))
nmod:poss PRP$ WP$ in nominal ADJP
    (NP (PRP$ *her) (NN dog))
nmod:poss NP in nominal if is_possessive
    (NP (NP (DT the) (NN *bike) (POS 's)) (NN mirror))
case POS
    (NP (NP (DT the) (NN bike) (POS *'s)) (NN mirror))
nummod CD QP beside noun NX CD FW JJ JJR QP in nominal
    (NP (CD *two) (NNS dogs))
nummod CD QP after $ in QP
    (NP (DT a) (ADJP (QP ($ $) (CD *350))) (NN fine))
nummod ADJP in nominal if is_number
    (NP (DT a) (ADJP (QP (IN over) (CD *six))) (NN bench))
compound CD beside JJ NN NNS CD $ in nominal ADJP QP
    (NP (CD *two) (JJ black) (CC and) (JJ white) (NNS dogs))
amod JJ JJR JJS VBG VBN VBD IN ADJP WHADJP in nominal
    (NP (DT a) (JJ *brown) (NN dog))
compound noun NX FW NP before noun FW CC in nominal
    (NP (DT a) (NN *tennis) (NN racket))
acl PP after head in nominal if lacks_noun
    (NP (NP (DT a) (NN man)) (PP (IN while) (S (VP (VBG *riding)))))
nmod UCP in nominal if begins_with(PP)
    (NP (NP (DT a) (NN dog)) (UCP (PP (IN in) (NP (DT the) (NN *air))) (CC and) (VP (VBG barking))))
nmod PP WHPP in nominal
    (NP (NP (DT a) (NN dog)) (PP (IN on) (NP (DT a) (NN *beach))))
nmod PRN in nominal if has_head(PP)
    (NP (NP (DT a) (NN tram)) (PRN (CC but) (PP (IN with) (NP (NNS *ads)))))
acl:relcl SBAR after NP WHNP in nominal if is_relative_clause
    (NP (NP (DT a) (NN dog)) (SBAR (WHNP (WDT that)) (S (VP (VBZ *barks)))))
acl SBAR after NP WHNP noun in nominal if is_unmarked_infinitive
    (NP (NP (DT a) (NN game)) (SBAR (S (NP (DT a) (NN boy)) (VP (TO to) (VP (VB *play))))))
ccomp SBAR after noun in nominal
    (NP (DT a) (NN sign) (SBAR (S (NP (PRP it)) (VP (VBZ *says) (NP (NN stop))))))
acl VP after head in nominal if is_participial
    (NP (NP (DT a) (NN man)) (VP (VBG *riding) (NP (DT a) (NN horse))))
acl S after noun NP in nominal if is_infinitive
    (NP (DT a) (NN knife) (S (VP (TO to) (VP (VB *cut) (NP (NN cake))))))
appos NP after NP in NP if is_apposition
    (NP (NP (DT a) (NN man)) (, ,) (NP (DT a) (NN *cook)))
advmod RB RBR RBS ADVP WHADVP in nominal
    (NP (NP (DT a) (NN dog)) (ADVP (RB *outside)))
nmod:tmod NP-TMP in nominal
    (NP (NP (DT a) (NN game)) (NP-TMP (DT this) (NN *morning)))

# Subjects.
expl NP in S SINV SQ if is_there
    (S (NP (EX *there)) (VP (VBZ is) (NP (DT a) (NN dog))))
dobj NP before VP in S if is_raised_subject on verb_outside
    (VP (VBG telling) (S (NP (PRP *you)) (VP (TO to) (VP (VB watch)))))
dep NP beside ADJP SBAR in S if lacks_verb
    (S (NP (DT a) (NN *bear)) (ADJP (JJ next) (PP (TO to) (NP (DT a) (NN log)))))
dep NP in SBAR
    (SBAR (NP (DT the) (NN *jump)) (IN while) (S (NP (NNS others)) (VP (VBP watch))))
nmod WHNP in SBAR SBARQ if completes_preposition
    (SBAR (WHNP (WP *what)) (S (NP (PRP it)) (VP (VBZ looks) (PP (IN like)))))
dobj WHNP in SBAR SBARQ if asks_for_object
    (SBAR (WHNP (WP *what)) (S (NP (DT a) (NN man)) (VP (VBZ eats))))
nsubjpass NP WHNP in S SINV SQ SBAR SBARQ if is_passive_subject
    (S (NP (NN *bread)) (VP (VBZ is) (VP (VBG being) (VP (VBN baked)))))
nsubj NP WHNP in S SINV SQ SBAR SBARQ
    (S (NP (DT a) (NN *dog)) (VP (VBZ barks)))
csubj S SBAR before VP in S if is_clausal_subject
    (S (S (VP (VBG *running))) (VP (VBZ is) (ADJP (JJ fun))))

# Auxiliaries and copulas.
mark TO before VP in VP
    (VP (VBG trying) (S (VP (TO *to) (VP (VB eat)))))
auxpass verb before head in VP SQ SINV if is_passive_auxiliary
    (S (NP (NN bread)) (VP (VBZ *is) (VP (VBN baked))))
aux verb MD before VP in VP SQ SINV
    (S (NP (DT a) (NN dog)) (VP (VBZ *is) (VP (VBG barking))))
cop verb before NP NX PP ADJP UCP in VP SQ
    (S (NP (DT a) (NN cat)) (VP (VBZ *is) (PP (IN on) (NP (DT a) (NN mat)))))

# Noun phrases after a verb.
nsubj NP in VP if exists_too on whole_predicate
    (S (NP (EX there)) (VP (VP (VBZ is) (NP (DT a) (NN man))) (CC and) (VP (VBZ has) (NP (DT a) (NN *glove)))))
dep NP beside NP ADJP VP in VP if follows_be
    (VP (VBZ is) (NP (DT the) (JJ only) (NN *thing)) (ADJP (JJ visible)))
iobj NP after head in VP if precedes(NP), not begins_with(PRP$)
    (VP (VBG giving) (NP (DT a) (NN *dog)) (NP (DT a) (NN bath)))
nsubj NP after head in VP SINV SQ if is_what_exists
    (S (NP (EX there)) (VP (VBZ is) (NP (DT a) (NN *dog))))
nmod:tmod NP after head in VP if is_time
    (VP (VBG enjoying) (NP (DT a) (JJ sunny) (NN *day)))
dep NP after head in VP if precedes(NP), begins_with(PRP$)
    (VP (VBG giving) (NP (PRP$ her) (NN *dog)) (NP (DT a) (NN bath)))
xcomp NP after head in VP if is_predicate_noun
    (VP (VBG resembling) (NP (DT a) (NN *dragon)))
dobj NP in VP
    (VP (VBG eating) (NP (DT an) (NN *apple)))
compound:prt PRT in VP
    (VP (VBG sitting) (PRT (RP *down)))
compound:prt RP beside VBN in ADJP
    (NP (DT a) (ADJP (VBN taped) (RP *off)) (NN street))

# Complements: adjectives, verb phrases, clauses.
xcomp ADJP in VP
    (VP (VBZ looks) (ADJP (JJ *happy)))
xcomp VP after VB VBD VBN VBP VBZ in VP if is_simple_verb
    (VP (VB help) (VP (VB *clean)))
xcomp S after head in VP if is_told
    (VP (VBG telling) (NP (NNS people)) (S (VP (TO to) (VP (VB *stop)))))
advcl S after head in VP if says_what_for
    (VP (VBG jumping) (NP (DT a) (NN fence)) (S (VP (TO to) (VP (VB *catch) (NP (DT a) (NN ball))))))
advcl S after VBG in VP if is_progressive
    (VP (VBG standing) (S (VP (VBG *holding) (NP (DT a) (NN bat)))))
xcomp S after head in VP if is_open_complement
    (VP (VBG trying) (S (VP (TO to) (VP (VB *eat)))))
ccomp S after head in VP if is_closed_complement
    (VP (VBG helping) (S (NP (DT a) (NN child)) (VP (VB *walk))))
xcomp S after head in ADJP if is_infinitive, begins_with(VP)
    (ADJP (JJ ready) (S (VP (TO to) (VP (VB *swing)))))
xcomp SBAR after head in VP if asks_what_to_do
    (VP (VBG teaching) (NP (DT a) (NN boy)) (SBAR (WHADVP (WRB how)) (S (VP (TO to) (VP (VB *ski))))))
ccomp SBAR after head in VP if is_content_clause
    (VP (VBZ shows) (SBAR (IN that) (S (NP (DT a) (NN dog)) (VP (VBZ *barks)))))
dep SBAR after head in VP ADVP if is_unmarked
    (VP (VBG giving) (NP (DT a) (NN talk)) (SBAR (S (NP (PRP he)) (VP (VBZ *smiles)))))
parataxis S after NP in FRAG if follows(:)
    (FRAG (NP (DT a) (NN fridge)) (: /) (S (NP (DT a) (NN freezer)) (VP (VBD *opened))))
ccomp SBAR after JJ JJR RB ADJP VBN in ADJP if completes_adjective
    (ADJP (JJ happy) (SBAR (IN that) (S (NP (PRP he)) (VP (VBZ *wins)))))

# Prepositions and their phrases.
mark IN before head in SBAR
    (VP (VBZ waits) (SBAR (IN *while) (S (NP (PRP he)) (VP (VBZ eats)))))
case IN before S in PP if has_noun_as_verb
    (PP (IN *on) (S (VP (NN shore) (S (VP (VBG drying))))))
mark IN TO before S SBAR in PP
    (PP (IN *while) (S (VP (VBG riding))))
dep VBG before PP in PP if precedes_clause
    (FRAG (NP (DT a) (NN dog)) (PP (VBG *staring) (PP (IN while) (S (VP (VBG barking))))))
case IN TO JJ VBG VBN in PP WHPP
    (PP (IN *on) (NP (DT a) (NN beach)))
case IN in ADVP
    (ADVP (NP (DT a) (NN ramp)) (IN *down))
nmod PP in VP ADVP ADJP SINV SQ UCP if has_noun
    (VP (VBG sitting) (PP (IN on) (NP (DT a) (NN *bench))))
case PP after head in VP if ends_question on question
    (SBAR (WHNP (WP what)) (S (NP (PRP it)) (VP (VBZ looks) (PP (IN *like)))))
case PP after head in VP ADJP if is_stranded on phrase_to_complete
    (VP (VBG skiing) (PP (IN with) (NP (NNS goggles))) (PP (IN *on)))
nmod PP in VP ADVP ADJP SINV SQ UCP if is_bare_preposition
    (VP (VBZ walks) (PP (IN *by)))
dep PP in VP ADVP ADJP if has_head(PP), begins_with(IN)
    (VP (VBP graze) (PP (IN near) (PP (IN *by))))
nmod PP before VP in S if has_noun
    (S (PP (IN in) (NP (DT a) (NN *park))) (NP (DT a) (NN dog)) (VP (VBZ barks)))
nmod PP in PP RRC
    (PP (NP (CD two) (NNS people)) (PP (IN in) (NP (DT a) (NN *kitchen))))
advcl PP in VP ADVP ADJP SINV UCP
    (VP (VBG smiling) (PP (IN while) (S (VP (VBG *riding)))))
advcl PP in S if not has_noun
    (S (NP (DT a) (NN wheel)) (ADJP (JJ visible)) (PP (IN in) (ADVP (RB *back))))
nmod WHPP before S in SBAR
    (SBAR (WHPP (IN on) (WHNP (WDT *which))) (S (NP (DT a) (NN girl)) (VP (VBZ sits))))

# Clauses that modify.
advcl SBAR after head in VP ADVP
    (VP (VBZ waits) (SBAR (IN while) (S (NP (PRP he)) (VP (VBZ *eats)))))
advcl SBAR before head in S
    (S (SBAR (IN as) (S (NP (PRP he)) (VP (VBZ *eats)))) (NP (DT a) (NN dog)) (VP (VBZ waits)))

# Noun phrases that modify.
nmod:tmod NP-TMP in VP ADJP PP
    (VP (VBN taken) (NP-TMP (DT this) (NN *morning)))
nmod:npmod NP before RB RBR JJ in ADVP
    (VP (VBG jumping) (ADVP (NP (CD two) (NNS *feet)) (RB high)))
nmod:npmod NP after RB in ADVP
    (VP (VBG walking) (ADVP (RB down) (NP (DT the) (NN *street))))
nmod:npmod NP NN NNS before JJ JJR RB in ADJP
    (NP (DT a) (ADJP (NP (CD two) (NN *year)) (JJ old)) (NN boy))
nmod:npmod ADVP in QP if begins_with(IN)
    (NP (QP (IN at) (JJS *least) (CD two)) (NNS pillows))

# Adverbs and adjectives.
dep RB in ADVP if is_not
    (ADVP (RB *not) (RB far))
dep RB after ADVP in PP
    (PP (ADVP (RB together)) (RB *next) (PP (TO to) (NP (DT a) (NN hut))))
neg RB before JJ RB RBR in ADJP ADVP if is_negation
    (NP (DT a) (ADJP (RB *no) (JJ crossing)) (NN sign))
neg RB ADVP in VP S ADJP ADVP PP if is_adverb_of_negation
    (VP (VBZ is) (RB *not) (VP (VBG running)))
advmod RB RBR RBS ADVP WRB WHADVP in VP S SINV SQ SBAR SBARQ RRC ADJP ADVP PP QP WHADVP WHADJP
    (VP (VBG standing) (ADVP (RB *outside)))
advmod JJ before RB in ADVP
    (VP (VBN spread) (ADVP (JJ *wide) (RB apart)))
advmod DT PDT IN JJ JJR in QP
    (NP (QP (PDT *half) (DT a) (NN dozen)) (NNS birds))
dep DT JJ before head in ADJP if is_coordinated
    (NP (DT an) (ADJP (JJ *old) (JJ black) (CC and) (JJ white)) (NN photograph))
det DT before JJ NN ADJP JJR in ADJP ADVP X
    (VP (VBP are) (ADJP (DT *all) (JJ crowded) (JJ close)))
amod JJ NNP before JJ in ADJP
    (NP (DT a) (ADJP (JJ *large) (JJ lighted)) (NN tree))
compound # FW before FW CD in ADJP ADVP QP
    (NP (DT the) (ADJP (# *#) (CD 2)) (NN dog))

# The rest.
discourse INTJ
    (FRAG (INTJ (UH *hey)) (NP (DT a) (NN dog)))
punct . , : `` ''
    (S (NP (DT a) (NN dog)) (VP (VBZ barks)) (. *.))
dep any
    (FRAG (NP (DT a) (NN man)) (S (VP (VBG *riding) (NP (DT a) (NN horse)))))
"""

# Names of several labels.
_GROUPS = {"nominal": "NP NP-TMP NX NAC WHNP", "noun": "NN NNS NNP NNPS", "verb": "VB VBD VBG VBN VBP VBZ"}
_FUNCTIONS: dict[str, Callable[[Node], Any]] = {**vars(phrases), **vars(clauses)}
_UNRESTRICTED = frozenset(("any", "head"))

_RULE = re.compile(
    r"(?P<relation>\S+) (?P<child>.+?)(?: (?P<side>before|after|beside) (?P<head>.+?))?(?: in (?P<parent>.+?))?"
    r"(?: if (?P<conditions>.+?))?(?: on (?P<governor>\w+))?"
)
_CONDITION = re.compile(r"(?P<negated>not )?(?P<name>\w+)(?:\((?P<labels>.+)\))?")


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule for a relation.

    Args:
        relation: a relation of Universal Dependencies, version 1.
        child: labels that the constituent may have; none for any, as in the next two.
        head: labels of the head child of its parent.
        parent: labels of its parent.
        side: position relative to the head child, ``before`` or ``after``; ``beside`` for either.
        condition: further condition on the constituent.
        governor: its governor, if other than the head child of its parent.
        example: a tree in brackets, one word with a star.
    """

    relation: str
    child: frozenset[str]
    head: frozenset[str]
    parent: frozenset[str]
    side: str
    condition: Condition | None
    governor: Callable[[Node], Node] | None
    example: str

    def fits(self, child: str, head: str, parent: str, side: str) -> bool:
        """Return whether labels and side match."""
        labels = ((child, self.child), (head, self.head), (parent, self.parent))
        return self.side in (side, "beside") and all(not allowed or label in allowed for label, allowed in labels)


def _labels(names: str | None) -> frozenset[str]:
    groups = [_GROUPS.get(name, name) for name in (names or "any").split()]
    return frozenset(" ".join(groups).split()) - _UNRESTRICTED


def _condition(text: str) -> Condition:
    parts = _CONDITION.fullmatch(text)
    assert parts is not None, text
    function, negated = _FUNCTIONS[parts["name"]], bool(parts["negated"])
    labels = (parts["labels"] or "").split()
    return (lambda node: function(node, *labels) != negated) if labels or negated else function


def _all(text: str) -> Condition:
    conditions = [_condition(part) for part in text.split(", ")]
    return conditions[0] if len(conditions) == 1 else lambda node: all(condition(node) for condition in conditions)


def _parsed(line: str, example: str) -> Rule:
    rule = _RULE.fullmatch(line)
    assert rule is not None, line
    return Rule(
        relation=rule["relation"],
        child=_labels(rule["child"]),
        head=_labels(rule["head"]),
        parent=_labels(rule["parent"]),
        side=rule["side"] or "beside",
        condition=_all(rule["conditions"]) if rule["conditions"] else None,
        governor=_FUNCTIONS[rule["governor"]] if rule["governor"] else None,
        example=example.strip(),
    )


_LINES = [line for line in _TABLE.splitlines() if line and not line.startswith("# ")]

#: All rules, in the order in which they are tried.
RULES = tuple(map(_parsed, _LINES[::2], _LINES[1::2]))

# A coordination of unlike constituents depends as a constituent of this label would, by the label of its first.
_STANDS_FOR = {"NP": "NP", "NN": "NP", "ADJP": "ADJP", "JJ": "ADJP", "ADVP": "ADVP"}

# The rules that fit labels and side.
_fitting: dict[tuple[str, str, str, str], list[Rule]] = {}


def find_rule(node: Node) -> Rule:
    """Return the rule for a constituent that is not the head child of its parent."""
    parent = node.parent
    head = parent.head_child
    label = node.label
    if label == "UCP" and node.children:
        label = _STANDS_FOR.get(node.children[0].label, label)
    key = label, head.label, parent.label, "before" if node.index < head.index else "after"
    rules = _fitting.get(key)
    if rules is None:
        rules = _fitting[key] = [rule for rule in RULES if rule.fits(*key)]
    return next(rule for rule in rules if rule.condition is None or rule.condition(node))
