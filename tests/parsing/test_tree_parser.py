"""Trees of the official grammar, compared with those of the official parser."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from captious.errors import ParameterError
from captious.native import using_threads
from captious.parsing.lexicon import Lexicon
from captious.parsing.sources import parser_with
from captious.parsing.tree_parser import LONGEST, TreeParser, pieces, sample_captions
from captious.resources.grammar import ANY, Grammar
from tests.oracles.cky import derivation_score
from tests.parsing.conftest import GoldTrees
from tests.support.trees import Tree, parse


def agreement(parser: TreeParser, gold: list[tuple[list[str], str]]) -> float:
    trees = parse(parser, [words for words, _ in gold])
    return sum(str(tree) == expected for tree, (_, expected) in zip(trees, gold, strict=True)) / len(gold)


@pytest.mark.parametrize("source", ["treebank", "gold_parses"])
def test_trees_are_the_official_ones(parser: TreeParser, gold_trees: GoldTrees, source: str) -> None:
    assert agreement(parser, gold_trees(source, 200)) >= 0.99


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("source", ["treebank", "gold_parses"])
def test_all_trees_are_the_official_ones(parser: TreeParser, gold_trees: GoldTrees, source: str) -> None:
    assert agreement(parser, gold_trees(source, 1_000_000)) >= 0.9999


@pytest.mark.parametrize(
    ("last", "read"), [("etc.", ["etc.", "."]), ("Jr.", ["Jr.", "."]), ("st.", ["st."]), ("tree", ["tree"])]
)
def test_an_abbreviation_that_may_end_a_sentence_does(last: str, read: list[str]) -> None:
    words = ("a", "dog", "near", "a", last)
    (parse,) = parser_with("bundled").parse([" ".join(words)], [words])
    assert [*parse.words] == ["a", "dog", "near", "a", *read]


def test_bounds_change_no_derivation(parser: TreeParser, plain_parser: TreeParser, gold_trees: GoldTrees) -> None:
    sentences = [words for words, _ in gold_trees("treebank", 60)]
    guided, plain = parser.derivations(sentences), plain_parser.derivations(sentences)
    for name in ("offsets", "states", "rules", "begins", "ends", "scores"):
        np.testing.assert_array_equal(getattr(guided, name), getattr(plain, name))


def test_trees_do_not_depend_on_batch_and_threads(
    parser: TreeParser, gold_trees: GoldTrees, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = [words for words, _ in gold_trees("gold_parses", 40)]
    monkeypatch.setenv("CAPTIOUS_THREADS", "1")
    one_by_one = [str(parse(parser, [sentence])[0]) for sentence in sentences]
    assert [str(tree) for tree in parse(parser, sentences)] == one_by_one
    monkeypatch.setenv("CAPTIOUS_THREADS", "3")
    assert [str(tree) for tree in parse(parser, sentences[::-1])] == one_by_one[::-1]


def test_derivations_have_their_scores(parser: TreeParser, official_grammar: Grammar, gold_trees: GoldTrees) -> None:
    sentences = [words for words, _ in gold_trees("treebank", 60)]
    derived = parser.derivations(sentences)
    lexicon = Lexicon(official_grammar)
    for number, words in enumerate(sentences):
        here = slice(derived.offsets[number], derived.offsets[number + 1])
        nodes = list(
            zip(
                *(column[here].tolist() for column in (derived.states, derived.rules, derived.begins, derived.ends)),
                strict=True,
            )
        )
        (root, rule, begin, end), *below = nodes
        parent, left, boundary = (official_grammar.states[state] for state in official_grammar.binary_rules[rule])
        assert (official_grammar.states[root], begin, end) == (parent, 0, len(words))
        assert (parent, left, boundary) == ("ROOT", official_grammar.states[below[0][0]], ".$$.")
        tags = [lexicon.tags(word, place == 0) for place, word in enumerate(words)]
        scores = [dict(zip(word.states.tolist(), word.scores.tolist(), strict=True)) for word in tags]
        score = float(official_grammar.binary_scores[rule]) + derivation_score(official_grammar, scores, below)
        assert derived.scores[number] == pytest.approx(score, rel=1e-5)


def test_trees_are_returned_as_arrays(parser: TreeParser, gold_trees: GoldTrees) -> None:
    gold = gold_trees("treebank", 40)
    trees = parser.trees([words for words, _ in gold])
    for number, (words, _) in enumerate(gold):
        here = range(trees.offsets[number], trees.offsets[number + 1])
        tree = parse(parser, [words])[0]
        assert tree is not None
        assert [trees.names[trees.labels[place]] for place in here] == [node.label for node in nodes_of(tree)]
        tags = [place for place in here if trees.is_tag[place]]
        assert [trees.begins[place] for place in tags] == list(range(len(words)))
        for place in here:
            parent = trees.parents[place]
            assert (parent == -1) == (place == here[0])
            if parent >= 0:
                above = here[parent]
                assert trees.begins[above] <= trees.begins[place] < trees.ends[place] <= trees.ends[above]


def nodes_of(tree: Tree) -> list[Tree]:
    return [tree, *(node for child in tree.children for node in nodes_of(child))]


def test_empty_sentence_has_no_tree(parser: TreeParser) -> None:
    assert parse(parser, []) == []
    trees = parse(parser, [[], ["dog"], []])
    assert [str(tree) for tree in trees] == ["None", "(ROOT (NP (NN dog)))", "None"]


@pytest.mark.parametrize(
    "sentence",
    [
        "🏄 🌊 !",
        "una mujer monta en bicicleta por la calle",
        "男 人 骑 着 马",
        ". . . , , ; : - - ' '' `` ( ) [ ] { } # $ %",
        "-lrb- a dog -rrb- & < 3",
        "THE DOG Runs In NEW-YORK 2nd 1,000 3/4 42",
        "a " * 30,
        "of the and on with",
        "\u200b \ud7ff x\u0301 😀😀😀😀😀",
    ],
)
def test_odd_sentences_have_a_tree(parser: TreeParser, sentence: str) -> None:
    words = sentence.split()
    tree = parse(parser, [words])[0]
    assert [tag.word for tag in tree.tags()] == words


def test_a_sentence_without_derivation_is_parsed_as_a_last_resort() -> None:
    # N N is no sentence, but N V is: the second word gets a tag that the lexicon does not give it.
    grammar = Grammar(
        name="small",
        fingerprint="0",
        states=("ROOT", "N", "V"),
        tags=("N", "V"),
        words=("dogs", "bark"),
        binary_rules=np.array([[0, 1, 2]], np.int32),
        binary_scores=np.zeros(1, np.float32),
        unary_rules=np.empty((0, 2), np.int32),
        unary_scores=np.empty(0, np.float32),
        seen=np.array([[0, 0], [1, 1], [0, ANY], [1, ANY], [ANY, 0], [ANY, 1], [ANY, ANY]], np.int32),
        seen_counts=np.array([200, 200, 200, 200, 200, 200, 400], float),
        unseen=np.array([[0, ANY], [ANY, ANY]], np.int32),
        unseen_counts=np.array([1, 1], float),
    )
    parser = TreeParser(grammar)
    trees = parse(parser, [["dogs", "bark"], ["dogs", "dogs"], [], ["dogs", "dogs", "dogs"], ["bark", "bark"]])
    assert [str(tree) for tree in trees] == [
        "(ROOT (N dogs) (V bark))",
        "(ROOT (N dogs) (V dogs))",
        "None",
        "None",
        "(ROOT (N bark) (V bark))",
    ]
    assert parser.derivations([["dogs", "dogs"]]).scores[0] == pytest.approx(-1000, abs=1)


def test_pieces_cover_all_words_in_order() -> None:
    words = ["a", "dog", ",", "a", "cat", ".", *"xyxyxyx"]
    assert pieces(words, 20) == [words]
    assert pieces(words, 7) == [words[:6], words[6:]]
    assert pieces(words, 5) == [words[:3], words[3:6], words[6:11], words[11:]]
    assert pieces([], 5) == [[]]
    assert [word for piece in pieces(words * 9) for word in piece] == words * 9


def test_sentences_beyond_the_limit_are_refused(parser: TreeParser) -> None:
    words = [word for caption in sample_captions()[:5] for word in (*caption, "and")][:-1]
    assert 40 < len(words) <= LONGEST  # too long to be guided by bounds
    tree = parse(parser, [words])[0]
    assert [tag.word for tag in tree.tags()] == words
    with pytest.raises(ParameterError, match=f"a sentence of {LONGEST + 1} words") as raised:
        parse(parser, [["dog"], ["dog"] * (LONGEST + 1)])
    assert "split it" in raised.value.hint


def test_a_copy_parses_as_the_parser_does() -> None:
    source = parser_with("bundled")
    words = [("a", "dog", "runs"), ("two", "cats", "on", "a", "mat")]
    again = pickle.loads(pickle.dumps(source))
    assert again == source
    assert [*again.parse(["", ""], words)] == [*source.parse(["", ""], words)]
    assert copy.deepcopy(source) == source


def test_brackets_are_tags_without_what_they_are_split_by(parser: TreeParser) -> None:
    (tree,) = parse(parser, [["a", "dog", "(", "brown", ")", "runs"]])
    assert "^" not in str(tree)


def test_sentences_are_parsed_in_batches() -> None:
    """Long ones in batches of few, so that they can be interrupted."""
    source = parser_with("bundled")
    words = [tuple(["dog", "and"] * 50 + ["cat"])] * 3 + [("a", "dog")] * 5
    alone = [next(iter(source.trees([sentence]))) for sentence in (words[0], words[3])]
    trees = list(source.trees(words))
    assert trees == [alone[0]] * 3 + [alone[1]] * 5


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_trees_come_in_order(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    source = parser_with("bundled")
    monkeypatch.setattr("captious.parsing.sources._BATCH_COST", 1000)
    words = [caption for caption in sample_captions() if caption][:60]
    alone = [next(iter(source.trees([sentence]))) for sentence in words]
    with using_threads(threads):
        assert list(source.trees(words)) == alone
        assert next(source.trees(words)) == alone[0]  # the others are not waited for


def test_sentences_that_begin_with_the_same_words() -> None:
    source = parser_with("bundled")
    words = ["a", "man", "in", "a", "red", "shirt", "is", "riding", "a", "wave", "on", "top", "of", "a", "surfboard"]
    sentences = [tuple(words[:end]) for end in (3, 6, 15, 9, 9, 1, 12)] + [
        ("a", "dog"),
        ("a", "man", "and", "a", "dog"),
    ]
    alone = [next(iter(source.trees([sentence]))) for sentence in sentences]
    for order in (1, -1):
        assert list(source.trees(sentences[::order])) == alone[::order]
        assert (
            list(source.trees(sorted(sentences)[::order]))
            == [tree for _, tree in sorted(zip(sentences, alone, strict=True))][::order]
        )
