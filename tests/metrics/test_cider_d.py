"""CIDEr-D against its oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import captious
from captious.errors import ParameterError
from tests.oracles import cider
from tests.support.corpora import TOY, Corpus, corpora
from tests.support.oracle_scores import MANY_IMAGES, caption_scores


@pytest.mark.parametrize("variant", captious.CiderD.variants)
@given(corpus=corpora(), sigma=st.sampled_from([6.0, 1.0, 0.5, 40.0, 1e6]))
@example(corpus=TOY, sigma=6.0)
def test_cider_d_equals_the_oracle(variant: str, corpus: Corpus, sigma: float) -> None:
    frequencies = cider.frequencies(corpus.references)
    expected = [
        [cider.cider_d(c, r, frequencies, variant, sigma)]
        for c, r in zip(corpus.candidates, corpus.references, strict=True)
    ]
    metric = captious.CiderD(variant=variant, sigma=sigma, tokenizer="whitespace")
    np.testing.assert_allclose(caption_scores(metric, corpus), expected, rtol=1e-11, atol=1e-12)


def test_cider_d_of_many_images_equals_the_oracle() -> None:
    pairs = list(zip(MANY_IMAGES.candidates, MANY_IMAGES.references, strict=True))
    frequencies = cider.frequencies(MANY_IMAGES.references)
    for variant in captious.CiderD.variants:
        metric = captious.CiderD(variant=variant, tokenizer="whitespace")
        expected = [[cider.cider_d(c, r, frequencies, variant)] for c, r in pairs]
        np.testing.assert_allclose(caption_scores(metric, MANY_IMAGES), expected, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("sigma", [0, -1.0, float("nan")])
def test_sigma_must_be_positive(sigma: float) -> None:
    with pytest.raises(ParameterError, match="sigma"):
        captious.CiderD(sigma=sigma)
