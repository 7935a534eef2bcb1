"""captious judge"""

from __future__ import annotations

import gzip
import json
import shutil
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

import captious
from tests.cli.conftest import Run, assert_refused

QUICK = ("--resamples", "20")

RATED = [
    ("a dog runs", ["a dog is running", "the dog runs fast"], [4, 4, 3]),
    ("a cat", ["a dog is running", "a dog runs on grass"], [1]),
    ("two men walk", ["men are walking down a road"], [3, 2]),
    ("a red bus on a street", ["a bus on a street", "a red bus"], [4]),
    ("a street", ["a bus on a street"], [2]),
    ("an old bicycle", ["two cats sit on a chair"], [1, 1]),
]
PREFERRED = [
    ("a dog is running", "a cat", ["a dog is running fast"]),  # right
    ("a street", "a bus on a street", ["a red bus on a street"]),  # wrong
    ("two cats", "two dogs", ["a bicycle"]),  # a tie
]


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with judgments of one's own, which the test runs in; no folder of data is named."""
    monkeypatch.delenv("CAPTIOUS_DATA", raising=False)
    rated = [{"candidate": c, "references": r, "ratings": x} for c, r, x in RATED]
    preferred = [{"better": b, "worse": w, "references": r} for b, w, r in PREFERRED]
    for name, records in (("mine.jsonl", rated), ("pairs.jsonl", preferred)):
        (tmp_path / name).write_text("".join(json.dumps(record) + "\n" for record in records))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def flickr(shared_data: Path, tmp_path: Path) -> Path:
    """A folder with the first 400 pairs of Flickr8k-Expert."""
    folder = tmp_path / "data"
    (folder / "flickr8k").mkdir(parents=True)
    with gzip.open(shared_data / "flickr8k" / "expert.jsonl.gz", "rt", encoding="utf-8") as lines:
        (folder / "flickr8k" / "expert.jsonl").write_text("".join(islice(lines, 400)), encoding="utf-8")
    return folder


def scores_file(folder: Path, content: Any) -> Path:
    (folder / "scores.json").write_text(json.dumps(content))
    return folder / "scores.json"


def rouge_l(candidates: list[str], references: list[list[str]]) -> list[float]:
    values: list[float] = captious.score(candidates, references, ["rouge-l"])["rouge-l"].per_caption.tolist()
    return values


class TestResults:
    def test_machine_readable_judgment_has_no_advice(self, own: Path, run: Run) -> None:
        for more in (["--format", "json"], ["-o", "out"], ["--compare"]):
            assert "Are the differences" not in run("judge", "mine.jsonl", "-m", "bleu-1", "-m", "rouge-l", *more).err


