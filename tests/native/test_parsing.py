"""The kernel of the parser against the oracle, on small random grammars."""

from __future__ import annotations

import dataclasses
import math
import random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from captious.native import Pcfg, visible_nodes
from captious.resources.grammar import Grammar
from tests.oracles.cky import derivation_score, viterbi_chart


class Case(NamedTuple):
    """A grammar, tags of words by word, and sentences of these words."""

    grammar: Grammar
    tags: list[dict[int, float]]
    sentences: list[list[int]]
    seed: int

    def lists(self) -> tuple[NDArray[np.generic], ...]:
        flat = [pair for word in self.tags for pair in word.items()]
        return (
            np.cumsum([0, *map(len, self.tags)], dtype=np.int64),
            np.array([state for state, _ in flat], np.int32),
            np.array([score for _, score in flat], np.float32),
            np.array([word for sentence in self.sentences for word in sentence], np.int32),
            np.cumsum([0, *map(len, self.sentences)], dtype=np.int64),
        )

    def pcfg(self, boundary: int = -1, guide: int = 0) -> Pcfg:
        """Return the kernel's grammar with random bounds."""
        n, rng = len(self.grammar.states), random.Random(guide)
        n_rules = len(self.grammar.binary_rules) + len(self.grammar.unary_rules)
        n_symbols, most = rng.randint(1, n), 10 ** rng.uniform(0, 3)
        symbols = list(range(n)) if rng.random() < 0.3 else [rng.randrange(n_symbols) for _ in range(n)]
        return Pcfg(
            self.grammar.binary_rules,
            self.grammar.binary_scores,
            self.grammar.unary_rules,
            self.grammar.unary_scores,
            root=0,
            boundary=boundary,
            symbols=np.array(symbols, np.int32),
            potentials=np.array([rng.uniform(-most, most) for _ in range(n)], np.float32),
            common=np.array([rng.random() < 0.6 for _ in range(n_rules)], np.uint8),
        )


def random_case(seed: int, n_states: int, n_binary: int, n_unary: int, exact: bool) -> Case:
    """Return scores that are sums of eighths, if `exact`: no sum of them is rounded, but many are the same."""
    rng = random.Random(seed)

    def score() -> float:
        return -rng.randint(0, 60) / 8 if exact else rng.uniform(-8, 0)

    def state() -> int:
        return int(n_states * rng.random() ** 1.5)

    binary = sorted({(state(), state(), state()) for _ in range(n_binary)})
    unary = sorted({(a, b) for a, b in ((state(), state()) for _ in range(n_unary)) if a != b})
    rng.shuffle(binary)
    n_words = rng.randint(1, 5)
    empty_counts = np.empty((0, 2), np.int32), np.empty(0)
    grammar = Grammar(
        "random",
        "0",
        tuple(map(str, range(n_states))),
        (),
        (),
        np.array(binary, np.int32).reshape(-1, 3),
        np.array([score() for _ in binary], np.float32),
        np.array(unary, np.int32).reshape(-1, 2),
        np.array([score() for _ in unary], np.float32),
        *empty_counts,
        *empty_counts,
    )
    tags = [{state(): float(np.float32(score())) for _ in range(rng.randint(0, 6))} for _ in range(n_words)]
    sentences = [[rng.randrange(n_words) for _ in range(rng.randint(0, 9))] for _ in range(rng.randint(0, 4))]
    return Case(grammar, tags, sentences, seed)


def cases(exact: bool) -> st.SearchStrategy[Case]:
    return st.builds(
        random_case, st.integers(0, 2**32), st.integers(1, 90), st.integers(0, 400), st.integers(0, 40), st.just(exact)
    )


def parse(case: Case, pcfg: Pcfg, plainly: bool = False, threads: int = 1) -> tuple[NDArray[np.generic], ...]:
    return pcfg.parse(*case.lists(), plainly=plainly, threads=threads)


def unguided(grammar: Grammar) -> Pcfg:
    n = len(grammar.states)
    rules = [grammar.binary_rules, grammar.binary_scores, grammar.unary_rules, grammar.unary_scores]
    common = np.ones(len(grammar.binary_rules) + len(grammar.unary_rules), np.uint8)
    nothing = np.zeros(n, np.int32), np.zeros(n, np.float32)
    return Pcfg(*rules, root=0, boundary=-1, symbols=nothing[0], potentials=nothing[1], common=common)


