"""Results, reports and differences as Python objects: numbers, mappings, equality, frames and files."""

from __future__ import annotations

import copy
import csv
import json
import math
import operator
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import captious
from captious.errors import OutputError, ParameterError, UnknownNameError
from captious.evaluation.report import GroupScore

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")  # about so few images

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = {name: EXAMPLES / f"{name}.json" for name in ("baseline", "improved")}
REFERENCES = EXAMPLES / "references.json"
METRICS = ["bleu", "cider-d", "rouge-l", "length"]


@pytest.fixture(scope="module")
def reports() -> captious.Reports:
    return captious.score_systems(FILES, REFERENCES, METRICS)


@pytest.fixture(scope="module")
def report(reports: captious.Reports) -> captious.Report:
    return reports["improved"]


class Undefined(captious.Metric):
    name = "undefined"

    def statistics(self, captions: captious.Captions, state: object = None) -> Any:
        return np.zeros((len(captions), 1))

    def aggregate(self, statistics: Any) -> Any:
        return np.full_like(statistics, np.nan)


class TestNumbers:
    @pytest.mark.parametrize("digits", [None, 0, 4])
    def test_a_result_is_rounded_as_its_score(self, report: captious.Report, digits: int | None) -> None:
        result = report["cider-d"]
        assert round(result, digits) == round(result.score, digits)  # type: ignore[call-overload]
        assert round(result) == round(result.score)
        assert isinstance(round(result), int)
        assert float(result) == result.score

    @pytest.mark.parametrize("relation", [operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne])
    @pytest.mark.parametrize("offset", [-0.1, 0, 0.1])
    @pytest.mark.parametrize("kind", [float, np.float64])
    def test_a_result_is_compared_with_numbers(
        self, report: captious.Report, relation: Callable[[Any, Any], bool], offset: float, kind: type[float]
    ) -> None:
        result = report["bleu-4"]
        number = kind(result.score + offset)
        assert relation(result, number) is bool(relation(result.score, number))
        assert relation(number, result) == relation(number, result.score)

    @pytest.mark.parametrize("relation", [operator.lt, operator.le, operator.gt, operator.ge])
    def test_results_are_ordered_by_compare_only(
        self, reports: captious.Reports, relation: Callable[[Any, Any], bool]
    ) -> None:
        with pytest.raises(TypeError, match=r"captious\.compare"):
            relation(*(report["bleu-4"] for report in reports.values()))
        with pytest.raises(TypeError):
            relation(reports["improved"]["bleu-4"], "0.3")

    def test_results_are_keys(self, report: captious.Report) -> None:
        again = pickle.loads(pickle.dumps(report))
        assert {result: name for name, result in report.items()} == {result: name for name, result in again.items()}
        assert hash(report["bleu-4"]) == hash(report["bleu-4"].score)

    def test_intervals_have_one_name(self, reports: captious.Reports) -> None:
        result = reports["improved"]["bleu-4"]
        assert result.interval == result.confidence_interval()
        assert result.interval[0] < result < result.interval[1]
        difference = captious.compare(reports, resamples=99)["bleu-4"]
        assert difference.interval[0] < float(difference) < difference.interval[1]
        grouped = captious.by_group(reports["improved"], dict.fromkeys(reports["improved"].ids, "all"))
        spans = {score.metric: score.interval for score in grouped.scores(intervals=True) if score.part == "micro"}
        assert spans["bleu-4"] == result.interval

    def test_caption_scores_are_found_by_image(self, report: captious.Report) -> None:
        result = report["cider-d"]
        assert [*result.by_image] == [*report.ids]
        assert result.by_image[str(report.ids[0])] == result.by_image[report.ids[0]] == result.per_caption[0]
        assert result.by_image.get("none") is None
        assert [*result.by_image.values()] == result.per_caption.tolist()
        assert np.mean([*result.by_image.values()]) == pytest.approx(result.score)