class TestOwnJudgments:
    def test_own_ratings_are_judged(self, own: Path, run: Run) -> None:
        """Each rating is a point; the value is scipy's."""
        outcome = run("judge", "mine.jsonl", "-m", "rouge-l", "--format", "json", *QUICK)
        (benchmark,) = outcome.json["benchmarks"]
        scores = rouge_l([candidate for candidate, _, _ in RATED], [references for _, references, _ in RATED])
        points = [(score, rating) for score, (_, _, ratings) in zip(scores, RATED, strict=True) for rating in ratings]
        assert benchmark["n"] == len(points) == 10
        expected = kendalltau(*zip(*points, strict=True), variant="c").statistic
        assert benchmark["results"]["rouge-l"]["value"] == pytest.approx(expected, abs=1e-12)
        assert "too few images for intervals and tests (6)" in outcome.err

    def test_constant_ratings_are_an_error(self, own: Path, run: Run) -> None:
        records = [{"candidate": c, "references": r, "rating": 2} for c, r, _ in RATED]
        Path("same.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
        assert_refused(
            run("judge", "same.jsonl", "-m", "rouge-l"), "the kendall-tau-c of rouge-l is undefined", "same@own"
        )


class TestScoresOfOthers:
    VALUES = (0.9, 0.1, 0.3, 0.8, 0.2, 0.0)

    def judged(self, run: Run, *more: object) -> Any:
        outcome = run("judge", "mine.jsonl", "--scores", "scores.json", "--format", "json", *QUICK, *more)
        assert outcome.code == 0, outcome.err
        assert "left out" not in outcome.err  # the default metrics are not asked for
        return outcome.json["benchmarks"][0]["results"]

    def test_external_scores_are_lists_or_mappings(self, own: Path, run: Run) -> None:
        scores_file(own, {"mine": {"my metric": self.VALUES}})
        in_order = self.judged(run)
        points = [(score, x) for score, (_, _, ratings) in zip(self.VALUES, RATED, strict=True) for x in ratings]
        expected = kendalltau(*zip(*points, strict=True), variant="c").statistic
        assert in_order["my metric"]["value"] == pytest.approx(expected, abs=1e-12)
        items = [json.loads(line)["id"] for line in run("data", "items", "mine.jsonl").out.splitlines()]
        by_id = dict(zip(items, self.VALUES, strict=True))
        scores_file(own, {"mine@own": {"my metric": dict(reversed(by_id.items()))}})
        assert self.judged(run) == in_order

    def test_external_scores_are_judged_with_metrics(self, own: Path, run: Run) -> None:
        scores_file(own, {"mine": {"my-metric": self.VALUES}})
        assert [*self.judged(run, "-m", "rouge-l")] == ["rouge-l", "my-metric"]

    def test_signature_identifies_external_scores(self, own: Path, run: Run) -> None:
        scores_file(own, {"mine": {"a": self.VALUES, "b": self.VALUES, "c": [*self.VALUES[:5], 0.01]}})
        tokenizers = [result["signature"].split("|")[1] for result in self.judged(run).values()]
        assert tokenizers[0] == tokenizers[1] != tokenizers[2]

    @pytest.mark.parametrize(
        ("content", "message"),
        [
            ({"mine": {"x": [1, 2]}}, ["2 scores for 6 items", "x on mine@own", "captious data items"]),
            ({"mine": {"x": [[1], [2], [3], [4], [5], [6]]}}, ["shape (6, 1)"]),
            ({"mine": {"x": [7] * 6}}, ["all scores are 7", "x on mine@own"]),
            ([1, 2], ["the file does not contain benchmark scores", "scores.json"]),
            ({"mine": [1, 2]}, ["does not contain benchmark scores", "scores.json"]),
        ],
    )
    def test_invalid_external_scores_are_refused(self, own: Path, run: Run, content: Any, message: list[str]) -> None:
        scores_file(own, content)
        assert_refused(run("judge", "mine.jsonl", "-m", "rouge-l", "--scores", "scores.json"), *message)

    def test_missing_score_file_is_named(self, own: Path, run: Run) -> None:
        assert_refused(run("judge", "mine.jsonl", "--scores", "no.json"), "cannot read scores", "no.json")
        Path("no.json").write_text("{")
        assert_refused(run("judge", "mine.jsonl", "--scores", "no.json"), "not JSON", "no.json")


class TestRefused:
    def test_incompatible_protocols_are_refused(self, flickr: Path, run: Run) -> None:
        both = ("flickr8k-expert@yi2020", "flickr8k-expert@spice2016")
        outcome = run("judge", *both, "-m", "rouge-l", "--data", flickr)
        assert_refused(outcome, *both, "cannot share a table")
        fine = run("judge", "flickr8k-expert@tau-b", both[1], "-m", "rouge-l", "--data", flickr, *QUICK)
        assert fine.code == 0

    def test_metrics_without_published_scores_are_refused(self, shared_data: Path, run: Run) -> None:
        outcome = run("judge", "coco-2015", "-m", "cider", "--data", shared_data)
        assert_refused(outcome, "coco-2015 has no published scores for cider", "cider-d, spice", "--scores")


class TestPlot:
    def test_plot_without_matplotlib_names_the_extra(
        self, own: Path, run: Run, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Said before anything is read: the benchmark is not there either."""
        monkeypatch.setitem(sys.modules, "matplotlib", None)
        outcome = run("judge", "no.jsonl", "-m", "rouge-l", "--plot", "pictures")
        assert_refused(outcome, "matplotlib", "pip install 'captious[report]'")
        assert not (own / "pictures").exists()


def test_data_folder_is_not_modified(flickr: Path, run: Run, tmp_path: Path) -> None:
    shutil.copytree(flickr, tmp_path / "before")
    run("judge", "flickr8k-expert", "-m", "rouge-l", "--data", flickr, *QUICK)
    files = [path.relative_to(flickr) for path in flickr.rglob("*")]
    assert files == [path.relative_to(tmp_path / "before") for path in (tmp_path / "before").rglob("*")]


def test_results_of_the_bundled_grammar_are_marked(run: Run, own: Path, tables: Path) -> None:
    message = "SPICE is using the bundled approximate grammar"
    assert run("judge", "mine.jsonl", "-m", "spice:parser=bundled", "--data", own, *QUICK).err.count(message) == 1
    assert message not in run("judge", "mine.jsonl", "-m", "hwcm-1:parser=bundled", "--data", own, *QUICK).err


def test_judgment_table_is_renamed_and_transposed(own: Path, run: Run) -> None:
    """Transposed, each benchmark heads its rows."""
    arguments = ("judge", "mine.jsonl", "pairs.jsonl", "-m", "bleu-4", "-m", "rouge-l", "--naming", "paper", *QUICK)
    lines = run(*arguments, "--transpose").out.splitlines()
    assert lines[0].split() == ["B@4", "R-L"]
    assert [line.strip().partition(":")[0] for line in lines if "n = " in line] == ["mine@own", "pairs@own"]
    latex = run(*arguments, "--transpose", "--format", "tex").out
    assert " &  & B@4 & R-L" in latex
    assert "pairs@own & accuracy &" in latex
    assert "B@4" in run(*arguments, "--format", "md").out
