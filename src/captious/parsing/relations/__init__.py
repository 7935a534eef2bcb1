"""Rules that name the relation between a constituent and the head of the constituent around it.

The rules are tried in the order of `RULES`: coordination and fixed expressions, then the parts of a noun phrase,
then subjects, verbs and their complements, then everything that modifies a verb, an adjective or an adverb.
"""

from __future__ import annotations

from collections.abc import Callable

from captious.parsing.head_tree import Node
from captious.parsing.relations.clauses import CLAUSES
from captious.parsing.relations.coordination import COORDINATION
from captious.parsing.relations.modifiers import MODIFIERS
from captious.parsing.relations.nouns import NOUNS
from captious.parsing.relations.rule import Rule

__all__ = ["RULES", "Rule", "find_rule"]

_OTHERWISE = Rule("dep", "any", "(FRAG (NP (DT a) (NN man)) (S (VP (VBG *riding) (NP (DT a) (NN horse)))))")

#: All rules, the first that fits decides.
RULES = (*COORDINATION, *NOUNS, *CLAUSES, *MODIFIERS, _OTHERWISE)

# A coordination of unlike constituents depends as a constituent of this label would, by the label of its first.
_STANDS_FOR = {"NP": "NP", "NN": "NP", "ADJP": "ADJP", "JJ": "ADJP", "ADVP": "ADVP"}

# The rules for labels and side, each after what else must be true.
_fitting: dict[tuple[str, str, str, bool], list[tuple[Callable[[Node], bool] | None, Rule]]] = {}


def find_rule(node: Node) -> Rule:
    """The rule for a constituent that is not the head child of its parent."""
    parent = node.parent
    head = parent.head_child
    label = node.label
    if label == "UCP" and node.children:
        label = _STANDS_FOR.get(node.children[0].label, label)
    key = label, parent.label, head.label, node.index < head.index
    rules = _fitting.get(key)
    if rules is None:
        rules = _fitting[key] = [(rule.when, rule) for rule in RULES if rule.fits(*key)]
    for when, rule in rules:
        if when is None or when(node):
            return rule
    return _OTHERWISE
