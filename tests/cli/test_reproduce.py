"""captious reproduce"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from tests.cli.conftest import Run
from tests.support.judgments import write_jsonl


def test_reproduced_table_is_printed_in_every_format(run: Run, tmp_path: Path) -> None:
    records = [
        {"pair": f"{language}-en", "candidate": text, "reference": "a dog runs on grass", "human": rating}
        for language in ("cs", "de", "fi", "ro", "ru", "tr")
        for text, rating in (("a dog runs", 0.5), ("a cat", -1), ("a dog on grass", 0.7), ("grass", -0.5))
    ]
    write_jsonl(tmp_path, "wmt16/daseg_to_english.jsonl", records)
    arguments = ("reproduce", "lceval", "wmt16", "--data", str(tmp_path))
    rows = list(csv.DictReader(io.StringIO(run(*arguments, "--format", "csv").out)))
    by_row = {row["row"]: row for row in rows if row["column"] == "average"}
    assert -1 <= float(by_row["BLEU1"]["value"]) <= 1
    assert float(by_row["BLEU1"]["published"]) == 0.338
    assert (by_row["BLEU1"]["verdict"], by_row["BLEU1"]["why"]) == ("differs", "cause not found")
    assert by_row["WMD"]["reason"] == ""
    assert "the word vectors" in by_row["WMD"]["other"]
    shown = run(*arguments).out
    assert "ours" in shown
    assert shown.splitlines()[-1].startswith("lceval: ")
    assert " of 112 equal, " in shown.splitlines()[-1]
    document = json.loads(run(*arguments, "--format", "json").out)
    assert document["tables"]["wmt16"]["counts"]["printed"] == 112
    assert "tabular" in run(*arguments, "--format", "tex").out
    page = tmp_path / "page.html"
    run(*arguments, "-o", str(page), "--plot", str(tmp_path / "pictures"))
    assert "wmt16" in page.read_text(encoding="utf-8")
    assert list((tmp_path / "pictures").glob("*.png"))


def test_missing_requirement_is_reported_once(run: Run, tmp_path: Path) -> None:
    text = run("reproduce", "wembsim", "distractors", "--data", str(tmp_path)).out
    line = next(line for line in text.splitlines() if line.startswith("  F (fastText wiki) "))
    assert line.split()[3:8] == ["–", "[1]", "92.5", "–", "[1]"]
    assert text.count("files of distractors are missing (distractors/pairs.jsonl was not found in") == 1
    rows = csv.DictReader(
        io.StringIO(run("reproduce", "wembsim", "distractors", "--data", str(tmp_path), "--format", "csv").out)
    )
    assert "distractors/pairs.jsonl was not found" in [*rows][1]["reason"]