def nodes_of(derivations: tuple[NDArray[np.generic], ...], sentence: int) -> list[tuple[int, int, int, int]]:
    offsets = derivations[0]
    here = slice(offsets[sentence], offsets[sentence + 1])
    return list(zip(*(column[here].tolist() for column in derivations[1:5]), strict=True))


@pytest.mark.parametrize("exact", [True, False])
@given(data=st.data())
def test_derivations_equal_the_best_of_the_oracle(exact: bool, data: st.DataObject) -> None:
    case = data.draw(cases(exact))
    derivations = parse(case, case.pcfg(guide=case.seed), threads=data.draw(st.integers(1, 3)))
    for number, sentence in enumerate(case.sentences):
        tags = [case.tags[word] for word in sentence]
        chart = viterbi_chart(case.grammar, tags)
        expected = chart[0, len(sentence)].get(0, -math.inf) if sentence else -math.inf
        nodes = nodes_of(derivations, number)
        assert (nodes == []) == (expected == -math.inf)
        assert derivations[5][number] == (expected if exact else pytest.approx(expected, rel=1e-5))
        if nodes:
            assert derivation_score(case.grammar, tags, nodes) == pytest.approx(float(expected), rel=1e-5)


@given(case=cases(exact=True), guides=st.tuples(st.integers(), st.integers()))
def test_bounds_change_nothing_even_among_ties(case: Case, guides: tuple[int, int]) -> None:
    plain = parse(case, case.pcfg(), plainly=True)
    for guide in guides:
        for column, expected in zip(parse(case, case.pcfg(guide=guide)), plain, strict=True):
            np.testing.assert_array_equal(column, expected)


@given(data=st.data(), longest=st.integers(1, 9))
def test_derivations_respect_the_permitted_spans(data: st.DataObject, longest: int) -> None:
    """The best derivation by the spans that may be constituents, and none if there is none by these."""
    case = data.draw(cases(exact=True))
    small = np.float32(1 / 512)  # differences are far below what beams leave out
    grammar = dataclasses.replace(
        case.grammar, binary_scores=case.grammar.binary_scores * small, unary_scores=case.grammar.unary_scores * small
    )
    case = case._replace(
        grammar=grammar, tags=[{s: score * float(small) for s, score in of.items()} for of in case.tags]
    )
    lists = case.lists()
    may = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(lists[3]), max_size=len(lists[3]))), np.uint8)
    derivations = unguided(grammar).parse_spans(*lists, may=may, longest=longest, threads=1)
    for number, sentence in enumerate(case.sentences):
        of_words = may[lists[4][number] : lists[4][number + 1]].tolist()
        tags, n = [case.tags[word] for word in sentence], len(sentence)

        def allowed(state: int, begin: int, end: int, may: list[int] = of_words, n: int = n) -> bool:
            ends_there = end - begin <= longest or begin == 0 or end >= n - 1
            return end - begin == 1 or bool(may[begin] & 1 and may[end - 1] & 2 and ends_there)

        best = viterbi_chart(grammar, tags, allowed)[0, n].get(0, -math.inf) if sentence else -math.inf
        assert derivations[5][number] == best


@given(case=cases(exact=True), scale=st.sampled_from([-256.0, -16.0, 16.0, 256.0]))
def test_bounds_of_16_bits_change_nothing_for_scores_beyond_their_range(case: Case, scale: float) -> None:
    grammar = dataclasses.replace(
        case.grammar,
        binary_scores=case.grammar.binary_scores * np.float32(scale),
        unary_scores=np.minimum(case.grammar.unary_scores * np.float32(scale), np.float32(0)),  # no endless gain
    )
    case = case._replace(
        grammar=grammar, tags=[{state: score * scale for state, score in of.items()} for of in case.tags]
    )
    plain = parse(case, case.pcfg(), plainly=True)
    for column, expected in zip(parse(case, case.pcfg(guide=case.seed)), plain, strict=True):
        np.testing.assert_array_equal(column, expected)


def guided_score(
    rules: list[tuple[int, int, int, float]], tags: list[dict[int, float]], potentials: dict[int, float]
) -> float:
    """Return the score of a sentence if every state is its own coarse symbol, and every other rule is tried first."""
    n = 1 + max(max(rule[:3]) for rule in rules)
    pcfg = Pcfg(
        np.array([rule[:3] for rule in rules], np.int32),
        np.array([rule[3] for rule in rules], np.float32),
        np.empty((0, 2), np.int32),
        np.empty(0, np.float32),
        root=0,
        boundary=-1,
        symbols=np.arange(n, dtype=np.int32),
        potentials=np.array([potentials.get(state, 0) for state in range(n)], np.float32),
        common=np.array([number % 2 == 0 for number in range(len(rules))], np.uint8),
    )
    grammar = random_case(0, n, 0, 0, True).grammar
    case = Case(grammar, tags, [list(range(len(tags)))], 0)
    return float(parse(case, pcfg)[5][0])


