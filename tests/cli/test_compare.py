"""captious compare"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

FILES = ("baseline.json", "improved.json", "references.json")


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


def test_systems_are_compared_on_the_images_of_all(folder: Path, run: Run) -> None:
    records = json.loads((folder / "baseline.json").read_text())
    (folder / "ten.json").write_text(json.dumps(records[:10]))
    files = ("ten.json", "improved.json", "references.json", "-m", "rouge-l", "--match", "common", "--format", "json")
    assert run("compare", *files).json["n_images"] == 10
