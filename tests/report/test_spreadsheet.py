"""Spreadsheets, as openpyxl reads them."""

from __future__ import annotations

import csv
import io

import pytest

import captious
from captious.drawing import single_line
from captious.evaluation import compare_reports
from captious.evaluation.report import score_table
from captious.files import csv_text, harmless
from captious.report.formats import Presentation, xlsx
from captious.report.formats import csv as formatted

openpyxl = pytest.importorskip("openpyxl")


def sheets(content: bytes) -> dict[str, list[tuple[object, ...]]]:
    book = openpyxl.load_workbook(io.BytesIO(content))
    return {sheet.title: [*sheet.iter_rows(values_only=True)] for sheet in book}


def test_numbers_are_numbers(first: captious.Report, second: captious.Report) -> None:
    read = sheets(xlsx(Presentation(percent=True).apply(score_table([first, second], intervals=True))))
    assert read["table"][0][1:4] == ("share", "share low", "share high")
    low, high = first["share"].confidence_interval()
    assert read["table"][1][:4] == ("first", 25.0, 100 * low, 100 * high)
    assert read["data"][0][:4] == ("system", "n_images", "metric", "score")
    assert read["data"][1][3] == 0.25


def test_spreadsheet_of_a_comparison_has_differences(first: captious.Report, second: captious.Report) -> None:
    read = sheets(xlsx(compare_reports(first, second, resamples=9).to_table()))
    assert read["table"][0][1:4] == ("first", "second", "difference")
    assert read["table"][1][3] == pytest.approx(0.25)


def test_text_is_never_a_formula(first: captious.Report) -> None:
    report = captious.score({1: "a dog"}, {1: ["a dog"]}, ["rouge-l"], system="=1+1")
    book = openpyxl.load_workbook(io.BytesIO(xlsx(score_table([report]))))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row]
    assert all(cell.data_type != "f" for cell in cells)
    assert "'=1+1" in [cell.value for cell in cells]


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
