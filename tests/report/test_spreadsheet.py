"""Spreadsheets, as openpyxl reads them."""

from __future__ import annotations

import csv
import io

import pytest

import captious
from captious.drawing import single_line
from captious.evaluation.report import score_table
from captious.files import csv_text, harmless
from captious.report.formats import csv as formatted
from captious.report.formats import presented, xlsx
from captious.statistics import Sampling

openpyxl = pytest.importorskip("openpyxl")


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1", "＋1", "－1", "＠A"])
def test_spreadsheets_and_csv_have_one_rule_for_formulas(text: str) -> None:
    assert harmless(text) == f"'{text}"
    assert csv_text(["a"], [[text]]) == csv_text(["a"], [[f"'{text}"]])
    report = captious.score({1: "a dog"}, {1: ["a dog"]}, ["rouge-l"], system=text)
    [row] = csv.DictReader(io.StringIO(formatted(score_table([report])), newline=""))
    assert row["system"] == f"'{text}"
    [_, data] = openpyxl.load_workbook(io.BytesIO(xlsx(score_table([report]))))
    assert data["A2"].value == harmless(single_line(text))


@pytest.mark.parametrize("value", ["a=b", "1-2", "'=1", "", -1.5, -1, None, True, float("-inf")])
def test_other_cells_stay_as_they_are(value: object) -> None:
    assert harmless(value) is value


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
def test_marks_have_columns_and_their_meaning() -> None:
    references = {i: [f"a dog and {i} cats"] for i in range(40)}
    systems = {name: dict.fromkeys(references, text) for name, text in [("bad", "x"), ("=good", "a dog and 3 cats")]}
    two = captious.compare(systems, references, ["rouge-l"])
    three = captious.compare({**systems, "other": systems["bad"]}, references, ["rouge-l"])
    for result, place, marks in ((two, 4, ["difference marks", "*"]), (three, 2, ["rouge-l marks", None, "ac", None])):
        [sheet, _] = openpyxl.load_workbook(io.BytesIO(xlsx(result.to_table())))
        rows = [*sheet.iter_rows(values_only=True)]
        assert [row[place] for row in rows[: len(marks)]] == marks
        assert any("p < .05" in str(row[0]) for row in rows)
    transposed = presented(score_table([*two.reports.values()], Sampling()), "xlsx", transpose=True)
    [sheet, _] = openpyxl.load_workbook(io.BytesIO(transposed))
    assert [cell.value for cell in sheet[1]][4:] == ["'=good", "'=good low", "'=good high"]
    assert all(cell.data_type != "f" for row in sheet for cell in row)
