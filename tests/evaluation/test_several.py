"""Several candidates per image, scored and compared: results, descriptions, and refusals."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.data import read_captions
from captious.errors import DuplicateCandidateError, ParameterError, UnknownNameError
from captious.evaluation.report import score_table
from captious.report.formats import csv, json_text, notebook_html, plain_text, write_captions

REFERENCES = {i: [f"a dog runs on road {i}", f"the dog on the road {i}"] for i in range(12)}
DIVERSE = {i: [f"a dog on road {i}", "the street", "a red bus runs"] for i in REFERENCES}
ALIKE = {i: ["a dog on a road", "a dog on a road", "a dog on the road"] for i in REFERENCES}


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", captious.CaptiousWarning)
        yield


def scored(candidates: Any, *metrics: str, **options: Any) -> captious.Report:
    return captious.score(candidates, REFERENCES, metrics, **{"several": "mean"} | options)


def test_image_scores_are_the_mean_or_best_of_candidates() -> None:
    report = scored(DIVERSE, "rouge-l", "bleu-1", several=("best", "mean"))
    assert list(report) == ["rouge-l", "rouge-l:of-k=best", "bleu-1", "bleu-1:of-k=best"]
    each = [
        captious.score({i: texts[k] for i, texts in DIVERSE.items()}, REFERENCES, ["rouge-l", "bleu-1"])
        for k in range(3)
    ]
    for name in ("rouge-l", "bleu-1"):
        scores = np.stack([one[name].per_caption for one in each])
        np.testing.assert_allclose(report[f"{name}:of-k=best"].per_caption, scores.max(axis=0), rtol=1e-12)
    np.testing.assert_allclose(report["rouge-l"].score, np.mean([one["rouge-l"].score for one in each]), rtol=1e-12)
    # BLEU pools counts: the corpus score of all candidates together.
    pooled = sum(one["bleu-1"].statistics.rows.sum(axis=0) for one in each)
    np.testing.assert_allclose(report["bleu-1"].score, captious.Bleu().aggregate(np.asarray(pooled))[0], rtol=1e-8)
    assert report["rouge-l"].signature.endswith("|of-k:mean|references:2|captious:" + captious.__version__)


def test_loaded_sets_are_scored() -> None:
    sets = read_captions(DIVERSE, REFERENCES, several="mean")
    report = captious.score(sets, metrics=["div"], system="mine")
    assert report.captions is sets
    assert report.system == "mine"
    assert report["div-1"].score == scored(DIVERSE, "div")["div-1"].score
    low, high = report["div-1"].confidence_interval()
    assert low <= report["div-1"].score <= high


def test_diversity_needs_no_references() -> None:
    settings = captious.Settings(idf="coco")
    report = captious.score(DIVERSE, metrics=["div", "self-cider", "lsa"], several="mean", settings=settings)
    expected = scored(DIVERSE, "div", "self-cider", "lsa", settings=settings)
    assert {name: result.score for name, result in report.items()} == {
        name: result.score for name, result in expected.items()
    }
    with pytest.raises(ParameterError, match="self-cider cannot be computed without references"):
        captious.score(DIVERSE, metrics=["self-cider"], several="mean")


def test_a_setting_reaches_the_metrics_within() -> None:
    report = scored(
        {0: ["A DOG", "a dog"]}, "div-1", "rouge-l", settings=captious.Settings(tokenizer="whitespace"), match="common"
    )
    assert report["div-1"].score == pytest.approx(4 / (4 + 1e-6))
    assert "tokenizer:whitespace" in report["rouge-l"].signature
    assert report.left_out == {"candidates": 0, "images": 11}


def test_several_candidates_are_scored_with_concatenated_references() -> None:
    joined = scored(DIVERSE, "bleu-1", "div-1", settings=captious.Settings(references_as="cat"))
    assert "references:cat-" in joined["bleu-1"].signature
    assert joined["div-1"].score == scored(DIVERSE, "div-1")["div-1"].score


def test_invalid_options_for_several_candidates_are_refused() -> None:
    with pytest.raises(DuplicateCandidateError, match="more than one candidate"):
        captious.score(DIVERSE, REFERENCES, ["rouge-l"])
    with pytest.raises(ParameterError, match="several is empty"):
        scored(DIVERSE, "rouge-l", several=())
    with pytest.raises(UnknownNameError, match="several is 'worst'"):
        scored(DIVERSE, "rouge-l", several="worst")


def test_candidates_are_described() -> None:
    training = captious.Settings(training=[["A dog on a road."]])
    found = scored({**ALIKE, 0: ["a cat", "", "a cat"]}, "novel", settings=training).description
    assert (found.n_candidates, found.fewest, found.most) == (36, 3, 3)
    assert found.vocabulary == len({"a", "dog", "on", "road", "the", "cat"})
    assert found.words == pytest.approx((33 * 5 + 4) / 36)
    assert found.distinct == 4 / 36
    assert found.novel == 3 / 36
    assert found.bigrams == pytest.approx(7 / (33 * 5 + 4))
    assert captious.score({0: "a"}, {0: ["a"]}, ["rouge-l"]).description is None


def test_novel_uses_training_captions() -> None:
    settings = captious.Settings(training=["A dog.", "two cats"])
    report = captious.score(["a dog", "cats", ""], [["x"]] * 3, ["novel"], settings=settings)
    assert report["novel"].per_caption.tolist() == [0, 1, 1]
    label = report["novel"].signature.split("|")[3]
    assert label.startswith("training:references-2-")
    other = captious.score(["a dog"], [["x"]], ["novel"], settings=captious.Settings(training=["A dog.", "two dogs"]))
    assert other["novel"].signature.split("|")[3] != label
    with pytest.raises(ParameterError, match="novel needs the captions"):
        captious.score(["a dog"], [["x"]], ["novel"])


def test_systems_with_several_candidates_are_compared() -> None:
    comparison = captious.compare(
        {"a": ALIKE, "b": DIVERSE}, REFERENCES, ["div-2", "mbleu-2", "rouge-l"], several="best", resamples=100
    )
    assert comparison["div-2"].difference > 0
    assert comparison["mbleu-2"].difference < 0
    assert comparison["mbleu-2"].lower_is_better
    assert comparison["div-2"].p_randomization < 0.05
    example = comparison.examples(1, by="div-2")[0]
    assert example.candidate_b == " | ".join(DIVERSE[int(example.id)])
    assert not any("different numbers" in warning for warning in comparison.warnings)


def test_different_numbers_of_candidates_are_warned_about() -> None:
    fewer = {i: texts[:2] for i, texts in ALIKE.items()}
    comparison = captious.compare({"a": fewer, "b": DIVERSE}, REFERENCES, ["div-2"], several="mean", resamples=50)
    assert any("different numbers of candidates per image" in warning for warning in comparison.warnings)
    assert " · 2 to 3 candidates each · " in plain_text(comparison.to_table())
    assert " · 2 to 3 candidates each · " in plain_text(
        captious.by_group(comparison, dict.fromkeys(fewer, 0)).to_table()
    )
    with pytest.raises(ParameterError, match="same number of candidates per image"):
        captious.compare({"a": fewer, "b": DIVERSE}, REFERENCES, ["mbleu-2"], several="mean", resamples=50)


def test_images_without_a_score_are_counted() -> None:
    with pytest.warns(captious.CaptiousWarning, match="11 of 12 images have only one candidate") as caught:
        report = scored({i: texts if i == 0 else texts[:1] for i, texts in DIVERSE.items()}, "mbleu@mean", "lsa")
    assert len([warning for warning in caught if "only one candidate" in str(warning.message)]) == 2
    assert np.isnan(report["lsa"].per_caption[1:]).all()
    assert report["lsa"].score == report["lsa"].per_caption[0]


def test_tables_have_the_range_of_candidates_per_image() -> None:
    fewer = {i: texts[: 1 + i % 2] for i, texts in ALIKE.items()}
    one = {i: texts[:1] for i, texts in ALIKE.items()}
    reports = [scored(each, "div-1") for each in (fewer, DIVERSE, one)]

    def shown(*places: int) -> str:
        return plain_text(score_table([reports[place].named(f"system {place}") for place in places]))

    assert " · 1 to 3 candidates each · " in shown(0, 1)
    assert " · 1 to 2 candidates each · " in shown(0)
    assert " · 1 to 3 candidates each · " in shown(1, 2)
    assert " · 1 candidate each · " in shown(2)


def test_reports_of_several_candidates_have_lists(tmp_path: Path) -> None:
    reports = [
        captious.score(each, REFERENCES, ["div-1", "rouge-l"], several="mean", system=name)
        for name, each in (("alike", ALIKE), ("diverse", DIVERSE))
    ]
    table = plain_text(captious.Reports(reports).to_table(intervals=True))
    assert "12 images · 3 candidates each · 2.0 references each" in table
    assert "vocabulary" in table
    assert "novel" not in table
    document = json.loads(json_text(score_table(reports)))
    assert document["systems"][0]["description"]["vocabulary"] == 5
    assert document["systems"][0]["description"]["candidates_per_image"] == [3, 3]
    assert "rouge-l" in csv(score_table(reports))
    assert "rouge-l" in notebook_html(reports[0].to_table())
    for suffix in (".jsonl", ".csv"):
        write_captions(tmp_path / f"captions{suffix}", reports[:1])
    first = json.loads((tmp_path / "captions.jsonl").read_text().splitlines()[0])
    assert first["candidates"] == ALIKE[0]
    assert (tmp_path / "captions.csv").read_text().splitlines()[1].startswith('0,"[""a dog on a road""')
    with pytest.raises(ParameterError, match="alike has several candidates per image, and only one can be shown"):
        captious.write_report(reports, tmp_path / "page.html")
    assert reports[0].to_records()[1]["candidates"] == ALIKE[1]
    assert reports[0].candidates[2] == ALIKE[2]
