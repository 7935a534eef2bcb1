"""Conditions of rules on clauses: subjects, objects and complements of verbs.

The node is always the constituent whose relation is sought. The table of rules has an example for each condition; in
further examples here, the constituent is in square brackets. Functions that return a node return the governor of the
constituent.
"""

from __future__ import annotations

from captious.parsing.heads import Node, is_existential, verb_tag
from captious.parsing.relations.phrases import begins_with, has_head, is_bare_preposition, is_coordinated, precedes
from captious.parsing.rule_words import BE, GET, HAVE, LINKING, TELL, TEMPORAL

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
