"""Mean scores of systems against their mean ratings: scipy, by hand, resamples, and files of one's own."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import captious
from captious.cli import captious as command_line
from captious.errors import CaptionFileError, UnknownNameError
from captious.judgment import load_judgments
from captious.judgment.items import RatedCaption, judgments_of
from captious.judgment.judgments import (
    SYSTEM_FACT,
    SYSTEM_STATISTICS,
    Protocol,
    RatedSystems,
    agreement_of_systems,
)

PROTOCOL = Protocol("b", "p", "pearson", "each", "captions", systems=SYSTEM_FACT, ties=0.5)
SYSTEMS = ("a", "b", "c", "d")
# Four systems of which each described five images.
ITEMS: list[Any] = [
    RatedCaption(f"{image}|{system}", image, f"a dog {k}", ["a dog"], [k + image % 2, 5.0], facts={"system": system})
    for image in range(5)
    for k, system in enumerate(SYSTEMS)
]


def judged(statistic: str = "pearson") -> RatedSystems:
    found = judgments_of(replace(PROTOCOL, statistic=statistic), ITEMS, {})
    assert isinstance(found, RatedSystems)
    return found


def test_system_scores_are_means_of_captions() -> None:
    found = judged()
    scores = np.random.default_rng(0).random(len(ITEMS))
    of_systems = scores.reshape(5, 4).mean(axis=0)
    ratings = np.array([[np.mean(item.ratings) for item in ITEMS]]).reshape(5, 4).mean(axis=0)
    assert found.values(scores) == pytest.approx([stats.pearsonr(of_systems, ratings).statistic])
    assert found.n == 4
    assert found.n_units == 5
    assert found.part_names == ()


def test_a_resample_is_the_corpus_that_has_its_images() -> None:
    found, scores = judged(), np.random.default_rng(1).random(len(ITEMS))
    counts = np.array([[2, 0, 1, 1, 1]], np.int32)
    rows = [row for row, item in enumerate(ITEMS) for _ in range(int(counts[0][item.image]))]
    means = [np.mean([scores[row] for row in rows if ITEMS[row].facts["system"] == name]) for name in SYSTEMS]
    human = [np.mean([np.mean(ITEMS[r].ratings) for r in rows if ITEMS[r].facts["system"] == s]) for s in SYSTEMS]
    assert found.resampled(scores, counts) == pytest.approx([stats.pearsonr(means, human).statistic])


@pytest.mark.parametrize("statistic", SYSTEM_STATISTICS[:3])
def test_correlations_are_those_of_scipy(statistic: str) -> None:
    rng = np.random.default_rng(2)
    scores, ratings = rng.integers(0, 4, (2, 30, 6)).astype(float)
    expected = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall-tau-b": stats.kendalltau}[statistic]
    found = agreement_of_systems(statistic, scores, ratings)
    assert found == pytest.approx([expected(x, y).statistic for x, y in zip(scores, ratings, strict=True)])


def test_pairwise_accuracy_counts_ordered_pairs() -> None:
    ratings = np.array([[1.0, 2, 3, 3]])  # five pairs that people tell apart
    assert agreement_of_systems("pairwise-accuracy", np.array([[1.0, 2, 3, 9]]), ratings) == pytest.approx([1])
    assert agreement_of_systems("pairwise-accuracy", np.array([[2.0, 1, 3, 4]]), ratings) == pytest.approx([4 / 5])
    assert agreement_of_systems("pairwise-accuracy", np.array([[2.0, 2, 3, 4]]), ratings) == pytest.approx([4.5 / 5])
    assert agreement_of_systems("pairwise-accuracy", np.array([[2.0, 2, 3, 4]]), ratings, ties=0) == pytest.approx(
        [0.8]
    )
    assert np.isnan(agreement_of_systems("pairwise-accuracy", ratings, np.ones((1, 4)))).all()


def test_metric_does_not_differ_from_itself() -> None:
    found, scores = judged("pairwise-accuracy"), np.random.default_rng(3).random(len(ITEMS))
    swaps = np.random.default_rng(0).integers(0, 2, (50, 5), np.uint8)
    assert found.p_value(scores, scores, swaps) == 1


def test_a_clear_difference_is_found() -> None:
    rng = np.random.default_rng(4)
    items = [
        RatedCaption(f"{i}|{k}", i, "a", ["b"], [float(k)], facts={"system": k}) for i in range(60) for k in range(12)
    ]
    found = judgments_of(PROTOCOL, items, {})
    good = np.array([item.ratings[0] for item in items]) + rng.normal(size=len(items))
    assert found.permutation_test(good, rng.normal(size=len(items)), 200, 0) < 0.02


def write(path: Path, n_systems: int = 3) -> Path:
    lines = [
        {
            "image": i,
            "candidate": f"a dog {'runs ' * k}",
            "references": ["a dog runs runs runs"],
            "rating": k,
            "system": s,
        }
        for i in range(4)
        for k, s in enumerate(SYSTEMS[:n_systems])
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.mark.parametrize("statistic", SYSTEM_STATISTICS)
def test_own_judgments_of_systems_are_judged(tmp_path: Path, statistic: str) -> None:
    path = write(tmp_path / "mine.jsonl")
    judgment = captious.judge(f"{path}@system-{statistic}", ["rouge-l", "bleu-1"], resamples=20, compare=True)
    assert "the mean of a caption's ratings is a point" in judgment.to_markdown()
    result = judgment["mine"]
    assert result.n == 3
    assert result["rouge-l"].value > 0.8
    assert result.protocol.systems == SYSTEM_FACT
    assert "systems" in result.to_dict()["protocol"]


def test_own_judgments_with_too_few_systems_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl")
    path.write_text(path.read_text() + json.dumps({"candidate": "a", "references": ["a"], "rating": 1}) + "\n")
    with pytest.raises(CaptionFileError, match="no system") as caught:
        load_judgments(f"{path}@system-pearson")
    assert "line 13: found 'candidate', 'references', 'rating'" in caught.value.where
    assert '"system"' in caught.value.hint
    with pytest.raises(CaptionFileError, match="2 systems are too few"):
        load_judgments(f"{write(path, 2)}@system-pearson")
    with pytest.raises(UnknownNameError, match="system-kendall-tau-c"):
        load_judgments(f"{path}@system-kendall-tau-c")


def test_the_table_names_the_statistic(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl")
    command = ["judge", f"{path}@system-pairwise-accuracy", "-m", "rouge-l", "--resamples", "20"]
    out = CliRunner().invoke(command_line, command).output
    assert "pairwise-accuracy ×100, n = 3" in out
    assert "mean scores are compared with mean ratings" in out
    items = CliRunner().invoke(command_line, ["data", "items", f"{path}@system-pearson"]).output
    assert len(items.splitlines()) == 12
