"""The nine real systems on val2014 against pycocoevalcap, caption by caption. Slow: minutes each."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import load, read_references
from captious.text import PTB, TokenLayer, Tokens

pytestmark = pytest.mark.slow

CLOSE = 1e-12

SYSTEMS = (
    "dai-et-al-2017",
    "liu-et-al-2017",
    "mun-et-al-2017",
    "shetty-et-al-2016",
    "shetty-et-al-2017",
    "tavakoli-et-al-2017",
    "vinyals-et-al-2017",
    "wu-et-al-2016",
    "zhou-et-al-2017",
)


@pytest.fixture(scope="module")
def references(shared_data: Path) -> captious.References:
    return read_references(shared_data / "coco" / "captions_val2014.json.gz")


def joined(tokens: Tokens) -> list[str]:
    words, at = tokens.vocabulary.words(), tokens.offsets.tolist()
    return [" ".join(words[i] for i in tokens.ids[start:end]) for start, end in itertools.pairwise(at)]


@pytest.mark.filterwarnings("default")  # the official code is not ours to keep free of warnings
@pytest.mark.parametrize("name", SYSTEMS)
def test_scores_are_the_official_ones(name: str, shared_data: Path, references: captious.References) -> None:
    # The official scorers get our tokens: that these are the official ones is tested elsewhere, and a tokenizer that
    # reads all captions as one text gives some captions other tokens than it gives them alone.
    bleu = pytest.importorskip("pycocoevalcap.bleu.bleu")
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge")
    cider = pytest.importorskip("pycocoevalcap.cider.cider")
    captions = load(shared_data / "coco" / "results_val2014" / f"{name}.json.gz", references)
    assert len(captions) == 40_504
    candidates, texts = (joined(tokens) for tokens in captions.layer(TokenLayer(PTB)))
    offsets = references.offsets
    official_references = {image: texts[offsets[i] : offsets[i + 1]] for i, image in enumerate(captions.ids)}
    official_candidates = {image: [candidates[i]] for i, image in enumerate(captions.ids)}

    def compare(metric: captious.Metric, corpus: Any, per_caption: Any) -> None:
        statistics = metric.statistics(captions, metric.fit(references))
        np.testing.assert_allclose(metric.aggregate(statistics).T, np.atleast_2d(per_caption), atol=CLOSE, rtol=0)
        found = metric.aggregate(statistics.sum(axis=0))
        np.testing.assert_allclose(found, np.atleast_1d(corpus), atol=CLOSE, rtol=0)

    official = bleu.Bleu(4).compute_score(official_references, official_candidates, verbose=0)
    compare(captious.Bleu(), *official)
    compare(captious.RougeL(), *rouge.Rouge().compute_score(official_references, official_candidates))
    compare(captious.CiderD(), *cider.Cider().compute_score(official_references, official_candidates))
