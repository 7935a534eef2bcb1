"""Scorers on counts of n-grams, compared with the installed toolkit: values, orders, types, prints and exceptions."""

from __future__ import annotations

import importlib
import math
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.compat.pycocoevalcap.bleu import bleu_scorer as our_bleu
from captious.compat.pycocoevalcap.bleu.bleu import Bleu
from captious.compat.pycocoevalcap.bleu.bleu_scorer import BleuScorer
from captious.compat.pycocoevalcap.cider import cider_scorer as our_cider
from captious.compat.pycocoevalcap.cider.cider import Cider
from captious.compat.pycocoevalcap.cider.cider_scorer import CiderScorer
from captious.compat.pycocoevalcap.rouge.rouge import Rouge, my_lcs
from tests.compat.conftest import GTS, RES
from tests.support.corpora import large_corpus

captions = st.lists(st.sampled_from(["a", "b", "c", "dog", "runs"]), max_size=8).map(" ".join)
images = st.lists(st.tuples(captions, st.lists(captions, min_size=1, max_size=4)), min_size=1, max_size=5)


def theirs(module: str) -> Any:
    """Return a module of the installed toolkit."""
    pytest.importorskip("pycocoevalcap")
    toolkit = importlib.import_module(f"pycocoevalcap.{module}")
    assert not toolkit.__name__.startswith("captious")
    return toolkit


def large(images: int, seed: int) -> list[tuple[str, list[str]]]:
    """Return candidates and references of a corpus, as text."""
    corpus = large_corpus(images, seed=seed)
    references = [[" ".join(words) for words in group] for group in corpus.references]
    return [*zip(map(" ".join, corpus.candidates), references, strict=True)]


def filled(scorer: Any, corpus: Any) -> Any:
    for candidate, references in corpus:
        scorer += (candidate, references)
    return scorer


def same(ours: Any, their: Any) -> None:
    """Equal numbers, and the same types around them."""
    assert type(ours) is type(their)
    if isinstance(their, list | tuple):
        assert len(ours) == len(their)
        for one, other in zip(ours, their, strict=True):
            same(one, other)
    elif isinstance(their, np.ndarray):
        assert ours.dtype == their.dtype
        np.testing.assert_allclose(ours, their, rtol=0, atol=1e-12)
    else:
        assert ours == pytest.approx(their, rel=0, abs=1e-12)


# ---- BLEU


@given(corpus=images, n=st.integers(1, 4), option=st.sampled_from(["closest", "shortest", "average", None]))
def test_bleu_scorer_equals_the_toolkit(corpus: Any, n: int, option: str | None) -> None:
    module = theirs("bleu.bleu_scorer")
    ours, their = filled(BleuScorer(n=n), corpus), filled(module.BleuScorer(n=n), corpus)
    assert (ours.crefs, ours.ctest, ours.size()) == (their.crefs, their.ctest, their.size())
    same(ours.compute_score(option), their.compute_score(option))
    assert (ours.testlen(), ours.reflen()) == (their.testlen(), their.reflen())
    same(ours.compute_score()[0], their.compute_score())
    same(ours.recompute_score(), their.recompute_score())
    unseen = filled(BleuScorer(n=n), corpus)  # nobody looks at its counts
    same(unseen.compute_score(option), their.recompute_score(option))
    same(filled(unseen, corpus).compute_score(option), filled(their, corpus).recompute_score(option))
    ours, their = filled(ours, corpus), filled(module.BleuScorer(n=n), [*corpus, *corpus])
    assert ours.reflen() == filled(module.BleuScorer(n=n), [*corpus, *corpus]).reflen()
    assert (ours.testlen(option), ours.reflen(option)) == (their.testlen(option), their.reflen(option))


def test_mean_lengths_are_added_as_by_the_toolkit(capsys: pytest.CaptureFixture[str]) -> None:
    """Each addition is rounded: 5.333333333333333, whereas ``sum`` of Python 3.12 returns 5.333333333333334."""
    corpus = [("a", ["a", "a b", "a b"]), ("a", ["a b", "a b", "a b c"]), ("a", ["a", "a", "a b"])]
    ours, their = filled(BleuScorer(), corpus), filled(theirs("bleu.bleu_scorer").BleuScorer(), corpus)
    assert ours.reflen("average") == their.reflen("average") == 5 / 3 + 7 / 3 + 4 / 3
    their.recompute_score("average", 1)
    expected = capsys.readouterr().out
    ours.compute_score("average", 1)
    assert capsys.readouterr().out == expected


