"""The files of papers: every table names what exists, and files of another form are refused."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from captious import Settings
from captious.errors import CaptiousError, ParameterError, UnknownNameError
from captious.judgment import studies
from captious.judgment.judgments import PEOPLE
from captious.judgment.papers import paper as papers
from captious.judgment.papers.paper import Paper, PaperColumn, PaperRow, PaperTable, Printed, Run
from captious.judgment.reproduction.reproduce import check_table
from captious.judgment.scores import summands
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request

PAPERS = {name: papers.get(name) for name in papers.BUILT_IN}
TABLES = [(name, table) for name, paper in PAPERS.items() for table in paper.tables]

#: How many figures each paper prints in tables that captious lists, counted in the papers.
PRINTED = {"lceval": 649, "wembsim": 170, "leic": 122, "yi2020": 147, "smurf": 155, "coco": 24}


def test_papers_are_found_by_name() -> None:
    assert papers.names()[:6] == ["lceval", "wembsim", "leic", "yi2020", "smurf", "coco"]
    assert all(papers.get(name).name == name for name in papers.names())
    with pytest.raises(UnknownNameError, match="there is no paper 'lcevl'"):
        papers.get("lcevl")
    with pytest.raises(UnknownNameError, match="coco has no table 'u'"):
        PAPERS["coco"].table("u")


def test_published_figures_are_all_there() -> None:
    assert {name: sum(len(table.figures) for table in paper.tables) for name, paper in PAPERS.items()} == PRINTED


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=lambda value: getattr(value, "name", value))
def test_tables_name_what_exists(paper: str, table: PaperTable) -> None:
    check_table(PAPERS[paper], table)
    for column in table.columns:
        if column.run:
            run = PAPERS[paper].runs[column.run]
            inspect.signature(getattr(studies, run.function)).bind_partial(**run.arguments)
    for row in table.rows:
        if row.metric not in ("", PEOPLE):
            assert all(Request.from_text(part).metric for part in summands(row.metric))


def test_every_run_is_used() -> None:
    for paper in PAPERS.values():
        assert {column.run for table in paper.tables for column in table.columns} - {""} == paper.runs.keys()


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=lambda value: getattr(value, "name", value))
def test_rows_need_what_the_index_says(
    paper: str, table: PaperTable, monkeypatch: pytest.MonkeyPatch, meteor_tables: object
) -> None:
    """Without models and word vectors, the metric of a row can be made if, and only if, the row needs nothing."""
    monkeypatch.delenv("CAPTIOUS_VECTORS", raising=False)
    for row in table.rows:
        if row.metric not in ("", PEOPLE) and not (row.needs or table.needs):
            assert bool(table.needs_of(row)) == any(map(_lacks, summands(row.metric))), row


def _lacks(request: str) -> bool:
    parsed = Request.from_text(request)
    metric = registry.get(parsed.metric)
    if "{" in request or "model" in parsed.parameters or metric.default_models:
        return True
    try:
        parsed.make(metric, Settings())
    except CaptiousError:
        return True
    return False


def test_needs_follow_from_metrics() -> None:
    """Those of a table are the needs of rows that nothing computes, or of all rows if there are none."""
    rows = [PaperRow("a", "bleu-1"), PaperRow("b", "wembsim"), PaperRow("c", "people")]
    columns = [PaperColumn("x", judge="composite")]
    assert PaperTable("t", "1", "S.", columns, rows).needs_text == "word vectors (for b)"
    assert PaperTable("t", "1", "S.", columns, rows, needs="a file").needs_text == "a file; word vectors (for b)"
    twice = [*rows, PaperRow("b, of others", "wembsim")]
    assert PaperTable("t", "1", "S.", columns, twice).needs_text == 'word vectors (for b, "b, of others")'
    idle = [*rows, PaperRow("d")]
    assert PaperTable("t", "1", "S.", columns, idle, needs="x").needs_text == "word vectors (for b); x (for d)"


def test_figures_are_read_with_their_digits() -> None:
    assert Printed.read(".290", percent=False) == Printed(0.29, 0.001, 3)
    assert Printed.read("-44.93", percent=False) == Printed(-44.93, 0.01, 2)
    figure = Printed.read("62.0", percent=True)
    assert (figure.value, figure.digits) == (0.62, 1)
    assert figure.unit == pytest.approx(0.001)


def test_files_are_found_in_nested_arguments() -> None:
    run = Run("word_frequencies", {"systems": {"a": "{a}", "b": "{b.json}"}, "published": ["{c}", "x"], "n": 3})
    assert run.files == ["a", "b.json", "c"]
    assert Run("network_depth", {"validation": "{expert_ratings}"}).files == ["flickr8k/expert.jsonl"]


FILE = """
title = "A paper"
[runs.words]
function = "word_agreement"
n_words = 3
[tables.t]
place = "table 1"
shows = "It shows."
columns = [{name = "x", judge = "composite"}, {name = "y", run = "words"}]
rows = [{name = "a", metric = "bleu-1", printed = ".1 -"}]
"""


def test_papers_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(FILE)
    paper = Paper.read(path)
    assert (paper.name, paper.title) == ("mine", "A paper")
    assert paper.runs == {"words": Run("word_agreement", {"n_words": 3})}
    assert paper.table("t").figures == {("a", "x"): Printed(0.1, 0.1, 1)}


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("title", "titel", "no key 'titel'"),
        ("place", "plase", "no key 'plase'"),
        ("metric", "metrik", "no key 'metrik'"),
        ("function", "functions", "not a paper: KeyError 'function'"),
        ("[tables.t]", "[table.t]", "not a paper: KeyError 'tables'"),
        ("= [{name", "= {name", "not a paper: TOMLDecodeError"),
        ('printed = ".1 -"', 'printed = ".1"', "'a' has not one figure per column"),
        ('printed = ".1 -"', 'printed = ".1 x"', "a figure is not a number"),
        ('metric = "bleu-1", ', "", "neither what computes 'a' nor what it needs"),
        ('{name = "y"', '{name = "x"', "'x' occurs twice"),
        ('run = "words"', 'run = "word"', "there is no run 'word'"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "mine.toml"
    assert old in FILE
    path.write_text(FILE.replace(old, new, 1))
    with pytest.raises(ParameterError, match=message) as raised:
        Paper.read(path)
    assert str(path) in raised.value.where


def test_tables_have_different_names() -> None:
    table = PaperTable("t", "table 1", "It shows.", [], [])
    with pytest.raises(ParameterError, match="two tables of p have the same name"):
        Paper("p", "A paper", (table, table))
