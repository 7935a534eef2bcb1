"""COCO 2015: which systems count, under which measure, with which of the leaderboard's scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from captious.judgment import judge
from tests.support.judgments import write


def team(m1: float, m2: float, *entries: tuple[str, dict[str, float | None]]) -> dict[str, Any]:
    c40 = [[day, "", scores] for day, scores in entries]
    c5 = [[day, "", {key: value and value / 2 for key, value in scores.items()}] for day, scores in entries]
    return {"M1": m1, "M2": m2, "date": "2015-05-29", "cap_c40": c40, "cap_c5": c5}


def test_coco_2015_judgment_has_a_scatter_plot(tmp_path: Path) -> None:
    """A point for each system, with its name."""
    teams = {name: team(n / 10, 0.1, ("2015-05-29", {"CIDEr": 1 / (n + 1)})) for n, name in enumerate("ABCD")}
    write(tmp_path, "coco2015/teams.json", teams)
    pictures = judge("coco-2015@m1", "cider-d", data=tmp_path, resamples=20).to_table().pictures
    points = pictures["coco-2015@m1-cider-d"].lines["systems"]  # type: ignore[union-attr]
    assert list(points.names) == ["A", "B", "C", "D"]
    assert points.x.tolist() == [1, 1 / 2, 1 / 3, 1 / 4]
    assert points.y.tolist() == [0, 0.1, 0.2, 0.3]
