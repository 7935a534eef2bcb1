"""Metrics on words against their oracles, as one table: captions of the toy corpus, of many images, and drawn ones."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from nltk.translate.gleu_score import corpus_gleu, sentence_gleu

import captious
from captious.metrics.contract.metric import Metric
from tests.oracles import bleu, ngram_precision, rouge_l, rouge_n, rouge_s, unigram_recall
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, Oracle, assert_equals_oracle

GLEU = captious.Gleu(tokenizer="whitespace")
BLEU = {variant: captious.Bleu(variant=variant, tokenizer="whitespace") for variant in captious.Bleu.variants}

#: Metrics that score captions of one image alone, and their oracles.
ORACLES: dict[str, tuple[Metric, Oracle]] = {
    **{f"bleu@{v}": (m, lambda c, r, v=v: bleu.scores(bleu.statistics(c, r), v)) for v, m in BLEU.items()},
    **{
        f"ngram-precision@{v}": (
            captious.NgramPrecision(variant=v, tokenizer="whitespace"),
            lambda c, r, v=v: ngram_precision.scores(c, r, v),
        )
        for v in captious.NgramPrecision.variants
    },
    **{
        f"rouge-l@{v}": (
            captious.RougeL(variant=v, tokenizer="whitespace"),
            lambda c, r, v=v: [rouge_l.score(c, r, v)],
        )
        for v in captious.RougeL.variants
    },
    **{
        f"rouge-s:gap={gap}": (
            captious.RougeS(gap=gap, tokenizer="whitespace"),
            lambda c, r, gap=gap: [rouge_s.score(c, r, gap)],
        )
        for gap in (4, 1, None)
    },
    "rouge-n": (captious.RougeN(tokenizer="whitespace"), rouge_n.scores),
    "unigram-recall": (
        captious.UnigramRecall(tokenizer="whitespace"),
        lambda c, r: [unigram_recall.score(c, r)],
    ),
    "gleu, of nltk": (GLEU, lambda c, r: [sentence_gleu(r, c)]),
}


@pytest.mark.parametrize("name", ORACLES)
@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_scores_of_captions_equal_the_oracle(name: str, corpus: Corpus) -> None:
    assert_equals_oracle(*ORACLES[name], corpus)


@pytest.mark.parametrize("variant", BLEU)
@given(corpus=corpora())
@example(corpus=TOY)
def test_bleu_of_corpora_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    rows = [bleu.statistics(c, r) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    statistics = BLEU[variant].statistics(corpus.table())
    np.testing.assert_array_equal(statistics, rows)
    expected = bleu.scores([sum(column) for column in zip(*rows, strict=True)], variant)
    np.testing.assert_allclose(BLEU[variant].aggregate(statistics.sum(axis=0)), expected, rtol=1e-12, atol=1e-15)


@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_gleu_of_a_corpus_equals_nltk(corpus: Corpus) -> None:
    statistics = GLEU.statistics(corpus.table())
    assert GLEU.aggregate(statistics.sum(axis=0)) == pytest.approx(
        corpus_gleu(corpus.references, corpus.candidates), rel=1e-12
    )


def test_first_of_equal_references_counts_in_gleu() -> None:
    ties = Corpus([["a"], ["b", "c"]], [[["a", "b"], ["a", "c"]], [["d"], ["d", "e", "f"]]])
    assert GLEU.statistics(ties.table()).tolist() == [[1, 3], [0, 3]]
    assert corpus_gleu(ties.references, ties.candidates) == pytest.approx(1 / 6)
