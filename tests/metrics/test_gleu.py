"""GLEU against nltk."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from nltk.translate.gleu_score import corpus_gleu, sentence_gleu

import captious
from tests.oracles.ngrams import Caption
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, assert_equals_oracle

GLEU = captious.Gleu(tokenizer="whitespace")


def of_nltk(candidate: Caption, references: list[Caption]) -> list[float]:
    return [sentence_gleu(references, candidate)]


@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_gleu_equals_nltk(corpus: Corpus) -> None:
    assert_equals_oracle(GLEU, of_nltk, corpus)


@given(corpus=corpora())
@example(corpus=TOY)
@example(corpus=MANY_IMAGES)
def test_gleu_of_a_corpus_equals_nltk(corpus: Corpus) -> None:
    statistics = GLEU.statistics(corpus.table())
    assert GLEU.aggregate(statistics.sum(axis=0)) == pytest.approx(
        corpus_gleu(corpus.references, corpus.candidates), rel=1e-12
    )


def test_first_of_equal_references_counts() -> None:
    ties = Corpus([["a"], ["b", "c"]], [[["a", "b"], ["a", "c"]], [["d"], ["d", "e", "f"]]])
    assert GLEU.statistics(ties.table()).tolist() == [[1, 3], [0, 3]]
    assert corpus_gleu(ties.references, ties.candidates) == pytest.approx(1 / 6)
