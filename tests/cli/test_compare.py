"""captious compare"""

from __future__ import annotations

import csv
import io
import json
import shutil
import warnings
from pathlib import Path

import pytest

import captious
from captious.errors import shown_in
from tests.cli.conftest import Run, assert_refused

FILES = ("baseline.json", "improved.json", "references.json")


@pytest.fixture
def expected(folder: Path) -> captious.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return captious.compare({"baseline": FILES[0], "improved": FILES[1]}, FILES[2])


def test_comparison_is_shown_as_a_table(folder: Path, run: Run, expected: captious.Comparison) -> None:
    outcome = run("compare", *FILES)
    assert outcome.code == 0
    lines = outcome.out.splitlines()
    assert lines[2].split()[:3] == ["baseline", "improved", "difference"]
    for line, (name, difference) in zip(lines[3:], expected.items(), strict=False):
        assert line.split()[0] == name
        assert f"{difference.difference:+.4f}".replace("0.", ".") in line.split()
    assert "1,000 resamples of images, seed 12345" in outcome.out


def test_comparison_is_printed_as_json(folder: Path, run: Run, expected: captious.Comparison) -> None:
    assert run("compare", *FILES, "--format", "json").json == shown_in(expected.to_dict(), "command line")


class TestNoReferences:
    """For metrics that need none."""

    METRIC = ("-m", "chair", "--objects", "objects.json")

    @pytest.fixture(autouse=True)
    def objects(self, folder: Path, run: Run) -> None:
        assert run("fit", "chair", "references.json", "-o", "objects.json").code == 0

    def test_scores_without_references_equal_those_with_them(self, run: Run) -> None:
        alone = run("compare", *FILES[:2], "--no-references", *self.METRIC, "--format", "json")
        assert alone.code == 0, alone
        with_references = run("compare", *FILES, *self.METRIC, "--format", "json").json
        assert alone.json["metrics"] == with_references["metrics"]

    def test_score_hint_for_compare_repeats_no_references(self, run: Run) -> None:
        scored = run("score", *FILES[:2], "--no-references", *self.METRIC)
        command = scored.err.splitlines()[-1].partition("real? captious ")[2].split()
        assert run(*command).code == 0

    def test_metrics_that_need_references_are_refused(self, run: Run) -> None:
        assert_refused(run("compare", *FILES[:2], "--no-references", "-m", "bleu"), "bleu", "references")

    def test_references_are_refused_with_no_references(self, run: Run) -> None:
        # The last file is then a third system.
        assert_refused(run("compare", *FILES, "--no-references", *self.METRIC), "references.json", "more than one")

    def test_missing_references_are_explained(self, run: Run) -> None:
        refusal = "systems A and B, and REFERENCES, are needed"
        assert_refused(run("compare", *FILES[:2]), refusal, "captious compare --help")


def test_comparison_is_printed_as_csv(folder: Path, run: Run, expected: captious.Comparison) -> None:
    rows = list(csv.DictReader(io.StringIO(run("compare", *FILES, "--format", "csv").out)))
    assert [row["metric"] for row in rows] == list(expected)
    assert [float(row["p_bootstrap"]) for row in rows] == [d.p_bootstrap for d in expected.values()]


def test_examples_are_shown_below_the_table(folder: Path, run: Run, expected: captious.Comparison) -> None:
    outcome = run("compare", *FILES, "--examples", "2")
    shown = outcome.out[outcome.out.index("largest differences in cider-d") :]
    assert len(shown.splitlines()) == 5
    for example in expected.examples(2):
        assert str(example.id) in shown
        assert example.candidate_a in shown
        assert example.candidate_b in shown


def test_examples_are_part_of_json(folder: Path, run: Run, expected: captious.Comparison) -> None:
    document = run("compare", *FILES, "--examples", "3", "--format", "json").json
    assert [example["id"] for example in document["examples"]["cider-d"]] == [e.id for e in expected.examples(3)]


def test_examples_are_refused_in_csv(folder: Path, run: Run) -> None:
    outcome = run("compare", *FILES, "--examples", "3", "--format", "csv")
    assert_refused(outcome, "--examples", "csv", "captious compare --help")


