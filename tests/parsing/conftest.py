"""The official grammar, where it is at hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from captious.parsing.tree_parser import TreeParser, sample_captions, tuned_bounds
from captious.resources.grammar import Grammar
from tests.oracles.text_grammar import read_text_grammar

GoldTrees = Callable[[str, int], list[tuple[list[str], str]]]


@pytest.fixture(scope="session")
def official_grammar(shared_data: Path) -> Grammar:
    """The grammar of CoreNLP 3.6.0, in its text form."""
    path = shared_data / "spice" / "corenlp" / "grammar.txt.gz"
    if not path.exists():
        pytest.skip("no shared_data: the official grammar")
    return read_text_grammar(path)


@pytest.fixture(scope="session")
def plain_parser(official_grammar: Grammar) -> TreeParser:
    return TreeParser(official_grammar)


@pytest.fixture(scope="session")
def parser(official_grammar: Grammar) -> TreeParser:
    """With bounds from few captions, so that these tests take little time."""
    return TreeParser(official_grammar, tuned_bounds(official_grammar, sample_captions()[::5], passes=60))


@pytest.fixture(scope="session")
def gold_trees(shared_data: Path) -> GoldTrees:
    """Words and tree in brackets of the first captions of a file that have one."""

    def read(name: str, most: int) -> list[tuple[list[str], str]]:
        path = shared_data / "spice" / f"{name}.jsonl.gz"
        if not path.exists():
            pytest.skip("no shared_data: gold trees")
        trees = []
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if "tree" in row:
                    trees.append((row["word"], row["tree"]))
                if len(trees) == most:
                    break
        return trees

    return read
