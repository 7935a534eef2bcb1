"""Rewards give the caption scores of ``captious.score``, with its settings and signatures."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.errors import ParameterError, UnknownNameError
from captious.metrics.contract.settings import Settings

from ..support.corpora import large_corpus

CAPTIONS = large_corpus(120, seed=6).table()


@pytest.mark.parametrize("references_as", ["each", "cat"])
@pytest.mark.parametrize("metric", ["rouge-l", "cider-d", "bleu-2", "rouge-s:gap=2"])
def test_rewards_are_caption_scores(metric: str, references_as: str) -> None:
    settings = Settings(references_as=references_as)
    (result,) = captious.score(CAPTIONS, None, [metric], settings=settings).values()
    reward = captious.reward(metric, CAPTIONS.references, settings=settings)
    scores = reward(CAPTIONS.ids, CAPTIONS.candidates)
    np.testing.assert_allclose(scores, result.per_caption, rtol=1e-12, atol=1e-14)
    assert reward.signature == result.signature


def test_what_is_no_reward() -> None:
    with pytest.raises(UnknownNameError, match="no metric 'all'"):
        captious.reward("all", CAPTIONS.references)
    with pytest.raises(ParameterError, match="judges several candidates"):
        captious.reward("div", CAPTIONS.references)
    with pytest.raises(UnknownNameError, match="rouge-l has no output 'rouge'"):
        captious.reward("rouge-l", CAPTIONS.references, "rouge")
