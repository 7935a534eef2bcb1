"""captious study agreement"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run

BOARD = [{"team": {"name": "Human"}, "leaderboard_name": "cap-c5", "results": json.dumps({"Bleu_1": 0.663})}]


@pytest.fixture
def examples(folder: Path) -> Path:
    """The project's examples and a leaderboard."""
    (folder / "board.json").write_text(json.dumps(BOARD))
    return folder


def test_agreement_study_shows_human_scores_by_number_of_references(run: Run, examples: Path) -> None:
    done = run("study", "agreement", "references.json", "-m", "bleu-1", "--published", "board.json", "--resamples", 20)
    assert done.code == 0, done.err
    assert "Human captions against other human captions: references.json" in done.out
    assert "published c5" in done.out
    assert ".6630" in done.out