class TestEquality:
    @pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))])
    def test_copies_are_equal(self, reports: captious.Reports, duplicate: Callable[[Any], Any]) -> None:
        comparison = captious.compare(reports, resamples=9)
        for thing in (reports["improved"]["bleu-4"], reports["improved"], reports, comparison, comparison["bleu-4"]):
            assert duplicate(thing) == thing
            assert (duplicate(thing) != thing) is False

    def test_scoring_again_gives_equal_reports(self, report: captious.Report) -> None:
        again = captious.score(FILES["improved"], REFERENCES, METRICS)
        assert again == report
        assert again["bleu-4"] == report["bleu-4"]

    def test_what_differs_is_not_equal(self, reports: captious.Reports) -> None:
        baseline, improved = reports.values()
        assert baseline != improved
        assert baseline["bleu-4"] != improved["bleu-4"]
        assert improved["bleu-3"] != improved["bleu-4"]
        assert improved.named("other") != improved
        assert improved != "improved"
        assert captious.score(FILES["improved"], REFERENCES, "bleu-4") != improved

    def test_undefined_scores_are_equal(self) -> None:
        first, again = (captious.score(["a dog"], [["a dog"]], Undefined()) for _ in range(2))
        assert math.isnan(first["undefined"])
        assert first == again
        assert hash(first["undefined"]) == hash(again["undefined"])
        assert first["undefined"] != math.nan
        scores = [GroupScore("group", "g", 1, "m", math.nan, (math.nan, 1.0), None, "m|") for _ in range(2)]
        assert scores[0] == scores[1]
        assert len({*scores}) == 1

    def test_reports_of_other_captions_are_not_equal(self) -> None:
        references = {1: ["a dog", "the dog"]}
        first, other = (captious.score({1: text}, references, "rouge-l") for text in ("one cat", "two cats"))
        assert first["rouge-l"].score == other["rouge-l"].score == 0
        assert first != other


#: Names -> the result that they stand for in a report with bleu, cider-d, rouge-l and length; None if there is none.
NAMES = {
    "bleu-4": "bleu-4",
    "Bleu_4": "bleu-4",
    "BLEU-4": "bleu-4",
    "B@4": "bleu-4",
    "cider-d": "cider-d",
    "CIDEr-D": "cider-d",
    "CIDEr": "cider-d",
    "C": "cider-d",
    "ROUGE_L": "rouge-l",
    "R-L": "rouge-l",
    "cider-d:sigma=6": "cider-d",
    "cider-d:sigma=3": None,
    "CIDEr:sigma=3": None,
    "cider": None,
    "bleu": None,
    "B@5": None,
    "": None,
    "nothing": None,
    4: None,
}


@pytest.mark.parametrize("name", NAMES, ids=repr)
def test_names_in_a_report_agree(report: captious.Report, name: Any) -> None:
    label = NAMES[name]
    assert (name in report) is (label is not None)
    assert report.get(name) is (None if label is None else report[label])
    if label is None:
        with pytest.raises(UnknownNameError):
            report[name]
    else:
        assert report[name].name == label


@pytest.mark.parametrize(
    ("metrics", "name", "label"),
    [
        (["cider-d:sigma=3"], "CIDEr", "cider-d:sigma=3"),
        (["cider-d:sigma=3"], "cider-d", "cider-d:sigma=3"),
        (["cider-d:sigma=3", "cider-d"], "CIDEr", "cider-d"),
        (["cider", "cider-d"], "CIDEr", "cider"),
        (["meteor"], "METEOR", "meteor"),
    ],
)
def test_names_stand_for_what_was_scored(metrics: list[str], name: str, label: str) -> None:
    assert captious.score(FILES["improved"], REFERENCES, metrics)[name].name == label


@pytest.mark.parametrize("name", ["bleu", "BLEU", "length"])
def test_the_name_of_a_family_is_answered_with_its_outputs(report: captious.Report, name: str) -> None:
    with pytest.raises(UnknownNameError, match="is a metric, not one of its outputs") as caught:
        report[name]
    outputs = [label for label in report if label.startswith(name.lower())]
    assert caught.value.hint == f"name one: {', '.join(outputs)}"


def test_a_report_lists_its_metrics(report: captious.Report) -> None:
    assert report.metrics == ("bleu-1", "bleu-2", "bleu-3", "bleu-4", *report.metrics[4:])
    assert [*report.metrics] == [*report]


