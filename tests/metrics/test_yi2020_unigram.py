"""The metric of Yi et al. on unigrams: the released program's numbers, an oracle, corners."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kendalltau

from captious.metrics.yi2020 import Yi2020Unigram
from tests.oracles import yi2020 as oracle
from tests.parity.real_captions import read_json
from tests.support.corpora import WORDS, Corpus, corpora, table

#: The released example: these samples of the larger file, and what the released program gives for them.
EXAMPLE = (4, 581, 1157, 1732, 2308, 2877, 3448, 4018, 4590, 5169)
OFFICIAL = [0.043478, 0, 0, 0.166667, 0.052632, 0, 0, 0.058824, 0.1875, 0]


def test_yi2020_unigram_equals_the_released_program(shared_data: Path) -> None:
    samples = list(read_json(shared_data / "yi2020" / "flickr.json.gz").values())
    captions = table([sample["cand"][0] for sample in samples], [sample["refs"] for sample in samples])
    values = Yi2020Unigram(stop_words=shared_data / "yi2020" / "stop_word_list.txt.gz").scores(captions)
    np.testing.assert_allclose(values[list(EXAMPLE)], OFFICIAL, rtol=0, atol=5e-7)
    assert values.mean() == pytest.approx(0.0527855865, abs=1e-10)
    tau = kendalltau(values, [sample["score"] for sample in samples])[0]
    assert tau == pytest.approx(0.4708072622543971, abs=1e-12)


@given(corpus=corpora(), stop_words=st.sets(st.sampled_from(WORDS)))
def test_yi2020_unigram_equals_the_oracle(corpus: Corpus, stop_words: set[str]) -> None:
    expected = [oracle.unigram(c, r, stop_words) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    np.testing.assert_allclose(Yi2020Unigram(stop_words=stop_words).scores(corpus.table()), expected, rtol=1e-15)


def score(candidate: str, *references: str, **parameters: object) -> float:
    metric = Yi2020Unigram(**parameters)  # type: ignore[arg-type]
    return float(metric.scores(table([candidate], [[*references]]))[0])


def test_case_matters_unless_the_tokenizer_ignores_it() -> None:
    assert score("a Dog", "a dog barks") == 0
    assert score("a Dog", "a dog barks", tokenizer="ptb") == 0.5


def test_yi2020_unigram_of_no_words_is_defined() -> None:
    assert score("", "a dog") == 0
    assert score("a dog", "") == 0
    assert score("the", "the") == 0
    assert score("the", "the", stop_words=[]) == 1
    assert Yi2020Unigram().statistics(table([], [])).shape == (0, 2)


def test_yi2020_unigram_needs_no_model(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("torch", "transformers"):
        monkeypatch.setitem(sys.modules, module, None)
    assert Yi2020Unigram.missing() is None
    assert score("a dog", "a dog barks") == 0.5
