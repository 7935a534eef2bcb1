"""ROUGE-S against its oracle."""

from __future__ import annotations

import pytest
from hypothesis import example, given

import captious
from tests.oracles import rouge_s
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, assert_equals_oracle


@pytest.mark.parametrize("gap", [4, 1, None])
@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_rouge_s_equals_the_oracle(gap: int | None, corpus: Corpus) -> None:
    metric = captious.RougeS(gap=gap, tokenizer="whitespace")
    assert_equals_oracle(metric, lambda c, r: [rouge_s.score(c, r, gap)], corpus)
