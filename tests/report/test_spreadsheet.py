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
from captious.report.formats import xlsx

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
