"""Several systems at once: scored by one call, compared in pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import captious
from captious.errors import InputError, ParameterError, UnknownNameError
from captious.evaluation.report import system_names
from captious.statistics import holm

ANIMALS = ("dog", "cat", "cow")
REFERENCES = {i: [f"a {animal} runs", f"the {animal} is running fast"] for i, animal in enumerate(ANIMALS)}
GOOD = {i: f"a {animal} is running" for i, animal in enumerate(ANIMALS)}
POOR = dict.fromkeys(REFERENCES, "a red bus")
METRICS = ["bleu-1", "rouge-l"]
FILES = {name: f"examples/{name}.json" for name in ("baseline", "improved")}
SHARED = "examples/references.json"


class TestScore:
    def test_systems_are_scored_as_if_alone(self) -> None:
        reports = captious.score_systems({"good": GOOD, "poor": POOR}, REFERENCES, METRICS)
        for name, candidates in {"good": GOOD, "poor": POOR}.items():
            alone = captious.score(candidates, REFERENCES, METRICS, system=name)
            assert reports[name].to_dict() == alone.to_dict()
        with pytest.raises(UnknownNameError, match="good, poor"):
            reports["other"]

    @pytest.mark.filterwarnings("ignore")
    def test_files_of_systems_have_columns_and_splits_of_their_own(self, tmp_path: Path) -> None:
        rows = [
            {"image_id": i, "caption": text, "split": "val" if i == 2 else "test"}
            for i in (0, 1, 2)
            for text in REFERENCES[i]
        ]
        (tmp_path / "good.csv").write_text("key,text\n" + "".join(f"{i},{GOOD[i]}\n" for i in (0, 1)))
        (tmp_path / "references.json").write_text(json.dumps(rows))
        good = captious.CaptionFile(tmp_path / "good.csv", columns={"id": "key", "caption": "text"})
        references = captious.CaptionFile(tmp_path / "references.json", split="test")
        systems = {"good": good, "poor": {i: POOR[i] for i in (0, 1)}}
        first = {i: REFERENCES[i] for i in (0, 1)}
        reports = captious.score_systems(systems, references, METRICS)
        expected = captious.score_systems(
            {name: {i: one[i] for i in first} for name, one in {"good": GOOD, "poor": POOR}.items()}, first, METRICS
        )
        assert reports.to_dict() == expected.to_dict()
        assert captious.compare(reports).to_dict() == captious.compare(expected).to_dict()
        assert captious.check(good, references).system == "good"
        with pytest.raises(InputError, match="no column 'yek'"):
            captious.score(captious.CaptionFile(good.path, columns="id=yek"), references, METRICS)
        with pytest.raises(InputError, match="there is no split 'dev'"):
            captious.score(good, captious.CaptionFile(references.path, split="dev"), METRICS)

    @pytest.mark.filterwarnings("ignore")
    def test_systems_may_have_the_names_of_images(self) -> None:
        images = {"a": "a dog runs", "b": "a cat sits"}
        references = {image: [text] for image, text in images.items()}
        reports = captious.score_systems({"a": images, "b": images}, references, "rouge-l")
        assert [report["rouge-l"].score for report in reports.values()] == [1, 1]
        with pytest.raises(ParameterError, match="captions of one system"):
            captious.score_systems(references, references, "rouge-l")

    def test_mapping_of_whole_systems_is_recognized(self, tmp_path: Path) -> None:
        (tmp_path / "good.json").write_text(json.dumps(GOOD))
        path = tmp_path / "good.json"
        records = [{"image_id": image, "caption": caption} for image, caption in GOOD.items()]
        given: dict[str, object] = {"path": path, "name": str(path), "records": records, "mapping": GOOD}
        given["captions"] = captious.read_captions(GOOD, REFERENCES)
        reports = captious.score_systems(given, REFERENCES, METRICS)
        assert {report["rouge-l"].score for report in reports.values()} == {reports["mapping"]["rouge-l"].score}

    @pytest.mark.parametrize(
        "candidates",
        [
            {"1": "a dog"},
            {"1": ["a dog"]},
            {"1": [{"image_id": 1, "caption": "a dog"}]},
            {"1": [{"caption": "a dog"}]},
        ],
    )
    def test_mapping_of_captions_is_one_system(self, candidates: dict[str, object]) -> None:
        report = captious.score(candidates, {"1": ["a dog"]}, METRICS)
        assert isinstance(report, captious.Report)

    def test_system_is_named_after_its_file(self) -> None:
        assert captious.score(FILES["improved"], SHARED, ["rouge-l"]).system == "improved"
        assert captious.score(GOOD, REFERENCES, ["rouge-l"]).system == "candidates"
        compared = captious.compare(FILES, SHARED, ["rouge-l"], resamples=9)
        assert (compared.a.system, compared.b.system) == ("baseline", "improved")
        with pytest.warns(captious.CaptiousWarning):
            compared = captious.compare({"a": GOOD, "b": POOR}, REFERENCES, ["rouge-l"], resamples=9)
        assert (compared.a.system, compared.b.system) == ("a", "b")


@pytest.fixture(scope="module")
def compared() -> captious.Comparison:
    reports = captious.score_systems({**FILES, "again": FILES["improved"]}, SHARED, METRICS)
    return captious.compare(reports, resamples=500)


class TestPairs:
    def test_the_correction_is_over_pairs_and_metrics(self, compared: captious.Comparison) -> None:
        assert compared.n_tests == 6
        for kind in ("randomization", "bootstrap"):
            p_values = [getattr(d, f"p_{kind}") for d in compared.values()]
            assert [getattr(d, f"corrected_{kind}") for d in compared.values()] == holm(p_values)

    def test_p_of_exactly_five_percent_is_not_significant(self) -> None:
        """The smallest of 19 resamples is 1 / 20, that of 20 is less."""
        images = range(60)
        systems = {"good": {i: f"one dog {i}" for i in images}, "bad": {i: f"the cats {i}" for i in images}}
        references = {i: [f"a dog {i}", f"dog {i} runs"] for i in images}
        reports = captious.score_systems(systems, references, ["rouge-l"])
        for resamples, p, beaten in ((19, 0.05, []), (20, 1 / 21, ["bad"])):
            compared = captious.compare(reports, resamples=resamples)
            assert compared["rouge-l"].p_randomization == p
            assert compared.beaten("good", "rouge-l") == beaten

    def test_letters_mark_what_is_significantly_worse(self, compared: captious.Comparison) -> None:
        assert compared.beaten("improved", "rouge-l") == ["baseline"]
        assert compared.beaten("baseline", "rouge-l") == []
        assert r"\textbf{.6463}\textsuperscript{a}" in compared.to_latex()
        assert "improved (b)" in repr(compared)
        assert "**.6463**<sup>a</sup>" in compared.to_markdown()

    def test_too_few_resamples_for_many_tests_are_warned_about(self, compared: captious.Comparison) -> None:
        with pytest.warns(captious.CaptiousWarning, match="use at least 120 resamples"):
            few = captious.compare(compared.reports, resamples=20)
        assert any("use at least 120 resamples" in warning for warning in few.warnings)
        assert not any("use at least" in warning for warning in compared.warnings)

    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_lower_scores_may_be_better(self) -> None:
        class Wrong(captious.MeanMetric):
            name = "wrong"
            lower_is_better = frozenset({"wrong"})

            def scores(self, captions: captious.Captions, state: object = None) -> object:  # type: ignore[override]
                return [float(len(text.split())) for text in captions.candidates]

        images = range(30)
        systems = {"long": dict.fromkeys(images, "a b c"), "short": dict.fromkeys(images, "a")}
        reports = captious.score_systems(systems, {image: ["b", "c"] for image in images}, [Wrong()])
        assert captious.compare(reports, resamples=99).beaten("short", "wrong") == ["long"]


def test_recognition_of_systems_does_not_depend_on_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dog").write_text("")
    report = captious.score({"1": "dog"}, {"1": ["a dog", "the dog"]}, "rouge-l")
    assert isinstance(report, captious.Report)
    (tmp_path / "base.json").write_text(json.dumps({"1": "dog"}))
    with pytest.raises(captious.CaptiousError, match="there is no such file") as caught:
        captious.score_systems({"a": "base.json", "b": "typo.json"}, {"1": ["a dog", "the dog"]}, "rouge-l")
    assert "typo.json" in caught.value.where


def test_warnings_of_some_systems_begin_with_their_names() -> None:
    references = {image: ["a dog runs", "a cat sits"] for image in range(12)}
    good, empty = dict.fromkeys(references, "a dog sits"), dict.fromkeys(references, "")
    with pytest.warns(captious.CaptiousWarning, match="^empty: 12 of 12 candidates are empty"):
        reports = captious.score_systems({"good": good, "empty": empty, "again": good}, references, "rouge-l")
    assert [warning.partition(":")[0] for warning in reports.warnings] == ["empty"]
    pairs = captious.compare(reports).warnings
    assert pairs == reports.warnings
    with pytest.warns(captious.CaptiousWarning):
        both = captious.score_systems({"a": empty, "b": {**empty, 0: ""}}, references, "rouge-l")
    assert both.warnings == both["a"].warnings == both["b"].warnings


def test_systems_need_names_of_their_own() -> None:
    mine = captious.score(["a dog"], [["a dog"]], "rouge-l", system="mine")
    assert [*captious.Reports([mine, mine.named("other")])] == ["mine", "other"]
    with pytest.raises(ParameterError, match="two systems have the same name"):
        captious.Reports([mine, mine.named("mine")])
    with pytest.raises(ParameterError, match="there are no systems"):
        captious.Reports([])


@pytest.mark.parametrize(
    ("files", "names"),
    [
        (["a/x.json", "b/y.tar.gz"], ["x", "y"]),
        (["a/x.json", "b/x.json"], ["a", "b"]),
        (["runs/a/val/x.json", "runs/b/val/x.json"], ["a", "b"]),
        (["runs/a/1/x.json", "runs/a/2/x.json", "runs/b/1/x.json"], ["a/1", "a/2", "b/1"]),
        (["a/x.json", "b/x.json", "y.json"], ["a/x", "b/x", "y"]),
        (["a/x.json", "a/x.csv"], ["a/x.json", "a/x.csv"]),
        (
            ["logs/llava__7b/20250101_101500_samples_coco.jsonl", "logs/qwen__8b/20250102_090000_samples_coco.jsonl"],
            ["llava__7b", "qwen__8b"],
        ),
        (
            ["captions_val2014_" + "a" * 40 + ".json", "captions_val2014_b.json"],
            ["captions_val2014_" + "a" * 40, "captions_val2014_b"],
        ),
        (["20250101.json", "20250102.json"], ["20250101", "20250102"]),
        (["-", "x.json"], ["standard input", "x"]),
    ],
)
def test_systems_are_named_after_their_files(files: list[str], names: list[str]) -> None:
    assert system_names(files) == names
    with pytest.raises(ParameterError, match=f"{files[0]} is given twice"):
        system_names([*files, files[0]])
