"""AllSPICE: merged scene graphs of candidates, as the replacement of the official program has them."""

from __future__ import annotations

import numpy as np
import pytest

import captious
from captious.compat.pycocoevalcap import Spice
from captious.data import read_captions
from captious.scenes.graphs import CATEGORIES
from tests.support.every_metric import MISSING

pytestmark = pytest.mark.skipif("spice" in MISSING, reason="no pycocoevalcap")

REFERENCES = {
    1: ["a black dog runs on the grass", "a dog is playing with a red ball"],
    2: ["two men ride horses", "men on brown horses near a fence"],
    3: ["a cat"],
}
CANDIDATES = {
    1: ["a dog runs", "a black dog with a ball", "a dog runs"],
    2: ["a man on a horse"],
    3: ["", "a white cat sleeps"],
}


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_the_replacement_of_the_official_program_gives_the_same() -> None:
    metric = captious.AllSpice(tokenizer="whitespace")
    sets = read_captions(CANDIDATES, REFERENCES, several="mean")
    scores = metric.aggregate(metric.statistics(sets))
    corpus, per_image = Spice().compute_score(REFERENCES, CANDIDATES)
    np.testing.assert_allclose(metric.aggregate(metric.statistics(sets).sum(axis=0))[0], corpus, rtol=1e-12)
    for row, official in zip(scores, per_image, strict=True):
        outputs = dict(zip(metric.outputs, row.tolist(), strict=True))
        assert outputs["allspice"] == official["All"]["f"]
        assert (outputs["allspice-p"], outputs["allspice-r"]) == (official["All"]["pr"], official["All"]["re"])
        for category in CATEGORIES[1:]:
            np.testing.assert_equal(outputs[f"allspice-{category}"], official[category.capitalize()]["f"])


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_allspice_of_single_candidates_equals_spice() -> None:
    one = {image: texts[:1] for image, texts in CANDIDATES.items()}
    report = captious.score(one, REFERENCES, ["spice", "allspice"], several="mean")
    np.testing.assert_array_equal(report["allspice"].per_caption, report["spice"].per_caption)


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_copies_add_nothing_and_other_facts_do() -> None:
    def allspice(*candidates: str) -> float:
        return captious.score([[*candidates]], [REFERENCES[1]], ["allspice"], several="mean")["allspice"].score

    assert allspice("a dog runs", "a dog runs") == allspice("a dog runs")
    assert allspice("a dog runs", "a black dog") > allspice("a dog runs")
