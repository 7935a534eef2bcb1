"""captious score"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import sys
import warnings
from pathlib import Path

import pytest

import captious
from tests.cli.conftest import Run, assert_refused


def expected(system: str, metrics: list[str] | None = None) -> captious.Report:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return captious.score(f"{system}.json", "references.json", metrics, system=system)


class TestStandardInput:
    @pytest.mark.parametrize("name", ["-", "/dev/stdin"])
    def test_standard_input_is_read_in_any_format(
        self, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch, name: str
    ) -> None:
        report = expected("baseline", ["rouge-l"])
        texts = dict(zip(map(str, report.ids), report.single_captions.candidates, strict=True))
        records = [{"image_id": int(image), "caption": text} for image, text in texts.items()]
        table = "image_id,caption\n" + "".join(f'{image},"{text}"\n' for image, text in texts.items())
        lines = "".join(json.dumps(record) + "\n" for record in records)
        for content in (json.dumps(records, indent=1), json.dumps(texts), lines, table, table.replace(",", "\t")):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content.encode())))
            (system,) = run("score", name, "references.json", "-m", "rouge-l", "--format", "json").json["systems"]
            assert system["name"] == "standard input"
            assert system["metrics"]["rouge-l"]["score"] == report["rouge-l"].score

    @pytest.mark.parametrize("name", ["-", "/dev/stdin"])
    def test_named_pipe_is_read(self, folder: Path, start: Run, name: str) -> None:
        content = gzip.compress(Path("references.json").read_bytes())
        outcome = start("score", "baseline.json", name, "-m", "rouge-l", "--format", "json", input=content)
        (system,) = outcome.json["systems"]
        assert system["metrics"]["rouge-l"]["score"] == expected("baseline", ["rouge-l"])["rouge-l"].score

    def test_standard_input_is_read_for_one_side_only(
        self, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        content = Path("references.json").read_bytes()
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert_refused(run("score", "-", "-", "-m", "bleu-4"), "standard input cannot hold both")

    def test_errors_name_standard_input(self, folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        for content, problem in ((b"", "the file is empty"), (b'[{"image_id": 1, "capt', "the JSON is truncated")):
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
            assert_refused(run("score", "-", "references.json"), problem, "standard input")


class TestNoReferences:
    """Metrics that need none."""

    def test_scores_without_references_equal_those_with_them(self, folder: Path, run: Run) -> None:
        assert run("fit", "chair", "references.json", "-o", "objects.json").code == 0
        arguments = ["-m", "chair", "--objects", "objects.json", "--format", "json"]
        alone = run("score", "baseline.json", "improved.json", "--no-references", *arguments)
        assert alone.err == ""
        assert alone.json == run("score", "baseline.json", "improved.json", "references.json", *arguments).json
        table = run("score", "baseline.json", "--no-references", "-m", "chair", "--objects", "objects.json")
        assert table.out.startswith("24 images · no references · tokens: nltk\n")

    def test_metrics_that_need_references_are_refused(self, folder: Path, run: Run) -> None:
        refused = run("score", "baseline.json", "--no-references", "-m", "rouge-l", "-m", "bleu")
        assert_refused(refused, "rouge-l, bleu cannot be computed without references", "baseline.json")
        assert_refused(run("score", "--no-references", "-m", "chair"), "no files were given")
        lengths = ("-m", "distinct", "--several", "mean", "--group-by", "length")
        assert_refused(run("score", "baseline.json", "--no-references", *lengths), "no references whose lengths")


class TestTable:
    def test_table_of_one_system(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l", "-m", "bleu-4")
        assert outcome.code == 0
        assert outcome.err == ""
        lines = outcome.out.splitlines()
        assert lines[0] == "24 images · 5.0 references each · tokens: ptb"
        assert lines[3].split() == ["rouge-l", f"{expected('baseline')['rouge-l'].score:.4f}"[1:]]
        assert lines[4].split() == ["bleu-4", f"{expected('baseline')['bleu-4'].score:.4f}"[1:]]
        assert len(lines) == 5

    def test_table_of_two_systems_marks_the_best(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "improved.json", "references.json", "-m", "rouge-l")
        assert outcome.code == 0
        head, row = outcome.out.splitlines()[2:4]
        assert head.split() == ["baseline", "improved"]
        assert row.endswith("◀")
        assert outcome.err.startswith("Is the difference real? captious compare baseline.json improved.json")

    def test_table_of_three_systems_marks_the_best(self, folder: Path, run: Run) -> None:
        (folder / "empty.json").write_text(
            json.dumps([{**r, "caption": ""} for r in json.loads((folder / "baseline.json").read_text())])
        )
        outcome = run("score", "baseline.json", "improved.json", "empty.json", "references.json", "-m", "rouge-l")
        assert outcome.code == 0
        head, row = outcome.out.splitlines()[2:4]
        assert head.split() == ["baseline", "improved", "empty"]
        assert row.split()[2:] == [f"{expected('improved')['rouge-l'].score:.4f}"[1:], "◀", ".0000"]
        assert "captious compare" not in outcome.err

    def test_table_shows_intervals(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l", "--ci")
        low, high = expected("baseline")["rouge-l"].confidence_interval()
        assert f"{low:.3f} – {high:.3f}".replace("0.", ".") in outcome.out
        assert "95% bootstrap over images, 1,000 resamples, seed 12345." in outcome.out

    def test_the_default_names_what_it_leaves_out(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json")
        shown = [line.split()[0] for line in outcome.out.splitlines()[3:]]
        coco = ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor", "rouge-l", "cider-d", "spice"]
        assert shown == [name for name in coco if name in shown]
        left_out = [name for name in coco if name not in shown]
        lines = [line for line in outcome.err.splitlines() if line.startswith("warning: skipped, ")]
        assert len(lines) == (1 if left_out else 0)
        assert all(f"{name}: " in lines[0] for name in left_out)

    def test_warning_is_on_stderr_once(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "improved.json", "references.json", "-m", "cider-d")
        assert outcome.err.count("warning: cider-d") == 1
        assert "only 24" in outcome.err
        assert "warning" not in outcome.out

    def test_the_next_command_can_be_copied(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "improved.json", "references.json", "-m", "rouge-l")
        line = outcome.err.splitlines()[-1]
        assert run(*line.partition("captious ")[2].split()).code == 0


class TestMachineReadable:
    def test_scores_are_printed_as_json(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "improved.json", "references.json", "--format", "json", "--ci")
        document = outcome.json
        assert list(document) == ["version", "systems"]
        assert document["version"] == captious.__version__
        assert [system["name"] for system in document["systems"]] == ["baseline", "improved"]
        for system in document["systems"]:
            report = expected(system["name"])
            assert system["n_images"] == 24
            assert list(system["metrics"]) == list(report)
            for name, values in system["metrics"].items():
                assert set(values) == {"score", "ci95", "lower_is_better", "signature"}
                assert values["score"] == report[name].score
                assert values["ci95"] == list(report[name].confidence_interval())
                assert values["signature"] == report[name].signature

    def test_json_without_intervals_has_null(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "--format", "json", "-m", "rouge-l")
        assert outcome.json["systems"][0]["metrics"]["rouge-l"]["ci95"] is None
        assert outcome.err == ""

    def test_scores_are_printed_as_csv(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "--format", "csv", "-m", "bleu")
        rows = list(csv.DictReader(io.StringIO(outcome.out)))
        assert [row["metric"] for row in rows] == ["bleu-1", "bleu-2", "bleu-3", "bleu-4"]
        assert float(rows[3]["score"]) == expected("baseline")["bleu-4"].score

    @pytest.mark.parametrize("format_", ["json", "csv"])
    def test_machine_readable_scores_have_no_hint_and_no_color(self, folder: Path, run: Run, format_: str) -> None:
        outcome = run("score", "baseline.json", "improved.json", "references.json", "--format", format_)
        assert "captious compare" not in outcome.err + outcome.out
        assert "\x1b" not in outcome.out + outcome.err

    @pytest.mark.parametrize("format_", ["table", "json", "csv"])
    def test_output_file_equals_stdout(self, folder: Path, run: Run, format_: str) -> None:
        arguments = ["score", "baseline.json", "improved.json", "references.json", "-m", "rouge-l", "--ci"]
        printed = run(*arguments, "--format", format_)
        written = run(*arguments, "--format", format_, "-o", "out")
        assert (written.code, written.out) == (0, "")
        assert (folder / "out").read_text(encoding="utf-8") == printed.out

    def test_unknown_format_is_a_usage_error(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "--format", "xml")
        assert_refused(outcome, "--format", "xml", "captious score --help")


class TestPerCaption:
    @pytest.mark.parametrize("extension", [".jsonl", ".csv", ".parquet"])
    def test_caption_scores_have_one_row_per_image(self, folder: Path, run: Run, extension: str) -> None:
        if extension == ".parquet":
            pytest.importorskip("pyarrow")
        file = f"scores{extension}"
        outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l", "--per-caption", file)
        assert outcome.code == 0
        assert captious.read_captions(file, "references.json").candidates == expected("baseline").captions.candidates

    def test_caption_scores_of_several_systems_have_a_system_column(self, folder: Path, run: Run) -> None:
        run(
            *("score", "baseline.json", "improved.json", "references.json"),
            *("-m", "bleu-4", "-m", "rouge-l", "--per-caption", "scores.jsonl"),
        )
        rows = [json.loads(line) for line in (folder / "scores.jsonl").read_text().splitlines()]
        assert len(rows) == 48
        assert list(rows[0]) == ["system", "id", "candidate", "bleu-4", "rouge-l"]
        assert {row["system"] for row in rows} == {"baseline", "improved"}
        report = expected("improved")
        for row, image, score in zip(rows[24:], report.ids, report["rouge-l"].per_caption, strict=True):
            assert (row["id"], row["rouge-l"]) == (image, score)
            assert isinstance(row["id"], int)

    @pytest.mark.parametrize("file", ["scores.txt", "scores.xlsx", "scores"])
    def test_caption_scores_with_another_extension_are_refused_early(self, folder: Path, run: Run, file: str) -> None:
        outcome = run("score", "none.json", "none.json", "--per-caption", file)
        assert_refused(outcome, file, ".jsonl, .csv, .parquet")

    @pytest.mark.parametrize("option", ["--per-caption", "-o"])
    def test_unwritable_caption_scores_are_refused_early(self, folder: Path, run: Run, option: str) -> None:
        # The files to read are not there, so that reading them would be another error.
        outcome = run("score", "none.json", "none-either.json", "-m", "rouge-l", option, "none/scores.csv")
        assert_refused(outcome, "none/scores.csv")

    def test_one_file_cannot_hold_both_outputs(self, folder: Path, run: Run) -> None:
        outcome = run(
            *("score", "baseline.json", "references.json", "-m", "rouge-l"),
            *("--format", "csv", "-o", "scores.csv", "--per-caption", "scores.csv"),
        )
        assert_refused(outcome, "scores.csv")
        assert not (folder / "scores.csv").exists()

    @pytest.mark.parametrize("option", ["-o", "--per-caption"])
    @pytest.mark.parametrize("file", ["baseline.jsonl", "references.json", "own.idf", "link.csv"])
    def test_an_input_is_never_overwritten(self, folder: Path, run: Run, file: str, option: str) -> None:
        records = json.loads((folder / "baseline.json").read_text())
        (folder / "baseline.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in records))
        (folder / "link.csv").symlink_to("baseline.jsonl")
        assert run("fit", "cider-d", "references.json", "-o", "own.idf").code == 0
        before = (folder / file).read_bytes()
        outcome = run("score", "baseline.jsonl", "references.json", "-m", "cider-d", "--idf", "own.idf", option, file)
        assert_refused(outcome, file)
        assert (folder / file).read_bytes() == before


class TestImages:
    @pytest.fixture
    def ten(self, folder: Path) -> Path:
        records = json.loads((folder / "baseline.json").read_text())
        (folder / "ten.json").write_text(json.dumps([*records[:10], {"image_id": 5, "caption": "a ship"}]))
        return folder

    def test_different_images_are_refused(self, ten: Path, run: Run) -> None:
        outcome = run("score", "ten.json", "references.json", "-m", "rouge-l")
        assert_refused(outcome, "1 of 11 candidates", "ten.json: image_id 5", "--match", "common")

    def test_subset_is_scored_and_reported(self, ten: Path, run: Run) -> None:
        outcome = run("score", "ten.json", "references.json", "-m", "rouge-l", "--match", "common")
        assert outcome.code == 0
        assert outcome.out.startswith("10 images ·")
        assert "ten: common images; excluded 1 candidate" in outcome.out
        document = run(
            "score", "ten.json", "references.json", "-m", "rouge-l", "--match", "common", "--format", "json"
        ).json
        assert document["systems"][0]["n_images"] == 10
        assert document["systems"][0]["left_out"] == {"candidates": 1, "images": 14}

    def test_systems_on_different_images_are_not_ranked_and_a_warning_says_so(self, ten: Path, run: Run) -> None:
        arguments = ["score", "baseline.json", "ten.json", "references.json", "-m", "rouge-l", "--match", "common"]
        outcome = run(*arguments)
        assert outcome.code == 0
        assert "◀" not in outcome.out
        assert "warning: the systems were scored on different images" in outcome.err
        assert "captious compare" not in outcome.err
        assert "different images" in run(*arguments, "--format", "json").err

    def test_swapped_files_are_explained(self, folder: Path, run: Run) -> None:
        outcome = run("score", "references.json", "baseline.json")
        assert_refused(outcome, "references.json", "are these the references?")


class TestSystemNames:
    def test_systems_with_equal_file_names_are_named_by_their_folders(self, folder: Path, run: Run) -> None:
        for number in (1, 2):
            (folder / f"run{number}").mkdir()
            shutil.copy("baseline.json", f"run{number}/out.json")
        document = run(
            "score", "run1/out.json", "run2/out.json", "references.json", "-m", "rouge-l", "--format", "json"
        ).json
        assert [system["name"] for system in document["systems"]] == ["run1", "run2"]

    def test_duplicate_file_is_refused(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "baseline.json", "references.json", "-m", "rouge-l", "--format", "csv")
        assert_refused(outcome, "baseline.json is given twice")

    def test_system_names_may_be_unicode(self, folder: Path, run: Run) -> None:
        (folder / "baseline.json").rename(folder / "ünï côde 猫.json")
        outcome = run("score", "ünï côde 猫.json", "references.json", "-m", "rouge-l", "--format", "json")
        assert outcome.json["systems"][0]["name"] == "ünï côde 猫"


class TestSettings:
    def test_idf_setting_is_used(self, folder: Path, run: Run) -> None:
        assert run("fit", "cider-d", "references.json", "-o", "own.idf").code == 0
        outcome = run(
            "score", "baseline.json", "references.json", "-m", "cider-d", "--idf", "own.idf", "--format", "json"
        )
        values = outcome.json["systems"][0]["metrics"]["cider-d"]
        assert values["score"] == pytest.approx(expected("baseline", ["cider-d"])["cider-d"].score, abs=1e-12)
        assert "idf:own-24-" in values["signature"]
        assert "only 24 in own" in outcome.err

    def test_unused_idf_is_refused(self, folder: Path, run: Run) -> None:
        run("fit", "cider-d", "references.json", "-o", "own.idf")
        outcome = run("score", "baseline.json", "references.json", "-m", "rouge-l", "--idf", "own.idf")
        assert_refused(outcome, "the setting idf was given, but no requested metric uses it")

    def test_tokenizer_setting_is_used(self, folder: Path, run: Run) -> None:
        arguments = ["score", "baseline.json", "references.json", "-m", "rouge-l", "--tokenizer", "whitespace"]
        assert "tokens: whitespace" in run(*arguments).out
        signature = run(*arguments, "--format", "json").json["systems"][0]["metrics"]["rouge-l"]["signature"]
        assert "tokenizer:whitespace" in signature

    def test_setting_names_are_case_insensitive(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "-m", "BLEU-4", "-m", "Rouge-L")
        assert outcome.out == run("score", "baseline.json", "references.json", "-m", "bleu-4", "-m", "rouge-l").out

    def test_variants_are_requested_by_name(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "-m", "bleu-4@paper", "-m", "bleu-4")
        assert [line.split()[0] for line in outcome.out.splitlines()[3:]] == ["bleu-4@paper", "bleu-4"]


def test_intervals_over_few_images_are_said_to_be_worth_little(folder: Path, run: Run) -> None:
    records = json.loads((folder / "baseline.json").read_text())
    (folder / "three.json").write_text(json.dumps(records[:3]))
    arguments = ["score", "three.json", "references.json", "-m", "rouge-l", "--match", "common"]
    assert "too few images" in run(*arguments, "--ci").err
    assert "too few images" not in run(*arguments).err


class TestMeteor:
    INSTALL = "pip install 'captious[meteor]'"

    @pytest.mark.usefixtures("tables")
    def test_meteor_command_agrees_with_the_library(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "-m", "meteor", "-m", "meteor@paper")
        assert (outcome.code, outcome.err) == (0, "")
        lines = [line.split() for line in outcome.out.splitlines()[3:]]
        report = expected("baseline", ["meteor", "meteor@paper"])
        assert lines == [[name, f"{report[name].score:.4f}"[1:]] for name in ("meteor", "meteor@paper")]
        assert report["meteor"].score != report["meteor@paper"].score

    @pytest.mark.usefixtures("tables")
    def test_meteor_is_in_the_default_set(self, folder: Path, run: Run) -> None:
        outcome = run("score", "baseline.json", "references.json", "--format", "json")
        assert list(outcome.json["systems"][0]["metrics"])[3:6] == ["bleu-4", "meteor", "rouge-l"]
        assert "meteor" not in outcome.err

    @pytest.mark.usefixtures("cache")
    @pytest.mark.parametrize("command", ["score", "compare"])
    @pytest.mark.parametrize("names", [["meteor"], ["bleu", "meteor"], ["meteor@paper"]])
    def test_meteor_without_tables_is_an_error(self, folder: Path, run: Run, command: str, names: list[str]) -> None:
        metrics = [argument for name in names for argument in ("-m", name)]
        outcome = run(command, "baseline.json", "improved.json", "references.json", *metrics)
        assert_refused(outcome, "METEOR's tables of synonyms and paraphrases", self.INSTALL)
        assert "captious resources get meteor" in outcome.err

    @pytest.mark.usefixtures("cache")
    @pytest.mark.parametrize("command", ["score", "compare"])
    def test_default_set_leaves_out_meteor_without_tables(self, folder: Path, run: Run, command: str) -> None:
        outcome = run(command, "baseline.json", "improved.json", "references.json", "--format", "json")
        assert outcome.code == 0
        (line,) = (line for line in outcome.err.splitlines() if line.startswith("warning: metrics skipped "))
        reason = "because requirements are missing"
        assert line == f"warning: metrics skipped {reason}: meteor (run {self.INSTALL}); spice (run {self.INSTALL})"
        results = outcome.json["systems"][0]["metrics"] if command == "score" else outcome.json["metrics"]
        assert list(results) == ["bleu-1", "bleu-2", "bleu-3", "bleu-4", "rouge-l", "cider-d"]

    def test_environment_folder_without_tables_is_an_error(self, folder: Path, tables: Path, run: Run) -> None:
        """Whoever names a folder means it."""
        (tables / "paraphrase-en.gz").unlink()
        outcome = run("score", "baseline.json", "references.json")
        assert_refused(outcome, "the folder that CAPTIOUS_METEOR_HOME names has no METEOR tables", str(tables))
        assert run("score", "baseline.json", "references.json", "-m", "rouge-l").code == 0

    def test_damaged_meteor_tables_are_an_error(self, folder: Path, tables: Path, run: Run) -> None:
        (tables / "paraphrase-en.gz").write_bytes((tables / "paraphrase-en.gz").read_bytes()[:-9])
        outcome = run("score", "baseline.json", "references.json", "-m", "meteor")
        assert_refused(outcome, "METEOR's tables are damaged", str(tables / "paraphrase-en.gz"))

    def test_unusable_cache_is_an_error(self, folder: Path, tables: Path, cache: Path, run: Run) -> None:
        cache.write_text("a file")
        outcome = run("score", "baseline.json", "references.json", "-m", "meteor")
        assert_refused(outcome, "cache folder cannot be used", str(cache), "CAPTIOUS_CACHE")


def test_system_file_name_that_is_not_text_is_escaped(folder: Path, run: Run) -> None:
    odd = os.fsdecode(b"n\xff.json")
    try:
        (folder / "baseline.json").rename(folder / odd)
    except OSError:
        pytest.skip("not here: this file system takes only names that are text")
    for extension in ("jsonl", "csv", "parquet"):
        outcome = run(
            "score", odd, "improved.json", "references.json", "-m", "rouge-l", "--per-caption", f"x.{extension}"
        )
        assert outcome.code == 0, outcome.err
    assert json.loads((folder / "x.jsonl").read_bytes().decode().split("\n")[0])["system"] == "n\ufffd"
