"""Words that dependency rules test for, from a treebank of captions."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Copulas, and auxiliaries of the passive and of the progressive.
BE = _words("am ar are be been being is was were 's 're 'm s m")

#: Auxiliaries of another passive: *gets washed*.
GET = _words("get gets getting got")

HAVE = _words("has have had having 've")

#: Verbs that give way to the verb after them, besides modals.
AUXILIARIES = BE | GET | HAVE | _words("do does did 'd")

#: Verbs whose noun is a predicate and not an object: *resembles a train*.
LINKING = _words(
    "became become becomes becoming remain remained remaining remains "
    "resemble resembled resembles resembling seem seemed seeming seems"
)

#: Verbs that tell or ask somebody to do something, or let somebody do it.
TELL = _words(
    "allow allowed allowing allows ask asked asking asks encourage encouraged encourages encouraging "
    "tell telling tells told"
)

NEGATIONS = _words("no not n't never")

#: Words that announce a conjunction: *both a fork and a knife*.
PAIRING = _words("both either neither")

#: Nouns that say when: *enjoying a sunny day*.
TEMPORAL = _words(
    "monday tuesday wednesday thursday friday saturday sunday "
    "january february march april may june july august september october november december "
    "spring summer autumn fall winter day days night nights today tomorrow tonight yesterday"
)

#: Two words that are one preposition or conjunction: the first, and what may be the second.
MULTI_WORD = {
    "as": _words("if to"),
    "because": _words("of"),
    "in": _words("between order"),
    "instead": _words("of"),
    "less": _words("than"),
    "more": _words("than"),
    "so": _words("that"),
    "such": _words("as"),
}

#: Two words that are one adverb, in the same form.
MULTI_WORD_ADVERBS = {"as": _words("well"), "kind": _words("of"), "sort": _words("of")}
