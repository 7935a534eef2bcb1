"""captious report"""

from __future__ import annotations

import json
from pathlib import Path

import captious
from captious.report.page import report_page
from tests.cli.conftest import Run
from tests.support.judgments import write_jsonl
from tests.support.pages import Page

METRICS = ("-m", "bleu-4", "-m", "rouge-l")
FILES = ("baseline.json", "improved.json", "references.json")


def test_report_writes_a_page(folder: Path, run: Run) -> None:
    outcome = run("report", *FILES, *METRICS, "-o", "page.html", "--resamples", "20")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    references = captious.read_references("references.json")
    reports = [
        captious.score(f"{name}.json", references, ["bleu-4", "rouge-l"], system=name)
        for name in ("baseline", "improved")
    ]
    assert (folder / "page.html").read_text(encoding="utf-8") == report_page(reports, resamples=20)


def test_judgments_and_studies_are_written_as_pages(folder: Path, run: Run) -> None:
    lines = [
        {"candidate": "a dog number" + " one" * i, "references": ["a dog", f"a number {i}"], "rating": i % 3}
        for i in range(12)
    ]
    write_jsonl(folder, "mine.jsonl", lines)
    assert run("judge", "mine.jsonl", "-m", "bleu-1", "-m", "rouge-l", "-o", "judged.html").code == 0
    page = Page((folder / "judged.html").read_text(encoding="utf-8"))
    assert {row["label"] for row in page.manifest["figures"][0]["rows"]} == {"bleu-1", "rouge-l"}
    small = ("--sample", "12", "--strengths", "1", "--resamples", "5")
    outcome = run("study", "robustness", "references.json", *METRICS, *small, "--format", "html")
    assert outcome.code == 0
    assert [figure["kind"] for figure in Page(outcome.out).manifest["figures"]] == ["curves"] * 3


def test_common_images_are_those_of_all_systems(folder: Path, run: Run) -> None:
    (folder / "ten.json").write_text(json.dumps(json.loads((folder / "baseline.json").read_text())[:10]))
    files = ("ten.json", "improved.json", "references.json")
    outcome = run("report", *files, "-m", "rouge-l", "--match", "common", "-o", "page.html", "--resamples", "20")
    assert (outcome.code, outcome.err) == (0, "")
    assert Page((folder / "page.html").read_text(encoding="utf-8")).manifest["images"] == 10
