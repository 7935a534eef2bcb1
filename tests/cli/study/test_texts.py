"""captious study frequencies, rules and sentences"""

from __future__ import annotations

from pathlib import Path

from captious.judgment import studies
from tests.cli.conftest import Run, assert_refused


def test_frequencies_study_compares_people_and_systems(run: Run, folder: Path) -> None:
    done = run("study", "frequencies", "improved.json", "references.json", "--words", "4", "--format", "json")
    expected = studies.word_frequencies({"improved": folder / "improved.json"}, folder / "references.json", 4)
    assert done.json["records"] == [dict(record) for record in expected.records]


def test_rules_study_counts_broken_rules(run: Run, folder: Path) -> None:
    done = run("study", "rules", "references.json", "--system", "improved.json", "--format", "json")
    expected = studies.collection_rules(
        folder / "references.json", systems={"improved": folder / "improved.json"}
    ).records
    assert done.json["records"] == [dict(record) for record in expected]
    assert "eight words or more" in run("study", "rules", "references.json").out


def test_sentences_study_scores_text_files(run: Run, folder: Path) -> None:
    refused = run("study", "sentences", "improved.json", "baseline.json", "-m", "bleu-1")
    assert_refused(refused, "bleu cannot be computed without references")
    assert run("study", "sentences").code == 2
