"""Outputs: formats by the names of files, and outputs that are inputs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Run, assert_refused
from tests.support.tables import tables
from tests.support.vector_files import text_of

FILES = ("baseline.json", "improved.json", "references.json")


class TestFormats:
    """What the golden record does not have: tests/golden/test_commands.toml."""

    @pytest.mark.parametrize(("name", "form"), [("x.JSON", "json"), ("x", "table"), ("x.log", "table")])
    def test_extension_of_output_selects_the_format(self, folder: Path, run: Run, name: str, form: str) -> None:
        expected = run("score", *FILES, "-m", "rouge-l", "--format", form).out
        assert run("score", *FILES, "-m", "rouge-l", "-o", name).code == 0
        assert (folder / name).read_text() == expected

    @pytest.mark.parametrize(
        ("call", "name"),
        [
            (("score", *FILES), "x.jsonl"),
            (("score", *FILES), "x.docx"),
            (("judge",), "x.jsonl"),
            (("data", "items"), "x.json"),
        ],
        ids=["score", "docx", "judge", "data items"],
    )
    def test_unsupported_extension_is_refused(self, own: str, run: Run, call: tuple[str, ...], name: str) -> None:
        outcome = run(*call, *(() if "score" in call else (own,)), "-o", name)
        assert_refused(outcome, f"{name} implies ", "choose --format")
        assert not Path(name).exists()

    def test_extension_selects_json_lines_or_csv(self, own: str, run: Run) -> None:
        for name, form in (("x.jsonl", "jsonl"), ("x.csv", "csv")):
            assert run("data", "items", own, "-o", name).code == 0
            assert Path(name).read_text() == run("data", "items", own, "--format", form).out

    def test_format_option_takes_precedence_over_extension(self, folder: Path, run: Run) -> None:
        for form in ("table", "csv"):
            assert run("score", *FILES, "-m", "rouge-l", "-o", "x.json", "--format", form).code == 0
            assert Path("x.json").read_text() == run("score", *FILES, "-m", "rouge-l", "--format", form).out


class TestInputs:
    """An output that is an input is refused before any work: here the other files are not there, or not readable."""

    @pytest.fixture(autouse=True)
    def files(self, folder: Path) -> None:
        for name in ("x.json", "x.idf", "x.txt", "x.jsonl", "x.conllu"):
            (folder / name).write_text("not what it should be")
        (folder / "link").symlink_to("x.idf")

    @pytest.mark.parametrize("line", tables(__file__)["over-inputs"])
    def test_output_over_an_input_is_refused(self, run: Run, line: str) -> None:
        call = line.split()
        (name,) = {file for file in os.listdir() if file.startswith("x.") and any(file in word for word in call)} - {
            "x.json" if any("x.jsonl" in word for word in call) else ""
        }
        assert_refused(run(*call, "-o", name), f"{name} is also an input", "its own file")
        assert Path(name).read_text() == "not what it should be"

    def test_output_over_a_link_to_an_input_is_refused(self, run: Run) -> None:
        outcome = run("score", "none.json", "none.json", "-m", "cider-d", "--idf", "x.idf", "-o", "link")
        assert_refused(outcome, "link is also an input")

    def test_caption_scores_over_an_input_are_refused(self, folder: Path, run: Run) -> None:
        call = ("score", "none.json", "none.json", "-m", "wmd", "--vectors", "x.jsonl", "--per-caption", "x.jsonl")
        assert_refused(run(*call), "x.jsonl is also an input")

    def test_drawings_over_an_input_are_refused(self, folder: Path, run: Run) -> None:
        (folder / "x.svg").write_text("parses")
        outcome = run("explain", "spice", "a dog", "a cat", "--parser", "x.svg", "--svg", "x.svg")
        assert_refused(outcome, "x.svg is also an input")

    def test_text_argument_without_file_is_not_an_input(self, folder: Path, run: Run) -> None:
        """The name of a metric, even where an output had that name."""
        (folder / "rouge-l").write_text("old")
        assert run("score", *FILES, "-m", "rouge-l", "-o", "rouge-l").code == 0
        assert "rouge-l" in (folder / "rouge-l").read_text()

    def test_existing_output_is_replaced(self, folder: Path, run: Run) -> None:
        (folder / "vectors.txt").write_bytes(text_of({"a": np.ones(2)}))
        call = ("score", *FILES, "-m", "mowe", "--vectors", "vectors.txt")
        assert run(*call, "-o", "x.txt").code == 0
        assert "mowe" in Path("x.txt").read_text()


def test_warnings_of_a_judgment(own: str, run: Run, tables: Path) -> None:
    """They are in the json and on stderr, wherever the result goes."""
    arguments = ("judge", own, "-m", "spice", "-m", "rouge-l", "--parser", "bundled", "--resamples", "9")
    outcome = run(*arguments, "--format", "json")
    assert outcome.code == 0, outcome
    message = outcome.json["warnings"]
    assert any(warning.startswith("SPICE is using the bundled approximate grammar") for warning in message)
    assert any(warning.startswith("too few images for intervals and tests (3)") for warning in message)
    assert outcome.err == "".join(f"warning: {warning}\n" for warning in message)
    for more in (("--format", "json"), ("--format", "tex"), ("-o", "x.csv")):  # advice is printed once
        assert run(*arguments, *more).err == "".join(
            f"warning: {warning}\n" for warning in message if "SPICE" not in warning
        )
