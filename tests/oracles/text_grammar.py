"""The text form of a CoreNLP grammar, read line by line: what readers of its binary form and the parser are held to."""

from __future__ import annotations

import gzip
import hashlib
import re
from functools import cache
from pathlib import Path

import numpy as np

from captious.resources.grammar import ANY, Grammar

_ENTRY = re.compile(r'"(.*)" -> "(.*)" (SEEN|UNSEEN) (\S+)')
_UNARY = re.compile(r'"(.*)" -> "(.*)" (\S+)')
_BINARY = re.compile(r'"(.*)" -> "(.*)" "(.*)" (\S+)')
_EVERY = ".*."


def _sections(text: str) -> dict[str, list[str]]:
    """Return lines of each section, by the first word of its title."""
    sections: dict[str, list[str]] = {}
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("BEGIN "):
            lines = sections.setdefault(line.split()[1], [])
        elif line:
            lines.append(line)
    return sections


def _unquoted(text: str) -> str:
    return text.replace('\\"', '"').replace("\\\\", "\\")


def _matches(pattern: re.Pattern[str], lines: list[str]) -> list[tuple[str, ...]]:
    found = [pattern.fullmatch(line) for line in lines]
    return [tuple(_unquoted(group) for group in match.groups()) for match in found if match]


@cache
def read_text_grammar(path: Path) -> Grammar:
    """Return the grammar of a file as the LexicalizedParser of CoreNLP writes it (``-saveToTextFile``), gzipped."""
    text = gzip.decompress(path.read_bytes()).decode()
    sections = _sections(text)
    states = tuple(line.split("=", 1)[1] for line in sections["STATE_INDEX"])
    tags = tuple(line.split("=", 1)[1] for line in sections["TAG_INDEX"])
    state_of = {name: number for number, name in enumerate(states)}
    tag_of = {name: number for number, name in enumerate(tags)} | {_EVERY: ANY}
    word_of = {_EVERY: ANY}
    pairs: dict[str, list[tuple[int, int]]] = {"SEEN": [], "UNSEEN": []}
    counts: dict[str, list[float]] = {"SEEN": [], "UNSEEN": []}
    for tag, word, kind, count in _matches(_ENTRY, sections["LEXICON"]):
        pairs[kind].append((tag_of[tag], word_of.setdefault(word, len(word_of) - 1)))
        counts[kind].append(float(count))
    unary = _matches(_UNARY, sections["UNARY_GRAMMAR"])
    binary = _matches(_BINARY, sections["BINARY_GRAMMAR"])
    return Grammar(
        name=path.name,
        fingerprint=hashlib.sha256(text.encode()).hexdigest()[:16],
        states=states,
        tags=tags,
        words=tuple(word_of)[1:],
        binary_rules=np.array([[state_of[name] for name in rule[:3]] for rule in binary], np.int32).reshape(-1, 3),
        binary_scores=np.array([rule[3] for rule in binary], np.float32),
        unary_rules=np.array([[state_of[name] for name in rule[:2]] for rule in unary], np.int32).reshape(-1, 2),
        unary_scores=np.array([rule[2] for rule in unary], np.float32),
        seen=np.array(pairs["SEEN"], np.int32).reshape(-1, 2),
        seen_counts=np.array(counts["SEEN"]),
        unseen=np.array(pairs["UNSEEN"], np.int32).reshape(-1, 2),
        unseen_counts=np.array(counts["UNSEEN"]),
    )
