"""From trees to basic dependencies: the example of every rule, whole captions, and the official program's parses."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.parsing.dependencies import constituents
from captious.parsing.relations import RULES, Rule, find_rule
from tests.support.tables import tables
from tests.support.trees import Tree, basic_dependencies, in_preorder

TABLES = tables(__file__)


def _drawn(brackets: str) -> list[str]:
    """Return the dependencies of a tree, written word by word as relation(head, dependent)."""
    tree = Tree.from_brackets(brackets)
    words = ["ROOT", *(tag.word or "" for tag in tree.tags())]
    heads, relations = basic_dependencies(tree)
    return [
        f"{relation}({words[head]}, {word})" for word, head, relation in zip(words[1:], heads, relations, strict=True)
    ]


# ---- rules


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: f"{rule.relation} {rule.example}")
def test_rule_decides_its_example(rule: Rule) -> None:
    """Whatever rules come before it, the rule decides how the word with the star depends."""
    starred = [tag.word for tag in Tree.from_brackets(rule.example).tags()].index
    words = [tag.word or "" for tag in Tree.from_brackets(rule.example).tags()]
    (marked,) = (word for word in words if word.startswith("*"))
    tree = Tree.from_brackets(rule.example.replace("*", ""))
    number = starred(marked) + 1
    (node,) = (
        child
        for constituent in constituents(in_preorder(tree))
        for child in constituent.children
        if child is not constituent.head_child and child.head.number == number
    )
    assert find_rule(node) is rule
    assert basic_dependencies(tree)[1][number - 1] == rule.relation


def test_examples_are_as_different_as_the_rules() -> None:
    assert len({rule.example for rule in RULES}) == len(RULES)


# ---- heads


@pytest.mark.parametrize(("brackets", "head"), TABLES["root-is-the-expected-head"])
def test_root_is_the_expected_head(brackets: str, head: str) -> None:
    assert f"root(ROOT, {head})" in _drawn(brackets)


# ---- whole captions


@pytest.mark.parametrize(("brackets", "expected"), TABLES["dependencies-of-a-caption-are-as-expected"])
def test_dependencies_of_a_caption_are_as_expected(brackets: str, expected: str) -> None:
    assert " ".join(_drawn(brackets)) == expected


def test_relative_clause_needs_a_gap() -> None:
    """A clause with a conjunction describes the noun only if it lacks something that the noun could be."""
    clause = "(NP (NP (DT a) (NN cat)) (SBAR (IN as) (S (NP (PRP they)) (VP {}))))"
    assert "acl:relcl(cat, watch)" in _drawn(clause.format("(VBP watch)"))
    assert "dep(cat, watch)" in _drawn(clause.format("(VBP watch) (NP (NN tv))"))
    assert "dep(cat, happy)" in _drawn(clause.format("(VBP are) (ADJP (JJ happy))"))


def test_deep_trees_have_dependencies() -> None:
    """No tree is too deep."""
    depth = 5000
    tree = Tree("NP", (Tree("NN", word="dog"),))
    for _ in range(depth):
        tree = Tree("NP", (Tree("NP", (Tree("NN", word="dog"),)), Tree("PP", (Tree("IN", word="of"), tree))))
    heads, relations = basic_dependencies(tree)
    assert len(heads) == 2 * depth + 1
    assert heads[:4] == (0, 3, 1, 5)
    assert set(relations) == {"root", "case", "nmod"}
    predicate = Tree("VP", (Tree("VBZ", word="is"), Tree("ADJP", (Tree("JJ", word="happy"),))))
    heads, relations = basic_dependencies(Tree("S", (tree, predicate)))
    assert relations[-2:] == ("cop", "root")


_LABELS = (
    *("S", "VP", "NP", "PP", "ADJP", "ADVP", "SBAR", "UCP", "FRAG", "QP", "WHNP", "PRT", "CONJP", "SQ", "SINV", "X"),
    *("NN", "NNS", "JJ", "VBZ", "VBN", "VBG", "VB", "TO", "IN", "CC", "DT", "CD", "RB", "EX", "POS", "MD", "RP", ","),
)
_WORDS = ("is", "been", "gets", "has", "no", "both", "in", "order", "as", "well", "day", "that")


def _trees() -> st.SearchStrategy[Tree]:
    tags = st.builds(lambda tag, word: Tree(tag, word=word), st.sampled_from(_LABELS), st.sampled_from(_WORDS))
    return st.recursive(
        tags,
        lambda inside: st.builds(
            lambda label, children: Tree(label, tuple(children)),
            st.sampled_from(_LABELS),
            st.lists(inside, min_size=1, max_size=6),
        ),
        max_leaves=25,
    )


@given(_trees())
def test_every_word_of_any_tree_hangs_on_one_root(tree: Tree) -> None:
    """Every word gets a head and a relation, and all hang on one root."""
    heads, relations = basic_dependencies(tree)
    assert basic_dependencies(tree) == (heads, relations)
    assert len(heads) == len(relations) == len(list(tree.tags()))
    assert heads.count(0) == relations.count("root") == 1
    for word in range(1, len(heads) + 1):
        path = set()
        while word and word not in path:
            path.add(word)
            word = heads[word - 1]
        assert word == 0


# ---- the official program


def _official(file: Path, limit: int | None = None) -> Iterator[tuple[Tree, tuple[int, ...], tuple[str, ...]]]:
    """Yield trees and basic dependencies among the first lines of a file, all without a limit."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in islice(lines, limit):
            record = json.loads(line)
            if record.get("tree"):
                basic = sorted(record["basic"], key=lambda edge: edge[1])
                tree = Tree.from_brackets(record["tree"].replace("\N{NO-BREAK SPACE}", "_"))
                yield tree, tuple(head for head, _, _ in basic), tuple(relation for _, _, relation in basic)


