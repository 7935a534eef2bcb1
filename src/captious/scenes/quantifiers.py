"""Quantifiers that hide a noun: in "a lot of dogs" the head is "dogs", as in "many dogs".

Rule a of the official graph enhancement. The noun takes the place of the quantifier in the graph, and the words of the
quantifier become one expression, of which the first word depends on the noun as ``det:qmod`` and the others on that.
"""

from __future__ import annotations

from collections.abc import Callable

from captious.scenes.sentence import NOUNS, Sentence

__all__ = ["resolve_quantifiers"]

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


def resolve_quantifiers(sentence: Sentence) -> None:
    """Put nouns in place of their quantifiers."""
    if _OF not in sentence.words:
        return
    for is_quantifier, has_noun, modifiers in (
        (_is_measure, _of_noun, _article_and_adjectives),
        (_is_amount, _of_noun, _left_children),
        (_is_number, _of_the_noun, _left_children),
    ):
        if not _resolve(sentence, is_quantifier, has_noun, modifiers):
            return


def _resolve(
    sentence: Sentence,
    is_quantifier: Callable[[Sentence, int], bool],
    has_noun: Callable[[Sentence, int, int], bool],
    modifiers: Callable[[Sentence, int], list[int]],
) -> bool:
    """Resolve the quantifiers of one kind; false if one has no place in the graph, which ends all resolution."""
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
    """a lot, a pair: with an indefinite article."""
    return sentence.words[word].lower() in _IS_MEASURE and any(
        "det" in relations and sentence.words[child] in ("a", "an")
        for child, relations in sentence.children[word].items()
    )


def _is_amount(sentence: Sentence, word: int) -> bool:
    """lots, dozens, 1000s: without an article."""
    text = sentence.words[word].lower()
    return text in _IS_AMOUNT or (text.endswith("s") and text[:-1].isdigit())


def _is_number(sentence: Sentence, word: int) -> bool:
    """two, some, 5."""
    text = sentence.words[word].lower()
    return text in _IS_NUMBER or text.isdigit()


def _of_noun(sentence: Sentence, quantifier: int, noun: int) -> bool:
    """a lot of dogs: what follows the quantifier is the "of" of a noun or pronoun."""
    of = quantifier + 1
    return (
        (sentence.tags[noun] in NOUNS or sentence.tags[noun].startswith("PRP"))
        and "case" in sentence.children[noun].get(of, ())
        and sentence.words[of] == _OF
    )


def _of_the_noun(sentence: Sentence, quantifier: int, noun: int) -> bool:
    """two of the dogs, two of them: a noun with a determiner right after the "of", or a pronoun."""
    if not _of_noun(sentence, quantifier, noun):
        return False
    return sentence.tags[noun] not in NOUNS or "det" in sentence.children[noun].get(quantifier + 2, ())


def _article_and_adjectives(sentence: Sentence, quantifier: int) -> list[int]:
    """a large group."""
    return [
        child
        for child, relation in sentence.edges_below(quantifier)
        if (relation == "det" and sentence.words[child] in ("a", "an")) or (relation == "amod" and child < quantifier)
    ]


def _left_children(sentence: Sentence, quantifier: int) -> list[int]:
    """at least two."""
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
    for word in expression:
        for head in (quantifier, noun):
            if head in sentence.parents[word]:
                sentence.detach(head, word)
    first, *others = expression
    sentence.add(noun, first, "det:qmod")
    for word in others:
        sentence.add(first, word, "mwe")
