"""captious report"""

from __future__ import annotations

import json
from pathlib import Path

import captious
from captious.report.page import report_page
from tests.cli.conftest import Run, assert_refused
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


def test_report_options_change_the_page(folder: Path, run: Run) -> None:
    options = (
        "--title",
        "Two <systems>",
        "--image-url",
        "images/{id:06d}.jpg",
        "--group-by",
        "length",
        "--explain",
        "4",
    )
    outcome = run("report", *FILES, *METRICS, *options, "-o", "page.html", "--resamples", "20")
    assert outcome.code == 0
    page = Page((folder / "page.html").read_text(encoding="utf-8"))
    assert "Two <systems>" in page.text
    assert page.manifest["url"] == ["images/", 6, ".jpg"]
    assert page.manifest["groups"]["by"] == "length of references"
    assert len(page.integers(page.manifest["explanations"]["rows"])) == 4


def test_judgments_and_studies_are_written_as_pages(folder: Path, run: Run) -> None:
    lines = [
        {"candidate": "a dog number" + " one" * i, "references": ["a dog", f"a number {i}"], "rating": i % 3}
        for i in range(12)
    ]
    (folder / "mine.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert run("judge", "mine.jsonl", "-m", "bleu-1", "-m", "rouge-l", "-o", "judged.html").code == 0
    page = Page((folder / "judged.html").read_text(encoding="utf-8"))
    assert {row["label"] for row in page.manifest["figures"][0]["rows"]} == {"bleu-1", "rouge-l"}
    small = ("--sample", "12", "--strengths", "1", "--resamples", "5")
    outcome = run("study", "robustness", "references.json", *METRICS, *small, "--format", "html")
    assert outcome.code == 0
    assert [figure["kind"] for figure in Page(outcome.out).manifest["figures"]] == ["curves"] * 3


def test_invalid_report_options_are_refused(folder: Path, run: Run) -> None:
    assert_refused(run("report", *FILES, *METRICS), "missing option", "captious report")
    assert_refused(run("report", "references.json", "-o", "p.html"), "only one file was given")
    assert_refused(run("report", *FILES, "-o", "baseline.json"), "is also an input")
    assert_refused(run("report", *FILES, "-o", "p.txt"), "p.txt is not the name of a page", "name it p.html")
    bad = run("report", *FILES, "-o", "p.html", "--image-url", "javascript:alert({id})")
    assert_refused(bad, "the image URL must begin with https:// or http://")
    few = json.loads((folder / "baseline.json").read_text())[:20]
    (folder / "few.json").write_text(json.dumps(few))
    different = run("report", "few.json", "improved.json", "references.json", "-o", "p.html", "--match", "common")
    assert_refused(different, "few and improved do not have captions of the same images")
    assert not (folder / "p.html").exists()
