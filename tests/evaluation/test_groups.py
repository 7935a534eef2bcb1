"""Scores and differences by group, from the statistics of the whole report."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.errors import ParameterError, UnknownNameError
from captious.evaluation import GroupedComparison, compare_reports, evaluate
from captious.metrics.contract.selection import select
from captious.statistics import holm
from captious.words import DEFAULT_SEED

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")

N = 60
REFERENCES = {i: [f"a dog and {i} cats on a chair", f"{i} cats with a dog"] for i in range(N)}
GOOD = {i: f"a dog with {i} cats" if i % 3 else f"a horse and {i} cats" for i in range(N)}
BAD = {i: f"{i} horses on a table" if i % 4 else f"a dog with {i} cats" for i in range(N)}
GROUPS = {i: "first" if i < 20 else "second" for i in range(N)}
METRICS = ["bleu", "cider-d", "rouge-l"]


@pytest.fixture(scope="module")
def report() -> captious.Report:
    return captious.score(GOOD, REFERENCES, METRICS)


@pytest.fixture(scope="module")
def grouped() -> GroupedComparison:
    return captious.by_group(captious.compare({"a": BAD, "b": GOOD}, REFERENCES, METRICS, resamples=200), GROUPS)


def alone(rows: range) -> captious.Report:
    """Return the images of some rows with the document frequencies of all."""
    whole = captious.read_references(REFERENCES)
    idf = captious.CiderD().fit(whole)
    part = captious.read_captions({i: GOOD[i] for i in rows}, {i: REFERENCES[i] for i in rows})
    return evaluate(part, select(["bleu", "cider-d", "rouge-l"], captious.Settings(idf=idf)))


def test_scores_are_those_of_the_images_alone(report: captious.Report) -> None:
    grouped = captious.by_group(report, GROUPS)
    for name, rows in (("first", range(20)), ("second", range(20, N))):
        expected = alone(rows)
        for output in report:
            assert grouped[name][output].score == pytest.approx(expected[output].score, abs=1e-12)
            np.testing.assert_allclose(grouped[name][output].per_caption, expected[output].per_caption, atol=1e-12)
        assert grouped[name].ids == tuple(rows)


def test_length_groups_accept_references_in_any_form(tmp_path: Path) -> None:
    path = tmp_path / "references.json"
    path.write_text(json.dumps(REFERENCES))
    expected = captious.length_groups(captious.read_references(path))
    assert captious.length_groups(path).group_of == expected.group_of


def test_single_group_equals_the_whole_report(report: captious.Report) -> None:
    grouped = captious.by_group(report, dict.fromkeys(range(N), "all"))
    for score in grouped.scores(intervals=True):
        result = report[score.metric]
        assert score.score == result.score
        assert score.interval == result.confidence_interval()
        assert score.signature == result.signature


def test_averages_have_intervals(report_of) -> None:
    report = report_of([1.0, 0.0, 1.0, 0.0, 0.5, 0.5])
    grouped = captious.by_group(report, {i: "b" if i < 4 else "a" for i in range(6)})
    a, b, macro, micro = grouped.scores(intervals=True)
    assert (a.group, b.group, macro.part, micro.part) == ("a", "b", "macro", "micro")
    assert (a.n_images, b.n_images, macro.n_images, micro.n_images) == (2, 4, 6, 6)
    assert a.interval == (0.5, 0.5)
    assert b.interval == grouped["b"]["given"].confidence_interval(seed=DEFAULT_SEED + 1)
    assert (macro.score, micro.score) == (0.5, 0.5)
    # Group a does not vary, so the macro average varies half as much as group b.
    assert macro.interval == pytest.approx(tuple(0.25 + 0.5 * end for end in b.interval or ()))
    assert macro.interval == grouped.macro_interval("given")


def test_macro_and_micro_differ(report_of) -> None:
    grouped = captious.by_group(report_of([1.0, 0.0, 0.0, 0.0]), {0: "x", 1: "y", 2: "y", 3: "y"})
    assert (grouped.macro("given"), grouped.whole["given"].score) == (0.5, 0.25)


def test_small_groups_are_warned_about(report_of) -> None:
    grouped = captious.by_group(report_of(np.arange(12.0)), {i: "big" if i < 10 else "small" for i in range(12)})
    assert [warning for warning in grouped.warnings if "small (2)" in warning]
    assert not any("big" in warning for warning in grouped.warnings)


def test_unknown_groups_are_refused(report: captious.Report) -> None:
    with pytest.raises(UnknownNameError, match="no group 'third'"):
        captious.by_group(report, GROUPS)["third"]


def test_systems_are_grouped_alike() -> None:
    reports = captious.score_systems({"good": GOOD, "bad": BAD}, REFERENCES, METRICS)
    small = {i: "small" if i < 5 else "big" for i in range(N)}
    grouped = captious.by_group(reports, small)
    assert [*grouped] == ["good", "bad"]
    for system, report in reports.items():
        assert grouped[system].to_dict() == captious.by_group(report, small).to_dict()
    assert [warning for warning in grouped.warnings if "small (5)" in warning]
    assert [system["groups"]["by"] for system in grouped.to_dict()["systems"]] == [grouped.by] * 2
    first = next(row for row in grouped.to_table().rows if row.label == "big")
    assert [cell.value for cell in first.cells[1:] if cell] == [grouped[s]["big"]["bleu-1"].score for s in reports]


def test_other_results_have_no_groups() -> None:
    reports = captious.score_systems({"good": GOOD, "bad": BAD}, REFERENCES, ["rouge-l"])
    for wrong in ([reports["good"]], GOOD):
        with pytest.raises(ParameterError, match=f"a {type(wrong).__name__} has no scores by group"):
            captious.by_group(wrong, GROUPS)  # type: ignore[call-overload]


class TestComparison:
    def test_differences_are_computed_within_groups(self, grouped: GroupedComparison) -> None:
        a, b = (captious.by_group(report, GROUPS) for report in (grouped.whole.a, grouped.whole.b))
        for i, group in enumerate(("first", "second")):
            expected = compare_reports(a[group], b[group], resamples=200, seed=grouped.whole.seed + i)
            for found in grouped.differences:
                if found.group != group:
                    continue
                difference = expected[found.metric]
                for field in ("score_a", "score_b", "difference", "interval", "p_bootstrap", "p_randomization"):
                    assert getattr(found, field) == getattr(difference, field)

    def test_holm_corrects_within_each_output(self, grouped: GroupedComparison) -> None:
        for metric in grouped.whole:
            of_metric = [each for each in grouped.differences if each.metric == metric]
            *groups, macro, micro = of_metric
            assert [each.corrected_bootstrap for each in groups] == holm([each.p_bootstrap for each in groups])
            assert [each.corrected_randomization for each in groups] == holm([e.p_randomization for e in groups])
            assert macro.corrected_bootstrap is micro.corrected_bootstrap is None

    def test_averages_combine_group_differences(self, grouped: GroupedComparison) -> None:
        for metric, whole in grouped.whole.items():
            *groups, macro, micro = [each for each in grouped.differences if each.metric == metric]
            assert macro.difference == pytest.approx(np.mean([each.difference for each in groups]))
            assert macro.interval[0] < macro.difference < macro.interval[1]
            assert macro.p_bootstrap == micro.p_bootstrap == pytest.approx(1 / 201)
            assert (micro.difference, micro.interval) == (whole.difference, whole.interval)

    def test_single_group_equals_the_whole_comparison(self) -> None:
        whole = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["rouge-l"], resamples=100)
        one, macro, micro = captious.by_group(whole, dict.fromkeys(range(N), "all")).differences
        for field in ("difference", "interval", "p_bootstrap", "p_randomization"):
            assert getattr(one, field) == getattr(macro, field) == getattr(micro, field)
        assert one.corrected_bootstrap == one.p_bootstrap

    def test_too_few_resamples_are_warned_about(self) -> None:
        whole = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["rouge-l"], resamples=20)
        warnings = captious.by_group(whole, GROUPS).warnings
        assert any("no corrected p value is below 0.10" in warning for warning in warnings)


def test_holm_corrects_p_values() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == pytest.approx([1.0, 1.0])
    assert np.isnan(holm([0.01, np.nan])[1])
    assert holm([0.01, np.nan])[0] == 0.01


class TestLengths:
    REFERENCES = captious.read_references({i: [" ".join(["w"] * i), " ".join(["w"] * (i + 1))] for i in range(1, 9)})

    def test_default_length_groups_are_quartiles(self) -> None:
        groups = captious.length_groups(self.REFERENCES)  # lengths 1.5 to 8.5
        assert groups.names == ("up to 3.2 words", "3.2 to 5 words", "5 to 6.8 words", "over 6.8 words")
        assert [rows.tolist() for rows in groups.rows(self.REFERENCES).values()] == [[0, 1], [2, 3], [4, 5], [6, 7]]

    def test_bounds_belong_to_the_shorter_group(self) -> None:
        groups = captious.length_groups(self.REFERENCES, (2.5, 100))
        assert groups.names == ("up to 2.5 words", "2.5 to 100 words")
        assert [rows.tolist() for rows in groups.rows(self.REFERENCES).values()] == [[0, 1], [2, 3, 4, 5, 6, 7]]

    def test_equal_lengths_form_one_group(self) -> None:
        references = captious.read_references({1: ["a b"], 2: ["c d"]})
        assert captious.length_groups(references).names == ("all lengths",)

    def test_references_without_words_have_length_zero(self) -> None:
        references = captious.read_references({1: ["", ""], 2: ["c d"]})
        assert captious.length_groups(references, [1]).rows(references)["up to 1 words"].tolist() == [0]

    @pytest.mark.parametrize("bounds", [(), (3, 2), (2, 2), (1, float("nan"))])
    def test_invalid_length_bounds_are_refused(self, bounds: tuple[float, ...]) -> None:
        with pytest.raises(ParameterError, match="bounds of lengths"):
            captious.length_groups(self.REFERENCES, bounds)

    def test_references_are_needed(self) -> None:
        with pytest.raises(ParameterError, match="no references whose lengths"):
            captious.length_groups(captious.read_captions({1: "a dog"}).references)
