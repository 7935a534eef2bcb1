"""Collapsed dependencies: each step by the examples in its docstring, and the official program's graphs."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.parsing import collapsed as collapsed_dependencies
from captious.parsing import collapsed as prepositions
from captious.parsing.collapsed import collapsed
from captious.parsing.parses import Edge
from tests.parsing.official_parses import official_parses
from tests.support.tables import tables

_EDGE = re.compile(r"([a-z:_]+)\((\S+), (\S+)\)")


def _examples(module: ModuleType) -> Iterator[tuple[str, str]]:
    """Yield the examples of a module's functions: (name of the function, example)."""
    for name, function in inspect.getmembers(module, inspect.isfunction):
        if function.__module__ == module.__name__:
            for example in inspect.cleandoc(function.__doc__ or "").split("Example:\n")[1:]:
                yield name, example


EXAMPLES = [*_examples(prepositions), *_examples(collapsed_dependencies)]


def _graph(caption: str, basic: str) -> tuple[list[str], tuple[Edge, ...]]:
    """Words and collapsed dependencies of a caption, whose words are all different; tags other than NN follow words."""
    tokens = [token.partition("/") for token in caption.split()]
    words = [word for word, _, _ in tokens]
    heads, relations = [0] * len(words), ["root"] * len(words)
    for relation, head, dependent in _EDGE.findall(basic):
        heads[words.index(dependent)], relations[words.index(dependent)] = words.index(head) + 1, relation
    assert relations.count("root") == 1
    return words, collapsed(words, [tag or "NN" for _, _, tag in tokens], heads, relations)


def _drawn(words: list[str], edges: tuple[Edge, ...]) -> set[tuple[str, str, str]]:
    """Return edges as (relation, head, dependent) of words, dog' the copy of dog, without the root."""
    names = ["", *words, *(f"{word}'" for word in words)]
    return {(relation, names[head], names[dependent]) for head, dependent, relation in edges if head}


@pytest.mark.parametrize(("step", "example"), EXAMPLES)
def test_each_collapsing_step_gives_the_expected_edges(step: str, example: str) -> None:
    given_part, _, result = example.partition("->")
    caption, _, basic = given_part.strip().partition("\n")
    assert _drawn(*_graph(caption, basic)) == set(_EDGE.findall(result))


def test_every_step_has_an_example() -> None:
    steps = re.findall(r"^    (_\w+)  ", inspect.cleandoc(collapsed_dependencies.__doc__ or ""), re.MULTILINE)
    assert len(steps) == 6
    assert set(steps) <= {name for name, _ in EXAMPLES}


@pytest.mark.parametrize(("caption", "basic", "edge"), tables(__file__)["collapsed-edge-replaces-the-basic-one"])
def test_collapsed_edge_replaces_the_basic_one(caption: str, basic: str, edge: list[str]) -> None:
    drawn = _drawn(*_graph(caption, basic))
    expected = tuple(edge)
    assert expected in drawn
    assert not {other for other in drawn if other[1:] == expected[1:] and other != expected}


def test_conjuncts_share_nothing_without_a_conjunction() -> None:
    words, edges = _graph("she eats cake pie", "nsubj(eats, she) dobj(eats, cake) conj(cake, pie)")
    assert ("dobj", "eats", "pie") not in _drawn(words, edges)


def test_a_subject_of_its_own_is_enough() -> None:
    words, edges = _graph(
        "dogs sit and cats sleep/VBP", "nsubj(sit, dogs) cc(sit, and) nsubj(sleep, cats) conj(sit, sleep)"
    )
    assert ("nsubj", "sleep", "dogs") not in _drawn(words, edges)


def test_objects_with_relative_clauses_are_not_shared() -> None:
    words, edges = _graph(
        "has boys running and girls jumping",
        "dobj(has, boys) acl:relcl(boys, running) cc(boys, and) conj(boys, girls) acl:relcl(girls, jumping)",
    )
    assert ("dobj", "has", "girls") not in _drawn(words, edges)


def test_collapsed_edges_are_sorted() -> None:
    _, edges = _graph("boats on and near beaches", "nmod(boats, beaches) case(beaches, on) cc(on, and) conj(on, near)")
    assert edges == (
        (0, 1, "root"),
        (1, 6, "conj:and"),
        (5, 2, "case"),
        (2, 3, "cc"),
        (2, 4, "conj:and"),
        (1, 5, "nmod:on"),
        (6, 5, "nmod:near"),
    )


def test_shortest_sentences_are_collapsed() -> None:
    assert collapsed((), (), (), ()) == ()
    assert collapsed(("dog",), ("NN",), (0,), ("root",)) == ((0, 1, "root"),)


@st.composite
def _trees(draw: st.DrawFn) -> tuple[list[str], list[str], list[int], list[str]]:
    size = draw(st.integers(1, 9))
    words = draw(
        st.lists(st.sampled_from(("in", "front", "of", "next", "to", "by", "a")), min_size=size, max_size=size)
    )
    tags = draw(st.lists(st.sampled_from(("NN", "VBN", "JJ", "IN", "")), min_size=size, max_size=size))
    order = draw(st.permutations(range(1, size + 1)))
    heads, relations = [0] * size, ["root"] * size
    for i in range(1, size):
        heads[order[i] - 1] = order[draw(st.integers(0, i - 1))]
        relations[order[i] - 1] = draw(st.sampled_from(("nmod", "case", "cc", "conj", "mark", "acl", "mwe", "nsubj")))
    return words, tags, heads, relations


@given(_trees())
def test_collapsed_edges_reach_every_word_of_any_tree(tree: tuple[list[str], list[str], list[int], list[str]]) -> None:
    edges = collapsed(*tree)
    size = len(tree[0])
    assert edges == collapsed(*tree)
    assert len(set(edges)) == len(edges)
    assert [edge for edge in edges if edge[0] == 0] == [edges[0]]
    assert {dependent for _, dependent, _ in edges} >= set(range(1, size + 1))
    assert all(head != dependent for head, dependent, _ in edges)


def _agreement(file: Path, limit: int | None = None) -> float:
    """Return the share of captions whose graph is that of the official program, order included."""
    agree = [
        collapsed(parse.words, parse.tags, parse.heads, parse.relations) == parse.collapsed
        for parse in official_parses(file, limit)
    ]
    return sum(agree) / len(agree)


def test_collapsed_dependencies_agree_on_a_treebank_slice(shared_data: Path) -> None:
    assert _agreement(shared_data / "spice/treebank.jsonl.gz", 8000) == 1


@pytest.mark.slow
@pytest.mark.nightly
def test_collapsed_dependencies_agree_on_the_treebank(shared_data: Path) -> None:
    assert _agreement(shared_data / "spice/treebank.jsonl.gz") == 1


@pytest.mark.slow
def test_collapsed_dependencies_agree_on_gold_parses(shared_data: Path) -> None:
    assert _agreement(shared_data / "spice/gold_parses.jsonl.gz") >= 0.99988
