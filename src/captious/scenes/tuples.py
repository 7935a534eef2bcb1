"""Tuples of a caption: objects, their attributes and the relations between them.

    two brown dogs play with a ball    (dog, ball, play with) (dog, brown) (dog, two) (ball) (dog)

Anderson, Fernando, Johnson and Gould 2016 (SPICE), section 3.1, on rules of Schuster et al. 2015. One function per rule
of the official program, in its order; each yields its tuples in the order of the program.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from captious.parsing.parses import Parse
from captious.scenes.enhancement import enhance
from captious.scenes.sentence import NOUNS, PLURALS, Sentence

_Pairs: TypeAlias = list[tuple[int, int]]

Tuple: TypeAlias = tuple[str, ...]
"""``(object,)``, ``(object, attribute)`` or ``(subject, object, relation)``."""


def tuples_of(parse: Parse) -> tuple[Tuple, ...]:
    """Return the tuples of a caption, which may repeat."""
    sentence = Sentence(parse)
    enhance(sentence)
    graph = _Relations(sentence)
    return tuple(item for rule in _RULES for item in rule(graph))


class _Relations:
    """The dependencies of a sentence by relation, in the order of the official program; words are numbers.

    Args:
        sentence: the sentence, with quantifiers and pronouns resolved.
    """

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.order = sentence.sorted_topologically()
        #: Names of words in tuples, and whether they are nouns.
        self.names = [lemma.lower() for lemma in sentence.lemmas]
        self.is_noun = is_noun = [tag in NOUNS for tag in sentence.tags]
        #: All relations ``nmod:x``: (head, dependent, x).
        self.modifiers: list[tuple[int, int, str]] = []
        #: Per head, its objects and modifiers that are nouns: (noun, what the predicate adds before it).
        self.objects: dict[int, list[tuple[int, str]]] = {}
        #: Per head, how many forms of "be" make it a predicate; its first preposition; its first particle.
        self.copulas: dict[int, int] = {}
        self.cases: dict[int, int] = {}
        self.particles: dict[int, int] = {}
        self._pairs: dict[str, _Pairs] = {}
        for head in self.order:
            for dependent, relation in sentence.edges_below(head):
                if relation.startswith("nmod:"):
                    kind = relation[5:]
                    self.modifiers.append((head, dependent, kind))
                    if is_noun[dependent]:
                        preposition = "" if kind in ("poss", "agent") else " " + kind.replace("_", " ")
                        self.objects.setdefault(head, []).append((dependent, preposition))
                    continue
                self._pairs.setdefault(relation, []).append((head, dependent))
                if relation in ("dobj", "iobj"):
                    if is_noun[dependent]:
                        self.objects.setdefault(head, []).append((dependent, ""))
                elif relation == "cop":
                    self.copulas[head] = self.copulas.get(head, 0) + 1
                elif relation == "case":
                    self.cases.setdefault(head, dependent)
                elif relation == "compound:prt":
                    self.particles.setdefault(head, dependent)

    def pairs(self, relation: str) -> _Pairs:
        """Return all (head, dependent) of a relation."""
        return self._pairs.get(relation, [])

    def noun_pairs(self, relation: str) -> _Pairs:
        """Return those whose dependent is a noun."""
        is_noun = self.is_noun
        return [pair for pair in self._pairs.get(relation, ()) if is_noun[pair[1]]]

    def predicate(self, word: int) -> str:
        """Return the lemma, with the particle if there is one ("pick up"); "be" is replaced by its particle."""
        lemma = self.sentence.lemmas[word]
        if word not in self.particles:
            return lemma
        return f"{'' if lemma == 'be' else lemma} {self.sentence.words[self.particles[word]]}"

    def preposition(self, word: int) -> str:
        """Return the preposition before a word, which may be several words; empty if there is none."""
        case = self.cases.get(word)
        if case is None:
            return ""
        words = self.sentence.words
        further_words = [words[child] for child, relation in self.sentence.edges_below(case) if relation == "mwe"]
        return " ".join((words[case], *further_words))


def _actions(graph: _Relations) -> Iterator[Tuple]:
    """A dog chases a ball, a dog plays with a ball: (dog, ball, chase), (dog, ball, play with)."""
    for verb, subject in graph.noun_pairs("nsubj"):
        if verb in graph.objects and verb not in graph.copulas:
            yield from _object_tuples(graph, subject, verb)


def _clauses(graph: _Relations) -> Iterator[Tuple]:
    """A dog chasing a ball: (dog, ball, chase)."""
    for subject, verb in graph.pairs("acl"):
        if verb in graph.objects and graph.sentence.tags[verb].startswith("V"):
            yield from _object_tuples(graph, subject, verb)


def _object_tuples(graph: _Relations, subject: int, verb: int) -> Iterator[Tuple]:
    for noun, preposition in graph.objects[verb]:
        yield graph.names[subject], graph.names[noun], graph.predicate(verb) + preposition


def _predicates(graph: _Relations) -> Iterator[Tuple]:
    """A dog sleeps: (dog, sleep)."""
    for verb, subject in graph.noun_pairs("nsubj"):
        if verb not in graph.objects and verb not in graph.copulas:
            yield from _predicated(graph, subject, verb)


def _copulas(graph: _Relations) -> Iterator[Tuple]:
    """A dog is brown, a dog is on the sofa: (dog, brown), (dog, sofa, on); once for each form of "be"."""
    for predicate, subject in graph.noun_pairs("nsubj"):
        for _ in range(graph.copulas.get(predicate, 0)):
            yield from _predicated(graph, subject, predicate)


def _predicated(graph: _Relations, subject: int, predicate: int) -> Iterator[Tuple]:
    if predicate in graph.cases:
        yield graph.names[subject], graph.names[predicate], graph.preposition(predicate)
    elif graph.sentence.lemmas[predicate] != "be":
        yield graph.names[subject], graph.names[predicate]


def _modifiers(graph: _Relations) -> Iterator[Tuple]:
    """A brown dog: (dog, brown)."""
    for noun, adjective in graph.pairs("amod"):
        yield graph.names[noun], graph.names[adjective]


def _adjectives(graph: _Relations) -> Iterator[Tuple]:
    """A dog is brown: (dog, brown)."""
    for adjective, subject in graph.pairs("nsubj"):
        if graph.sentence.tags[adjective].startswith("J"):
            yield graph.names[subject], graph.names[adjective]


def _prepositions(graph: _Relations) -> Iterator[Tuple]:
    """A dog on top of a car: (dog, car, on top of)."""
    for noun, complement, kind in graph.modifiers:
        if graph.is_noun[noun] and kind not in ("poss", "agent"):
            yield graph.names[noun], graph.names[complement], kind.replace("_", " ")


def _possessives(graph: _Relations) -> Iterator[Tuple]:
    """A man's dog: (man, dog, have)."""
    for thing, owner, kind in graph.modifiers:
        if kind == "poss" and graph.is_noun[thing] and graph.is_noun[owner]:
            yield graph.names[owner], graph.names[thing], "have"


