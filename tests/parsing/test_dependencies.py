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
from tests.support.trees import Tree, basic_dependencies, in_preorder


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


@pytest.mark.parametrize(
    ("brackets", "head"),
    [
        ("(NP (DT the) (JJ brown) (NN dog))", "dog"),
        ("(NP (NP (DT a) (NN dog)) (PP (IN with) (NP (DT a) (NN ball))))", "dog"),
        ("(NP (DT the) (JJ other) (CD two))", "two"),
        ("(PP (IN on) (NP (DT the) (NN table)))", "table"),
        ("(PP (IN while) (S (VP (VBG standing) (ADVP (RB outside)))))", "standing"),
        ("(S (NP (DT a) (NN dog)) (VP (VBZ is) (VP (VBG being) (VP (VBN washed)))))", "washed"),
        ("(S (NP (DT a) (NN dog)) (VP (VBZ is) (ADVP (RB also)) (ADJP (JJ happy))))", "happy"),
        ("(S (NP (DT a) (NN dog)) (VP (VBZ is) (PP (IN on) (NP (DT a) (NN bed)))))", "bed"),
        ("(S (NP (EX there)) (VP (VBZ is) (NP (DT a) (NN dog))))", "is"),
        ("(S (NP (EX there)) (VP (VBP are) (ADVP (RB also)) (VP (VBG running) (NP (NNS dogs)))))", "running"),
        ("(S (NP (DT a) (NN bus)) (VP (VBZ sits) (VP (VBN parked))))", "sits"),
        ("(S (NP (DT a) (NN man)) (VP (VBZ gets) (VP (VBN paid))))", "paid"),
        ("(VP (VBP are) (UCP (ADVP (RB outside)) (CC and) (VP (VBG playing))))", "are"),
        ("(ADJP (RB very) (JJ happy))", "happy"),
        ("(ADJP (JJ ready) (S (VP (TO to) (VP (VB swing)))))", "ready"),
        ("(NP (NN father) (CC and) (NN son))", "father"),
        ("(SBAR (IN as) (S (NP (PRP he)) (VP (VBZ eats))))", "eats"),
        ("(FRAG (NP (DT a) (NN man)) (S (VP (VBG riding))))", "man"),
        ("(ADJP (JJ sunny) (CC and) (JJ old) (CC and) (JJ rusty))", "old"),
        ("(PP (PP (IN with) (NP (NNS dogs))) (ADVP (RB nearby)))", "nearby"),
        ("(S (NP (NP (NN snow)) (S (NP (EX there)) (VP (VBP ski)))) (VP (VBZ is) (PP (IN on) (NP (NN top)))))", "is"),
        ("(HUH (XY unknown) (YX labels))", "unknown"),
    ],
)
def test_root_is_the_expected_head(brackets: str, head: str) -> None:
    assert f"root(ROOT, {head})" in _drawn(brackets)


# ---- whole captions


