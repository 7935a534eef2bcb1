"""Figures of coverage that may not fall."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tools.coverage_floors import ALL, Coverage, floors, measured, problems, raise_lines

SOURCE = """
def f(x):
    if x < 0:
        raise ValueError(
            "negative"
        )
    return x


def g():
    raise KeyError
"""


@pytest.fixture
def report(tmp_path: Path) -> dict[str, Any]:
    """A report of one file, of which a branch and a ``raise`` were not tested."""
    path = tmp_path / "captious" / "text" / "words.py"
    path.parent.mkdir(parents=True)
    path.write_text(SOURCE, "utf-8")
    summary = {"covered_lines": 5, "num_statements": 6, "covered_branches": 1, "num_branches": 2}
    return {"files": {str(path): {"missing_lines": [4], "excluded_lines": [], "summary": summary}}}


def test_raises_are_counted_by_their_first_lines() -> None:
    assert raise_lines(SOURCE) == {4, 11}


def test_figures_are_those_of_lines_branches_and_raises(report: dict[str, Any]) -> None:
    assert measured(report) == {ALL: Coverage(75.0, 50.0), "text": Coverage(75.0, 50.0)}


def test_figures_that_fall_are_named(report: dict[str, Any]) -> None:
    found = measured(report)
    floor = Coverage(75.0, 50.0)
    assert problems(found, {ALL: floor, "text": floor}) == []
    assert problems(found, {ALL: floor, "text": Coverage(75.1, 50.0)}) == [
        "text: 75.0% of lines and branches are tested, 75.1% before"
    ]
    assert problems(found, {ALL: floor, "text": Coverage(75.0, 51.0)}) == [
        "text: 50.0% of raises are tested, 51.0% before"
    ]
    assert problems(found, {ALL: floor, "text": Coverage(75.0, 47.0)}) == [
        "text: 50.0% of raises are tested; raise the floor of 47.0%"
    ]
    assert problems(found, {ALL: floor, "text": floor, "scenes": floor}) == ["scenes: nothing was measured"]
    assert problems(found, {ALL: floor}) == ["text: it has no floor in coverage_floors.tsv"]


def test_contributing_states_the_figure() -> None:
    text = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf-8")
    assert f"{floors()[ALL].lines:g} % of lines and branches" in " ".join(text.split())
