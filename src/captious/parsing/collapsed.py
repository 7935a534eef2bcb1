"""Collapsing of basic dependencies into the form from which scene graphs are read.

Basic dependencies are a tree over all words. The collapsed ones (CoreNLP's CollapsedCCProcessed, without extras)
express relations of meaning: prepositions become part of relations, and the relations of a word also apply to words
coordinated with it. ``collapsed`` applies, in this order:

    fold_prepositions     next to, in front of                   one preposition, its noun in its place
    _split_governor       a dog on the bed and under a blanket   a copy of the governor for the second phrase
    _split_preposition    boats on and near a beach              the same for two prepositions of one noun
    _name_conjunct        a dog and a cat                        conj:and
    _name_modifier        a dog on the bed                       nmod:on
    _shared_governors     eats cake and pie                      both are objects
    _shared_subject       a dog runs and jumps                   the dog does both

Every step was derived from a treebank of captions that the official program parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from captious.files import sections
from captious.parsing.parses import Edge

# Prepositions of two and three words (``next to``, ``in front of``), folded into one.
#
# Basic dependencies split them: in ``a dog sits in front of a bus`` the bus is a modifier of ``front``, and ``front``
# one of ``sits``. Folded, the bus is the modifier, and the first word of the preposition is its case, with the others
# attached by ``mwe``. The prepositions that the official program folds were derived from a treebank of captions that it
# parsed.


def _prepositions(name: str) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(line.split()) for line in sections(Path(__file__).with_name("words.txt"))[name].splitlines())


_SIDE_BY_SIDE, _ABOVE_THE_NOUN = _prepositions("side by side"), _prepositions("above the noun")
_THREE_WORDS = _prepositions("three words")
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


# ``collapsed``, and its steps.

_MODIFIERS = frozenset(("nmod", "acl", "advcl"))
_SUBJECTS = frozenset(("nsubj", "nsubjpass", "csubj", "csubjpass"))
_PASSIVE = frozenset(("auxpass", "nsubjpass"))
_NEVER_PASSIVE = frozenset(("VB", "VBP", "VBZ", "JJ", "JJR", "JJS"))

# Conjunctions that stand for others.
_CONJUNCTIONS = {"as_well_as": "and", "instead_of": "negcc", "rather_than": "negcc"}


def collapsed(
    words: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]
) -> tuple[Edge, ...]:
    """Return the collapsed dependencies of a sentence of n words.

    Conjoined prepositions may split the word they depend on. Its k-th copy has the number ``word + k * n``, so that
    ``(number - 1) % n`` is the index of every number in ``words``.

    Args:
        words: n words.
        tags: their parts of speech.
        heads: the head of each word in the basic dependencies, 0 for the root.
        relations: the relation of each word to that head.

    Returns:
        (head, dependent, relation): the root, then by dependent and head.
    """
    sentence = _Sentence(words, tags, heads, relations)
    for conjunct in sentence.conjuncts:
        conjunction = _conjunction(sentence, conjunct)
        if conjunction and not _split_governor(sentence, conjunct, conjunction):
            _split_preposition(sentence, conjunct, conjunction)
            _name_conjunct(sentence, conjunct, conjunction)
    for noun, cases in sentence.cases.items():
        _name_modifier(sentence, noun, cases)
    edges = list(zip(sentence.heads, range(sentence.size + 1), sentence.relations, strict=True))[1:]
    if sentence.links:
        edges += sentence.added
        shared = set(edges)
        above: dict[int, list[Edge]] = {}
        below: dict[int, list[Edge]] = {}
        for edge in edges:
            above.setdefault(edge[1], []).append(edge)
            below.setdefault(edge[0], []).append(edge)
        for first, second in sentence.links:
            with_clauses = all(any(edge[2] == "acl:relcl" for edge in below.get(word, ())) for word in (first, second))
            shared.update(_shared_governors(above.get(first, ()), second, with_clauses))
            shared.update(_shared_subject(sentence, below.get(first, ()), below.get(second, ()), second))
        edges = list(shared)
    n = sentence.size
    edges.sort(key=lambda e: (e[0] > 0, (e[1] - 1) % n, (e[0] - 1) % n, e))
    return tuple(edges)


class _Sentence:
    """A sentence during collapsing; lists of words start with an unused entry.

    Args:
        cases: for each noun, the first words of its prepositions.
        fixed: for each word, the others of a fixed expression (``such as``).
        coordinators: for each word, its conjunctions.
        conjuncts: words coordinated with their heads.
        links: pairs of coordinated words; the second may be a copy.
        added: edges to and from copies.
    """

    __slots__ = (
        *("added", "cases", "conjuncts", "coordinators", "copies", "fixed", "heads", "links", "passive"),
        *("relations", "size", "tags", "words"),
    )

    def __init__(self, words: Sequence[str], tags: Sequence[str], heads: Sequence[int], relations: Sequence[str]):
        self.size = len(words)
        self.tags = tags
        self.heads = [0, *heads]
        self.relations = ["", *relations]
        lower = [word.lower() for word in words]
        fold_prepositions(lower, self.heads, self.relations)
        self.words = ["", *lower]
        self.cases: dict[int, list[int]] = {}
        self.fixed: dict[int, list[int]] = {}
        self.coordinators: dict[int, list[int]] = {}
        self.passive: set[int] = set()
        self.conjuncts: list[int] = []
        for i, relation in enumerate(self.relations):
            if relation == "case":
                self.cases.setdefault(self.heads[i], []).append(i)
            elif relation == "mwe":
                self.fixed.setdefault(self.heads[i], []).append(i)
            elif relation == "cc":
                self.coordinators.setdefault(self.heads[i], []).append(i)
            elif relation == "conj":
                self.conjuncts.append(i)
            elif relation in _PASSIVE:
                self.passive.add(self.heads[i])
        self.conjuncts.sort(key=_bucket)
        self.copies: dict[int, int] = {}
        self.links: list[tuple[int, int]] = []
        self.added: list[Edge] = []

    def text(self, word: int) -> str:
        """Return a word with those it is fixed to: ``such_as``."""
        return "_".join([self.words[word], *(self.words[i] for i in self.fixed.get(word, ()))])

    def split(self, word: int, conjunction: str) -> int:
        """Create a copy of a word, coordinated with it."""
        self.copies[word] = self.copies.get(word, 0) + 1
        copy = word + self.copies[word] * self.size
        self.added.append((word, copy, conjunction))
        self.links.append((word, copy))
        return copy

    def modifies(self, word: int) -> bool:
        """Return whether a word modifies one other than the root, by a preposition or clause."""
        return self.heads[word] > 0 and _base(self.relations[word]) in _MODIFIERS


def _bucket(word: int) -> int:
    """Sort key for CoreNLP's order of the dependents of a word: that of 16 buckets of a hash table."""
    return word % 16