@pytest.mark.parametrize(
    ("brackets", "expected"),
    [
        (
            "(NP (DT a) (JJ black) (CC and) (JJ white) (NN dog))",
            "det(dog, a) amod(dog, black) cc(black, and) conj(black, white) root(ROOT, dog)",
        ),
        (
            "(NP (DT a) (NN table) (CC and) (JJ wooden) (NNS chairs))",
            "det(chairs, a) compound(chairs, table) cc(table, and) conj(table, wooden) root(ROOT, chairs)",
        ),
        (
            "(NP (DT a) (JJ red) (NN hat) (CC and) (JJ blue) (NN shirt))",
            "det(hat, a) amod(hat, red) root(ROOT, hat) cc(hat, and) amod(shirt, blue) conj(hat, shirt)",
        ),
        (
            "(NP (NNS fruits) (CC and) (NN dessert) (NNS items))",
            "root(ROOT, fruits) cc(fruits, and) compound(items, dessert) conj(fruits, items)",
        ),
        (
            "(NP (CD two) (JJ black) (CC and) (JJ white) (NNS dogs))",
            "compound(black, two) root(ROOT, black) cc(black, and) amod(dogs, white) conj(black, dogs)",
        ),
        (
            "(NP (NN food) (CC and) (NN water) (CC and) (NN wine) (NNS glasses))",
            "root(ROOT, food) cc(food, and) conj(food, water) cc(food, and) compound(glasses, wine) "
            "conj(food, glasses)",
        ),
        (
            "(VP (VBG sitting) (PP (IN on) (CC or) (IN around) (NP (DT a) (NN bench))))",
            "root(ROOT, sitting) case(bench, on) cc(on, or) conj(on, around) det(bench, a) nmod(sitting, bench)",
        ),
        (
            "(VP (VBZ leaps) (SBAR (IN in) (NN order) (S (VP (TO to) (VP (VB hit) (NP (DT the) (NN ball)))))))",
            "root(ROOT, leaps) mark(hit, in) mwe(in, order) mark(hit, to) advcl(leaps, hit) det(ball, the) "
            "dobj(hit, ball)",
        ),
        (
            "(VP (VBZ has) (NP (NN cheese)) (ADVP (RB as) (RB well)))",
            "root(ROOT, has) dobj(has, cheese) advmod(has, as) mwe(as, well)",
        ),
        (
            "(ROOT (S (NP (DT A) (NN man)) (VP (VBZ uses) (S (NP (DT a) (NN board)) (VP (TO to) (VP (VB surf)))))))",
            "det(man, A) nsubj(uses, man) root(ROOT, uses) det(board, a) dobj(uses, board) mark(surf, to) "
            "xcomp(uses, surf)",
        ),
        (
            "(ROOT (S (NP (EX There)) (VP (VBZ Is) (NP (NP (DT a) (NN cat)) (SBAR (WHNP (WDT that)) "
            "(S (VP (VBZ is) (VP (VBN seen)))))))))",
            "expl(Is, There) root(ROOT, Is) det(cat, a) nsubj(Is, cat) nsubjpass(seen, that) auxpass(seen, is) "
            "acl:relcl(cat, seen)",
        ),
        (
            "(VP (VBG riding) (PP (IN on) (NP (DT a) (NN bike))) (PP (IN with) (NP (DT a) (NN hat))) (PP (IN on)))",
            "root(ROOT, riding) case(bike, on) det(bike, a) nmod(riding, bike) case(hat, with) det(hat, a) "
            "nmod(riding, hat) case(bike, on)",
        ),
        (
            "(VP (VP (VBG holding) (NP (DT a) (NN bat))) (CC and) (ADVP (JJ next)) (VP (TO to) (NP (PRP him))))",
            "root(ROOT, holding) det(bat, a) dobj(holding, bat) cc(holding, and) advmod(holding, next) "
            "conj(holding, to) dobj(to, him)",
        ),
        (
            "(S (NP (DT the) (NN bus)) (VP (VBZ is) (UCP (ADJP (JJ white)) (CC and) (VP (VBN parked)))))",
            "det(bus, the) nsubjpass(white, bus) auxpass(white, is) root(ROOT, white) cc(white, and) "
            "conj(white, parked)",
        ),
        (
            "(VP (VBG hanging) (PP (IN in) (NP (IN between))))",
            "root(ROOT, hanging) advcl(hanging, in) mwe(in, between)",
        ),
        (
            "(SBAR (IN in) (NN case) (S (NP (PRP he)) (VP (VBZ misses))))",
            "mark(misses, in) mwe(in, case) nsubj(misses, he) root(ROOT, misses)",
        ),
        (
            "(VP (VBG looking) (ADVP (RB kind) (IN of)) (ADJP (JJ sad)))",
            "root(ROOT, looking) advmod(looking, kind) mwe(kind, of) xcomp(looking, sad)",
        ),
        (
            "(NP (QP (IN at) (JJS least) (CD two)) (NNS dogs))",
            "case(least, at) nmod:npmod(two, least) nummod(dogs, two) root(ROOT, dogs)",
        ),
        (
            "(NP (QP ($ $) (CD 5) (CD million)))",
            "root(ROOT, $) compound(million, 5) nummod($, million)",
        ),
        (
            "(NP (QP (CD one) (CC and) (DT a) (NN half)) (NNS sandwiches))",
            "nummod(sandwiches, one) cc(one, and) det(half, a) conj(one, half) root(ROOT, sandwiches)",
        ),
        (
            "(NP (DT both) (DT a) (NN fork) (CC and) (NN dinner) (NN knife))",
            "cc:preconj(fork, both) det(fork, a) root(ROOT, fork) cc(fork, and) compound(knife, dinner) "
            "conj(fork, knife)",
        ),
        (
            "(VP (VP (VBZ sits)) (CC and) (ADVP (RB then)) (VP (VBZ eats)))",
            "root(ROOT, sits) cc(sits, and) advmod(eats, then) conj(sits, eats)",
        ),
        (
            "(UCP (NP (DT a) (NN cow)) (CC and) (PRN (CC and) (S (NP (NNS goats)) (VP (VBP eat)))) (PP (IN on) "
            "(NP (NN grass))))",
            "det(cow, a) root(ROOT, cow) cc(cow, and) cc(eat, and) nsubj(eat, goats) conj(cow, eat) case(grass, on) "
            "nmod(eat, grass)",
        ),
        (
            "(SBARQ (WHNP (WHNP (CD two)) (NNS dogs)) (SQ (VBP are) (NP (NN nose)) (PP (TO to) (NP (NN nose)))))",
            "dep(dogs, two) nsubj(are, dogs) root(ROOT, are) nsubj(are, nose) case(nose, to) nmod(are, nose)",
        ),
        (
            "(SBAR (IN in) (NN case) (S (NP (PRP he)) (VP (VBZ eats))))",
            "mark(eats, in) mwe(in, case) nsubj(eats, he) root(ROOT, eats)",
        ),
        (
            "(SBAR (IN while) (NN night) (S (NP (PRP he)) (VP (VBZ eats))))",
            "mark(eats, while) dep(eats, night) nsubj(eats, he) root(ROOT, eats)",
        ),
        (
            "(NP (QP (ADVP (RB almost)) (CD fifty)) (NNS birds))",
            "advmod(fifty, almost) nummod(birds, fifty) root(ROOT, birds)",
        ),
        ("(NN dog)", "root(ROOT, dog)"),
        ("(ROOT (NP (NN dog)))", "root(ROOT, dog)"),
    ],
)
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
