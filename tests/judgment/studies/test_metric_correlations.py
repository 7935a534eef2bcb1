"""Correlations between metrics and with human scores, against numpy, scipy and judge."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from captious.errors import ParameterError
from captious.judgment import judge, load_judgments
from captious.judgment.scores import as_selection, score_captions
from captious.judgment.studies import metric_correlations

METRICS = ["bleu-1", "rouge-l", "cider-d"]


def constant(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
    return [1.0] * len(candidates)


def test_correlations_with_people_equal_judge(shared_data: Path) -> None:
    study = metric_correlations("flickr8k-expert", METRICS, statistic="kendall-tau-c", data=shared_data)
    verdict = judge("flickr8k-expert", METRICS, data=shared_data, resamples=2)["flickr8k-expert"]
    of_people = study.records[-1]
    assert of_people["metric"] == "people"
    for metric in METRICS:
        assert of_people[metric] == pytest.approx(verdict[metric].value, abs=1e-12)
    assert study.data == verdict.data


@pytest.mark.parametrize("statistic", ["pearson", "spearman", "kendall-tau-b"])
def test_correlations_of_metrics_equal_scipy(shared_data: Path, statistic: str) -> None:
    study = metric_correlations("flickr8k-expert", METRICS, statistic=statistic, data=shared_data)
    judgments = load_judgments("flickr8k-expert", shared_data)
    report = score_captions(judgments.captions, as_selection(METRICS))  # type: ignore[attr-defined]
    with gzip.open(shared_data / "flickr8k" / "expert.jsonl.gz", "rt", encoding="utf-8") as file:
        kept = [r for r in map(json.loads, file) if not r["candidate_in_refs"]]
    columns = [np.repeat(report[metric].per_caption, 3) for metric in METRICS]
    columns.append(np.concatenate([r["scores"] for r in kept]))
    test = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall-tau-b": stats.kendalltau}[statistic]
    labels = [*METRICS, "people"]
    matrix = study.pictures["metrics"]
    assert list(matrix.labels) == labels
    np.testing.assert_array_equal(matrix.values, matrix.values.T)
    for i, (label, a) in enumerate(zip(labels, columns, strict=True)):
        assert study.records[i]["metric"] == label
        for j, b in enumerate(columns[:i]):
            expected = test(a, b).statistic
            assert matrix.values[i, j] == pytest.approx(expected, abs=1e-12)
            assert study.records[i][labels[j]] == matrix.values[i, j]
        assert matrix.values[i, i] == study.records[i][label] == 1


def test_pairs_are_differences(tmp_path: Path) -> None:
    """Of pairs, the points are what two captions differ by; longer ones are better here, once they are not."""
    pairs = [("a b c", "a"), ("a b", "a"), ("a", "a b")]
    path = tmp_path / "pairs.jsonl"
    path.write_text(
        "".join(json.dumps({"better": x, "worse": y, "references": ["a b c d"]}) + "\n" for x, y in pairs * 2)
    )

    def words(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return [len(candidate.split()) for candidate in candidates]

    def fewer(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> list[float]:
        return [-2.0 * len(candidate.split()) + 7 for candidate in candidates]

    study = metric_correlations(path, [words, fewer, constant])
    assert study.records[0]["fewer"] == pytest.approx(-1)
    # Pairs count in both orders: that the better one always comes first in the file is no matter.
    margins = np.array([2, 1, -1] * 2)
    both = np.concatenate([margins, -margins])
    expected = np.corrcoef(both, np.repeat([1, -1], 6))[0, 1]
    assert study.records[0]["people"] == pytest.approx(expected)
    # A constant correlates with nothing.
    assert study.records[2]["words"] is None
    assert np.isnan(study.pictures["metrics"].values[0, 2])


def test_correlations_on_pascal_pairs(shared_data: Path) -> None:
    study = metric_correlations("pascal-50s", ["rouge-l", "cider-d"], data=shared_data)
    judgments = load_judgments("pascal-50s", shared_data)
    report = score_captions(judgments.captions, as_selection(["rouge-l", "cider-d"]))  # type: ignore[attr-defined]
    with gzip.open(shared_data / "pascal50s" / "pairs.jsonl.gz", "rt", encoding="utf-8") as file:
        preferred = np.array([json.loads(line)["label48"] for line in file])
    margins = [report[metric].per_caption.reshape(-1, 2) @ [1, -1] for metric in ("rouge-l", "cider-d")]
    expected = np.corrcoef([np.concatenate([row, -row]) for row in (*margins, 1 - 2 * preferred)])
    np.testing.assert_allclose(study.pictures["metrics"].values, expected, atol=1e-12)
    assert study.records[-1]["rouge-l"] > 0.5


def test_systems_are_refused(shared_data: Path) -> None:
    with pytest.raises(ParameterError, match="judges systems"):
        metric_correlations("coco-2015", METRICS, data=shared_data)
