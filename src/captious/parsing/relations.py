"""The rules that name the relation between a constituent and the head of the constituent around it.

The rules are in ``relations.txt``, and their conditions are functions of a node, the constituent whose relation is
sought. The file has an example for each condition; in further examples, the constituent is in square brackets.
Functions that return a node return the governor of the constituent.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from captious.parsing.heads import (
    BE,
    GET,
    HAVE,
    LINKING,
    NEGATIONS,
    PAIRING,
    TELL,
    TEMPORAL,
    Node,
    is_existential,
    verb_tag,
)

# Conditions on phrases and words: coordination, complements of prepositions, parts of a noun phrase.

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


# Conditions on clauses: subjects, objects and complements of verbs.

_PAST = frozenset(("VBN", "VBD"))


# ---- subjects and objects


def is_there(node: Node) -> bool:
    return node.head.label == "EX"


def is_raised_subject(node: Node) -> bool:
    """telling [you] to watch: the subject of an infinitive that a verb has for its complement"""
    return node.parent.parent.label == "VP" and not node.parent.governor.children and verb_tag(node.governor) == "TO"


def verb_outside(node: Node) -> Node:
    return node.parent.governor


def lacks_verb(node: Node) -> bool:
    """[a bear] next to a log; not: has [her eyes] open"""
    if node.governor.label == "SBAR":
        return not precedes(node, "ADJP")
    return node.parent.parent.label != "VP" or node.index > node.governor.index


def asks_for_object(node: Node) -> bool:
    """[what] a man eats; not before a clause without a verb: [two boys] are side by side"""
    clause = node.governor
    is_copular = clause.head_child.label != "VP" and any(child.label == "PP" for child in clause.children)
    return _has_subject(clause) and not is_copular


def completes_preposition(node: Node) -> bool:
    """[what] it looks like: the last verb phrase has a preposition alone"""
    phrase = node.governor.head_child
    while phrase.children and phrase.head_child.label == "VP":
        phrase = phrase.head_child
    return asks_for_object(node) and any(map(is_bare_preposition, phrase.children)) and not has_head(phrase, "PP")


def is_clausal_subject(node: Node) -> bool:
    return not _has_subject(node.parent)


def is_passive_subject(node: Node) -> bool:
    """Return whether the predicate has an auxiliary of the passive."""
    phrase = node.parent
    while phrase.children:
        head = phrase.head_child
        for child in phrase.children:
            if child.word and child is not head and is_passive_auxiliary(child):
                return True
        if head.label not in ("VP", "ADJP", "S", "SQ"):
            return False
        phrase = head
    return False


def is_passive_auxiliary(node: Node) -> bool:
    """Return whether a form of be or get precedes a past participle."""
    return (node.word in BE or node.word in GET) and _is_past(node.governor)


def _is_past(phrase: Node) -> bool:
    """Return whether a verb phrase, or one of those coordinated in it, starts with a past participle."""
    if phrase.label in ("VP", "ADJP") or begins_with(phrase, "ADJP"):
        tag = verb_tag(phrase)
        return tag in _PAST if tag else any(map(_is_past, phrase.children))
    return False


def is_what_exists(node: Node) -> bool:
    return node.governor.word in BE and is_existential(node.parent)


def exists_too(node: Node) -> bool:
    phrase = whole_predicate(node)
    return phrase is not node.parent and phrase.head is not node.governor.head and is_existential(phrase)


def whole_predicate(node: Node) -> Node:
    """Return the outermost of the verb phrases around it."""
    phrase = node.parent
    while phrase.parent.label == "VP":
        phrase = phrase.parent
    return phrase


def follows_be(node: Node) -> bool:
    return any(sibling.word in BE for sibling in node.before)


def is_time(node: Node) -> bool:
    return node.head.word in TEMPORAL and node.head.parent is node


def is_predicate_noun(node: Node) -> bool:
    return node.governor.word in LINKING


# ---- clauses and verb phrases


def _has_subject(clause: Node) -> bool:
    return any(child.label == "NP" for child in clause.children)


def _verb_form(clause: Node) -> str:
    """Return the first word of the verb phrase of a clause, mostly as a tag; empty if there is no verb phrase."""
    for child in clause.children:
        if child.label == "VP":
            return child.children[0].label if child.children else ""
    return ""


def _mark(clause: Node) -> str:
    """Return the word that a subordinate clause starts with, or the label of such a phrase; empty if there is none."""
    if len(clause.children) < 2:
        return ""
    first = clause.children[0]
    return first.word or first.label


def _follows_object(node: Node) -> bool:
    return any(sibling.label == "NP" for sibling in node.before)


def is_infinitive(clause: Node) -> bool:
    return verb_tag(clause.head_child) == "TO"


def is_unmarked_infinitive(node: Node) -> bool:
    return is_infinitive(node.head_child) and _mark(node) == ""


def is_simple_verb(node: Node) -> bool:
    return verb_tag(node) in ("VB", "VBG") and node.before[-1] is node.governor


def is_progressive(node: Node) -> bool:
    return node.head_child.label == "VP" and verb_tag(node.head_child) == "VBG"


def is_told(node: Node) -> bool:
    return _follows_object(node) and node.governor.word in TELL


def says_what_for(node: Node) -> bool:
    return _follows_object(node) and _verb_form(node) == "TO" and begins_with(node, "VP", "ADVP")


def is_open_complement(node: Node) -> bool:
    form = _verb_form(node)
    if _has_subject(node):
        return form == "" or (form == "TO" and node.governor.word not in HAVE)
    return form in ("", "TO", "VBG")


def is_closed_complement(node: Node) -> bool:
    return not _follows_object(node) and _verb_form(node) not in ("VBG", "VBN")


def _asks_how(node: Node) -> bool:
    return node.children[0].children[0].word == "how"


def asks_what_to_do(node: Node) -> bool:
    """knows [where to go], teaching a boy [how to ski]; not: learning [how to ski]"""
    asks_to = _mark(node) == "WHADVP" and is_infinitive(node.head_child)
    return asks_to and (_follows_object(node) or not _asks_how(node))


def is_content_clause(node: Node) -> bool:
    """Return whether a clause has no conjunction, or one that only marks it as a clause."""
    word = _mark(node)
    if word == "WHADVP":
        return _asks_how(node) or node.governor.word in TELL
    if _follows_object(node) or is_coordinated(node.head_child.head_child):
        return word in ("that", "whether", "WHNP")
    return word in ("", "that", "but", "only", "whether", "WHNP", "WHADJP")


def is_unmarked(node: Node) -> bool:
    return _mark(node) in ("", "but")


def completes_adjective(node: Node) -> bool:
    """happy [that he wins]; not: tall [as a tree is]"""
    return _mark(node) != "as" and node.head_child.label != "FRAG"


def is_relative_clause(node: Node) -> bool:
    """Return whether the noun can fill the gap of a clause.

    Not after *that*, nor if the clause has an object or a predicate, or no subject.
    """
    clause = node.head_child
    if is_infinitive(clause) or not node.children or not node.children[0].word:
        return not is_infinitive(clause)
    phrase = clause.head_child
    if phrase.head_child.label == "VP":
        phrase = phrase.head_child
    return (
        _mark(node) in ("as", "if", "while")
        and _has_subject(clause)
        and not any(child.label == "NP" or child.word in BE for child in phrase.children)
    )


def ends_question(node: Node) -> bool:
    """what it looks [like]"""
    return is_bare_preposition(node) and question(node).label in ("WHNP", "WHPP")


def question(node: Node) -> Node:
    """[what] it looks like: the phrase before the clause of a verb; without it or a subject, the clause"""
    clause = whole_predicate(node).parent
    return clause.before[-1] if clause.before and _has_subject(clause) else clause


# The rules, which ``relations.txt`` lists and explains.

Condition: TypeAlias = Callable[[Node], bool]

# Names of several labels.
_GROUPS = {"nominal": "NP NP-TMP NX NAC WHNP", "noun": "NN NNS NNP NNPS", "verb": "VB VBD VBG VBN VBP VBZ"}
_FUNCTIONS: dict[str, Callable[[Node], Any]] = globals()
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


_TABLE = Path(__file__).with_name("relations.txt").read_text("utf-8")
_LINES = [line for line in _TABLE.splitlines() if line and not line.startswith("#")]

#: All rules, in the order in which they are tried.
RULES = tuple(map(_parsed, _LINES[::2], _LINES[1::2]))

# A coordination of unlike constituents depends as a constituent of this label would, by the label of its first.
_STANDS_FOR = {"NP": "NP", "NN": "NP", "ADJP": "ADJP", "JJ": "ADJP", "ADVP": "ADVP"}

# The rules that fit labels and side.
_fitting: dict[tuple[str, str, str, str], list[Rule]] = {}


def find_rule(node: Node) -> Rule:
    """Return the rule for a constituent that is not the head child of its parent."""
    head = node.parent.head_child
    label = node.label
    if label == "UCP" and node.children:
        label = _STANDS_FOR.get(node.children[0].label, label)
    key = label, head.label, node.parent.label, "before" if node.index < head.index else "after"
    rules = _fitting.get(key)
    if rules is None:
        rules = _fitting[key] = [rule for rule in RULES if rule.fits(*key)]
    return next(rule for rule in rules if rule.condition is None or rule.condition(node))  # the last has no condition
