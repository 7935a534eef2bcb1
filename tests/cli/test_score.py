"""captious score"""

from __future__ import annotations

import gzip
import io
import json
import os
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


class TestTable:
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


class TestImages:
    @pytest.fixture
    def ten(self, folder: Path) -> Path:
        records = json.loads((folder / "baseline.json").read_text())
        (folder / "ten.json").write_text(json.dumps([*records[:10], {"image_id": 5, "caption": "a ship"}]))
        return folder

    def test_systems_on_different_images_are_not_ranked_and_a_warning_says_so(self, ten: Path, run: Run) -> None:
        arguments = ["score", "baseline.json", "ten.json", "references.json", "-m", "rouge-l", "--match", "common"]
        outcome = run(*arguments)
        assert outcome.code == 0
        assert "◀" not in outcome.out
        assert "warning: the systems were scored on different images" in outcome.err
        assert "captious compare" not in outcome.err
        assert "different images" in run(*arguments, "--format", "json").err


def test_intervals_over_few_images_are_said_to_be_worth_little(folder: Path, run: Run) -> None:
    records = json.loads((folder / "baseline.json").read_text())
    (folder / "three.json").write_text(json.dumps(records[:3]))
    arguments = ["score", "three.json", "references.json", "-m", "rouge-l", "--match", "common"]
    assert "too few images" in run(*arguments, "--ci").err
    assert "too few images" not in run(*arguments).err


class TestMeteor:
    INSTALL = "pip install 'captious[meteor]'"

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