def test_scores_at_the_lower_bound_can_rise_again() -> None:
    # Inside: the second rule's left child is at -260 with its potential, and the rule itself at +120.
    rules = [(0, 1, 3, -141.0), (0, 2, 3, -140.0)]
    assert guided_score(rules, [{1: 0.0, 2: 0.0}, {3: 0.0}], {2: -260}) == -140
    # Outside: what is outside of the second phrase is at -260, and what is inside at +120.
    rules = [(0, 1, 3, -141.0), (0, 1, 2, -140.0), (3, 4, 5, 0.0), (2, 6, 7, 0.0)]
    assert guided_score(rules, [{1: 0.0}, {4: 0.0, 6: 0.0}, {5: 0.0, 7: 0.0}], {2: 120}) == -140


@given(case=cases(exact=True))
def test_a_boundary_ends_every_sentence(case: Case) -> None:
    # The root's rules with the boundary on their right are goals, and its other rules have none.
    grammar, n = case.grammar, len(case.grammar.states)
    goals = [(0, state, n) for state in range(0, n, 3)]
    with_goals = dataclasses.replace(
        grammar,
        states=(*grammar.states, "boundary"),
        binary_rules=np.concatenate([np.array(goals, np.int32), grammar.binary_rules]),
        binary_scores=np.concatenate([-np.arange(len(goals), dtype=np.float32) / 8, grammar.binary_scores]),
    )
    derivations = parse(case, case._replace(grammar=with_goals).pcfg(boundary=n, guide=case.seed))
    for number, sentence in enumerate(case.sentences):
        tags = [case.tags[word] for word in sentence]
        whole = viterbi_chart(grammar, tags)[0, len(sentence)] if sentence else {}
        expected = max(
            (whole[state] - place / 8 for place, (_, state, _) in enumerate(goals) if state in whole), default=-math.inf
        )
        assert derivations[5][number] == expected
        nodes = nodes_of(derivations, number)
        if nodes:
            (state, rule, begin, end), *below = nodes
            assert (state, begin, end) == (0, 0, len(sentence))
            assert goals[rule][1] == below[0][0]
            assert derivation_score(with_goals, tags, below) - rule / 8 == expected


@given(case=cases(exact=True), seed=st.integers())
def test_scores_can_be_replaced(case: Case, seed: int) -> None:
    other = random_case(case.seed, 1, 0, 0, True)._replace(tags=case.tags, sentences=case.sentences)
    rng = random.Random(seed)
    grammar = dataclasses.replace(
        case.grammar,
        binary_scores=np.array([-rng.randint(0, 40) / 8 for _ in case.grammar.binary_scores], np.float32),
        unary_scores=np.array([-rng.randint(0, 40) / 8 for _ in case.grammar.unary_scores], np.float32),
    )
    other = other._replace(grammar=grammar)
    pcfg = case.pcfg(guide=seed)
    pcfg.set_scores(grammar.binary_scores, grammar.unary_scores)
    for column, expected in zip(parse(case, pcfg), parse(other, other.pcfg(guide=seed)), strict=True):
        np.testing.assert_array_equal(column, expected)


@given(case=cases(exact=True))
def test_tuning_changes_nothing(case: Case) -> None:
    pcfg = case.pcfg(guide=case.seed)
    plain = parse(case, pcfg, plainly=True)
    potentials = pcfg.tune(*case.lists(), passes=3)
    assert potentials.shape == (len(case.grammar.states),)
    assert np.all(np.isfinite(potentials))
    for column, expected in zip(parse(case, pcfg), plain, strict=True):
        np.testing.assert_array_equal(column, expected)


def test_derivations_are_equal_on_any_number_of_threads() -> None:
    case = random_case(5, 60, 500, 30, True)
    rng = random.Random(5)
    n = len(case.tags)
    case = case._replace(sentences=[[rng.randrange(n) for _ in range(rng.randint(0, 8))] for _ in range(300)])
    pcfg = case.pcfg(guide=1)
    expected = parse(case, pcfg)
    assert np.isfinite(expected[5]).mean() > 0.2
    for column, other in zip(expected, parse(case, pcfg, plainly=True), strict=True):
        np.testing.assert_array_equal(column, other)
    for threads in (2, 7):
        for column, other in zip(expected, parse(case, pcfg, threads=threads), strict=True):
            np.testing.assert_array_equal(column, other)