def test_csv_names_the_systems(folder: Path, run: Run) -> None:
    head, *rows = csv.reader(io.StringIO(run("compare", *FILES, "--format", "csv").out))
    assert head[:3] == ["system_a", "system_b", "metric"]
    assert {tuple(row[:2]) for row in rows} == {("baseline", "improved")}


def test_resamples_and_seed_are_used(folder: Path, run: Run) -> None:
    document = run("compare", *FILES, "-m", "rouge-l", "--resamples", "9", "--seed", "4", "--format", "json").json
    assert (document["resamples"], document["seed"]) == (9, 4)
    assert document["metrics"]["rouge-l"]["p_bootstrap"] == pytest.approx(0.1)


@pytest.mark.parametrize("option", [("--resamples", "0"), ("--seed", "-1"), ("--examples", "-1"), ("--resamples", "x")])
def test_numbers_out_of_range_are_refused(folder: Path, run: Run, option: tuple[str, str]) -> None:
    assert_refused(run("compare", *FILES, *option), option[0], option[1])


def test_comparison_is_written_to_a_file(folder: Path, run: Run) -> None:
    for format_ in ("table", "json", "csv"):
        arguments = ["compare", *FILES, "-m", "rouge-l", "--format", format_]
        assert run(*arguments, "-o", "out").out == ""
        assert (folder / "out").read_text(encoding="utf-8") == run(*arguments).out


def test_system_does_not_differ_from_itself(folder: Path, run: Run) -> None:
    shutil.copy("baseline.json", "again.json")
    outcome = run("compare", "baseline.json", "again.json", "references.json", "-m", "rouge-l", "--format", "json")
    values = outcome.json["metrics"]["rouge-l"]
    assert (values["difference"], values["p_bootstrap"], values["p_randomization"]) == (0, 1, 1)


def test_the_same_file_twice_is_refused(folder: Path, run: Run) -> None:
    outcome = run("compare", "baseline.json", "baseline.json", "references.json", "-m", "rouge-l")
    assert_refused(outcome, "baseline.json is given twice")


@pytest.mark.parametrize("file", FILES)
def test_an_input_is_never_overwritten(folder: Path, run: Run, file: str) -> None:
    before = (folder / file).read_bytes()
    assert_refused(run("compare", *FILES, "-m", "rouge-l", "-o", file), file)
    assert (folder / file).read_bytes() == before


def test_few_images_are_warned_about(folder: Path, run: Run) -> None:
    for name in ("baseline", "improved"):
        records = json.loads((folder / f"{name}.json").read_text())
        (folder / f"nine-{name}.json").write_text(json.dumps(records[:9]))
    arguments = [
        "compare",
        "nine-baseline.json",
        "nine-improved.json",
        "references.json",
        "-m",
        "rouge-l",
        "--match",
        "common",
    ]
    outcome = run(*arguments, "--format", "json")
    (warning,) = outcome.json["warnings"]
    assert warning.startswith("too few images for intervals and tests (9)")
    assert outcome.err == f"warning: {warning}\n"


def test_systems_are_compared_on_the_images_of_all(folder: Path, run: Run) -> None:
    records = json.loads((folder / "baseline.json").read_text())
    (folder / "ten.json").write_text(json.dumps(records[:10]))
    files = ("ten.json", "improved.json", "references.json", "-m", "rouge-l", "--match", "common", "--format", "json")
    assert run("compare", *files).json["n_images"] == 10


def test_excluded_captions_are_reported(folder: Path, run: Run) -> None:
    for name in ("baseline", "improved"):
        records = json.loads((folder / f"{name}.json").read_text())
        (folder / f"ten-{name}.json").write_text(json.dumps(records[:10]))
    outcome = run(
        "compare", "ten-baseline.json", "ten-improved.json", "references.json", "-m", "rouge-l", "--match", "common"
    )
    assert "ten-baseline: common images; excluded 0 candidates" in outcome.out
    assert "ten-improved: common images; excluded 0 candidates" in outcome.out


def test_the_order_of_files_is_checked(folder: Path, run: Run) -> None:
    assert_refused(run("compare", "references.json", "baseline.json", "improved.json"), "are these the references?")


def test_too_few_files_are_a_usage_error(folder: Path, run: Run) -> None:
    assert_refused(run("compare", "baseline.json", "references.json"), "REFERENCES", "captious compare --help")