class TestWorst:
    def test_the_worst_come_first(self, report: captious.Report) -> None:
        worst = report.worst("CIDEr", 3)
        scores = report["cider-d"].by_image
        assert [scores[image] for image in worst] == sorted(scores.values())[:3]
        assert report.worst("cider-d") == worst[:1]
        assert len(report.worst("cider-d", 10_000)) == report.n_images

    def test_lower_scores_may_be_better(self) -> None:
        objects = captious.Settings(objects={1: ["dog"], 2: ["dog"]})
        report = captious.score({1: "a dog", 2: "a cat"}, None, "chair", settings=objects)
        assert report.worst("chair-i", 2) == [2, 1]

    @pytest.mark.parametrize(
        ("metric", "n", "message"),
        [
            ("length-words", 1, "neither higher nor lower"),
            ("cider-d", 0, "n is 0"),
            ("cider-d", -1, "n is -1"),
            ("cider-d", 1.5, "n is 1.5"),
            ("cider-d", True, "n is True"),
        ],
    )
    def test_other_arguments_are_refused(self, report: captious.Report, metric: str, n: Any, message: str) -> None:
        with pytest.raises(ParameterError, match=message):
            report.worst(metric, n)


class TestFiles:
    def test_frames_and_files_have_a_row_for_each_image(self, reports: captious.Reports, tmp_path: Path) -> None:
        pandas = pytest.importorskip("pandas")
        for result, first in ((reports["improved"], []), (reports, ["system"])):
            frame = result.to_pandas()
            result.to_csv(tmp_path / "rows.csv")
            written = pandas.read_csv(tmp_path / "rows.csv")
            assert [*frame.columns] == [*written.columns] == [*first, "id", "candidate", *reports["improved"]]
            pandas.testing.assert_frame_equal(frame, written)
        assert len(frame) == sum(report.n_images for report in reports.values())

    def test_a_report_is_written_to_json(self, reports: captious.Reports) -> None:
        for result in (reports, reports["improved"], captious.compare(reports, resamples=9)):
            assert json.loads(result.to_json()) == result.to_dict()

    def test_undefined_scores_are_null_and_empty(self, tmp_path: Path) -> None:
        report = captious.score(["a dog"], [["a dog"]], Undefined())
        assert json.loads(report.to_json())["metrics"]["undefined"]["score"] is None
        report.to_csv(tmp_path / "rows.csv")
        assert (tmp_path / "rows.csv").read_text() == "id,candidate,undefined\n0,a dog,\n"

    def test_captions_are_written_as_they_are(self, tmp_path: Path) -> None:
        captions = {1: "=1+1", 2: "-5 °C", 3: "'quoted'", 4: "two\nlines"}
        report = captious.score(captions, {image: ["a dog", "the dog"] for image in captions}, "bleu-1")
        report.to_csv(tmp_path / "rows.csv")
        again = captious.read_captions(tmp_path / "rows.csv", {image: ["a dog"] for image in captions})
        assert dict(zip(again.ids, again.candidates, strict=True)) == captions

    def test_several_candidates_are_a_list(self, tmp_path: Path) -> None:
        report = captious.score({1: ["a dog", "dogs"]}, {1: ["a dog"]}, "rouge-l", several="mean")
        assert report.to_records()[0]["candidates"] == ["a dog", "dogs"]
        report.to_csv(tmp_path / "rows.csv")
        [row] = csv.DictReader((tmp_path / "rows.csv").read_text().splitlines())
        assert json.loads(row["candidates"]) == ["a dog", "dogs"]

    def test_a_file_that_cannot_be_written_is_left_alone(self, report: captious.Report, tmp_path: Path) -> None:
        for result in (report, captious.check(FILES["improved"])):
            with pytest.raises(OutputError, match="cannot write"):
                result.to_csv(tmp_path / "nowhere" / "rows.csv")
            with pytest.raises(OutputError, match="it is a folder"):
                result.to_csv(tmp_path)
        assert not [*tmp_path.iterdir()]