def _agreement(file: Path, limit: int | None = None) -> tuple[float, float]:
    """Return the share of captions that are all alike, and of words alike in head and relation."""
    captions = same_captions = words = same_words = 0
    for tree, heads, relations in _official(file, limit):
        expected = list(zip(heads, relations, strict=True))
        drawn = list(zip(*basic_dependencies(tree), strict=True))
        captions += 1
        same_captions += expected == drawn
        words += len(expected)
        same_words += sum(map(tuple.__eq__, expected, drawn))
    return same_captions / captions, same_words / words


def test_basic_dependencies_agree_on_a_treebank_slice(shared_data: Path) -> None:
    captions, words = _agreement(shared_data / "spice/treebank.jsonl.gz", 6000)
    assert captions >= 0.999
    assert words >= 0.9998


def test_basic_dependencies_agree_on_a_gold_slice(shared_data: Path) -> None:
    captions, words = _agreement(shared_data / "spice/gold_parses.jsonl.gz", 3000)
    assert captions >= 0.997
    assert words >= 0.9995


def test_relations_without_a_rule_are_rare(shared_data: Path) -> None:
    """Relations that no rule has are rare."""
    relations_of_rules = {rule.relation for rule in RULES} | {"root"}
    parses = _official(shared_data / "spice/treebank.jsonl.gz", 6000)
    assert relations_of_rules >= {relation for *_, relations in parses for relation in relations}


@pytest.mark.slow
@pytest.mark.nightly
def test_basic_dependencies_agree_on_the_treebank(shared_data: Path) -> None:
    captions, words = _agreement(shared_data / "spice/treebank.jsonl.gz")
    assert captions >= 0.9996
    assert words >= 0.9999


@pytest.mark.slow
def test_basic_dependencies_agree_on_gold_parses(shared_data: Path) -> None:
    captions, words = _agreement(shared_data / "spice/gold_parses.jsonl.gz")
    assert captions >= 0.9985
    assert words >= 0.9997