def _agents(graph: _Relations) -> Iterator[Tuple]:
    """A dog is held by a man: (man, dog, hold)."""
    for verb, agent, kind in graph.modifiers:
        if kind == "agent" and graph.is_noun[agent] and graph.sentence.tags[verb].startswith("V"):
            for head, patient in graph.noun_pairs("nsubjpass"):
                if head == verb:
                    yield graph.names[agent], graph.names[patient], graph.predicate(verb)


def _compounds(graph: _Relations) -> Iterator[Tuple]:
    """A sheep dog: (dog, sheep)."""
    for noun, modifier in graph.noun_pairs("compound"):
        if graph.is_noun[noun]:
            yield graph.names[noun], graph.names[modifier]


def _objects(graph: _Relations) -> Iterator[Tuple]:
    """A dog: (dog); not a noun of a compound."""
    compounds = {word for pair in graph.noun_pairs("compound") if graph.is_noun[pair[0]] for word in pair}
    for noun in graph.order:
        if graph.is_noun[noun] and noun not in compounds:
            yield (graph.names[noun],)


def _numbers(graph: _Relations) -> Iterator[Tuple]:
    """Two dogs, a couple of dogs: (dog, two), (dog, couple)."""
    number_of = _number_of(graph)
    for noun in _counted(graph) if number_of else ():
        if noun in number_of:
            yield graph.names[noun], graph.names[number_of[noun]]


def _number_of(graph: _Relations) -> dict[int, int]:
    """Return the first number of each noun, unless it follows the noun, or else its quantifier."""
    first: dict[int, int] = {}
    for noun, number in graph.pairs("nummod") + graph.pairs("det:qmod"):
        first.setdefault(noun, number)
    return {
        noun: number
        for noun, number in first.items()
        if number < noun or "nummod" not in graph.sentence.children[noun][number]
    }


def _counted(graph: _Relations) -> Iterator[int]:
    """Return plural nouns in the order in which the official program counts them, possibly repeated.

    It searches for subjects together with an object of the same verb, for subjects without such an object, and for all
    others. Each time it takes at most one match, per verb in the first search and per noun after that.
    """
    sentence = graph.sentence
    plural = [tag in PLURALS for tag in sentence.tags]
    subject_of: dict[int, int] = {}  # per verb its first plural subject
    for verb, noun in graph.pairs("nsubj"):
        if plural[noun]:
            subject_of.setdefault(verb, noun)
    object_of = _plural_objects(graph, plural)
    for verb, noun in subject_of.items():
        if verb in object_of:
            yield noun
            yield object_of[verb]
    remaining = []
    for noun in graph.order:
        if not plural[noun]:
            continue
        heads = sentence.parents[noun]
        if noun in sentence.roots or any("nsubj" in heads[verb] and verb not in object_of for verb in heads):
            yield noun
        elif not any(_is_argument(heads[verb], verb in subject_of) for verb in heads):
            remaining.append(noun)
    yield from remaining


def _plural_objects(graph: _Relations, plural: list[bool]) -> dict[int, int]:
    """Return, per verb, its first plural object, or else its first plural modifier with a preposition."""
    object_of: dict[int, int] = {}
    for verb, noun in graph.pairs("dobj") + graph.pairs("iobj"):
        if plural[noun]:
            object_of.setdefault(verb, noun)
    for verb, noun, _ in graph.modifiers:
        if plural[noun] and noun in graph.cases:
            object_of.setdefault(verb, noun)
    return object_of


def _is_argument(relations: list[str], has_plural_subject: bool) -> bool:
    """Return whether a noun is the subject of a word, or an object or modifier of one with a plural subject."""
    return any(
        relation == "nsubj" or (has_plural_subject and (relation in ("dobj", "iobj") or relation.startswith("nmod:")))
        for relation in relations
    )


_RULES = (
    _actions,
    _clauses,
    _predicates,
    _copulas,
    _modifiers,
    _adjectives,
    _prepositions,
    _possessives,
    _agents,
    _numbers,
    _compounds,
    _objects,
)