def _base(relation: str) -> str:
    """Return ``nmod`` for ``nmod:next_to``; relations that are not named after words are not changed."""
    if relation.startswith("nmod:") and relation not in ("nmod:poss", "nmod:npmod", "nmod:tmod"):
        return "nmod"
    return relation


def _conjunction(sentence: _Sentence, conjunct: int) -> str:
    """Return the relation of a conjunct, by the conjunction before it; empty if there is none.

    Example:
        dogs but not cats
        cc(not, but) cc(dogs, not) conj(dogs, cats)
        -> cc(not, but) cc(dogs, not) conj:negcc(dogs, cats)
    """
    coordinators = sentence.coordinators.get(sentence.heads[conjunct])
    if not coordinators:
        return ""
    before = [word for word in coordinators if word < conjunct]
    word = max(before, key=_bucket) if before else coordinators[0]
    if sentence.words[word] == "not" and word in sentence.coordinators:
        return "conj:negcc"
    return "conj:" + _CONJUNCTIONS.get(sentence.text(word), sentence.words[word])


def _split_governor(sentence: _Sentence, conjunct: int, conjunction: str) -> bool:
    """Give the second of two prepositional phrases a governor of its own. Return whether it did.

    Example:
        dogs on beds and under blankets
        nmod(dogs, beds) case(beds, on) cc(beds, and) conj(beds, blankets) case(blankets, under)
        -> conj:and(dogs, dogs') nmod:on(dogs, beds) case(beds, on) cc(dogs, and) nmod:under(dogs', blankets)
        case(blankets, under)
    """
    noun = sentence.heads[conjunct]
    if noun not in sentence.cases or conjunct not in sentence.cases or not sentence.modifies(noun):
        return False
    governor = sentence.heads[noun]
    copies = [sentence.split(governor, conjunction) for _ in sentence.cases[noun]]
    sentence.heads[conjunct] = copies[0]
    sentence.relations[conjunct] = (
        f"{_base(sentence.relations[noun])}:{sentence.text(max(sentence.cases[conjunct], key=_bucket))}"
    )
    for word in sentence.coordinators[noun]:
        sentence.heads[word] = governor
    return True


