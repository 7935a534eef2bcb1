"""Presentation of tables: in hundredths, under other names, transposed."""

from __future__ import annotations

import re

import pytest

import captious
from captious.errors import ParameterError, UnknownNameError
from captious.evaluation import compare_reports
from captious.evaluation.report import score_table
from captious.metrics.contract.registry import NamingScheme
from captious.report.formats import Presentation, latex, markdown, plain_text

FILES = {name: f"examples/{name}.json" for name in ("baseline", "improved")}
METRICS = ["bleu-4", "cider-d", "length-words"]


@pytest.fixture(scope="module")
def reports() -> captious.Reports:
    with pytest.warns(captious.CaptiousWarning):
        return captious.score_systems(FILES, "examples/references.json", METRICS)


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


class TestPercent:
    def test_scores_are_in_hundredths_but_lengths_are_not(self, reports: captious.Reports) -> None:
        shown = rows(plain_text(Presentation(percent=True).apply(reports.to_table())))
        assert ["bleu-4", "26.9", "48.6", "◀"] in shown
        assert ["cider-d", "72.0", "167.4", "◀"] in shown
        assert ["length-words", "7.7083", "10.5833"] in shown

    def test_percent_scales_intervals_and_differences(self, reports: captious.Reports) -> None:
        compared = compare_reports(*reports.values())
        text = plain_text(Presentation(percent=True).apply(compared.to_table()))
        d = compared["bleu-4"]
        assert f"{100 * d.interval[0]:.1f} – {100 * d.interval[1]:.1f}" in text
        assert f"+{100 * d.difference:.1f}" in text
        assert "+2.8750" in text  # of lengths
        assert f"{d.effect_size:+.3f}".replace("0.", ".") in text


class TestNames:
    @pytest.mark.parametrize(("names", "expected"), [("toolkit", ["Bleu_4", "CIDEr"]), ("paper", ["B@4", "C"])])
    def test_names_follow_the_chosen_scheme(
        self, reports: captious.Reports, names: NamingScheme, expected: list[str]
    ) -> None:
        labels = [row[:1] for row in rows(plain_text(Presentation(naming=names).apply(reports.to_table())))]
        assert all([name] in labels for name in (*expected, "length-words"))

    def test_variants_and_parameters_stay(self) -> None:
        report = captious.score({1: "a dog"}, {1: ["a dog"]}, ["bleu-4:tokenizer=spaces", "rouge-l@lin2004"])
        text = report.to_markdown(naming="paper", transpose=True)
        assert "| B@4:tokenizer=spaces |" in text
        assert "| R-L@lin2004 |" in text

    def test_a_system_is_never_renamed(self) -> None:
        report = captious.score({1: "a dog"}, {1: ["a dog"]}, ["rouge-l"], system="spice")
        assert "| spice |" in report.to_markdown(naming="paper")

    def test_unknown_names_scheme_is_refused(self) -> None:
        with pytest.raises(UnknownNameError, match="captious, toolkit, paper"):
            Presentation(naming="mine")  # type: ignore[arg-type]


class TestTranspose:
    def test_a_terminal_has_a_row_for_each_system(self, reports: captious.Reports) -> None:
        shown = rows(plain_text(Presentation(transpose=True).apply(reports.to_table())))
        assert ["bleu-4", "cider-d", "length-words"] in shown
        assert ["improved", ".4856", "◀", "1.6742", "◀", "10.5833"] in shown

    def test_papers_have_a_row_for_each_metric(self, reports: captious.Reports) -> None:
        table = Presentation(transpose=True).apply(reports.to_table())
        assert r"bleu-4 & .2694 & \textbf{.4856} \\" in latex(table)
        assert "| bleu-4 | .2694 | **.4856** |" in markdown(table)

    def test_transposed_comparison_has_metrics_as_columns(self, reports: captious.Reports) -> None:
        compared = compare_reports(*reports.values())
        shown = rows(plain_text(Presentation(transpose=True).apply(compared.to_table())))
        assert next(row for row in shown if row[:1] == ["effect"])[:2] == ["effect", "size"]

    def test_transposed_html_has_row_headers(self, reports: captious.Reports) -> None:
        from captious.report.html import html_table

        html = html_table(Presentation(transpose=True).apply(reports.to_table()))
        assert re.search(r'<th class="text" scope="row">improved</th>', html)

    def test_groups_cannot(self, reports: captious.Reports) -> None:
        grouped = captious.by_group(reports["improved"], {i: str(i % 2) for i in reports["improved"].ids})
        table = Presentation(transpose=True).apply(grouped.to_table())
        with pytest.raises(ParameterError, match="groups"):
            plain_text(table)
        assert "midrule" in latex(table)


class TestLatex:
    def test_signs_are_mathematics(self, reports: captious.Reports) -> None:
        text = latex(compare_reports(reports["improved"], reports["baseline"]).to_table())
        assert r"$-$.2162" in text
        assert r"$<$.001" in text
        assert "textless" not in text

    def test_significant_differences_have_a_star(self, reports: captious.Reports) -> None:
        text = latex(compare_reports(*reports.values()).to_table())
        assert r"+.2162\textsuperscript{*}" in text
        assert "% *: p < .05" in text

    def test_latex_intervals_stand_below(self, reports: captious.Reports) -> None:
        text = reports.to_latex(interval_style="below", intervals=True)
        low, high = (f"{end:.3f}".lstrip("0") for end in reports["improved"]["bleu-4"].confidence_interval())
        place = text.splitlines().index(next(line for line in text.splitlines() if line.startswith("improved")))
        assert text.splitlines()[place + 1].startswith(rf" & {{\scriptsize [{low}, {high}]}}")

    def test_latex_intervals_stand_as_subscripts(self, reports: captious.Reports) -> None:
        text = reports.to_latex(interval_style="subscript", intervals=True)
        assert r"improved & \textbf{.4856}\textsubscript{[" in text

    def test_unknown_interval_style_is_refused(self) -> None:
        with pytest.raises(UnknownNameError, match="beside, below, subscript"):
            Presentation(interval_style="above")  # type: ignore[arg-type]


def test_markdown_escapes_text() -> None:
    reports = [captious.score({1: "a dog"}, {1: ["a dog"]}, ["rouge-l"], system=name) for name in ("a|b_c", "<b>")]
    lines = markdown(score_table(reports)).splitlines()
    assert r"| a\|b\_c | 1.0000 |" in lines
    assert r"| \<b\> | 1.0000 |" in lines


def test_markdown_has_a_minus_sign(reports: captious.Reports) -> None:
    assert "| −.2162" in markdown(compare_reports(reports["improved"], reports["baseline"]).to_table())
