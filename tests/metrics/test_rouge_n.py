"""ROUGE-N against its oracle."""

from __future__ import annotations

from hypothesis import example, given

import captious
from tests.oracles import rouge_n
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, assert_equals_oracle


@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_rouge_n_equals_the_oracle(corpus: Corpus) -> None:
    metric = captious.RougeN(tokenizer="whitespace")
    assert_equals_oracle(metric, rouge_n.scores, corpus)
