"""chrF and chrF++, compared with sacrebleu and with values computed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import captious
from captious.errors import ParameterError
from captious.metrics.chrf import Chrf
from tests.support.captions_of_languages import CAPTIONS, ENGLISH
from tests.support.corpora import table

PARAMETERS: list[dict[str, Any]] = [
    {},
    {"word_order": 2, "lowercase": True},
    {"word_order": 2, "variant": "epsilon"},
    {"word_order": 4, "beta": 3},
]


def same_as_sacrebleu(candidates: list[str], references: list[list[str]], parameters: dict[str, Any]) -> None:
    """Statistics are equal, scores to rounding."""
    metrics = pytest.importorskip("sacrebleu.metrics")
    theirs = metrics.CHRF(
        **{name: value for name, value in parameters.items() if name != "variant"},
        eps_smoothing="variant" in parameters,
    )
    streams = [[of[i] if i < len(of) else None for of in references] for i in range(max(map(len, references)))]
    ours = Chrf(**parameters)
    statistics = ours.statistics(table(candidates, references))
    np.testing.assert_array_equal(statistics, theirs._extract_corpus_statistics(candidates, streams))
    expected = [theirs.sentence_score(*pair).score / 100 for pair in zip(candidates, references, strict=True)]
    np.testing.assert_allclose(ours.aggregate(statistics)[:, 0], expected, atol=1e-14)
    corpus = theirs.corpus_score(candidates, streams).score / 100
    assert ours.aggregate(statistics.sum(axis=0))[0] == pytest.approx(corpus, abs=1e-14)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_chrf_of_many_languages_equals_sacrebleu(parameters: dict[str, Any]) -> None:
    for pairs in (ENGLISH, *CAPTIONS.values()):
        candidates = [candidate for candidate, _ in pairs]
        references = [[reference] for _, reference in pairs]
        same_as_sacrebleu(candidates, references, parameters)
        several = [[*of, *references[i - 1]][: 1 + i % 2] for i, of in enumerate(references)]
        same_as_sacrebleu(candidates, several, parameters)


# Short texts over few pieces, so that references tie and orders are missing.
captions = st.text(st.sampled_from(["a", "b", "A", " ", ".", "(", "狗", "\u3000"]), max_size=9)
images = st.lists(st.tuples(captions, st.lists(captions, min_size=1, max_size=4)), min_size=1, max_size=5)


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
@given(images=images)
@settings(max_examples=60)
def test_chrf_of_arbitrary_captions_equals_sacrebleu(
    parameters: dict[str, Any], images: list[tuple[str, list[str]]]
) -> None:
    same_as_sacrebleu([candidate for candidate, _ in images], [references for _, references in images], parameters)


def test_words_are_counted_up_to_four_together() -> None:
    with pytest.raises(ParameterError, match="invalid word_order for chrf: 5"):
        Chrf(word_order=5)


def test_plus_plus_is_a_name() -> None:
    report = captious.score({1: "a dog"}, {1: ["the dog"]}, ["chrF++", "chrf", "chrf++:beta=1"])
    assert [*report] == ["chrf:word_order=2", "chrf", "chrf:word_order=2,beta=1"]
