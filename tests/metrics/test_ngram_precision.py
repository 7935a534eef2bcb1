"""N-gram precision against its oracle."""

from __future__ import annotations

import pytest
from hypothesis import example, given

import captious
from tests.oracles import ngram_precision
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, assert_equals_oracle


@pytest.mark.parametrize("variant", captious.NgramPrecision.variants)
@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_ngram_precision_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    metric = captious.NgramPrecision(variant=variant, tokenizer="whitespace")
    assert_equals_oracle(metric, lambda c, r: ngram_precision.scores(c, r, variant), corpus)
