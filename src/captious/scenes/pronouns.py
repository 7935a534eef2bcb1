"""Pronouns: what is said about "it" and "their" applies to the noun that they stand for.

Rule c of the official graph enhancement.
"""

from __future__ import annotations

from collections import deque

from captious.scenes.sentence import NOUNS, Sentence

__all__ = ["resolve_pronouns"]

_PRONOUNS = frozenset(("PRP", "PRP$"))
_SINGULAR_NOUNS = frozenset(("NN", "NNP"))
_SINGULAR_WORDS = "he her hers herself him himself his i it its itself me mine my myself one one's oneself she yourself"
_SINGULAR = frozenset(_SINGULAR_WORDS.split())
_SHORT = 13


def resolve_pronouns(sentence: Sentence) -> None:
    """Move the dependencies of pronouns to their antecedents, where these come before them."""
    if _PRONOUNS.isdisjoint(sentence.tags):
        return
    # The official program takes the pronouns of short sentences from right to left. This only shows where two stand for
    # the same noun and depend on the same word.
    words = range(2, len(sentence.words))
    for word in words if sentence.n_words > _SHORT else reversed(words):
        if sentence.tags[word] in _PRONOUNS and sentence.parents[word]:
            antecedent = _antecedent(sentence, word)
            if antecedent is not None and antecedent < word:
                _move(sentence, word, antecedent)


def _antecedent(sentence: Sentence, pronoun: int) -> int | None:
    """The noun nearest to the root, level by level and from left to right; singular for a singular pronoun."""
    wanted = _SINGULAR_NOUNS if sentence.words[pronoun] in _SINGULAR else NOUNS
    seen: set[int] = set()
    start = sentence.roots[0] if sentence.roots else None
    while start is not None:
        queue = deque([start])
        while queue:
            word = queue.popleft()
            if word in seen:
                continue
            if sentence.tags[word] in wanted:
                return word
            seen.add(word)
            queue.extend(sentence.in_order(sentence.children[word]))
        start = next((head for head in sentence.in_order(sentence.parents[start]) if head not in seen), None)
    return None


def _move(sentence: Sentence, pronoun: int, antecedent: int) -> None:
    """Give the antecedent all dependencies of the pronoun."""
    for head in sentence.in_order(sentence.parents[pronoun]):
        for relation in sentence.detach(head, pronoun):
            sentence.add(head, antecedent, relation)
    for child in sentence.in_order(sentence.children[pronoun]):
        for relation in sentence.detach(pronoun, child):
            sentence.add(antecedent, child, relation)
    sentence.replace_root(pronoun, antecedent)
