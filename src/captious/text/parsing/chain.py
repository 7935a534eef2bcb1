"""From words to parses: parser, dependencies, lemmas, collapsing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from captious.resources.grammar import Grammar
from captious.text.parsing.parse import Parse

__all__ = ["GRAMMARS", "GrammarParser", "parse", "parser_with"]

#: Grammars by the name that users ask for, the best first.
GRAMMARS = ("corenlp", "captious")


def parse(token_lists: Sequence[Sequence[str]], grammar: Grammar) -> list[Parse]:
    """The parses of captions, each of one word or more."""
    raise NotImplementedError


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
        return parse(words, self.grammar)
