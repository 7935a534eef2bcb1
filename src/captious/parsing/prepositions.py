"""Prepositions of two and three words (``next to``, ``in front of``), folded into one.

Basic dependencies split them: in ``a dog sits in front of a bus`` the bus is a modifier of ``front``, and ``front`` one
of ``sits``. Folded, the bus is the modifier, and the first word of the preposition is its case, with the others
attached by ``mwe``. The prepositions that the official program folds were derived from a treebank of captions that it
parsed.
"""

from __future__ import annotations

from collections.abc import Sequence

# Words that may both be cases of a noun.
_SIDE_BY_SIDE = frozenset(
    tuple(words.split())
    for words in (
        *("across from", "along with", "alongside of", "as of", "compared to", "except for", "far from", "followed by"),
        *("inside of", "near to", "next to", "off of", "out of", "outside of", "together with"),
    )
)

# Words of which the first may be the governor of the noun, the second its case.
_ABOVE_THE_NOUN = frozenset(
    tuple(words.split())
    for words in (
        *("away from", "close by", "close to", "far from", "near to", "next to", "out of", "outside of"),
        "together with",
    )
)

_THREE_WORDS = frozenset(tuple(words.split()) for words in ("in case of", "in front of", "in place of", "on top of"))

_FIRST_OF_TWO = frozenset(first for first, _ in _SIDE_BY_SIDE | _ABOVE_THE_NOUN)
_FIRST_OF_THREE = frozenset(first for first, _, _ in _THREE_WORDS)

# Relations that a clause keeps when its predicate is ``next`` and becomes a noun.
_CLAUSES = frozenset(("root", "acl:relcl", "advcl", "ccomp"))


def fold_prepositions(words: Sequence[str], heads: list[int], relations: list[str]) -> None:
    """Fold prepositions of several words, in place.

    Args:
        words: in lower case.
        heads: the head of each word, 0 for the root. This list and the next start with an unused entry.
        relations: the relation of each word to its head.
    """
    last = len(words) - 1
    longer = False
    for i, word in enumerate(words):
        if word in _FIRST_OF_TWO and i < last:
            pair = (word, words[i + 1])
            if pair in _SIDE_BY_SIDE and _join_cases(i + 1, heads, relations):
                continue
            if pair in _ABOVE_THE_NOUN:
                _fold_two(i + 1, words, heads, relations)
        longer = longer or word in _FIRST_OF_THREE
    if longer:
        for i in range(last - 1):
            if words[i] in _FIRST_OF_THREE and (words[i], words[i + 1], words[i + 2]) in _THREE_WORDS:
                _fold_three(i + 1, words, heads, relations)


def _join_cases(first: int, heads: list[int], relations: list[str]) -> bool:
    """Join two adjacent cases of one noun; the first may be tagged as an adverb. Return whether it did.

    Example:
        drinks out of a pond
        nmod(drinks, pond) advmod(pond, out) case(pond, of) det(pond, a)
        -> nmod:out_of(drinks, pond) case(pond, out) mwe(out, of) det(pond, a)
    """
    second = first + 1
    if relations[second] != "case" or heads[first] != heads[second] or relations[first] not in ("case", "advmod"):
        return False
    if first in heads:
        return False
    relations[first] = "case"
    heads[second], relations[second] = first, "mwe"
    return True


def _fold_two(first: int, words: Sequence[str], heads: list[int], relations: list[str]) -> None:
    """Fold a preposition whose first word governs the noun and whose second is its case.

    Example:
        a dog sits next to cats
        det(dog, a) nsubj(sits, dog) advmod(sits, next) nmod(next, cats) case(cats, to)
        -> det(dog, a) nsubj(sits, dog) nmod:next_to(sits, cats) case(cats, next) mwe(next, to)
    Example:
        the dog is next to cats
        nsubj(next, dog) det(dog, the) cop(next, is) nmod(next, cats) case(cats, to)
        -> nsubj(cats, dog) det(dog, the) cop(cats, is) case(cats, next) mwe(next, to)
    """
    second = first + 1
    noun = heads[second]
    if relations[second] != "case" or second in heads or heads[noun] != first or relations[noun] != "nmod":
        return
    relation = relations[first]
    if relation not in _CLAUSES and not (relation == "conj" and _has_copula(first, heads, relations)):
        relation = f"nmod:{words[first - 1]}_{words[second - 1]}"
    _put_in_place(noun, first, heads)
    relations[noun] = relation
    heads[first], relations[first] = noun, "case"
    heads[second], relations[second] = first, "mwe"


def _fold_three(first: int, words: Sequence[str], heads: list[int], relations: list[str]) -> None:
    """Fold a preposition around a noun that governs the noun after it.

    Example:
        boys stand in front of buses
        nsubj(stand, boys) nmod(stand, front) case(front, in) nmod(front, buses) case(buses, of)
        -> nsubj(stand, boys) nmod:in_front_of(stand, buses) case(buses, in) mwe(in, front) mwe(in, of)
    Example:
        boys stand in front of building
        nsubj(stand, boys) nmod(stand, front) case(front, in) acl(front, building) mark(building, of)
        -> nsubj(stand, boys) acl(stand, building) mark(building, in) mwe(in, front) mwe(in, of)
    """
    middle, third = first + 1, first + 2
    noun = heads[third]
    if relations[first] != "case" or heads[first] != middle:
        return
    if relations[third] not in ("case", "mark") or third in heads or heads[noun] != middle:
        return
    relation = relations[noun]
    if not (relation == "acl" or relation == "nmod" or relation.startswith("nmod:")):
        return
    clause = relation == "acl"
    relation = relations[middle]
    if relation == "nmod" or relation.startswith("nmod:"):
        relation = "acl" if clause else f"nmod:{'_'.join(words[first - 1 : third])}"
    _put_in_place(noun, middle, heads)
    relations[noun] = relation
    heads[first], relations[first] = noun, "mark" if relation == "acl" else "case"
    heads[middle], relations[middle] = first, "mwe"
    heads[third], relations[third] = first, "mwe"


def _put_in_place(noun: int, word: int, heads: list[int]) -> None:
    """Give a noun the head and the dependents of the word above it."""
    head = heads[word]
    for i, other in enumerate(heads):
        if other == word and i:
            heads[i] = noun
    heads[noun] = head


def _has_copula(word: int, heads: list[int], relations: list[str]) -> bool:
    return any(head == word and relation == "cop" for head, relation in zip(heads, relations, strict=True))
