"""captious study words"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused


def test_words_study_writes_agreement_as_json(run: Run, folder: Path) -> None:
    options = ("--words", "3", "--system", "baseline.json", "--system", "improved.json", "--format", "json")
    done = run("study", "words", "references.json", *options)
    assert done.code == 0, done.err
    assert done.json["records"][0]["word"] == "a"
    assert {"phr_baseline", "phr_improved"} <= done.json["records"][0].keys()
    assert list(done.json["data"]) == ["references.json", "baseline.json", "improved.json"]


def test_words_study_shows_a_table(run: Run, folder: Path) -> None:
    done = run("study", "words", "references.json", "--words", "4", "-k", "2")
    assert done.code == 0, done.err
    assert "k = 2 references" in done.out
    assert len([line for line in done.out.splitlines() if line.startswith("  ") and " ." in line]) >= 4


def test_word_agreement_is_plotted(run: Run, folder: Path) -> None:
    pytest.importorskip("matplotlib")
    options = ("--words", "3", "--system", "baseline.json", "--plot", "pictures")
    done = run("study", "words", "references.json", *options)
    assert done.code == 0, done.err
    assert {file.name for file in (folder / "pictures").iterdir()} == {"words.png", "phr.png"}


@pytest.mark.parametrize(
    ("option", "part"),
    [
        (("-k", "9"), "no image has 9 references"),
        (("--system", "baseline.json", "--system", "baseline.json"), "given twice"),
        (("-o", "references.json"), "is also an input"),
    ],
)
def test_invalid_options_of_the_words_study_are_refused(
    run: Run, folder: Path, option: tuple[str, ...], part: str
) -> None:
    assert_refused(run("study", "words", "references.json", *option), part)
