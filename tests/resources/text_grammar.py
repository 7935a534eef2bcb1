"""CoreNLP's grammar in its own text form, as sets of lines: what the binary form must say as well."""

from __future__ import annotations

import gzip
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from captious.resources.grammar import ANY, Grammar

_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True)
class TextGrammar:
    """A grammar by names.

    Args:
        states, tags, words: in their order.
        binary, unary: names of parent and children, with the bits of the score.
        seen, unseen: names of tag and word (None for any) with the count.
    """

    states: tuple[str, ...]
    tags: tuple[str, ...]
    words: tuple[str, ...]
    binary: Counter[tuple[str, str, str, int]]
    unary: Counter[tuple[str, str, int]]
    seen: Counter[tuple[str | None, str | None, float]]
    unseen: Counter[tuple[str | None, str | None, float]]


def read(path: Path) -> TextGrammar:
    sections: dict[str, list[str]] = {}
    name = ""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        for line in file:
            if line.startswith("BEGIN "):
                name = line.split()[1]
            elif line.strip():
                sections.setdefault(name, []).append(line.rstrip("\n"))
    lexicon = [line for line in sections["LEXICON"] if line.startswith('"')]
    return TextGrammar(
        *(_index(sections[f"{of}_INDEX"]) for of in ("STATE", "TAG", "WORD")),
        *(Counter(_rule(line) for line in sections[f"{of}_GRAMMAR"]) for of in ("BINARY", "UNARY")),
        *(Counter(_count(line) for line in lexicon if _kind(line) == kind) for kind in ("SEEN", "UNSEEN")),
    )


def of(grammar: Grammar) -> TextGrammar:
    """Return a grammar in the same form."""
    states, tags, words = grammar.states, grammar.tags, grammar.words

    def rules(table: np.ndarray, scores: np.ndarray) -> Iterable[tuple]:
        bits = scores.view(np.int32).tolist()
        return ((*(states[state] for state in rule), of) for rule, of in zip(table.tolist(), bits, strict=True))

    def counts(table: np.ndarray, numbers: np.ndarray) -> Iterable[tuple]:
        for (tag, word), number in zip(table.tolist(), numbers.tolist(), strict=True):
            yield tags[tag] if tag != ANY else None, words[word] if word != ANY else None, number

    return TextGrammar(
        states,
        tags,
        words,
        Counter(rules(grammar.binary_rules, grammar.binary_scores)),
        Counter(rules(grammar.unary_rules, grammar.unary_scores)),
        Counter(counts(grammar.seen, grammar.seen_counts)),
        Counter(counts(grammar.unseen, grammar.unseen_counts)),
    )


def _index(lines: list[str]) -> tuple[str, ...]:
    numbers, names = zip(*(line.split("=", 1) for line in lines), strict=True)
    assert [*map(int, numbers)] == [*range(len(names))]
    return names


def _names(line: str) -> list[str]:
    return [re.sub(r"\\(.)", r"\1", name) for name in _QUOTED.findall(line)]


def _rule(line: str) -> tuple:
    score = np.float32(line.rpartition(" ")[2])
    return (*_names(line), int(score.view(np.int32)))


def _kind(line: str) -> str:
    return line.rsplit(" ", 2)[1]


def _count(line: str) -> tuple:
    tag, word = _names(line)
    return None if tag == ".*." else tag, None if word == ".*." else word, float(line.rpartition(" ")[2])
