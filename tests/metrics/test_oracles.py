"""Every metric and variant against its oracle, on captions where words repeat and lengths tie."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import captious
from captious.metrics.contract.metric import Metric
from captious.metrics.shared.frequencies.document_frequencies import DocumentFrequencies
from captious.text import WHITESPACE
from tests.oracles import bleu, cider, ngram_precision, rouge_l, rouge_n, rouge_s, unigram_recall
from tests.support.corpora import TOY, Corpus, corpora, large_corpus

Scores = list[float]
Oracle = Callable[[list[str], list[list[str]]], Scores]


def make(metric: type[Metric], variant: str) -> Metric:
    return metric(variant=variant, tokenizer="whitespace")


#: Metrics whose captions are scored without looking at others, with their oracles.
ALONE: dict[str, tuple[Metric, Oracle]] = {
    "bleu": (make(captious.Bleu, "official"), lambda c, r: bleu.scores(bleu.statistics(c, r))),
    "bleu@paper": (make(captious.Bleu, "paper"), lambda c, r: bleu.scores(bleu.statistics(c, r), "paper")),
    "rouge-l": (make(captious.RougeL, "official"), lambda c, r: [rouge_l.score(c, r)]),
    "rouge-l@lin2004": (make(captious.RougeL, "lin2004"), lambda c, r: [rouge_l.score(c, r, "lin2004")]),
    "rouge-n": (make(captious.RougeN, "paper"), rouge_n.scores),
    "rouge-s": (make(captious.RougeS, "paper"), lambda c, r: [rouge_s.score(c, r)]),
    "rouge-s, gap 1": (captious.RougeS(gap=1, tokenizer=WHITESPACE), lambda c, r: [rouge_s.score(c, r, 1)]),
    "rouge-s, any gap": (captious.RougeS(gap=None, tokenizer=WHITESPACE), lambda c, r: [rouge_s.score(c, r, None)]),
    "ngram-precision": (make(captious.NgramPrecision, "official"), ngram_precision.scores),
    "ngram-precision@paper": (
        make(captious.NgramPrecision, "paper"),
        lambda c, r: ngram_precision.scores(c, r, "paper"),
    ),
    "unigram-recall": (make(captious.UnigramRecall, "paper"), lambda c, r: [unigram_recall.score(c, r)]),
}


def caption_scores(metric: Metric, corpus: Corpus) -> np.ndarray:
    captions = corpus.table()
    return metric.aggregate(metric.statistics(captions, metric.fit(captions.references)))


@pytest.mark.parametrize("name", ALONE)
@given(corpus=corpora())
@example(corpus=TOY)
def test_captions_scored_alone(name: str, corpus: Corpus) -> None:
    metric, oracle = ALONE[name]
    expected = [oracle(c, r) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    np.testing.assert_allclose(caption_scores(metric, corpus), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("variant", captious.Bleu.variants)
@given(corpus=corpora())
@example(corpus=TOY)
def test_corpus_bleu_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    metric = make(captious.Bleu, variant)
    rows = [bleu.statistics(c, r) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    statistics = metric.statistics(corpus.table())
    np.testing.assert_array_equal(statistics, rows)
    expected = bleu.scores([sum(column) for column in zip(*rows, strict=True)], variant)
    np.testing.assert_allclose(metric.aggregate(statistics.sum(axis=0)), expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("variant", captious.Cider.variants)
@given(corpus=corpora())
@example(corpus=TOY)
def test_cider_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    frequencies = cider.frequencies(corpus.references)
    expected = [
        [cider.cider(c, r, frequencies, variant)] for c, r in zip(corpus.candidates, corpus.references, strict=True)
    ]
    np.testing.assert_allclose(caption_scores(make(captious.Cider, variant), corpus), expected, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("variant", captious.CiderD.variants)
@given(corpus=corpora(), sigma=st.sampled_from([6.0, 1.0, 0.5, 40.0, 1e6]))
@example(corpus=TOY, sigma=6.0)
def test_cider_d_equals_the_oracle(variant: str, corpus: Corpus, sigma: float) -> None:
    frequencies = cider.frequencies(corpus.references)
    expected = [
        [cider.cider_d(c, r, frequencies, variant, sigma)]
        for c, r in zip(corpus.candidates, corpus.references, strict=True)
    ]
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


def test_cider_d_of_many_images_equals_the_oracle() -> None:
    corpus = large_corpus(700)
    pairs = list(zip(corpus.candidates, corpus.references, strict=True))
    for metric, oracle in ALONE.values():
        np.testing.assert_allclose(caption_scores(metric, corpus), [oracle(c, r) for c, r in pairs], rtol=1e-12)
    frequencies = cider.frequencies(corpus.references)
    for variant in captious.CiderD.variants:
        metric = captious.CiderD(variant=variant, tokenizer="whitespace")
        expected = [[cider.cider_d(c, r, frequencies, variant)] for c, r in pairs]
        np.testing.assert_allclose(caption_scores(metric, corpus), expected, rtol=1e-10, atol=1e-12)
