"""captious study ablation, depth and size"""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused

RECIPE = """base = "lceval"
epochs = 3
hidden = [3]
features = {name = "small", features = ["bleu-1", "bleu-2", "rouge-l"]}
"""


@pytest.fixture
def examples(folder: Path, run: Run) -> Path:
    systems = ("baseline.json", "improved.json")
    outcome = run("learn", "data", "references.json", *systems, "--validation", "0.4", "-o", "examples.jsonl")
    assert outcome.code == 0, outcome.err
    (folder / "small.toml").write_text(RECIPE)
    return folder / "examples.jsonl"


GIVEN = ("examples.jsonl", "rated.jsonl", "--recipe", "small.toml", "--seeds", 1, "--resamples", 5, "--format", "csv")


@pytest.mark.models
@pytest.mark.usefixtures("examples", "rated")
class TestStudies:
    @pytest.fixture(autouse=True)
    def needs_torch(self) -> None:
        pytest.importorskip("torch")

    def rows(self, run: Run, *arguments: object) -> list[dict[str, str]]:
        outcome = run("study", *arguments)
        assert outcome.code == 0, outcome
        return list(csv.DictReader(io.StringIO(outcome.out)))

    def test_ablation_study_trains_without_each_feature(self, run: Run) -> None:
        rows = self.rows(run, "ablation", *GIVEN, "--group", "n-grams=bleu-1, bleu-2", "--group", "other=rouge-l")
        assert [row["features"] for row in rows if row["kind"] == "only"][::2] == ["n-grams", "other"]
        assert {row["benchmark"] for row in rows} == {"validation@tau-b", "rated@own"}
        assert rows[0]["difference"] == "" != rows[2]["difference"]

    def test_depth_study_trains_networks_of_each_depth(self, run: Run) -> None:
        rows = self.rows(run, "depth", *GIVEN, "--depths", "0,1", "--width", 2)
        assert [row["layers"] for row in rows[::2]] == ["3-2", "3-2-2", "none"]

    def test_size_study_trains_on_fewer_images(self, folder: Path, run: Run) -> None:
        pytest.importorskip("matplotlib")
        rows = self.rows(run, "size", *GIVEN, "--sizes", "4,8", "--plot", "drawn")
        assert [row["images"] for row in rows[::2]] == ["8", "4"]
        assert {path.name for path in (folder / "drawn").iterdir()} == {
            "size-validation@tau-b.png",
            "size-rated@own.png",
        }

    @pytest.mark.parametrize("group", ["bleu-1", "=bleu-1"])
    def test_malformed_groups_are_refused(self, group: str, run: Run) -> None:
        outcome = run("study", "ablation", *GIVEN, "--group", group)
        assert_refused(outcome, "not of the form NAME=FEATURE,FEATURE")

    def test_benchmark_of_systems_is_refused(self, shared_data: Path, run: Run) -> None:
        outcome = run("study", "depth", *GIVEN, "coco-2015", "--data", shared_data)
        assert_refused(outcome, "coco-2015 judges systems, not captions", "benchmark of captions")
