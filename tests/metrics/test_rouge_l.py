"""ROUGE-L against its oracle."""

from __future__ import annotations

import pytest
from hypothesis import example, given

import captious
from tests.oracles import rouge_l
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, assert_equals_oracle


@pytest.mark.parametrize("variant", captious.RougeL.variants)
@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_rouge_l_equals_the_oracle(variant: str, corpus: Corpus) -> None:
    metric = captious.RougeL(variant=variant, tokenizer="whitespace")
    assert_equals_oracle(metric, lambda c, r: [rouge_l.score(c, r, variant)], corpus)