def _split_preposition(sentence: _Sentence, conjunct: int, conjunction: str) -> None:
    """Give the noun of two prepositions a second governor, a copy of its own.

    Example:
        boats on and near beaches
        nmod(boats, beaches) case(beaches, on) cc(on, and) conj(on, near)
        -> conj:and(boats, boats') nmod:on(boats, beaches) nmod:near(boats', beaches) case(beaches, on) cc(on, and)
        conj:and(on, near)
    """
    preposition = sentence.heads[conjunct]
    noun = sentence.heads[preposition]
    if (
        sentence.relations[preposition] == "case"
        and sentence.relations[noun] in _MODIFIERS
        and sentence.heads[noun] > 0
    ):
        copy = sentence.split(sentence.heads[noun], conjunction)
        sentence.added.append((copy, noun, f"{sentence.relations[noun]}:{sentence.text(conjunct)}"))


def _name_conjunct(sentence: _Sentence, conjunct: int, conjunction: str) -> None:
    """Name a conjunct after the conjunction.

    Example:
        dogs or cats
        cc(dogs, or) conj(dogs, cats)
        -> cc(dogs, or) conj:or(dogs, cats)
    """
    sentence.relations[conjunct] = conjunction
    sentence.links.append((sentence.heads[conjunct], conjunct))


def _name_modifier(sentence: _Sentence, noun: int, cases: list[int]) -> None:
    """Name a modifier after its preposition, or "agent" if it is the agent of a passive verb.

    Example:
        a dog on the bed
        det(dog, a) nmod(dog, bed) case(bed, on) det(bed, the)
        -> det(dog, a) nmod:on(dog, bed) case(bed, on) det(bed, the)
    Example:
        dogs are fed by boys
        nsubjpass(fed, dogs) auxpass(fed, are) nmod(fed, boys) case(boys, by)
        -> nsubjpass(fed, dogs) auxpass(fed, are) nmod:agent(fed, boys) case(boys, by)
    """
    relation = sentence.relations[noun]
    if relation not in _MODIFIERS:
        return
    if (
        relation == "nmod"
        and sentence.heads[noun] in sentence.passive
        and any(sentence.text(case) == "by" for case in cases)
    ):
        sentence.relations[noun] = "nmod:agent"
    else:
        sentence.relations[noun] = f"{relation}:{sentence.text(max(cases, key=_bucket))}"


def _shared_governors(above: Sequence[Edge], second: int, with_clauses: bool) -> Iterator[Edge]:
    """Give the second of two coordinated words the governors of the first, to which it has the edges ``above``.

    Objects are not shared if both words have relative clauses: ``boys who run and boys who jump``.

    Example:
        she eats cake and pie
        nsubj(eats, she) dobj(eats, cake) cc(cake, and) conj(cake, pie)
        -> nsubj(eats, she) dobj(eats, cake) cc(cake, and) conj:and(cake, pie) dobj(eats, pie)
    """
    for head, _, relation in above:
        if head and relation != "case" and not (relation == "dobj" and with_clauses):
            yield head, second, relation


def _shared_subject(
    sentence: _Sentence, below_first: Sequence[Edge], below_second: Sequence[Edge], second: int
) -> Iterator[Edge]:
    """Give the second of two coordinated verbs or adjectives the subject of the first, unless it has its own.

    Example:
        a dog runs and jumps/VBZ
        det(dog, a) nsubj(runs, dog) cc(runs, and) conj(runs, jumps)
        -> det(dog, a) nsubj(runs, dog) cc(runs, and) conj:and(runs, jumps) nsubj(jumps, dog)
    Example:
        dogs run and are fed/VBN
        nsubj(run, dogs) cc(run, and) auxpass(fed, are) conj(run, fed)
        -> nsubj(run, dogs) cc(run, and) auxpass(fed, are) conj:and(run, fed) nsubjpass(fed, dogs)
    """
    tag = sentence.tags[(second - 1) % sentence.size]
    if not tag.startswith(("V", "J")):
        return
    relations = {relation for _, _, relation in below_second}
    if not relations.isdisjoint(_SUBJECTS):
        return
    subjects = [edge for edge in below_first if edge[2] in ("nsubj", "nsubjpass")]
    if not subjects:
        return
    _, subject, relation = min(subjects, key=lambda edge: _bucket(edge[1]))
    if "auxpass" in relations:
        relation = "nsubjpass"
    elif tag in _NEVER_PASSIVE:
        relation = "nsubj"
    yield second, subject, relation
