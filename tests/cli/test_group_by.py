"""--group-by of captious score and captious compare."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused

SCORE = ("score", "baseline.json", "improved.json", "references.json", "-m", "bleu-4", "-m", "rouge-l")


@pytest.fixture
def groups(folder: Path) -> dict[str, str]:
    ids = [record["image_id"] for record in json.loads(Path("improved.json").read_text())]
    group_of = {str(image): ("indoor", "outdoor")[n % 2] for n, image in enumerate(ids)}
    Path("places.json").write_text(json.dumps(group_of))
    return group_of


class TestColumns:
    def lines(self, name: str, **more: str) -> None:
        """Write references with a field as jsonl."""
        with open(name, "w") as file:
            for n, (image, texts) in enumerate(json.loads(Path("references.json").read_text()).items()):
                fields = {field: f"{value}{n % 2}" for field, value in more.items()}
                file.write(json.dumps({"image_id": int(image), "references": texts, **fields}) + "\n")

    def test_groups_are_read_from_a_column_of_references(self, run: Run, folder: Path) -> None:
        self.lines("r.jsonl", domain="d")
        outcome = run("score", "improved.json", "r.jsonl", "-m", "rouge-l", "--group-by", "domain")
        assert "by domain" in outcome.out
        assert [line.split()[0] for line in outcome.out.splitlines() if line.startswith("    d")] == ["d0", "d1"]

    def test_existing_file_takes_precedence_over_column(self, run: Run, groups: dict[str, str]) -> None:
        self.lines("r.jsonl", places="d")
        Path("places.json").rename("places")
        outcome = run("score", "improved.json", "r.jsonl", "-m", "rouge-l", "--group-by", "places")
        assert_refused(outcome, "needs an extension", "places")

    def test_agreeing_columns_of_candidates_are_accepted(self, run: Run, folder: Path) -> None:
        for name in ("baseline", "improved"):
            records = json.loads(Path(f"{name}.json").read_text())
            for record in records:
                record["kind"] = record["image_id"] % 2
            Path(f"{name}.json").write_text(json.dumps(records))
        assert "by kind" in run(*SCORE, "--group-by", "kind").out
        records[0]["kind"] = "other"
        Path("improved.json").write_text(json.dumps(records))
        outcome = run(*SCORE, "--group-by", "kind")
        assert_refused(outcome, "1 image has a different kind", "baseline.json:kind", str(records[0]["image_id"]))

    def test_column_named_length_is_ambiguous(self, run: Run, folder: Path) -> None:
        self.lines("r.jsonl", length="d")
        arguments = ("score", "improved.json", "r.jsonl", "-m", "rouge-l", "--group-by")
        assert_refused(run(*arguments, "length"), "also a column", "r.jsonl:length")
        assert "d1" in run(*arguments, "r.jsonl:length").out


def test_groups_work_with_prepared_references(run: Run, groups: dict[str, str]) -> None:
    run("prepare", "references.json", "-o", "r.prepared", "-m", "rouge-l")
    arguments = ("score", "improved.json", "r.prepared", "-m", "rouge-l", "--group-by")
    assert "by length of references" in run(*arguments, "length").out
    assert "outdoor" in run(*arguments, "places.json").out
    assert_refused(run(*arguments, "domain"), "neither a file nor a column", "prepared references have no columns")
