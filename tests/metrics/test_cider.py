"""CIDEr, and what holds for all of its kinds: given document frequencies, streams, warnings."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import captious
from captious.metrics.contract.settings import Settings
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import PTB, WHITESPACE
from tests.oracles import cider
from tests.support.corpora import TOY, Corpus, corpora, large_corpus, references_table
from tests.support.frequencies import idf_of
from tests.support.oracle_scores import MANY_IMAGES, caption_scores

CORPUS = large_corpus(150, seed=3)


@pytest.mark.parametrize("variant", captious.Cider.variants)
@given(corpus=corpora())
@example(corpus=TOY)
def test_cider_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    frequencies = cider.frequencies(corpus.references)
    pairs = zip(corpus.candidates, corpus.references, strict=True)
    expected = [[cider.cider(c, r, frequencies, variant)] for c, r in pairs]
    metric = captious.Cider(variant=variant, tokenizer="whitespace")
    np.testing.assert_allclose(caption_scores(metric, corpus), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("variant", captious.CiderD.variants)
@given(corpus=corpora(), sigma=st.sampled_from([6.0, 1.0, 0.5, 40.0, 1e6]))
@example(corpus=TOY, sigma=6.0)
@example(corpus=MANY_IMAGES, sigma=6.0)
def test_cider_d_equals_the_oracle(variant: str, corpus: Corpus, sigma: float) -> None:
    frequencies = cider.frequencies(corpus.references)
    pairs = zip(corpus.candidates, corpus.references, strict=True)
    expected = [[cider.cider_d(c, r, frequencies, variant, sigma)] for c, r in pairs]
    metric = captious.CiderD(variant=variant, sigma=sigma, tokenizer="whitespace")
    np.testing.assert_allclose(caption_scores(metric, corpus), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("variant", captious.CiderD.variants)
@given(corpus=corpora(), counted=corpora())
@example(corpus=TOY, counted=Corpus([[]], [[["dog"]]]))
def test_cider_with_other_frequencies_equals_the_oracle(variant: str, corpus: Corpus, counted: Corpus) -> None:
    frequencies = cider.frequencies(counted.references)
    idf = DocumentFrequencies.of(counted.table().references, WHITESPACE)
    pairs = list(zip(corpus.candidates, corpus.references, strict=True))
    clipped = captious.CiderD(idf=idf, variant=variant, tokenizer="whitespace")
    expected = [[cider.cider_d(c, r, frequencies, variant)] for c, r in pairs]
    np.testing.assert_allclose(caption_scores(clipped, corpus), expected, rtol=1e-11, atol=1e-12)
    plain = captious.Cider(idf=idf, variant=variant, tokenizer="whitespace")
    expected = [[cider.cider(c, r, frequencies, variant)] for c, r in pairs]
    np.testing.assert_allclose(caption_scores(plain, corpus), expected, rtol=1e-11, atol=1e-12)


def test_weights_may_be_negative() -> None:
    # Of three documents, two n-grams are in more: a merge of overlapping corpora, say.
    counted = Corpus([[]] * 6, [[["a", "dog"]]] * 5 + [[["b"]]])
    frequencies = cider.Frequencies(3, cider.frequencies(counted.references).counts)
    counts = DocumentFrequencies.of(counted.table().references, WHITESPACE)
    idf = DocumentFrequencies(counts.vocabulary, counts.counts, 3, counts.tokenizer)
    corpus = Corpus([["a", "dog", "a"], ["b", "a"]], [[["a", "dog"], ["dog", "b"]], [["a", "a", "c"]]])
    pairs = list(zip(corpus.candidates, corpus.references, strict=True))
    for variant in captious.CiderD.variants:
        expected = [[cider.cider_d(c, r, frequencies, variant)] for c, r in pairs]
        metric = captious.CiderD(idf=idf, variant=variant, tokenizer="whitespace")
        np.testing.assert_allclose(caption_scores(metric, corpus), expected, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_streams_with_given_frequencies_do_not_count_them_twice() -> None:
    idf = DocumentFrequencies.of(references_table([["w1 w2"], ["w3 w4"], ["w0 w5"], ["w1 w9"]]), PTB)
    whole = CORPUS.table()
    metric = captious.CiderD(idf=idf)
    streamed, once = captious.Stream(metric), captious.Stream(metric)
    for start in range(0, 150, 50):
        piece = whole.select(range(start, start + 50))
        streamed.update(piece, piece.references)
    once.update(whole, whole.references)
    assert streamed.compute() == once.compute()
    assert next(iter(once.compute().values())) == pytest.approx(metric.statistics(whole)[:, 0].mean(), rel=1e-12)


@pytest.mark.parametrize("metric", ["cider", "cider-d"])
@pytest.mark.filterwarnings("ignore:cider is CIDEr without:captious.CaptiousWarning")
def test_few_images_are_warned_of(metric: str) -> None:
    references = {i: [f"a dog {i}", "two men"] for i in range(99)}
    candidates = dict.fromkeys(references, "a dog")
    with pytest.warns(captious.CaptiousWarning, match="only 99"):
        report = captious.score(candidates, references, metrics=[metric])
    assert any(metric in warning and "99" in warning for warning in report.warnings)


def test_single_image_scores_zero_with_a_warning() -> None:
    with pytest.warns(captious.CaptiousWarning, match="only 1: .* cider-d is 0 for every caption"):
        report = captious.score({1: "a dog"}, {1: ["a dog", "one dog"]}, metrics=["cider-d"])
    assert report["cider-d"].score == 0


def test_enough_images_or_given_frequencies_need_no_warning() -> None:
    references = {i: [f"a dog {i}", f"{i} men"] for i in range(100)}
    report = captious.score({i: f"dog {i}" for i in references}, references, metrics=["cider-d"])
    assert report.warnings == []
    idf = idf_of(*["a dog"] * 50, *["a cat"] * 50)
    report = captious.score({1: "dog"}, {1: ["a dog", "one dog"]}, metrics=["cider-d"], settings=Settings(idf=idf))
    assert report.warnings == []
    assert report["cider-d"].score > 0


def test_given_frequencies_of_few_images_are_no_better() -> None:
    settings = Settings(idf=idf_of("a dog", "a cat"))
    with pytest.warns(captious.CaptiousWarning, match="there are only 7 in"):
        captious.score({1: "dog"}, {1: ["a dog", "one dog"]}, metrics=["cider-d"], settings=settings)
