"""Scores of metrics beside those of their oracles."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from captious.metrics.contract.metric import Metric
from tests.support.corpora import Corpus, large_corpus

#: Outputs of one caption, from its words and those of its references.
Oracle = Callable[[list[str], list[list[str]]], Sequence[float]]

#: An example for metrics that score captions of one image alone.
MANY_IMAGES = large_corpus(700)


def caption_scores(metric: Metric, corpus: Corpus) -> NDArray[np.float64]:
    """Return the outputs of a metric, float64[n_captions, n_outputs]."""
    captions = corpus.table()
    return metric.aggregate(metric.statistics(captions, metric.fit(captions.references)))


def assert_equals_oracle(metric: Metric, oracle: Oracle, corpus: Corpus) -> None:
    """Check every caption of a corpus, which the oracle scores without looking at the others."""
    expected = [oracle(c, r) for c, r in zip(corpus.candidates, corpus.references, strict=True)]
    np.testing.assert_allclose(caption_scores(metric, corpus), expected, rtol=1e-12, atol=1e-15)
