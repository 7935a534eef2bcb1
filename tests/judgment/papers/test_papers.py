"""The tables of papers are values that name what exists: protocols, studies, metrics."""

from __future__ import annotations

import inspect

import pytest

from captious.errors import ParameterError, UnknownNameError
from captious.judgment import studies
from captious.judgment.benchmarks import benchmark_names
from captious.judgment.metric_sums import summands
from captious.judgment.papers import paper_names
from captious.judgment.papers.paper import File, Paper, PaperColumn, PaperTable, Run, judged
from captious.judgment.protocols import PEOPLE
from captious.judgment.studies.collection_rules import RULES
from captious.metrics.contract.request import Request

TABLES = [(name, table) for name in paper_names.names() for table in paper_names.get(name).tables]


def test_papers() -> None:
    assert paper_names.names()[:6] == ["lceval", "wembsim", "leic", "yi2020", "smurf", "coco"]
    assert all(paper_names.get(name).name == name for name in paper_names.names())
    with pytest.raises(UnknownNameError, match="there is no paper 'lcevl'"):
        paper_names.get("lcevl")


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=lambda value: getattr(value, "name", value))
def test_tables_name_what_exists(paper: str, table: PaperTable) -> None:
    assert table.status == "works" or table.status.startswith(("differs: ", "needs "))
    for column in table.columns:
        if column.run is None:
            assert table.needs
        elif column.run.function == "judge":
            for benchmark in column.run.arguments["benchmarks"]:
                benchmark_names.protocol(benchmark)
            benchmark_names.protocol(str(column.where["benchmark"]))
        else:
            inspect.signature(getattr(studies, column.run.function)).bind_partial(**column.run.arguments)
    if table.metrics:
        for row in table.rows.values():
            if row not in ("", PEOPLE):
                assert all(Request.from_text(part).metric for part in summands(row))


def test_status_says_both() -> None:
    table = PaperTable("a", "table 1", "It shows.", needs="a file", differs="other data")
    assert (table.state, table.status) == ("needs", "needs a file. differs: other data")
    assert PaperTable("a", "table 1", "It shows.", command="captious serve").status == "works"


def test_rules_are_those_of_the_study() -> None:
    assert tuple(paper_names.get("coco").table("rules").rows) == RULES


def test_files_anywhere_among_arguments() -> None:
    files = [File(name) for name in "abc"]
    run = Run("word_frequencies", {"systems": {"a": files[0], "b": files[1]}, "published": (files[2], "x"), "n": 3})
    assert run.files == files


def test_wrong_tables() -> None:
    column = PaperColumn("a", Run("judge", {"benchmarks": ("composite",)}))
    wrong = [
        ({"published": {"b": (1.0,)}}, "published figures for 'b', which is not one of its rows"),
        ({"rows": {"b": "bleu-1"}, "columns": [column], "published": {"b": (1.0, 2.0)}}, "not one figure per column"),
        ({}, "neither how it is computed nor what it needs"),
    ]
    for arguments, message in wrong:
        with pytest.raises(ParameterError, match=message):
            PaperTable("t", "table 1", "It shows.", **arguments)  # type: ignore[arg-type]
    table = PaperTable("t", "table 1", "It shows.", needs="a file")
    with pytest.raises(ParameterError, match="two tables of p have the same name"):
        Paper("p", "A paper", (table, table))
    with pytest.raises(UnknownNameError, match="p has no table 'u'"):
        Paper("p", "A paper", (table,)).table("u")


def test_columns_of_judge_share_a_run() -> None:
    first, second = judged("pascal-50s", {"HC": "pascal-50s@fleur2024 HC", "all": "pascal-50s@fleur2024"})
    assert first.run is second.run
    assert first.where == {"benchmark": "pascal-50s@fleur2024", "part": "HC"}
    assert Run("robustness", {"references": File("a.json"), "sample": 2}).files == [File("a.json")]