def test_guided_and_plain_parses_of_long_sentences_agree() -> None:
    case = random_case(3, 12, 60, 6, True)._replace(sentences=[[0] * length for length in (17, 24, 25, 40, 41, 60)])
    case = case._replace(tags=[{0: -1.0, 1: -2.0}])
    derivations, plain = parse(case, case.pcfg(guide=2)), parse(case, case.pcfg(), plainly=True)
    for column, expected in zip(derivations, plain, strict=True):
        np.testing.assert_array_equal(column, expected)


def test_mismatched_parser_arguments_are_refused() -> None:
    case = random_case(1, 10, 30, 5, True)
    grammar = case.grammar
    parts = {
        "root": 0,
        "boundary": -1,
        "symbols": np.zeros(10, np.int32),
        "potentials": np.zeros(10, np.float32),
        "common": np.ones(len(grammar.binary_rules) + len(grammar.unary_rules), np.uint8),
    }
    rules = [grammar.binary_rules, grammar.binary_scores, grammar.unary_rules, grammar.unary_scores]
    Pcfg(*rules, **parts)
    with pytest.raises(ValueError, match="do not fit each other"):
        Pcfg(rules[0], rules[1][1:], *rules[2:], **parts)
    with pytest.raises(ValueError, match="do not fit each other"):
        Pcfg(*rules, **{**parts, "potentials": np.zeros(9, np.float32)})
    for wrong in ({"root": 10}, {"root": -1}, {"boundary": 10}, {"symbols": np.full(10, 10, np.int32)}):
        with pytest.raises(ValueError, match="of no state"):
            Pcfg(*rules, **{**parts, **wrong})
    with pytest.raises(ValueError, match="of no state"):
        Pcfg(rules[0] + np.int32(10), *rules[1:], **parts)
    with pytest.raises(ValueError, match="16,384 states"):
        Pcfg(*rules, **{**parts, "symbols": np.zeros(16_385, np.int32), "potentials": np.zeros(16_385, np.float32)})
    pcfg = Pcfg(*rules, **parts)
    offsets, states, scores, words, sentences = case.lists()
    for wrong_lists in (
        (offsets[:-1], states, scores, words, sentences),
        (offsets, states + np.int32(10), scores, words, sentences),
        (offsets, states, scores[1:], words, sentences),
        (offsets, states, scores, words + np.int32(99), sentences),
        (offsets, states, scores, words, sentences[:-1]),
    ):
        with pytest.raises(ValueError):
            pcfg.parse(*wrong_lists, plainly=False, threads=1)
        with pytest.raises(ValueError):
            pcfg.tune(*wrong_lists, passes=1)
        with pytest.raises(ValueError):
            pcfg.parse_spans(*wrong_lists, may=np.full(len(words), 3, np.uint8), longest=9, threads=1)
    with pytest.raises(ValueError, match="one number of spans per word"):
        pcfg.parse_spans(*case.lists(), may=np.full(len(words) + 1, 3, np.uint8), longest=9, threads=1)
    with pytest.raises(ValueError, match="one score per rule"):
        pcfg.set_scores(grammar.binary_scores[1:], grammar.unary_scores)


def test_nodes_without_labels_are_spliced_out() -> None:
    offsets = np.array([0, 6, 6, 7], np.int64)
    states = np.array([0, 1, 2, 3, 2, 3, 2], np.int32)
    begins = np.array([0, 0, 0, 1, 1, 2, 0], np.int32)
    ends = np.array([3, 3, 1, 3, 2, 3, 1], np.int32)
    labels = np.array([5, 4, 7, -1], np.int32)
    derivations = visible_nodes(offsets, states, begins, ends, labels)
    assert [column.tolist() for column in derivations] == [
        [0, 4, 4, 5],
        [5, 4, 7, 7, 7],
        [-1, 0, 1, 1, -1],
        [0, 0, 0, 1, 0],
        [3, 3, 1, 2, 1],
    ]
    with pytest.raises(ValueError, match="do not fit"):
        visible_nodes(offsets, states[1:], begins, ends, labels)
    with pytest.raises(ValueError, match="without labels"):
        visible_nodes(offsets, states, begins, ends, labels[:2])
