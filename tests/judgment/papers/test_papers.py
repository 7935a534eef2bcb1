"""The tables of papers name existing protocols, studies and metrics."""

from __future__ import annotations

import inspect
from dataclasses import replace

import pytest

from captious import Settings
from captious.errors import CaptiousError, ParameterError, UnknownNameError
from captious.judgment import studies
from captious.judgment.benchmarks import names
from captious.judgment.judgments import PEOPLE
from captious.judgment.papers import paper as paper_names
from captious.judgment.papers.paper import File, Paper, PaperColumn, PaperTable, Run, judged
from captious.judgment.reproduction.paper_checks import STATES, check_table
from captious.judgment.scores import summands
from captious.judgment.studies.people import RULES
from captious.metrics.contract import registry
from captious.metrics.contract.registry import Request

TABLES = [(name, table) for name in paper_names.names() for table in paper_names.get(name).tables]


def test_papers_are_found_by_name() -> None:
    assert paper_names.names()[:6] == ["lceval", "wembsim", "leic", "yi2020", "smurf", "coco"]
    assert all(paper_names.get(name).name == name for name in paper_names.names())
    with pytest.raises(UnknownNameError, match="there is no paper 'lcevl'"):
        paper_names.get("lcevl")


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=lambda value: getattr(value, "name", value))
def test_tables_name_what_exists(paper: str, table: PaperTable) -> None:
    assert table.state in STATES
    check_table(paper_names.get(paper), table)
    for column in table.columns:
        if column.run is None:
            assert all(map(table.need_of, table.rows))
        elif column.run.function == "judge":
            for benchmark in column.run.arguments["benchmarks"]:
                names.protocol(benchmark)
            names.protocol(str(column.where["benchmark"]))
        else:
            inspect.signature(getattr(studies, column.run.function)).bind_partial(**column.run.arguments)
    if table.metrics:
        for row in table.rows.values():
            if row not in ("", PEOPLE):
                assert all(Request.from_text(part).metric for part in summands(row))


def test_status_shows_state_and_needs() -> None:
    table = PaperTable("a", "table 1", "It shows.", needs="a file", differs="other data")
    assert (table.state, table.status) == ("needs", "needs a file; differs: other data")
    assert PaperTable("a", "table 1", "It shows.", command="captious serve").status == "command"


def test_states_follow_from_figures_and_needs() -> None:
    table = PaperTable(
        "t", "1", "S.", {"a": "bleu-1", "b": "wembsim"}, judged("composite", {"a": "composite@hessel2021"})
    )
    compared = replace(table, published={"a": (0.1,)})
    assert table.state == "computed"
    assert compared.state == "reproduced"
    assert replace(compared, differs="x").state == "differs"
    assert replace(compared, differs="x", comparable=False).state == "not comparable"
    assert table.needs_text == "word vectors, for b"
    assert replace(table, rows={"b": "wembsim", "people": "people"}).state == "needs"
    assert replace(table, needs="a file").state == "needs"
    assert replace(compared, rows={"a": "", "b": "bleu-1"}, needs={"a": "its captions"}).state == "computed"


#: What metrics need, row by row, worked out by hand.
_OF_VECTORS = {"word vectors": ["WMD", "NNEval", "LCEval", "LCEval, the authors' weights"]}
NEEDS: dict[tuple[str, str], dict[str, list[str]]] = {
    ("lceval", "composite"): _OF_VECTORS,
    ("lceval", "pascal-50s"): _OF_VECTORS,
    ("lceval", "wmt16"): _OF_VECTORS,
    ("lceval", "layers"): {"word vectors": ["LCEval"]},
    ("lceval", "layers-spider"): {},
    ("lceval", "size"): {"word vectors": ["LCEval"]},
    ("wembsim", "combination"): {"word vectors": ["mean", "max", "min"]},
    ("wembsim", "correlations"): {"word vectors": ["wembsim"]},
    ("wembsim", "sums"): {"word vectors": ["WEmbSim", "WEmbSim + SPICE", "WEmbSim + CIDEr-D", "WEmbSim + METEOR"]},
    ("yi2020", "flickr8k"): {
        "bert-base-uncased": ["BERTScore", "ours, BERT"],
        "yi2020/stop_word_list.txt in the folder of data": ["ours, BERT", "ours, unigrams"],
    },
    ("smurf", "pascal-50s"): {"distilbert-base-uncased": ["SMURF"], "distilroberta-base": ["SMURF"]},
    ("smurf", "flickr8k"): {},
    ("coco", "human-c5"): {},
}


@pytest.mark.parametrize(("paper", "table"), NEEDS)
def test_needs_follow_from_metrics(paper: str, table: str) -> None:
    assert paper_names.get(paper).table(table).all_needs == NEEDS[paper, table]


@pytest.mark.parametrize(("paper", "table"), TABLES, ids=lambda value: getattr(value, "name", value))
def test_rows_need_what_the_index_says(
    paper: str, table: PaperTable, monkeypatch: pytest.MonkeyPatch, meteor_tables: object
) -> None:
    """Without models and word vectors, the metric of a row can be made if, and only if, the row needs nothing."""
    monkeypatch.delenv("CAPTIOUS_VECTORS", raising=False)
    if not table.metrics:
        return
    needy = {row for rows in table.all_needs.values() for row in rows}
    for row, request in table.rows.items():
        if request and request != PEOPLE and not table.need_of(row):
            assert (row in needy) == any(map(_lacks, summands(request))), row


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


def test_rules_are_those_of_the_study() -> None:
    assert tuple(paper_names.get("coco").table("rules").rows) == RULES


def test_files_are_found_in_nested_arguments() -> None:
    files = [File(name) for name in "abc"]
    run = Run("word_frequencies", {"systems": {"a": files[0], "b": files[1]}, "published": (files[2], "x"), "n": 3})
    assert run.files == files


def test_inconsistent_tables_are_refused() -> None:
    column = PaperColumn("a", Run("judge", {"benchmarks": ("composite",)}))
    wrong = [
        ({"published": {"b": (1.0,)}}, "published figures for 'b', which is not one of its rows"),
        ({"rows": {"b": "bleu-1"}, "columns": [column], "published": {"b": (1.0, 2.0)}}, "not one figure per column"),
        ({}, "neither how it is computed nor what it needs"),
        ({"rows": {"b": ""}, "columns": [column]}, "neither what computes the row 'b' nor what it needs"),
        ({"rows": {"b": "bleu-1"}, "columns": [column], "needs": {"c": "x"}}, "what 'c' needs, which is not one of"),
        ({"rows": {"b": "bleu-1"}, "columns": [column], "comparable": False}, "does not say how it differs"),
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