@given(text=captions, n=st.integers(1, 5))
def test_counts_and_their_order(text: str, n: int) -> None:
    counts = our_cider.precook(text, n)
    other = theirs("cider.cider_scorer").precook(text, n)
    assert type(counts) is type(other)
    assert [*counts.items()] == [*other.items()]
    assert our_cider.cook_refs([text, "a b"], n) == theirs("cider.cider_scorer").cook_refs([text, "a b"], n)
    assert our_cider.cook_test(text, n) == theirs("cider.cider_scorer").cook_test(text, n)
    length, counts = our_bleu.precook(text, n, True)
    assert (length, [*counts.items()]) == (len(text.split()), [*other.items()])


@given(test=captions, refs=st.lists(captions, min_size=1, max_size=4))
def test_cooked_counts_equal_the_toolkit(test: str, refs: list[str]) -> None:
    module = theirs("bleu.bleu_scorer")
    for of_refs, of_test in [(None, None), (None, "closest"), ("shortest", None), ("average", None)]:
        cooked, other = our_bleu.cook_refs(refs, of_refs), module.cook_refs(refs, of_refs)
        assert cooked == other
        assert list(cooked[1]) == list(other[1])
        ours, their = our_bleu.cook_test(test, cooked, of_test), module.cook_test(test, other, of_test)
        assert ours == their
        assert list(ours) == list(their)


