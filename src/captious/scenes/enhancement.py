"""Enhancement of the graph of a sentence before tuples are read: nouns replace quantifiers and pronouns.

Rules a and c of the official graph enhancement. In "a lot of dogs" the head becomes "dogs", as in "many dogs": the noun
takes the place of the quantifier, and the words of the quantifier become one expression, whose first word depends on
the noun as ``det:qmod`` and the others on that word. Relations of "it" and "their" are moved to the noun that they
stand for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from captious.scenes.sentence import NOUNS, Sentence


def enhance(sentence: Sentence) -> None:
    """Replace quantifiers and pronouns by nouns."""
    _resolve_quantifiers(sentence)
    _resolve_pronouns(sentence)


_MEASURES = (
    "array assortment bit bunch clutch couple dozen form handful heap kind litany lot mountain multitude number pair "
    "plethora range series sheaf slew sort spate string ton total triple type variety version wad wave"
)
_AMOUNTS = (
    "billions dozens hundreds loads lots many millions mountains multitudes pairs plenty several tens thousands tons "
    "trillions"
)
_NUMBERS = (
    "all billion both eight everyone five four hundred million neither nine nobody one seven six some ten thousand "
    "three trillion two"
)
_IS_MEASURE, _IS_AMOUNT, _IS_NUMBER = (frozenset(words.split()) for words in (_MEASURES, _AMOUNTS, _NUMBERS))
_OF = "of"


def _resolve_quantifiers(sentence: Sentence) -> None:
    """Replace quantifiers by their nouns."""
    if _OF not in sentence.words:
        return
    for is_quantifier, has_noun, modifiers in (
        (_is_measure, _has_noun, _article_and_adjectives),
        (_is_amount, _has_noun, _left_children),
        (_is_number, _has_definite_noun, _left_children),
    ):
        if not _resolve_kind(sentence, is_quantifier, has_noun, modifiers):
            return


def _resolve_kind(
    sentence: Sentence,
    is_quantifier: Callable[[Sentence, int], bool],
    has_noun: Callable[[Sentence, int, int], bool],
    modifiers: Callable[[Sentence, int], list[int]],
) -> bool:
    """Resolve the quantifiers of one kind; return False if one is not in the graph, which ends all resolution."""
    quantifiers = [word for word in range(1, len(sentence.words)) if is_quantifier(sentence, word)]
    if len(quantifiers) > 1:
        quantifiers = [word for word in sentence.sorted_topologically() if word in quantifiers]
    for quantifier in quantifiers:
        for noun, relation in sentence.edges_below(quantifier):
            if relation.startswith("nmod") and has_noun(sentence, quantifier, noun):
                if not sentence.parents[quantifier] and quantifier not in sentence.roots:
                    return False
                expression = sorted({*modifiers(sentence, quantifier), quantifier, quantifier + 1})
                _swap(sentence, quantifier, noun, expression)
                break
    return True


def _is_measure(sentence: Sentence, word: int) -> bool:
    """Return whether this is a measure such as a lot, a pair: with an indefinite article."""
    return sentence.words[word].lower() in _IS_MEASURE and any(
        "det" in relations and sentence.words[child] in ("a", "an")
        for child, relations in sentence.children[word].items()
    )


def _is_amount(sentence: Sentence, word: int) -> bool:
    """Return whether this is an amount such as lots, dozens, 1000s: without an article."""
    text = sentence.words[word].lower()
    return text in _IS_AMOUNT or (text.endswith("s") and text[:-1].isdigit())


def _is_number(sentence: Sentence, word: int) -> bool:
    """Return whether this is a number: two, some, 5."""
    text = sentence.words[word].lower()
    return text in _IS_NUMBER or text.isdigit()


def _has_noun(sentence: Sentence, quantifier: int, noun: int) -> bool:
    """Return whether the quantifier is followed by the "of" of a noun or pronoun: a lot of dogs."""
    of = quantifier + 1
    return (
        (sentence.tags[noun] in NOUNS or sentence.tags[noun].startswith("PRP"))
        and "case" in sentence.children[noun].get(of, ())
        and sentence.words[of] == _OF
    )


def _has_definite_noun(sentence: Sentence, quantifier: int, noun: int) -> bool:
    """Return whether "of" is directly followed by a noun with a determiner, or by a pronoun: two of the dogs, two of
    them.
    """
    if not _has_noun(sentence, quantifier, noun):
        return False
    return sentence.tags[noun] not in NOUNS or "det" in sentence.children[noun].get(quantifier + 2, ())


def _article_and_adjectives(sentence: Sentence, quantifier: int) -> list[int]:
    """Return article and adjectives: a large group."""
    return [
        child
        for child, relation in sentence.edges_below(quantifier)
        if (relation == "det" and sentence.words[child] in ("a", "an")) or (relation == "amod" and child < quantifier)
    ]


def _left_children(sentence: Sentence, quantifier: int) -> list[int]:
    """Return the children to the left: at least two."""
    return [child for child in sentence.children[quantifier] if child < quantifier]


def _swap(sentence: Sentence, quantifier: int, noun: int, expression: list[int]) -> None:
    """Put the noun in the place of the quantifier; only the first head of the quantifier counts."""
    heads = sentence.in_order(sentence.parents[quantifier])
    for number, head in enumerate(heads):
        relations = sentence.detach(head, quantifier)
        if number == 0 and head != noun:
            for relation in relations:
                sentence.add(head, noun, relation)
    sentence.replace_root(quantifier, noun)
    sentence.detach(quantifier, noun)
    for part in expression:
        for head in (quantifier, noun):
            if head in sentence.parents[part]:
                sentence.detach(head, part)
    first, *words = expression
    sentence.add(noun, first, "det:qmod")
    for part in words:
        sentence.add(first, part, "mwe")


# ---- pronouns

_PRONOUNS = frozenset(("PRP", "PRP$"))
_SINGULAR_NOUNS = frozenset(("NN", "NNP"))
_SINGULAR_WORDS = "he her hers herself him himself his i it its itself me mine my myself one one's oneself she yourself"
_SINGULAR = frozenset(_SINGULAR_WORDS.split())
_SHORT = 13


def _resolve_pronouns(sentence: Sentence) -> None:
    """Move the dependencies of pronouns to antecedents that precede them."""
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
    """Return the noun nearest to the root, level by level and from left to right; singular for a singular pronoun."""
    tags = _SINGULAR_NOUNS if sentence.words[pronoun] in _SINGULAR else NOUNS
    visited: set[int] = set()
    start = sentence.roots[0] if sentence.roots else None
    while start is not None:
        queue = deque([start])
        while queue:
            word = queue.popleft()
            if word in visited:
                continue
            if sentence.tags[word] in tags:
                return word
            visited.add(word)
            queue.extend(sentence.in_order(sentence.children[word]))
        start = next((head for head in sentence.in_order(sentence.parents[start]) if head not in visited), None)
    return None


def _move(sentence: Sentence, pronoun: int, antecedent: int) -> None:
    """Move all dependencies of the pronoun to the antecedent."""
    for head in sentence.in_order(sentence.parents[pronoun]):
        for relation in sentence.detach(head, pronoun):
            sentence.add(head, antecedent, relation)
    for child in sentence.in_order(sentence.children[pronoun]):
        for relation in sentence.detach(pronoun, child):
            sentence.add(antecedent, child, relation)
    sentence.replace_root(pronoun, antecedent)
