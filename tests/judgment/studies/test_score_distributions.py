"""Distributions of human and machine captions: scores against the public ones, AUC and overlap by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import mannwhitneyu

import captious
from captious.data.matching import hold_out
from captious.judgment.studies.distributions import PEOPLE, _auc, _overlap, score_distributions
from tests.support.corpora import references_table

PEOPLE_SAY = [
    ["a dog runs on the beach", "a dog is running", "one dog on a beach"],
    ["a red bus", "a bus on a street", "a red bus is on the street"],
    ["two cats sleep", "two cats on a sofa", "cats are sleeping"],
    ["a lonely caption"],
]
GOOD = {0: "a dog is running on the beach", 1: "a red bus on a street", 2: "two cats sleep on a sofa", 3: "a caption"}
BAD = {0: "a red bus", 1: "two cats", 2: "a dog runs", 3: "a street"}


def test_human_captions_are_scored_against_the_references_that_are_left() -> None:
    table = references_table(PEOPLE_SAY)
    study = score_distributions(
        {"good": GOOD, "bad": BAD}, table, "rouge-l", sample=None, resamples=20, match="common", seed=0
    )
    people, left_out = hold_out(table, 0)
    assert left_out == 1
    expected = captious.score(people, metrics="rouge-l")["rouge-l"].per_caption
    record = study.records[0]
    assert (record["metric"], record["captions_of"]) == ("rouge-l", PEOPLE)
    assert record["mean"] == pytest.approx(expected.mean())
    assert record["q50"] == pytest.approx(np.median(expected))
    assert "auc" not in record
    good, bad = study.records[1:]
    systems = captious.read_captions({image: GOOD[image] for image in (0, 1, 2)}, people.references)
    scores = captious.score(systems, metrics="rouge-l")["rouge-l"].per_caption
    assert good["mean"] == pytest.approx(scores.mean())
    assert good["auc"] == pytest.approx(mannwhitneyu(expected, scores).statistic / 9)
    assert bad["auc"] > good["auc"]
    assert study.settings["images"] == 3
    assert any("1 image with a single reference" in note for note in study.notes)


def test_auc_is_that_of_mann_and_whitney() -> None:
    rng = np.random.default_rng(0)
    human, machine = rng.integers(0, 6, 40).astype(float), rng.integers(0, 5, 40).astype(float)
    ranks = np.unique(np.concatenate([human, machine]), return_inverse=True)[1]
    counts = np.stack([np.ones(40), rng.multinomial(40, np.full(40, 1 / 40))]).astype(float)
    for count, found in zip(counts, _auc(counts, ranks), strict=True):
        drawn = np.repeat(np.arange(40), count.astype(int))
        assert found == pytest.approx(mannwhitneyu(human[drawn], machine[drawn]).statistic / 40**2)


def test_overlap_is_the_common_share_of_histograms() -> None:
    edges = np.linspace(0, 1, 41)
    low, high = np.array([0.01, 0.01, 0.5, 0.99]), np.array([0.01, 0.99, 0.99, 1.0])
    assert _overlap(low, low, edges) == 1
    assert _overlap(low, high, edges) == pytest.approx(0.5)  # a quarter at the bottom, a quarter at the top
    assert _overlap(low[:2], high[1:], edges) == 0


def test_intervals_are_of_as_many_resamples_as_asked() -> None:
    """The interval of a single resample is a point, that of two spans them."""
    references = {i: ["a dog", f"a dog and {i} cats", f"{i} cats"] for i in range(9)}
    system = {i: f"{i} cats" if i % 2 else "a dog runs" for i in range(9)}
    for resamples in (1, 2):
        study = score_distributions({"mine": system}, references, ["rouge-l"], sample=9, resamples=resamples)
        assert (study.records[1]["auc_low"] == study.records[1]["auc_high"]) == (resamples == 1)
