"""Sums of metrics, as judge and two studies take them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from captious import score
from captious.errors import CaptiousError, ParameterError
from captious.judgment import judge
from captious.judgment.studies import metric_correlations, system_correlations
from tests.support.judgments import write_jsonl

REFERENCES = ["a dog runs on grass", "the dog"]
CAPTIONS = ["a dog runs", "a dog", "the cat sleeps on it", "a red bus", "people", "a dog runs on the grass there"]


@pytest.fixture
def ratings(tmp_path: Path) -> str:
    records = [
        {"image": n, "candidate": text, "references": REFERENCES, "rating": rating}
        for n, (text, rating) in enumerate(zip(CAPTIONS, [4, 3, 1, 1, 2, 5], strict=True))
    ]
    write_jsonl(tmp_path, "own.jsonl", records)
    return str(tmp_path / "own.jsonl")


def test_each_part_counts_in_standard_deviations(ratings: str) -> None:
    result = judge(ratings, ["sum:rouge-l+bleu-1", "rouge-l"], resamples=20)["own"]
    assert list(result.agreements) == ["rouge-l", "sum:rouge-l+bleu-1"]  # bleu-1 was not requested by itself
    references = dict.fromkeys(range(6), REFERENCES)
    report = score(dict(enumerate(CAPTIONS)), references, ["rouge-l", "bleu-1"])
    total = sum(stats.zscore(report[name].per_caption) for name in ("rouge-l", "bleu-1"))
    expected = stats.kendalltau(total, [4, 3, 1, 1, 2, 5], variant="c").statistic
    assert result["sum:rouge-l+bleu-1"].value == pytest.approx(expected)
    assert np.isfinite(expected)
    assert "rouge-l|" in result["sum:rouge-l+bleu-1"].signature


def test_parts_have_one_output(ratings: str) -> None:
    with pytest.raises(ParameterError, match="bleu has several outputs"):
        judge(ratings, "sum:rouge-l+bleu", resamples=20)


def test_weighted_sum_is_judged(ratings: str) -> None:
    result = judge(ratings, "sum:3*rouge-l+0.5*bleu-1", resamples=20)["own"]
    report = score(dict(enumerate(CAPTIONS)), dict.fromkeys(range(6), REFERENCES), ["rouge-l", "bleu-1"])
    total = 3 * stats.zscore(report["rouge-l"].per_caption) + stats.zscore(report["bleu-1"].per_caption) / 2
    expected = stats.kendalltau(total, [4, 3, 1, 1, 2, 5], variant="c").statistic
    assert result["sum:3*rouge-l+0.5*bleu-1"].value == pytest.approx(expected)


def test_requested_output_is_reused_in_a_sum(ratings: str) -> None:
    result = judge(ratings, ["bleu", "sum:ROUGE_L+bleu-1"], resamples=20)["own"]
    assert list(result.agreements) == ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "sum:ROUGE_L+bleu-1"]


def test_parts_keep_their_resources(ratings: str, tmp_path: Path) -> None:
    (tmp_path / "Words.txt").write_text("a\non\n")
    part = f"yi2020-unigram:stop_words={tmp_path / 'Words.txt'}"
    result = judge(ratings, [f"sum:{part}+bleu-1", part], resamples=20)["own"]
    (alone, of_sum) = result.agreements.values()
    assert "stop-words:Words-" in alone.signature
    assert alone.signature in of_sum.signature


@pytest.mark.parametrize(
    ("request_text", "message"),
    [
        ("sum:0*rouge-l+bleu-1", "invalid weight '0'"),
        ("sum:1.2.3*rouge-l+bleu-1", "invalid weight '1.2.3'"),
        ("sum:rouge-l+2*rouge-l", "rouge-l is given twice"),
        ("sum:rouge-l+nosuch", "no metric or output 'nosuch'|there is no metric"),
    ],
)
def test_invalid_sums_are_refused(ratings: str, request_text: str, message: str) -> None:
    with pytest.raises(CaptiousError, match=message):
        judge(ratings, request_text, resamples=20)


def test_sums_are_not_scores_of_captions() -> None:
    with pytest.raises(ParameterError, match="a sum of metrics is not a metric"):
        score(dict(enumerate(CAPTIONS)), dict.fromkeys(range(6), REFERENCES), "sum:rouge-l+bleu-1")


def test_sums_are_accepted_in_studies(ratings: str) -> None:
    by_metric = {r["metric"]: r for r in metric_correlations(ratings, ["sum:rouge-l+bleu-1"]).records}
    assert list(by_metric) == ["rouge-l", "bleu-1", "sum:rouge-l+bleu-1", "people"]
    assert by_metric["people"]["sum:rouge-l+bleu-1"] > 0
    texts = {name: dict(enumerate(["a dog runs on grass"] * n + CAPTIONS[n:])) for n, name in enumerate("abcd")}
    references = {n: REFERENCES[: 1 + n % 2] for n in range(6)}
    study = system_correlations(texts, references, "sum:rouge-l+2*bleu-1", human={"a": 4, "b": 1, "c": 2, "d": 3})
    scores = {r["of"]: r for r in study.records if r["what"] == "score"}
    parts = [stats.zscore([scores[name][metric] for name in "abcd"]) for metric in ("rouge-l", "bleu-1")]
    total = [scores[name]["sum:rouge-l+2*bleu-1"] for name in "abcd"]
    assert total == pytest.approx(list(parts[0] + 2 * parts[1]))
    people = next(r for r in study.records if r["what"] == "over systems" and r["of"] == "people")
    assert people["sum:rouge-l+2*bleu-1"] == pytest.approx(np.corrcoef(total, [4, 1, 2, 3])[0, 1])
    assert "people-sum:rouge-l+2*bleu-1" in study.pictures
