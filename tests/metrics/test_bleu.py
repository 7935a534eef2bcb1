"""BLEU of captions and of corpora against its oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given

import captious
from tests.oracles import bleu
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, assert_equals_oracle


@pytest.mark.parametrize("variant", captious.Bleu.variants)
@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_bleu_of_captions_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    metric = captious.Bleu(variant=variant, tokenizer="whitespace")
    assert_equals_oracle(metric, lambda c, r: bleu.scores(bleu.statistics(c, r), variant), corpus)


@pytest.mark.parametrize("variant", captious.Bleu.variants)
@given(corpus=corpora())
@example(corpus=TOY)
def test_bleu_of_corpora_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    metric = captious.Bleu(variant=variant, tokenizer="whitespace")
    rows = [bleu.statistics(c, r) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    statistics = metric.statistics(corpus.table())
    np.testing.assert_array_equal(statistics, rows)
    expected = bleu.scores([sum(column) for column in zip(*rows, strict=True)], variant)
    np.testing.assert_allclose(metric.aggregate(statistics.sum(axis=0)), expected, rtol=1e-12, atol=1e-15)
