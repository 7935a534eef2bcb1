"""Merges that metrics and their states refuse. That they do merge is in test_contract.py."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.errors import ParameterError
from captious.metrics.shared.frequencies.token_frequencies import TokenFrequencies
from tests.support.corpora import references_table


@pytest.mark.parametrize("other", [5, None, "rouge-l", captious.RougeL])
def test_only_streams_merge(other: object) -> None:
    with pytest.raises(ParameterError, match="is not a stream"):
        captious.Stream("rouge-l").merge(other)  # type: ignore[arg-type]


@pytest.mark.parametrize("other", [5, None, object()])
def test_only_frequencies_merge(other: object) -> None:
    of_ngrams = captious.CiderD().fit(references_table([["a dog"], ["a cat"]]))
    of_tokens = TokenFrequencies(np.ones(3, np.int64), 2, "model")
    assert of_ngrams is not None
    for state in (of_ngrams, of_tokens):
        with pytest.raises(ParameterError, match="cannot be merged"):
            state.merge(other)  # type: ignore[arg-type]


def test_the_resource_of_a_fit_is_the_state() -> None:
    references = references_table([["a dog", "dogs"], ["a cat"]])
    assert captious.Bleu().fit_resource(references) is None
    fitted = captious.CiderD().fit_resource(references)
    assert fitted is not None
    assert fitted.label == "references-2"
