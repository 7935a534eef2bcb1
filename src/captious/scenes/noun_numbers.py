"""Numbers of plural nouns: which nouns of a sentence the official program counts, and in which order.

It looks for plural nouns three times: for subjects together with an object of the same verb, for subjects without such
an object, and for all others. Each time it takes at most one match, per verb the first time and per noun after that.
"""

from __future__ import annotations

from collections.abc import Iterator

from captious.scenes.relation_index import Relations
from captious.scenes.sentence import PLURALS

__all__ = ["numbers"]


def numbers(graph: Relations) -> Iterator[tuple[int, int]]:
    """Plural nouns with their numbers, "two" of "two dogs" or the first word of "a couple of dogs"."""
    number_of = _number_of(graph)
    if number_of:
        for noun in _counted(graph):
            if noun in number_of:
                yield noun, number_of[noun]


def _number_of(graph: Relations) -> dict[int, int]:
    """The first number of each noun, unless it comes after the noun, or else its quantifier."""
    found: dict[int, int] = {}
    for noun, number in graph.pairs("nummod") + graph.pairs("det:qmod"):
        found.setdefault(noun, number)
    return {
        noun: number
        for noun, number in found.items()
        if number < noun or "nummod" not in graph.sentence.children[noun][number]
    }


def _counted(graph: Relations) -> Iterator[int]:
    """Plural nouns in the order in which they are counted; one may come several times."""
    sentence = graph.sentence
    plural = [tag in PLURALS for tag in sentence.tags]
    subject_of: dict[int, int] = {}  # per verb its first plural subject
    for verb, noun in graph.pairs("nsubj"):
        if plural[noun]:
            subject_of.setdefault(verb, noun)
    object_of = _objects(graph, plural)
    for verb, noun in subject_of.items():
        if verb in object_of:
            yield noun
            yield object_of[verb]
    others = []
    for noun in graph.order:
        if not plural[noun]:
            continue
        heads = sentence.parents[noun]
        if noun in sentence.roots or any("nsubj" in heads[verb] and verb not in object_of for verb in heads):
            yield noun
        elif not any(_is_argument(heads[verb], verb in subject_of) for verb in heads):
            others.append(noun)
    yield from others


def _objects(graph: Relations, plural: list[bool]) -> dict[int, int]:
    """Per verb its first plural object, or else its first plural modifier that has a preposition of its own."""
    found: dict[int, int] = {}
    for verb, noun in graph.pairs("dobj") + graph.pairs("iobj"):
        if plural[noun]:
            found.setdefault(verb, noun)
    for verb, noun, _ in graph.modifiers:
        if plural[noun] and noun in graph.cases:
            found.setdefault(verb, noun)
    return found


def _is_argument(relations: list[str], has_plural_subject: bool) -> bool:
    """Whether a noun is the subject of a word, or an object or modifier of one with a plural subject."""
    return any(
        relation == "nsubj" or (has_plural_subject and (relation in ("dobj", "iobj") or relation.startswith("nmod:")))
        for relation in relations
    )
