"""captious compare"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import pytest

import captious
from captious.errors import shown_in
from tests.cli.conftest import Run

FILES = ("baseline.json", "improved.json", "references.json")


@pytest.fixture
def expected(folder: Path) -> captious.Comparison:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return captious.compare({"baseline": FILES[0], "improved": FILES[1]}, FILES[2])


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


def test_examples_are_part_of_json(folder: Path, run: Run, expected: captious.Comparison) -> None:
    document = run("compare", *FILES, "--examples", "3", "--format", "json").json
    assert [example["id"] for example in document["examples"]["cider-d"]] == [e.id for e in expected.examples(3)]


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
