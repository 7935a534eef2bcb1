"""captious score and compare with all references of an image as one text"""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Run

FILES = ("baseline.json", "improved.json", "references.json")


def test_score_uses_concatenated_references(folder: Path, run: Run) -> None:
    def rouge(*options: str) -> dict[str, object]:
        document = run("score", "improved.json", "references.json", "-m", "rouge-l", "--format", "json", *options).json
        scores: dict[str, object] = document["systems"][0]["metrics"]["rouge-l"]
        return scores

    separate, cat = rouge(), rouge("--references-as", "cat")
    assert rouge("--references-as", "each") == separate
    assert cat["score"] != separate["score"]
    assert "|references:cat-5|captious:" in str(cat["signature"])


def test_compare_uses_concatenated_references(folder: Path, run: Run) -> None:
    document = run("compare", *FILES, "-m", "rouge-l", "--references-as", "cat", "--format", "json").json
    assert "|references:cat-5|" in str(document)


def test_compare_hint_repeats_references_as(folder: Path, run: Run) -> None:
    outcome = run("score", *FILES, "-m", "rouge-l", "--references-as", "cat")
    assert outcome.err.splitlines()[-1].endswith("-m rouge-l --references-as cat")
    assert "--references-as" not in run("score", *FILES, "-m", "rouge-l").err


def test_unknown_references_as_is_refused(folder: Path, run: Run) -> None:
    outcome = run("score", "improved.json", "references.json", "--references-as", "best")
    assert outcome.code == 2
    assert "'each', 'cat'" in outcome.err
