"""Judgments and studies as tables: judgments and studies on screen, in notebooks and in papers."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from captious.judgment import Agreement, BenchmarkResult, Judgment, Study
from captious.judgment.benchmarks.names import protocol
from captious.report.formats import csv as csv_text
from captious.report.formats import json_text, latex, plain_text
from captious.statistics import Sampling
from tests.support.pages import parsed

#: metric -> value, interval, rank.
EXPERT = {
    "bleu-4": (0.30776, (0.287, 0.327), 3),
    "rouge-l": (0.32314, (0.302, 0.344), 3),
    "cider-d": (0.43891, (0.418, 0.459), 1),
    "meteor": (0.41822, (0.397, 0.439), 2),
    "my_metric": (-0.0312, (-0.0411, 0.0004), 5),
}
PARTS = {"HC": 0.637, "HI": 0.975, "HM": 0.932, "MM": 0.656}
LONG = "|".join(["meteor", *(f"option-{i}:{i}" for i in range(20))])


def verdict(
    name: str, metrics: dict[str, Any], *, ranked: bool = True, parts: dict[str, float] | None = None
) -> BenchmarkResult:
    results = {
        metric: Agreement(metric, value, interval, rank if ranked else None, f"{metric}|variant:official", parts or {})
        for metric, (value, interval, rank) in metrics.items()
    }
    if "meteor" in results:
        results["meteor"] = replace(results["meteor"], signature=LONG)
    return BenchmarkResult(protocol(name), 16992, {"expert.jsonl.gz": "a9f4e7e7"}, results)


@pytest.fixture
def compared() -> Judgment:
    return Judgment([verdict("flickr8k-expert", EXPERT)], Sampling(1000, 7))


@pytest.fixture
def several() -> Judgment:
    """Three benchmarks, the last with parts and without one of the metrics."""
    pascal = {metric: EXPERT[metric] for metric in ("bleu-4", "meteor")}
    verdicts = [verdict(name, EXPERT) for name in ("flickr8k-expert", "composite")]
    return Judgment([*verdicts, verdict("pascal-50s", pascal, parts=PARTS)], Sampling(1000, 7))


@pytest.fixture
def study() -> Study:
    return Study(
        "references",
        "Agreement by number of references",
        ("metric", "references", "value", "note"),
        [
            {"metric": "bleu-4", "references": 1, "value": 0.25, "note": "few & 100% [red]bad[/]"},
            {"metric": "bleu-4", "references": np.int64(16992), "value": np.float64("nan"), "note": None},
        ],
        signatures={"bleu-4": "bleu-4|variant:official"},
        data={"pairs.jsonl": "0badcafe"},
        settings={"seed": 3, "draws": (1, 2)},
        notes=["One sentence."],
    )


class TestTable:
    def test_rows_are_sorted_with_interval_and_rank(self, compared: Judgment) -> None:
        """The best first, in hundredths, with interval and rank."""
        lines = plain_text(compared.to_table()).splitlines()
        assert lines[0].strip() == "flickr8k-expert@spice2016"
        assert lines[1].strip() == "kendall-tau-c ×100, n = 16,992"
        assert lines[2].split() == ["value", "95%", "interval", "rank"]
        assert [line.split() for line in lines[3:8]] == [
            ["cider-d", "43.9", "41.8", "–", "45.9", "1"],
            ["meteor", "41.8", "39.7", "–", "43.9", "2"],
            ["rouge-l", "32.3", "30.2", "–", "34.4", "3"],
            ["bleu-4", "30.8", "28.7", "–", "32.7", "3"],
            ["my_metric", "-3.1", "-4.1", "–", ".0", "5"],
        ]

    def test_judgment_table_names_resamples_seed_and_ranking(self, compared: Judgment) -> None:
        text = plain_text(compared.to_table())
        for message in ("expert.jsonl.gz (CRC-32 a9f4e7e7)", "candidates that are among the references", LONG):
            assert message in text
        assert "Anderson et al. 2016" in text
        assert "1,000 resamples, seed 7" in text
        assert "Rank: 1 plus the number of metrics that are significantly better at 5%" in text

    def test_fits_a_screen_but_for_signatures(self, compared: Judgment, several: Judgment) -> None:
        for judgment in (compared, several):
            lines = plain_text(judgment.to_table()).splitlines()
            assert [line for line in lines if len(line) > 100 and "|" not in line] == []
            assert not any("…" in line for line in lines)

    def test_rows_keep_the_requested_order_without_comparison(self) -> None:
        judgment = Judgment([verdict("flickr8k-expert", EXPERT, ranked=False)], Sampling(10, 0))
        text = plain_text(judgment.to_table())
        assert [line.split()[0] for line in text.splitlines()[3:8]] == list(EXPERT)
        assert "rank" not in text.lower()

    def test_benchmarks_and_parts_are_columns(self, several: Judgment) -> None:
        text = plain_text(several.to_table())
        assert text.index("composite@hessel2021") < text.index("\n\n") < text.index("pascal-50s@fleur2024")
        block = text.split("\n\n")[1].splitlines()
        assert block[2].split()[-4:] == [*PARTS]
        row = {line.split()[0]: line.split()[1:] for line in block[3:]}
        assert row["meteor"][-4:] == ["63.7", "97.5", "93.2", "65.6"]
        assert row["my_metric"][0] == "–"  # it was not judged there

    def test_wide_parts_stand_apart(self) -> None:
        parts = {f"kind_of_change_{i}": i / 10 for i in range(5)}
        judgment = Judgment([verdict("sugarcrepe", {"bleu-4": EXPERT["bleu-4"]}, parts=parts)], Sampling(10, 0))
        first, second, *_ = plain_text(judgment.to_table()).split("\n\n")
        assert "kind_of_change" not in first
        assert second.splitlines()[-1].split() == ["bleu-4", ".0", "10.0", "20.0", "30.0", "40.0"]

    def test_signatures_that_depend_on_the_benchmark(self) -> None:
        one, other = (verdict(name, {"bleu-4": EXPERT["bleu-4"]}) for name in ("composite", "flickr8k-cf"))
        changed = replace(one, agreements={"bleu-4": replace(one["bleu-4"], signature="bleu-4|idf:2")})
        text = plain_text(Judgment([changed, other], Sampling(10, 0)).to_table())
        assert "  bleu-4|idf:2 on composite@hessel2021\n" in text
        assert "  bleu-4|variant:official on flickr8k-cf@hessel2021\n" in text

    def test_ranks_that_are_no_clusters_are_said(self) -> None:
        """A is better than C, but B differs from neither."""
        metrics = {"a": (0.5, (0.4, 0.6), 1), "b": (0.4, (0.3, 0.5), 1), "c": (0.3, (0.2, 0.4), 2)}
        apart = replace(verdict("composite", metrics), p_values={("a", "b"): 0.2, ("a", "c"): 0.01, ("b", "c"): 0.3})
        text = plain_text(Judgment([apart], Sampling(10, 0)).to_table())
        assert "Metrics that share a rank do not differ significantly." in text
        assert "although their ranks differ: b and c (composite@hessel2021)." in text
        together = replace(apart, p_values={("a", "b"): 0.05, ("a", "c"): 0.01, ("b", "c"): 0.01})
        text = plain_text(Judgment([together], Sampling(10, 0)).to_table())
        assert "do not differ significantly, except a and b (composite@hessel2021)." in text
        assert "in spite" not in text

    def test_tests_are_named(self) -> None:
        systems = verdict("coco-2015", {"bleu-4": EXPERT["bleu-4"], "meteor": EXPERT["meteor"]})
        text = plain_text(Judgment([systems], Sampling(10, 0)).to_table())
        assert "Williams' test" in text
        assert "permutations" not in text
        assert "bootstrap over systems" in text

    def test_names_of_the_users_are_shown_as_they_are(self) -> None:
        judgment = Judgment([verdict("composite", {"[b]x\x1b[31m\ny": EXPERT["bleu-4"]})], Sampling(10, 0))
        text = plain_text(judgment.to_table())
        assert "[b]x [31m y" in text
        assert "\x1b" not in text

    def test_shows_itself(self, compared: Judgment, study: Study) -> None:
        assert repr(compared) == plain_text(compared.to_table()).rstrip("\n")
        assert repr(study) == plain_text(study.to_table()).rstrip("\n")


class TestStudyTable:
    def test_study_rows_show_its_records(self, study: Study) -> None:
        lines = plain_text(study.to_table()).splitlines()
        assert lines[0] == "Agreement by number of references"
        assert lines[2].split() == ["metric", "references", "value", "note"]
        assert lines[3].split(maxsplit=3) == ["bleu-4", "1", ".2500", "few & 100% [red]bad[/]"]
        assert lines[4].split() == ["bleu-4", "16,992", "–", "–"]

    def test_study_table_names_data_and_seed(self, study: Study) -> None:
        text = plain_text(study.to_table())
        for message in (
            "pairs.jsonl (CRC-32 0badcafe)",
            "seed 3, draws 1 2",
            "bleu-4|variant:official",
            "One sentence.",
        ):
            assert message in text


class TestHtml:
    def test_html_of_a_judgment_names_its_data(self, several: Judgment) -> None:
        html = str(several._repr_html_())
        page = parsed(html)
        start = page.cells.index("meteor")
        row = page.cells[start : start + 14]
        assert row[1:4] == ["41.8", "39.7 – 43.9", "2"]
        assert row[-4:] == ["63.7", "97.5", "93.2", "65.6"]
        widths = [int(width) for width in re.findall(r'colspan="(\d+)"', html)]
        assert widths == [3, 3, 7]
        assert "a9f4e7e7" in html
        assert LONG in html

    def test_names_are_escaped(self) -> None:
        judgment = Judgment([verdict("composite", {"<b>": EXPERT["bleu-4"]})], Sampling(10, 0))
        assert "<b>" not in str(judgment._repr_html_())
        assert "&lt;b&gt;" in str(judgment._repr_html_())

    def test_html_of_a_study_shows_its_records(self, study: Study) -> None:
        page = parsed(study._repr_html_())
        assert page.cells[4:8] == ["bleu-4", "1", ".2500", "few & 100% [red]bad[/]"]
        assert "0badcafe" in str(study._repr_html_())


class TestMachineReadable:
    def test_json_has_fractions(self, several: Judgment) -> None:
        document = json.loads(json_text(several.to_table()))
        pascal = document["benchmarks"][2]["results"]["meteor"]
        assert pascal == {
            "value": 0.41822,
            "ci95": [0.397, 0.439],
            "rank": 2,
            "parts": PARTS,
            "lower_is_better": False,
            "signature": LONG,
        }

    def test_json_has_null_for_what_is_no_number(self, study: Study) -> None:
        odd = {"lonely": (0.5, (float("nan"), float("nan")), 1)}
        document = json.loads(json_text(Judgment([verdict("composite", odd)], Sampling(10, 0)).to_table()))
        assert document["benchmarks"][0]["results"]["lonely"]["ci95"] == [None, None]
        records = json.loads(json_text(study.to_table()))["records"]
        assert (records[1]["references"], records[1]["value"]) == (16992, None)

    def test_csv_of_a_judgment_has_intervals_and_signatures(self, several: Judgment) -> None:
        rows = list(csv.DictReader(io.StringIO(csv_text(several.to_table()))))
        whole = [row for row in rows if row["part"] == ""]
        assert len(whole) == 5 + 5 + 2
        assert {row["data"] for row in rows} == {"expert.jsonl.gz:a9f4e7e7"}
        records = {(row["metric"], row["part"]): row for row in rows if row["benchmark"] == "pascal-50s@fleur2024"}
        assert len(records) == 2 * 5
        assert float(records["meteor", "HI"]["value"]) == 0.975
        assert records["meteor", "HI"]["ci95_low"] == ""
        assert float(records["meteor", ""]["ci95_low"]) == 0.397
        assert records["meteor", ""]["signature"] == LONG

    def test_csv_of_a_study_names_its_data(self, study: Study) -> None:
        rows = list(csv.DictReader(io.StringIO(csv_text(study.to_table()))))
        assert [row["signature"] for row in rows] == ["bleu-4|variant:official"] * 2
        assert rows[0]["note"] == "few & 100% [red]bad[/]"
        assert rows[1]["note"] == ""
        assert {row["data"] for row in rows} == {"pairs.jsonl:0badcafe"}


class TestLatex:
    def test_latex_of_a_judgment_is_a_tabular(self, compared: Judgment) -> None:
        lines = latex(compared.to_table()).splitlines()
        assert r"\begin{tabular}{lrrr}" in lines
        assert r"cider-d & \textbf{43.9} & [41.8, 45.9] & 1 \\" in lines
        assert r"meteor & 41.8 & [39.7, 43.9] & 2 \\" in lines
        assert r"my\_metric & $-$3.1 & [$-$4.1, .0] & 5 \\" in lines
        assert r" & \multicolumn{3}{c}{flickr8k-expert@spice2016} \\" in lines
        assert r"metric & $\tau_c$ & 95\% interval & rank \\" in lines
        assert lines[-2:] == [r"\bottomrule", r"\end{tabular}"]

    def test_every_row_has_all_cells(self, several: Judgment) -> None:
        text = latex(several.to_table())
        columns = len(re.search(r"\{tabular\}\{(\w+)\}", text).group(1))  # type: ignore[union-attr]
        rows = [line for line in text.splitlines() if line.endswith(r"\\") and "multicolumn" not in line]
        assert columns == 1 + 3 + 3 + 7
        assert {line.count(" & ") for line in rows} == {columns - 1}

    def test_latex_comments_name_data_and_seed(self, compared: Judgment) -> None:
        comments = [line for line in latex(compared.to_table()).splitlines() if line.startswith("%")]
        assert f"%   {LONG}" in comments
        assert any("expert.jsonl.gz (CRC-32 a9f4e7e7)" in line for line in comments)
        assert any("1,000 resamples, seed 7" in line for line in comments)

    def test_latex_escapes_cells_and_comments(self) -> None:
        evil = "a\n\\input{x} 50% & $5_^~#{}"
        judgment = Judgment([verdict("composite", {evil: EXPERT["bleu-4"]})], Sampling(10, 0))
        lines = latex(judgment.to_table()).splitlines()
        tabular = lines.index(r"\begin{tabular}{lrrr}")
        assert all(line.startswith("%") for line in lines[:tabular])
        (row,) = (line for line in lines if "input" in line and not line.startswith("%"))
        cell = r"a \textbackslash{}input\{x\} 50\% \& \$5\_\textasciicircum{}\textasciitilde{}\#\{\}"
        assert row.startswith(f"{cell} & ")

    def test_equal_to_the_eye_is_equally_bold(self) -> None:
        metrics = {"a": (0.4001, (0.3, 0.5), 1), "b": (0.4003, (0.3, 0.5), 1), "c": (0.39, (0.3, 0.5), 1)}
        text = latex(Judgment([verdict("composite", metrics)], Sampling(10, 0)).to_table())
        assert text.count(r"\textbf{40.0}") == 2
        assert r"\textbf{39.0}" not in text

    def test_latex_of_a_study_names_its_data(self, study: Study) -> None:
        text = latex(study.to_table())
        assert r"\begin{tabular}{lrrl}" in text
        assert r"bleu-4 & 1 & .2500 & few \& 100\% [red]bad[/] \\" in text
        assert "% One sentence." in text
        assert "0badcafe" in text
