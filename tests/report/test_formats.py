"""Results in machine-readable formats."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import captious
from captious.evaluation import compare_reports
from captious.evaluation.report import score_table
from captious.judgment import Study
from captious.report import formats
from captious.report.formats import Presentation, json_text
from captious.version import __version__
from tests.support.results import agreement, judgment


@pytest.mark.parametrize("name", formats.FORMATS)
def test_every_format_shows_every_kind_of_result(name: str, first: captious.Report, second: captious.Report) -> None:
    comparison = compare_reports(first, second, resamples=9)
    groups = {7: "one", 3: "one", 12: "other"}
    results = [first, comparison, captious.by_group(first, groups), captious.by_group(comparison, groups)]
    results += [judgment(agreement("share", 0.5, None)), Study("study", "title", ("metric",), [{"metric": "share"}])]
    for result in results:
        shown = formats.FORMATS[name](result.to_table())
        assert "share" in (shown if isinstance(shown, str) else _texts(shown))


def _texts(spreadsheet: bytes) -> str:
    with zipfile.ZipFile(io.BytesIO(spreadsheet)) as archive:
        return "".join(archive.read(name).decode() for name in archive.namelist())


class TestJson:
    def test_json_has_the_documented_entries(self, first: captious.Report, second: captious.Report) -> None:
        document = json.loads(json_text(score_table([first, second])))
        entries = [{"version": document["version"]} | entry for entry in document["systems"]]
        assert document["version"] == __version__
        assert entries == [first.to_dict(), second.to_dict()]
        assert document["systems"][0]["metrics"]["amount"] == {
            "score": 11.0,
            "ci95": None,
            "lower_is_better": False,
            "signature": first["amount"].signature,
        }

    def test_json_of_a_comparison_equals_its_dictionary(self, first: captious.Report, second: captious.Report) -> None:
        comparison = compare_reports(first, second, resamples=9)
        assert json.loads(json_text(comparison.to_table(examples=2))) == comparison.to_dict(examples=2)

    def test_text_stays_readable(self, first: captious.Report, second: captious.Report) -> None:
        assert "猫 & cats" in json_text(compare_reports(first, second, resamples=9).to_table(examples=3))


class TestLatex:
    def test_latex_marks_the_best_of_an_output_bold(self, first: captious.Report, second: captious.Report) -> None:
        text = formats.latex(score_table([first, second]))
        assert r" & share & amount \\" in text
        assert r"first & .2500 & \textbf{11.0000} \\" in text
        assert r"second & \textbf{.5000} & 10.5000 \\" in text

    def test_p_is_mathematics_in_rows_too(self, first: captious.Report, second: captious.Report) -> None:
        table = compare_reports(first, second, resamples=9).to_table()
        assert "& $p$ \\\\" in formats.latex(table)
        assert "\n$p$ & " in formats.latex(Presentation(transpose=True).apply(table))

    def test_a_system_may_have_the_name_of_a_statistic(self, first: captious.Report) -> None:
        table = replace(first.to_table(), rows=[replace(row, label="p") for row in first.to_table().rows])
        assert "\np & " in formats.latex(table) or " & p " in formats.latex(table)
        assert "$p$" not in formats.latex(table)

    def test_systems_on_different_images_are_not_ranked(self, first: captious.Report) -> None:
        part = first.select(np.array([0]))
        assert "textbf" not in formats.latex(score_table([first, part]))

    def test_how_intervals_were_sampled(self, first: captious.Report) -> None:
        text = formats.latex(first.to_table(intervals=True))
        assert "% 95% bootstrap over images, 1,000 resamples, seed 12345.\n" in text
        assert r"first & .2500 [.000, .500] & 11.0000 [1.000, 30.000] \\" in text
