"""Unigram recall against its oracle."""

from __future__ import annotations

from hypothesis import example, given

import captious
from tests.oracles import unigram_recall
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, assert_equals_oracle


@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_unigram_recall_equals_the_oracle(corpus: Corpus) -> None:
    metric = captious.UnigramRecall(tokenizer="whitespace")
    assert_equals_oracle(metric, lambda c, r: [unigram_recall.score(c, r)], corpus)