@pytest.mark.parametrize("verbose", [0, 1, 2])
def test_bleu_scorer_prints_like_the_toolkit(verbose: int, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = [(RES[image][0], references) for image, references in GTS.items()]
    filled(theirs("bleu.bleu_scorer").BleuScorer(), corpus).compute_score("closest", verbose)
    expected = capsys.readouterr().out
    filled(BleuScorer(), corpus).compute_score("closest", verbose)
    assert capsys.readouterr().out == expected
    assert expected.count("\n") == {0: 0, 1: 2, 2: 7}[verbose]


def test_bleu_scorer_can_score_repeatedly() -> None:
    scorer = BleuScorer("a dog", ["a dog runs", "dog"], n=2)
    one = scorer.compute_score()
    assert scorer.compute_score() == one  # the toolkit's returns the corpus scores alone
    assert scorer.single_reflen() == 2.0
    scores, _ = scorer.rescore("a dog runs")
    assert scores == BleuScorer("a dog runs", ["a dog runs", "dog"], n=2).compute_score()[0]
    assert scorer.rescore(["dog"])[0] != scores
    assert scorer.recompute_score() == scorer.compute_score()


def test_bleu_scorers_are_added() -> None:
    corpus = [("a dog", ["a dog runs"]), ("b", ["b c", "d"])]
    whole, first = filled(BleuScorer(), corpus), filled(BleuScorer(), corpus[:1])
    copied = first.copy()
    first += filled(BleuScorer(), corpus[1:])
    assert first.compute_score() == whole.compute_score()
    assert (copied.size(), first.size()) == (1, 2)
    with pytest.raises(AssertionError, match="incompatible"):
        first += BleuScorer(n=2)
    with pytest.raises(AssertionError):
        first.retest(["a"])
    with pytest.raises(AssertionError, match="longest"):
        first.compute_score("longest")
    assert first.reflen() == whole.reflen()
    first.ctest.pop()
    with pytest.raises(AssertionError, match="2<>1"):
        first.size()


def test_bleu_scorer_accepts_images_without_candidates() -> None:
    scorer = filled(BleuScorer(), [(None, ["a dog"]), (None, ["b"])])
    assert scorer.ctest == [None, None]
    with pytest.raises(TypeError):
        scorer.compute_score()
    assert scorer.rescore(["a dog", "b"])[0][0] == pytest.approx(1.0)
    assert BleuScorer("a", ["b"], special_reflen=5).reflen() == 5


def test_bleu_scorer_counts_higher_orders() -> None:
    """The toolkit's fails."""
    text = "a b c d e f"
    assert BleuScorer(text, [text], n=6).compute_score()[0][5] == pytest.approx(1.0)


# ---- CIDEr


@given(corpus=images, sigma=st.sampled_from([6.0, 1.0]))
def test_cider_scorer_equals_the_toolkit(corpus: Any, sigma: float) -> None:
    corpus = [*corpus, ("a b", ["a b"])]  # the toolkit fails without a single word
    ours, module = filled(CiderScorer(sigma=sigma), corpus), theirs("cider.cider_scorer")
    their = filled(module.CiderScorer(sigma=sigma), corpus)
    assert (ours.crefs, ours.ctest, ours.size(), ours.ref_len) == (their.crefs, their.ctest, their.size(), None)
    ours.compute_doc_freq()
    their.compute_doc_freq()
    assert type(ours.document_frequency) is type(their.document_frequency)
    assert ours.document_frequency == their.document_frequency
    same(ours.compute_cider(), their.compute_cider())
    same(ours.ref_len, their.ref_len)
    again, unseen = filled(module.CiderScorer(sigma=sigma), corpus), filled(CiderScorer(sigma=sigma), corpus)
    same(unseen.compute_score(option="ignored", verbose=1), again.compute_score())  # nobody has looked at its counts
    assert type(unseen.document_frequency) is type(again.document_frequency)
    counts = {ngram: count for ngram, count in again.document_frequency.items() if count}
    assert unseen.document_frequency == counts
    unseen.ref_len = again.ref_len = None
    same(filled(unseen, corpus).compute_cider(), filled(again, corpus).compute_cider())


def test_document_frequencies_follow_removed_images() -> None:
    corpus = large(12, seed=2)
    ours, their = CiderScorer(), theirs("cider.cider_scorer").CiderScorer()
    for scorer in (ours, their):
        filled(scorer, corpus[:8]).compute_doc_freq()
        filled(scorer, corpus[8:])
    same(ours.compute_cider(), their.compute_cider())
    ours.compute_doc_freq()
    their.compute_doc_freq()
    assert ours.document_frequency == {ngram: count for ngram, count in their.document_frequency.items() if count}


def test_captions_that_kernels_refuse() -> None:
    corpus = [("a \ud800 dog", ["a \ud800", "a"]), ("b", ["b c"])]
    their = theirs("cider.cider_scorer").CiderScorer()
    same(filled(CiderScorer(), corpus).compute_score(), filled(their, corpus).compute_score())
    of_bleu = theirs("bleu.bleu_scorer").BleuScorer()
    same(filled(BleuScorer(), corpus).compute_score(), filled(of_bleu, corpus).compute_score())
    for scorer in (CiderScorer(), BleuScorer()):
        with pytest.raises(AttributeError):
            scorer += ("a", [["a"]])  # type: ignore[operator]


def test_cider_scorer_is_cider() -> None:
    corpus = large(30, seed=3)
    scorer = filled(CiderScorer(), corpus)
    score, scores = scorer.compute_score()
    gts = {image: references for image, (_, references) in enumerate(corpus)}
    expected, expected_scores = Cider().compute_score(gts, {image: [text] for image, (text, _) in enumerate(corpus)})
    assert score == pytest.approx(expected, abs=1e-12)
    np.testing.assert_allclose(scores, expected_scores, rtol=0, atol=1e-12)
    assert scorer.compute_score()[0] == score  # the toolkit's counts every document twice


def test_assigned_document_frequencies_are_used() -> None:
    scorer = CiderScorer("a dog", ["a dog"])
    scorer += ("b", ["c"])
    scorer.document_frequency = {("a",): 1.0}
    scores = scorer.compute_cider()
    assert scorer.ref_len == math.log(2)
    assert scores[0] == pytest.approx(5.0)  # two of four orders
    assert scorer.document_frequency == {("a",): 1.0}


def test_cider_scorers_are_added() -> None:
    corpus = [("a dog", ["a dog runs"]), ("b", ["b c", "d"]), (None, ["e"])]
    first = filled(CiderScorer(sigma=2.0), corpus[:1])
    first += filled(CiderScorer(), corpus[1:2])
    copied = first.copy()
    assert (copied.size(), copied.sigma) == (2, 2.0)
    assert copied.compute_score()[0] == filled(CiderScorer(sigma=2.0), corpus[:2]).compute_score()[0]
    first += corpus[2]
    assert (first.size(), copied.size(), first.ctest[2]) == (3, 2, None)
    first.compute_doc_freq()
    assert first.document_frequency[("e",)] == 1
    with pytest.raises(TypeError, match="no candidate"):
        first.compute_cider()


def test_cider_scorer_counts_other_orders() -> None:
    corpus = [("a b c", ["a b c"]), ("d", ["e"])]
    assert filled(CiderScorer(n=2), corpus).compute_score()[1].tolist() == pytest.approx([10.0, 0.0])
    assert filled(CiderScorer(n=5), corpus).compute_score()[1].tolist() == pytest.approx([6.0, 0.0])


# ---- ROUGE


@given(one=st.lists(st.integers(0, 3), max_size=9), other=st.lists(st.integers(0, 3), max_size=9))
def test_my_lcs_equals_the_toolkit(one: list[int], other: list[int]) -> None:
    assert my_lcs(one, other) == theirs("rouge.rouge").my_lcs(one, other)


@given(candidate=captions, refs=st.lists(captions, min_size=1, max_size=4))
def test_calc_score_equals_the_toolkit(candidate: str, refs: list[str]) -> None:
    same(Rouge().calc_score([candidate], refs), theirs("rouge.rouge").Rouge().calc_score([candidate], refs))


def test_a_calc_score_of_a_subclass_is_called() -> None:
    class Half(Rouge):
        def calc_score(self, candidate: Any, refs: Any) -> float:
            return super().calc_score(candidate, refs) / 2

    score, scores = Half().compute_score(GTS, RES)
    assert score * 2 == pytest.approx(Rouge().compute_score(GTS, RES)[0])
    assert (scores * 2).tolist() == pytest.approx(Rouge().compute_score(GTS, RES)[1].tolist())


# ---- no images, and what the toolkit refuses


def answer(scorer: Any, gts: Any, res: Any) -> Any:
    """Return a score, or the type of an exception."""
    try:
        return scorer.compute_score(gts, res)
    except Exception as error:
        return type(error)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:invalid value encountered")
@pytest.mark.parametrize("module", ["bleu.bleu.Bleu", "rouge.rouge.Rouge", "cider.cider.Cider"])
def test_scorers_without_images_equal_the_toolkit(module: str, capsys: pytest.CaptureFixture[str]) -> None:
    path, _, name = module.rpartition(".")
    expected = answer(getattr(theirs(path), name)(), {}, {})
    printed = capsys.readouterr().out
    result = answer(getattr(importlib.import_module(f"captious.compat.pycocoevalcap.{path}"), name)(), {}, {})
    if isinstance(expected, type):
        assert issubclass(result, expected)
    else:
        np.testing.assert_equal(result, expected)
        assert list(map(type, result)) == list(map(type, expected))
    assert capsys.readouterr().out == printed


@pytest.mark.parametrize("name", ["bleu.bleu.Bleu", "cider.cider.Cider"])
@pytest.mark.parametrize(
    ("gts", "res"),
    [
        ({}, {1: ["a"]}),
        ({1: ["a"], 2: ["b"]}, {2: ["b"]}),
        ({1: ["a"]}, {"1": ["a"]}),
        ({1: ["a"], 2: ["b"]}, {1: ["a"], 2: []}),
        ({1: ["a"], 2: ["b"]}, {1: ["a"], 2: ["b", "c"]}),
        ({1: ["a"], 2: []}, {1: ["a"], 2: ["b"]}),
        ({1: ["a"], 2: ["b"]}, {1: ["a"], 2: "b"}),
        ({1: ["a"], 2: ("b",)}, {1: ["a"], 2: ["b"]}),
    ],
)
def test_errors_are_assertion_errors_as_in_the_toolkit(name: str, gts: Any, res: Any) -> None:
    path, _, last = name.rpartition(".")
    assert answer(getattr(theirs(path), last)(), gts, res) is AssertionError
    ours = importlib.import_module(f"captious.compat.pycocoevalcap.{path}")
    assert issubclass(answer(getattr(ours, last)(), gts, res), AssertionError)


# ---- attributes


def test_attributes_of_scorers_change_scores() -> None:
    cider = Cider(n=4, sigma=2.0)
    assert (cider._n, cider._sigma) == (4, 2.0)
    assert Bleu(3)._n == 3
    scores = cider.compute_score(GTS, RES)[0]
    cider._sigma = 6.0
    assert cider.compute_score(GTS, RES)[0] != scores


def test_subclass_with_its_own_init_scores() -> None:
    class Own(Cider):
        def __init__(self) -> None:
            self._n = 4
            self._sigma = 6.0

    assert Own().compute_score(GTS, RES)[0] == Cider().compute_score(GTS, RES)[0]


def test_punctuations_equal_the_toolkit() -> None:
    module = importlib.import_module("captious.compat.pycocoevalcap.tokenizer.ptbtokenizer")
    assert module.PUNCTUATIONS == theirs("tokenizer.ptbtokenizer").PUNCTUATIONS


def test_scores_of_one_caption_at_a_time() -> None:
    """As evaluators of news captions do: sums of scorers, a line of counts for each caption."""
    randomly = random.Random(5)
    bleu, cider = BleuScorer(n=4), CiderScorer(n=4, sigma=6.0)
    rouge = Rouge()
    pairs = [(text, randomly.choice(references)) for text, references in large(20, seed=5)]
    for candidate, reference in pairs:
        bleu += (candidate, [reference])
        cider += (candidate, [reference])
    gts = {i: [reference] for i, (_, reference) in enumerate(pairs)}
    res = {i: [candidate] for i, (candidate, _) in enumerate(pairs)}
    same(bleu.compute_score("closest"), Bleu().compute_score(gts, res, verbose=0))
    same(cider.compute_score(), Cider().compute_score(gts, res))
    scores = [rouge.calc_score(res[i], gts[i]) for i in gts]
    same(np.array(scores), rouge.compute_score(gts, res)[1])
