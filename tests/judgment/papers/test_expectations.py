"""Tables of papers have the values that docs/papers/ shows, and its pages are those that the values make."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from captious import Settings
from captious.judgment.papers import paper as paper_names
from captious.judgment.reproduction.reproduce import reproduce
from captious.judgment.reproduction.reproduction_result import Reproduction

PROJECT = Path(__file__).parents[3]
PAPERS = PROJECT / "docs" / "papers"
MEASURED = [
    (path.stem, table)
    for path in sorted((PAPERS / "measured").glob("*.json"))
    for table in json.loads(path.read_text())
]
#: Tables that take seconds, without word vectors.
FAST = [
    ("coco", "rules"),
    ("leic", "systems"),
    ("leic", "words"),
    ("smurf", "composite"),
    ("smurf", "ellipses"),
    ("smurf", "grammar"),
    ("smurf", "pascal-50s"),
    ("yi2020", "composite"),
]


def test_pages_are_current() -> None:
    """Written by python tools/papers.py."""
    tool: dict[str, Any] = run_path(str(PROJECT / "tools" / "papers.py"))
    for name, text in tool["pages"]().items():
        assert (PAPERS / name).read_text(encoding="utf-8") == text, name


def test_states_fit_the_results() -> None:
    """Tables that are said to be reproduced have no figure that differs; those that cannot be compared have no verdict.

    Figures of a table whose differences are explained may differ.
    """
    for paper, table in MEASURED:
        figures = json.loads((PAPERS / "measured" / f"{paper}.json").read_text())[table]["figures"]
        verdicts = {figure["verdict"] for figure in figures}
        state = paper_names.get(paper).table(table).state
        compared = verdicts & {"same", "within interval", "differs"}
        assert "differs" not in verdicts or state in ("differs", "needs"), (paper, table)
        assert not compared or state not in ("not comparable", "computed", "command"), (paper, table)
        assert compared or state not in ("reproduced", "differs"), (paper, table)


def test_figures_of_the_bundled_grammar_are_marked() -> None:
    """SPICE of the bundled grammar happens to have published figures."""
    figures = json.loads((PAPERS / "measured" / "lceval.json").read_text())["composite"]["figures"]
    of_spice = [figure for figure in figures if figure["row"] == "SPICE"]
    assert {figure["verdict"] for figure in of_spice} & {"same", "within interval"}
    assert all("the grammar bundled" in figure["stand_ins"] for figure in of_spice)
    assert {figure["stand_ins"] for figure in figures if figure["row"] == "METEOR"} == {""}
    assert "<sup>a</sup> with the grammar bundled" in (PAPERS / "lceval.md").read_text(encoding="utf-8")


def test_tables_take_less_than_three_minutes() -> None:
    """CPU time of all cores together, when they were measured; trainings take longer."""
    for paper, table in MEASURED:
        columns = paper_names.get(paper).table(table).columns
        if not any(column.run and "recipe" in column.run.arguments for column in columns):
            measured = json.loads((PAPERS / "measured" / f"{paper}.json").read_text())[table]
            assert measured["seconds"] < 180, (paper, table)


def check(paper: str, tables: Collection[str], found: Reproduction) -> None:
    """Every expected value of these tables was found."""
    values = {(figure.table, figure.row, figure.column): figure.value for figure in found.figures}
    measured = json.loads((PAPERS / "measured" / f"{paper}.json").read_text())
    wrong = []
    for table in tables:
        columns = paper_names.get(paper).table(table).columns
        of_critiques = any(column.run is not None and column.run.function == "critique_grid" for column in columns)
        tolerance = 0.02 if of_critiques else 2e-6  # torch adds up in another order with more threads
        for figure in measured[table]["figures"]:
            value = values[table, figure["row"], figure["column"]]
            if figure["value"] is not None and value != pytest.approx(figure["value"], abs=tolerance):
                wrong.append((table, figure["row"], figure["column"], value, figure["value"]))
    assert not wrong


@pytest.mark.parametrize(("paper", "table"), FAST)
def test_fast_tables_are_as_measured(paper: str, table: str, shared_data: Path) -> None:
    check(paper, [table], reproduce(paper, table, data=shared_data, resamples=10))


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("paper", sorted({paper for paper, _ in MEASURED}))
def test_whole_papers_are_as_measured(paper: str, shared_data: Path, meteor_tables: object) -> None:
    """Tables of one run share it."""
    settings = Settings(vectors=shared_data / "vectors" / "glove_100d_captions.txt.gz")
    found = reproduce(paper, data=shared_data, settings=settings, resamples=10)
    check(paper, [table for of, table in MEASURED if of == paper], found)
