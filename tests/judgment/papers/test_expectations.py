"""Tables of papers have the kept values, most of which agree, and docs/papers/ is made of them."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

from captious import Settings
from captious.judgment.papers import paper as papers
from captious.judgment.reproduction.reproduce import reproduce
from captious.judgment.reproduction.reproduction_result import Counts, Reproduced, Reproduction, measured

PROJECT = Path(__file__).parents[3]
PAPERS = PROJECT / "docs" / "papers"
KEPT = {name: measured(papers.get(name)) or [] for name in papers.BUILT_IN}
#: Tables that take seconds, without word vectors.
FAST = [
    ("leic", "systems"),
    ("leic", "words"),
    ("smurf", "ellipses"),
    ("yi2020", "systems"),
]


def test_pages_are_current() -> None:
    """Written by python tools/papers.py."""
    tool: dict[str, Any] = run_path(str(PROJECT / "tools" / "papers.py"))
    for name, text in tool["pages"]().items():
        assert (PAPERS / name).read_text(encoding="utf-8") == text, name


def test_figures_are_compared_and_many_agree() -> None:
    counts = Counts.of(figure for figures in KEPT.values() for figure in figures)
    assert counts.printed - counts.missing >= 450
    assert counts.equal >= 110
    assert counts.equal + counts.near >= 210


def test_figures_of_other_grammars_vectors_and_weights_do_not_count() -> None:
    composite = [figure for figure in KEPT["lceval"] if figure.table == "composite"]
    other = {figure.row: figure.other for figure in composite}
    assert any("the word vectors glove" in text for text in other["WMD"])
    assert any("of this package" in text for text in other["LCEval"])
    assert (other["METEOR"], other["SPICE"]) == ((), ())  # that of the official grammar
    assert Counts.of(figure for figure in composite if figure.other).other == sum(bool(f.other) for f in composite)


def check(found: Reproduction, kept: Collection[Reproduced]) -> None:
    """Every kept value of the tables that were computed was found, unless other resources were used."""
    expected = {(figure.table, figure.row, figure.column): figure for figure in kept}
    wrong = []
    for figure in found.figures:
        before = expected[figure.table, figure.row, figure.column]
        comparable = before.other == figure.other and before.value is not None and figure.value is not None
        if comparable and figure.value != pytest.approx(before.value, abs=2e-6):
            wrong.append((figure.table, figure.row, figure.column, figure.value, before.value))
    assert not wrong


@pytest.mark.parametrize(("paper", "table"), FAST)
def test_fast_tables_are_as_kept(paper: str, table: str, shared_data: Path) -> None:
    found = reproduce(paper, table, data=shared_data)
    check(found, KEPT[paper])
    assert any(figure.value is not None for figure in found.figures)


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("paper", papers.BUILT_IN)
def test_whole_papers_are_as_kept(paper: str, shared_data: Path, meteor_tables: object) -> None:
    """Tables of one run share it."""
    settings = Settings(vectors=shared_data / "vectors" / "glove_100d_captions.txt.gz")
    check(reproduce(paper, data=shared_data, settings=settings), KEPT[paper])
