"""Tuples of a caption: objects, their attributes and the relations between them.

    two brown dogs play with a ball    (dog, ball, play with) (dog, brown) (dog, two) (ball) (dog)

Anderson, Fernando, Johnson and Gould 2016 (SPICE), section 3.1, on rules of Schuster et al. 2015. One function per rule
of the official program, in its order; each yields its tuples in the order of the program.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from captious.files import sections
from captious.parsing.parses import Edge, Parse

# A sentence as a mutable graph of words, traversed in the order of the official program.
#
# The order decides which of several matches of a rule comes first. It results from Java's hash tables: neighbors of a
# word are in buckets by their number modulo 16, those in one bucket in insertion order.

NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
PLURALS = frozenset(("NNS", "NNPS"))

_Neighbors: TypeAlias = dict[int, list[str]]
"""Neighbors of a word, each with the relations to it."""

_by_dependent = itemgetter(1)


class Sentence:
    """Words, numbered from 1, and the dependencies among them.

    A number above n, the number of words, is a copy of a word created by collapsing dependencies: the number of the
    word plus a multiple of n.

    Args:
        parse: a parse, which is not changed.
    """

    __slots__ = ("children", "lemmas", "n_words", "parents", "roots", "tags", "words")

    def __init__(self, parse: Parse) -> None:
        n = len(parse.words)
        edges = parse.collapsed
        self.n_words = n
        copies = -(-max(map(_by_dependent, edges), default=1) // n) if n else 1
        #: By number; there is no word 0.
        self.words = ("", *parse.words * copies)
        self.tags = ("", *parse.tags * copies)
        self.lemmas = ("", *parse.lemmas * copies)
        self.roots: list[int] = []
        self.children: list[_Neighbors] = [{} for _ in self.words]
        self.parents: list[_Neighbors] = [{} for _ in self.words]
        for head, dependent, relation in sorted(edges, key=_by_dependent if copies == 1 else self._place_of_dependent):
            if head:
                self.add(head, dependent, relation)
            else:
                self.roots.append(dependent)

    def add(self, head: int, dependent: int, relation: str) -> None:
        """Add a dependency to those between two words."""
        relations = self.children[head].get(dependent)
        if relations is None:
            self.children[head][dependent] = self.parents[dependent][head] = [relation]
        else:
            relations.append(relation)

    def detach(self, head: int, dependent: int) -> list[str]:
        """Remove the dependencies of one word on another, and return their relations."""
        del self.parents[dependent][head]
        return self.children[head].pop(dependent)

    def replace_root(self, old: int, new: int) -> None:
        """Replace a root by another word; do nothing if it is not a root."""
        self.roots = [new if root == old else root for root in self.roots]

    def in_order(self, words: Iterable[int]) -> list[int]:
        """Return words from left to right, a copy after its word."""
        if len(self.words) == self.n_words + 1:
            return sorted(words)
        return sorted(words, key=self._place)

    def _place(self, word: int) -> tuple[int, int]:
        return (word - 1) % self.n_words, word

    def _place_of_dependent(self, edge: Edge) -> tuple[int, int]:
        return self._place(edge[1])

    def edges_below(self, word: int) -> Iterator[tuple[int, str]]:
        """Return the dependents of a word with their relations, in the order of the official program."""
        children = self.children[word]
        for child in children if len(children) < 2 else self._bucket_order(children):
            for relation in children[child]:
                yield child, relation

    def _bucket_order(self, words: _Neighbors) -> list[int]:
        mask = 15 if len(words) <= 12 else 31  # a fuller table is a larger one
        n = self.n_words
        if len(self.words) == n + 1 <= mask + 1:
            return sorted(words)
        return sorted(words, key=lambda word: ((word - 1) % n + 1) & mask)

    def sorted_topologically(self) -> list[int]:
        """Return all words in the graph, heads before dependents; from left to right if there is a cycle."""
        children = self.children
        attached = [word for word in range(1, len(self.words)) if children[word] or self.parents[word]]
        attached += [root for root in self.roots if root not in attached]
        vertices = self.in_order(attached)
        finished: list[int] = []
        state = bytearray(len(self.words))  # 1 while what is below it is visited, 2 after that
        for start in vertices:
            if state[start]:
                continue
            state[start] = 1
            path = [(start, iter(self._bucket_order(children[start])))]
            while path:
                word, below = path[-1]
                for child in below:
                    if state[child] == 2:
                        continue
                    if state[child] == 1:
                        return vertices
                    if children[child]:
                        state[child] = 1
                        path.append((child, iter(self._bucket_order(children[child]))))
                        break
                    state[child] = 2
                    finished.append(child)
                else:
                    state[word] = 2
                    finished.append(word)
                    path.pop()
        finished.reverse()
        return finished


# Enhancement of the graph of a sentence before tuples are read: nouns replace quantifiers and pronouns.
#
# Rules a and c of the official graph enhancement. In "a lot of dogs" the head becomes "dogs", as in "many dogs": the
# noun takes the place of the quantifier, and the words of the quantifier become one expression, whose first word
# depends on the noun as ``det:qmod`` and the others on that word. Relations of "it" and "their" are moved to the noun
# that they stand for.


def enhance(sentence: Sentence) -> None:
    """Replace quantifiers and pronouns by nouns."""
    _resolve_quantifiers(sentence)
    _resolve_pronouns(sentence)


_TEXT = sections(Path(__file__).with_name("words.txt"))
_IS_MEASURE, _IS_AMOUNT, _IS_NUMBER = (frozenset(_TEXT[name].split()) for name in ("measures", "amounts", "numbers"))
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
_SINGULAR = frozenset(_TEXT["singular pronouns"].split())
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


# The rules, which read tuples from an enhanced sentence.

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
        self.names = [*map(str.lower, sentence.lemmas)]
        self.is_noun = is_noun = [*map(NOUNS.__contains__, sentence.tags)]
        #: All relations ``nmod:x``: (head, dependent, x).
        self.modifiers: list[tuple[int, int, str]] = []
        #: Per head, its objects and modifiers that are nouns: (noun, what the predicate adds before it).
        self.objects: dict[int, list[tuple[int, str]]] = {}
        #: Per head, how many forms of "be" make it a predicate; its first preposition; its first particle.
        self.copulas: dict[int, int] = {}
        self.cases: dict[int, int] = {}
        self.particles: dict[int, int] = {}
        #: Per relation, all (head, dependent).
        self.pairs: defaultdict[str, _Pairs] = defaultdict(list)
        for head in self.order:
            for dependent, relation in sentence.edges_below(head) if sentence.children[head] else ():
                if relation.startswith("nmod:"):
                    kind = relation[5:]
                    self.modifiers.append((head, dependent, kind))
                    if is_noun[dependent]:
                        preposition = "" if kind in ("poss", "agent") else " " + kind.replace("_", " ")
                        self.objects.setdefault(head, []).append((dependent, preposition))
                    continue
                self.pairs[relation].append((head, dependent))
                if relation in ("dobj", "iobj"):
                    if is_noun[dependent]:
                        self.objects.setdefault(head, []).append((dependent, ""))
                elif relation == "cop":
                    self.copulas[head] = self.copulas.get(head, 0) + 1
                elif relation == "case":
                    self.cases.setdefault(head, dependent)
                elif relation == "compound:prt":
                    self.particles.setdefault(head, dependent)

    def noun_pairs(self, relation: str) -> _Pairs:
        """Return the pairs of a relation whose dependent is a noun."""
        return [pair for pair in self.pairs[relation] if self.is_noun[pair[1]]]

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
    for subject, verb in graph.pairs["acl"]:
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
    for noun, adjective in graph.pairs["amod"]:
        yield graph.names[noun], graph.names[adjective]


def _adjectives(graph: _Relations) -> Iterator[Tuple]:
    """A dog is brown: (dog, brown)."""
    for adjective, subject in graph.pairs["nsubj"]:
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
    for noun, number in graph.pairs["nummod"] + graph.pairs["det:qmod"]:
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
    for verb, noun in graph.pairs["nsubj"]:
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
    for verb, noun in graph.pairs["dobj"] + graph.pairs["iobj"]:
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
