"""SMURF: the fusion against the published column, its constants, its place among metrics."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from captious.data.matching import hold_out
from captious.errors import ParameterError
from captious.metrics.smurf import PUBLISHED, THRESHOLD, Smurf, SmurfConstants, fuse, grammar_penalty
from captious.words import DEFAULT_SEED
from tests.oracles import smurf as oracle
from tests.support.corpora import TOY, references_table, table
from tests.support.random_roberta import CAPTIONS

MOMENTS = (PUBLISHED.sparcs, PUBLISHED.spurts, PUBLISHED.mima)
FINITE = st.floats(-10, 10)


@pytest.fixture(scope="module")
def published(request: pytest.FixtureRequest) -> dict[str, NDArray[np.float64]]:
    """The shipped columns, float64[5000 images, 4 captioners]; captioner 0 is people."""
    shared: Path = request.getfixturevalue("shared_data")
    with gzip.open(shared / "smurf" / "karpathy_4captioners.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line)["smurf_scores"] for line in lines]
    return {
        name: np.array([[caption[name] for caption in row] for row in rows])
        for name in ("SPARCS", "SPURTS", "MIMA", "SMURF")
    }


def test_fusion_is_that_of_the_published_column(published: dict[str, NDArray[np.float64]]) -> None:
    parts = PUBLISHED.standardized(published["SPARCS"], published["SPURTS"], published["MIMA"])
    np.testing.assert_allclose(fuse(*parts), published["SMURF"], rtol=0, atol=1e-12)
    assert 0.01 < (parts[0] < THRESHOLD).mean() < 0.5, "both branches are taken"


def test_grammar_penalties_equal_the_published_ones(published: dict[str, NDArray[np.float64]]) -> None:
    mima = PUBLISHED.standardized(published["SPARCS"], published["SPURTS"], published["MIMA"])[2]
    penalties = grammar_penalty(mima).sum(axis=0)
    np.testing.assert_allclose(penalties, [-44.925413, -7.467223, -7.561214, -4.464583], rtol=0, atol=5e-7)


def test_published_constants_are_those_of_people(published: dict[str, NDArray[np.float64]]) -> None:
    people = (published[name][:, 0] for name in ("SPARCS", "SPURTS", "MIMA"))
    constants = SmurfConstants.of(*people, mima_model="", spurts_model="", name="again")
    for part in ("sparcs", "spurts", "mima"):
        np.testing.assert_allclose(getattr(constants, part), getattr(PUBLISHED, part), rtol=0, atol=5e-7)


@given(sparcs=FINITE, spurts=FINITE, mima=FINITE, threshold=FINITE, average=st.booleans())
def test_fused_score_equals_the_oracle(
    sparcs: float, spurts: float, mima: float, threshold: float, average: bool
) -> None:
    fused = fuse(np.array([sparcs]), np.array([spurts]), np.array([mima]), threshold, average=average)
    assert fused[0] == pytest.approx(oracle.fused(sparcs, spurts, mima, threshold, average), abs=1e-12)


def test_score_at_the_threshold_is_not_an_outlier() -> None:
    at, zero = np.array([THRESHOLD]), np.zeros(1)
    assert fuse(at, zero, zero)[0] == pytest.approx(0)  # (-1.96 + 1.96 + 0) / 3
    assert fuse(np.nextafter(at, -3), zero, zero)[0] == pytest.approx(-0.98)
    assert fuse(at, zero, zero, average=False)[0] == pytest.approx(0)


@pytest.mark.models
def test_scores_are_the_fusion_of_the_three_metrics(roberta: str) -> None:
    captions = table([*CAPTIONS, ""], [["a man on a road", "a dog"]] * (len(CAPTIONS) + 1))
    for variant, average in (("official", True), ("paper", False)):
        metric = Smurf(model=roberta, variant=variant, threshold=-1.0)
        sparcs, spurts, mima = (
            metric_of_part.scores(captions) for metric_of_part in (metric.sparcs, metric.spurts, metric.mima)
        )
        s, u, m = (
            ((part - mean) / deviation).tolist()
            for part, (mean, deviation) in zip((sparcs, spurts, mima), MOMENTS, strict=True)
        )
        oracle_scores = [oracle.fused(*row, -1.0, average) for row in zip(s, u, m, strict=True)]
        np.testing.assert_allclose(metric.aggregate(metric.statistics(captions))[:, 0], oracle_scores, rtol=1e-12)
        assert spurts[-1] == mima[-1] == 0


@pytest.mark.models
def test_constants_of_other_models_are_warned_of(roberta: str) -> None:
    captions = TOY.table()
    metric = Smurf(model=roberta)
    assert "computed with other models" in metric.warnings(captions, None)[0]
    own = Smurf(model=roberta, constants=metric.calibrate(captions, "toy"))
    assert own.warnings(captions, None) == []
    assert PUBLISHED.hold_for("distilbert-base-uncased@12ab", "distilroberta-base@34cd,bfloat16")
    assert not PUBLISHED.hold_for("distilroberta-base@12ab", "distilroberta-base@34cd")


@pytest.mark.models
def test_calibrated_constants_standardize(roberta: str, tmp_path: Path) -> None:
    captions = table(CAPTIONS, [["a man on a dirt road", "a dog and a cat", "people"]] * len(CAPTIONS))
    metric = Smurf(model=roberta)
    constants = metric.calibrate(captions, "toy", "ten captions")
    for part in constants.standardized(*metric.part_scores(captions).T):
        assert part.mean() == pytest.approx(0, abs=1e-12)
        assert part.std() == pytest.approx(1, abs=1e-12)
    constants.save(tmp_path / "toy.json")
    again = SmurfConstants.load(tmp_path / "toy.json")
    assert again == constants
    assert again.label == constants.label


@pytest.mark.models
def test_constants_are_fitted_to_references(roberta: str) -> None:
    references = references_table([[text, "a man on a dirt road", "a dog"] for text in CAPTIONS])
    metric = Smurf(model=roberta)
    fitted = metric.fit_resource(references)
    people, _ = hold_out(references, DEFAULT_SEED)
    assert fitted.sparcs == metric.calibrate(people, "references").sparcs
    assert fitted.hold_for(metric.mima.encoder.label, metric.spurts.encoder.label)
    assert "one reference per image" in fitted.source
    assert f"{len(CAPTIONS)} images" in fitted.source
    assert fitted == metric.fit_resource(references)
    assert fitted != metric.fit_resource(references, seed=1)


def test_constants_must_vary() -> None:
    with pytest.raises(ParameterError, match="mima cannot be standardized"):
        replace(PUBLISHED, mima=(0.5, 0.0))
    with pytest.raises(ParameterError, match="no captions"):
        SmurfConstants.of(*[np.zeros(0)] * 3, mima_model="", spurts_model="", name="none")
