"""From words to parses: parser, dependencies, lemmas, collapsing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from captious.resources.grammar import Grammar
from captious.text.parsing.collapsing import collapsed
from captious.text.parsing.dependencies import constituents, dependencies
from captious.text.parsing.lemmas import lemma
from captious.text.parsing.parse import Parse

__all__ = ["GRAMMARS", "GrammarParser", "Item", "parse_of", "parser_with"]

#: Grammars by the name that users ask for, the best first.
GRAMMARS = ("corenlp", "captious")

#: A constituent or tag of a tree in preorder: label, number of children (0 for a tag), word ("" for a constituent).
Item = tuple[str, int, str]


def parse_of(items: Sequence[Item]) -> Parse:
    """The parse of a caption whose phrase structure tree is known."""
    leaves = [item for item in items if not item[1]]
    words, tags = tuple(word for _, _, word in leaves), tuple(tag for tag, _, _ in leaves)
    heads, relations = dependencies(constituents(items))
    lemmas = tuple(map(lemma, words, tags))
    return Parse(words, tags, lemmas, heads, relations, collapsed(words, tags, heads, relations))


def parser_with(grammar: str | None = None) -> GrammarParser:
    """The parser with a grammar, one of ``GRAMMARS``; None for the best that is on this machine."""
    raise NotImplementedError


@dataclass(frozen=True)
class GrammarParser:
    """A source of parses: the parser with a grammar.

    Args:
        grammar: the grammar.
    """

    grammar: Grammar

    @property
    def label(self) -> str:
        """What signatures call it."""
        return self.grammar.name

    def parse(self, captions: Sequence[str], words: Sequence[tuple[str, ...]]) -> list[Parse]:
        """The parses of n captions, from their words."""
        raise NotImplementedError
