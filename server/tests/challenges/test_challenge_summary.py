"""What `captious challenge check` prints about a challenge."""

from __future__ import annotations

from pathlib import Path

import pytest

from captious_server.challenges.folder import check_folder, summary_rows
from server.tests.support.small_challenge import write_folder


def test_summary(folder: Path) -> None:
    rows = [*summary_rows(check_folder(folder))]
    assert ("challenge", "COCO captions (coco-captions)") in rows
    assert ("captions", "test2014: 3 images, not public") in rows
    assert (
        "references",
        "test2014 · c40: 80 captions of 2 images, 40.0 each, references/test2014_c40.json",
    ) in rows
    assert (
        "phases",
        "test: val2014, test2014; opens 2026-06-01 00:00:00 UTC, closes 2026-12-31 23:59:59 UTC; no limits; "
        "leaderboard hidden; one entry of each team",
    ) in rows
    assert ("metrics", "bleu-1, bleu-2, bleu-3, bleu-4, rouge-l, cider-d") in rows
    assert ("baselines", "Human captions: baselines/human.json, in dev, human") in rows


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ('scores_shown = "at-end"', "; leaderboard public when the phase has closed"),
        ('board = "hidden"\nscores_shown = "at-end"', "; leaderboard hidden, scores when the phase has closed"),
        ('scores_shown = "never"', "; leaderboard and scores for organizers only"),
        ('entries = "one"', "; leaderboard public; one entry of each team"),
    ],
)
def test_summary_of_what_is_shown(tmp_path: Path, lines: str, said: str) -> None:
    folder = write_folder(tmp_path / "small", limits=f"closes = 2120-01-01T00:00:00Z\n{lines}")
    toml = folder / "challenge.toml"
    toml.write_text(f"team_size = 5\nteams_close = 2119-01-01T00:00:00Z\n{toml.read_text()}")
    rows = [*summary_rows(check_folder(folder))]
    [phase] = [text for heading, text in rows if heading == "phases"]
    assert phase.endswith(f"; no limits{said}")
    assert ("teams", "at most 5 members") in rows
    assert ("teams", "close 2119-01-01 00:00:00 UTC") in rows
