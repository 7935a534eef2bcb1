"""CIDEr and CIDEr-D as rewards: the scores of a report, for any order and number of captions."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import captious
from captious.metrics.shared.frequencies import DocumentFrequencies
from captious.text import PTB, WHITESPACE
from tests.support.corpora import WORDS, Corpus, corpora, large_corpus, references_table, table
from tests.support.frequencies import idf_of

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")  # few images

CORPUS = large_corpus(150, seed=3)


@pytest.mark.parametrize("variant", captious.CiderD.variants)
@pytest.mark.parametrize("metric", [captious.Cider, captious.CiderD])
@given(corpus=corpora(), counted=st.none() | corpora())
def test_scorer_gives_what_statistics_give(
    metric: type[captious.Cider], variant: str, corpus: Corpus, counted: Corpus | None
) -> None:
    idf = None if counted is None else DocumentFrequencies.of(counted.table().references, WHITESPACE)
    ours = metric(idf=idf, variant=variant, tokenizer="whitespace")
    captions = corpus.table()
    expected = ours.statistics(captions)[:, 0]
    scorer = captious.reward(corpus.table().references, ours)
    np.testing.assert_allclose(scorer(captions.ids, captions.candidates), expected, rtol=1e-12, atol=1e-14)


def test_scorer_knows_unknown_words_apart() -> None:
    # Two unknown words are two words, one unknown word twice is one.
    idf = idf_of("a dog runs", "a cat")
    references = [["a dog runs"], ["a cat"]]
    for caption in ("a zig zag dog", "a zig zig dog", "zig", "a cat zag", "zig zag zig zag"):
        scorer = captious.reward(references_table(references), captious.CiderD(idf=idf))
        expected = captious.CiderD(idf=idf).statistics(table([caption, ""], references))[0, 0]
        assert scorer([0], [caption])[0] == pytest.approx(expected, rel=1e-12)


#: The tokenizer joins "3 1/2" and "(555) 555-1234" by an unbreakable space, where BLEU and CIDEr cut again.
WITH_SPACES = ["a dog 3 1/2 feet tall", "call (555) 555-1234 quux", "a red dog (555) 555-1234 quux", "3 1/2"]
REFERENCES = [
    ["a 3 foot dog 1/2 mile away", "the 3 dogs 1/2 way"],
    ["a red dog runs", "a red dog runs in the park"],
    ["a blue cat 555-1234"],
    ["two men"],
]


@pytest.mark.parametrize("caption", WITH_SPACES)
@pytest.mark.parametrize("counted", [None, REFERENCES[::-1]], ids=["own", "given"])
def test_scorer_splits_tokens_that_contain_spaces(caption: str, counted: list[list[str]] | None) -> None:
    idf = None if counted is None else DocumentFrequencies.of(references_table(counted), PTB)
    metric = captious.CiderD(idf=idf)
    for image in range(4):
        candidates = [caption if i == image else "" for i in range(4)]
        expected = metric.statistics(table(candidates, REFERENCES))[image, 0]
        scorer = captious.reward(references_table(REFERENCES), metric)
        assert scorer([image], [caption])[0] == pytest.approx(expected, rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("caption", WITH_SPACES)
def test_scorer_does_not_change_when_other_captions_are_scored(caption: str) -> None:
    references = references_table(REFERENCES)
    scorer = captious.reward(references, captious.CiderD())
    before = scorer([0, 1, 2, 3], [caption] * 4)
    # Another system with the same references adds words of its own.
    others = captious.Captions((caption, "quux zork", "3 1/2 zork", caption + " zork"), references)
    captious.RougeL().statistics(others)
    np.testing.assert_array_equal(scorer([0, 1, 2, 3], [caption] * 4), before)
    captious.CiderD().statistics(others)
    np.testing.assert_array_equal(scorer([0, 1, 2, 3], [caption] * 4), before)


def test_scorer_accepts_a_function_as_tokenizer() -> None:
    def letters(caption: str) -> list[str]:
        return list(caption)

    metric = captious.CiderD(tokenizer=letters)
    captions = table(["abba", "cd xy", ""], [["abab", "ba"], ["cdc"], ["e"]])
    expected = metric.statistics(captions)[:, 0]
    scorer = captious.reward(captions.references, metric)
    np.testing.assert_allclose(scorer([0, 1, 2], captions.candidates), expected, rtol=1e-12)


def test_scorer_gives_equal_rewards_in_several_threads() -> None:
    rng = random.Random(4)
    captions = CORPUS.table()
    scorer = captious.reward(captions.references, captious.CiderD())
    batches = []
    for _ in range(40):
        rows = rng.choices(range(150), k=60)
        texts = [f"{captions.candidates[row]} new{rng.randrange(9)} 3 1/2 {rng.choice(WORDS)}" for row in rows]
        batches.append((rows, texts))
    expected = [scorer(*batch) for batch in batches]
    with ThreadPoolExecutor(8) as pool:
        for scores, alone in zip(pool.map(lambda batch: scorer(*batch), batches), expected, strict=True):
            np.testing.assert_array_equal(scores, alone)
