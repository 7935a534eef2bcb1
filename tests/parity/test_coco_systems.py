"""The nine real systems on val2014 against pycocoevalcap, caption by caption. Slow: minutes each."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import read_captions, read_references
from captious.text import PTB, TokenLayer, Tokens
from tests.parity import official_meteor
from tests.support.selection import nightly_but

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
PART_SUFFIX = "-fifth"
PART = f"vinyals-et-al-2017{PART_SUFFIX}"


@pytest.fixture(scope="module")
def references(shared_data: Path) -> captious.References:
    return read_references(shared_data / "coco" / "captions_val2014.json.gz")


def joined(tokens: Tokens) -> list[str]:
    words, at = tokens.vocabulary.words(), tokens.offsets.tolist()
    return [" ".join(words[i] for i in tokens.ids[start:end]) for start, end in itertools.pairwise(at)]


@dataclass
class System:
    """A system's captions, and their tokens and the references', as the official scorers take them: image -> texts."""

    captions: captious.Captions
    candidates: dict[Any, list[str]]
    references: dict[Any, list[str]]


@pytest.fixture(scope="module", params=nightly_but(PART, [PART, *SYSTEMS]))
def system(request: pytest.FixtureRequest, shared_data: Path, references: captious.References) -> System:
    # The official scorers get our tokens: that these are the official ones is tested elsewhere, and a tokenizer that
    # reads all captions as one text gives some captions other tokens than it gives them alone.
    name = request.param.removesuffix(PART_SUFFIX)
    captions = read_captions(shared_data / "coco" / "results_val2014" / f"{name}.json.gz", references)
    assert len(captions) == 40_504
    if request.param == PART:
        captions = captions.select(range(0, len(captions), 5))
    candidates, texts = (joined(tokens) for tokens in captions.layer(TokenLayer(PTB)))
    offsets = captions.references.offsets
    return System(
        captions,
        {image: [candidates[i]] for i, image in enumerate(captions.ids)},
        {image: texts[offsets[i] : offsets[i + 1]] for i, image in enumerate(captions.ids)},
    )


def compare(metric: captious.Metric, system: System, corpus: Any, per_caption: Any) -> None:
    statistics = metric.statistics(system.captions, metric.fit(system.captions.references))
    np.testing.assert_allclose(metric.aggregate(statistics).T, np.atleast_2d(per_caption), atol=CLOSE, rtol=0)
    found = metric.aggregate(statistics.sum(axis=0))
    np.testing.assert_allclose(found, np.atleast_1d(corpus), atol=CLOSE, rtol=0)


@pytest.mark.filterwarnings("default")  # the official code is not ours to keep free of warnings
def test_scores_are_the_official_ones(system: System) -> None:
    bleu = pytest.importorskip("pycocoevalcap.bleu.bleu")
    rouge = pytest.importorskip("pycocoevalcap.rouge.rouge")
    cider = pytest.importorskip("pycocoevalcap.cider.cider")
    texts = (system.references, system.candidates)
    compare(captious.Bleu(), system, *bleu.Bleu(4).compute_score(*texts, verbose=0))
    compare(captious.RougeL(), system, *rouge.Rouge().compute_score(*texts))
    compare(captious.CiderD(), system, *cider.Cider().compute_score(*texts))


@pytest.mark.nightly
@pytest.mark.usefixtures("meteor_tables")
def test_meteor_is_the_official_one(system: System) -> None:
    candidates = [text for (text,) in system.candidates.values()]
    statistics = official_meteor.statistics(candidates, list(system.references.values()))
    scores, corpus = official_meteor.scores(statistics)
    found = captious.Meteor().statistics(system.captions)
    np.testing.assert_array_equal(found, official_meteor.as_summed(statistics))
    compare(captious.Meteor(), system, corpus, scores)
