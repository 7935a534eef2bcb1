"""The dependencies of a sentence by relation, in the order in which the official program finds them."""

from __future__ import annotations

from typing import TypeAlias

from captious.scenes.sentence import NOUNS, Sentence

__all__ = ["Relations"]

_Pairs: TypeAlias = list[tuple[int, int]]


class Relations:
    """Dependencies by relation; words are numbers.

    Args:
        sentence: the sentence, quantifiers and pronouns resolved.
    """

    __slots__ = (
        "_pairs",
        "cases",
        "copulas",
        "is_noun",
        "modifiers",
        "names",
        "objects",
        "order",
        "particles",
        "sentence",
    )

    def __init__(self, sentence: Sentence) -> None:
        self.sentence = sentence
        self.order = sentence.sorted_topologically()
        #: What words are called in tuples, and which are nouns.
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
        """All (head, dependent) of a relation."""
        return self._pairs.get(relation, [])

    def noun_pairs(self, relation: str) -> _Pairs:
        """Those whose dependent is a noun."""
        is_noun = self.is_noun
        return [pair for pair in self._pairs.get(relation, ()) if is_noun[pair[1]]]

    def predicate(self, word: int) -> str:
        """The lemma, with the particle if there is one ("pick up"); "be" itself gives way to a particle."""
        lemma = self.sentence.lemmas[word]
        if word not in self.particles:
            return lemma
        return f"{'' if lemma == 'be' else lemma} {self.sentence.words[self.particles[word]]}"

    def preposition(self, word: int) -> str:
        """The preposition before a word, which may be several words; empty if there is none."""
        case = self.cases.get(word)
        if case is None:
            return ""
        words = self.sentence.words
        others = [words[child] for child, relation in self.sentence.edges_below(case) if relation == "mwe"]
        return " ".join((words[case], *others))
