"""``compare``: differences, intervals, effect sizes and p values of two systems."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st

import captious
from captious.errors import CaptiousWarning, MissingCandidatesError, ParameterError, UnknownImageError, UnknownNameError
from captious.evaluation import checks, compare_reports
from captious.report.page import report_page

N = 120
REFERENCES = {i: [f"a dog and {i} cats on a chair", f"{i} cats with a dog"] for i in range(N)}
GOOD = {i: f"a dog with {i} cats" if i % 3 else f"a horse and {i} cats" for i in range(N)}
BAD = {i: f"{i} horses on a table" if i % 4 else f"a dog with {i} cats" for i in range(N)}


@pytest.fixture(scope="module")
def identical() -> captious.Comparison:
    """A system and itself, in another order."""
    return captious.compare({"a": GOOD, "b": dict(reversed(GOOD.items()))}, REFERENCES, resamples=200)


class TestIdenticalSystems:
    def test_identical_systems_do_not_differ(self, identical: captious.Comparison) -> None:
        for difference in identical.values():
            assert difference.difference == 0
            assert difference.interval == (0, 0)
            assert np.isnan([difference.effect_size, *difference.effect_interval]).all()

    def test_identical_systems_have_p_one(self, identical: captious.Comparison) -> None:
        assert {difference.p_bootstrap for difference in identical.values()} == {1.0}
        assert {difference.p_randomization for difference in identical.values()} == {1.0}


#: Candidates and references of which BLEU differs by less than 1e-9: all words are right, or none.
NEARLY_EQUAL = {
    "all": [("a dog and a cat", "a dog and a cat on a red chair"), ["a dog and a cat on a red chair"]],
    "none": [("xx yy zz ww", "xx yy zz ww vv uu kk ll"), ["one two three four"]],
}


@pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")
@pytest.mark.parametrize("n", [12, 60])
@pytest.mark.parametrize("words", NEARLY_EQUAL)
def test_rounding_errors_are_no_difference(words: str, n: int) -> None:
    texts, references = NEARLY_EQUAL[words]
    systems = {text: {i: f"{text} {'q' * (i % 3)}".strip() for i in range(n)} for text in texts}
    known = {i: [*references, *(captions[i] for captions in systems.values() if words == "all")] for i in range(n)}
    reports = captious.score_systems(systems, known, "bleu")
    assert len({report["bleu-4"].score for report in reports.values()}) == 2
    assert not any(cell.best for row in reports.to_table().rows for cell in row.cells if cell)
    for difference in captious.compare(reports, resamples=50).values():
        assert (difference.difference, difference.interval) == (0, (0, 0))
        assert np.isnan([difference.effect_size, *difference.effect_interval]).all()
        assert (difference.p_bootstrap, difference.p_randomization) == (1, 1)
    assert "<svg class=scores" not in report_page(reports, resamples=50).replace('"', "")
    limits = reports.plot().axes[0].get_xlim()
    assert limits[1] - limits[0] > 1e-3


def test_better_system_has_a_positive_difference() -> None:
    comparison = captious.compare({"bad": BAD, "good": GOOD}, REFERENCES)
    assert (comparison.a.system, comparison.b.system) == ("bad", "good")
    for difference in comparison.values():
        assert difference.score_a < difference.score_b
        assert difference.difference == difference.score_b - difference.score_a
        assert 0 < difference.interval[0] < difference.difference < difference.interval[1]
        assert 0 < difference.effect_interval[0] < difference.effect_size < difference.effect_interval[1]
        assert difference.p_bootstrap < 0.01
        assert difference.p_randomization < 0.01


def test_reports_are_compared() -> None:
    expected = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["bleu-4"], resamples=10)
    bad, good = (captious.score(system, REFERENCES, ["bleu-4"]) for system in (BAD, GOOD))
    compared = captious.compare({"a": bad, "b": good}, resamples=10)
    assert compared["bleu-4"] == expected["bleu-4"]


def test_reports_of_the_same_images_in_another_order_are_aligned() -> None:
    expected = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["bleu-4"], resamples=10)
    bad = captious.score(BAD, REFERENCES, ["bleu-4"])
    good = captious.score(GOOD, dict(reversed(REFERENCES.items())), ["bleu-4"])
    compared = captious.compare({"a": bad, "b": good}, resamples=10)
    assert compared["bleu-4"] == expected["bleu-4"]


def test_reports_of_one_name_are_told_apart() -> None:
    bad, good = (captious.score(system, REFERENCES, ["bleu-4"]) for system in (BAD, GOOD))
    compared = captious.compare({"a": bad, "b": good}, resamples=10)
    assert (compared.a.system, compared.b.system) == ("a", "b")
    named = captious.compare({"bad": bad, "good": good}, resamples=10)
    assert (named.a.system, named.b.system) == ("bad", "good")
    assert bad.system == good.system


@pytest.mark.parametrize(
    "options",
    [
        *({"metrics": ["bleu-4"]}, {"match": "common"}, {"ids": "stem"}, {"several": "best", "clean": "markdown"}),
        {"references": REFERENCES},
    ],
)
def test_arguments_that_scored_reports_cannot_use_are_refused(options: dict[str, Any]) -> None:
    reports = captious.score_systems({"bad": BAD, "good": GOOD}, REFERENCES, ["bleu-4"])
    with pytest.raises(ParameterError, match="already scored") as caught:
        captious.compare(reports, **options)
    assert caught.value.hint == f"leave out {', '.join(options)}"


OLD_FORMS: dict[str, Any] = {
    "two mappings": lambda: captious.compare(BAD, GOOD, REFERENCES),  # type: ignore[arg-type]
    "two mappings without references": lambda: captious.compare(BAD, GOOD),  # type: ignore[arg-type]
    "text ids": lambda: captious.compare({"x": "a dog"}, {"x": "a cat"}, {"x": ["a dog"]}),  # type: ignore[arg-type]
    "files": lambda: captious.compare("a.json", "b.json", "references.json"),  # type: ignore[arg-type]
    "lists": lambda: captious.compare(["a dog"], ["a cat"], [["a dog"]]),  # type: ignore[arg-type]
    "captions": lambda: captious.compare(
        captious.read_captions(BAD, REFERENCES), captious.read_captions(GOOD, REFERENCES)
    ),  # type: ignore[arg-type]
    "one system": lambda: captious.compare(BAD, REFERENCES),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("old", OLD_FORMS)
def test_systems_without_names_are_refused_with_the_new_form(old: str) -> None:
    with pytest.raises(ParameterError) as caught:
        OLD_FORMS[old]()
    assert 'compare({"a": candidates, "b": candidates}, references, metrics)' in caught.value.hint


def test_four_arguments_in_the_old_order_are_refused_with_the_new_order() -> None:
    with pytest.raises(TypeError, match=r"write compare\(systems, references, metrics, \.\.\.\)"):
        captious.compare(BAD, GOOD, REFERENCES, ["rouge-l"])  # type: ignore[arg-type, call-arg]


def test_two_systems_are_needed() -> None:
    with pytest.raises(ParameterError, match="cannot be compared") as caught:
        captious.compare({"a": GOOD}, REFERENCES, ["bleu-4"])
    assert "2 to 26" in caught.value.hint
    with pytest.raises(ParameterError, match="not a mapping from names") as caught:
        captious.compare({}, REFERENCES, ["bleu-4"])
    assert "write compare(" in caught.value.hint
    for function in (captious.compare, captious.score_systems):
        with pytest.raises(ParameterError, match="the name of a system is empty"):
            function({"a": GOOD, " ": BAD}, REFERENCES, ["bleu-4"])


@pytest.fixture(scope="module")
def compared() -> captious.Comparison:
    systems = {"bad": BAD, "good": GOOD, "again": GOOD}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return captious.compare(systems, REFERENCES, ["bleu-4", "cider-d"], resamples=99)


def test_reports_and_captions_are_not_compared() -> None:
    report = captious.score(BAD, REFERENCES, "bleu-4")
    with pytest.raises(ParameterError, match="some systems are reports") as caught:
        captious.compare({"bad": report, "good": GOOD}, REFERENCES, "bleu-4")
    assert caught.value.where == "reports: bad"


class TestSeveralSystems:
    def test_all_pairs_are_compared(self, compared: captious.Comparison) -> None:
        assert compared.pairs == (("bad", "good"), ("bad", "again"), ("good", "again"))
        assert len(compared) == compared.n_tests == 6
        two = captious.compare({"bad": BAD, "good": GOOD}, REFERENCES, ["bleu-4", "cider-d"], resamples=99)
        difference = compared["cider-d", "bad", "good"]
        assert difference.difference == two["cider-d"].difference == float(two["cider-d"])
        assert difference.p_bootstrap == two["cider-d"].p_bootstrap
        assert difference.corrected_bootstrap == min(1, 6 * difference.p_bootstrap)
        assert compared["cider-d", "good", "again"].difference == 0

    def test_outputs_have_all_their_names(self, compared: captious.Comparison) -> None:
        assert compared["Bleu_4", "bad", "good"] is compared["bleu-4", "bad", "good"]
        assert compared["CIDEr", "bad", "good"] is compared["cider-d", "bad", "good"]
        assert ("CIDEr", "bad", "good") in compared
        assert "CIDEr" not in compared

    @pytest.mark.parametrize(
        ("key", "hint"),
        [
            ("cider-d", 'write comparison["cider-d", "bad", "good"]'),
            (("cider-d", "good", "bad"), 'write comparison["cider-d", "bad", "good"]'),
            (("cider-d", "bad"), 'write comparison["cider-d", "bad", "good"]'),
            (("cider-d", "bad", "other"), 'comparison["cider-d", "good", "again"]'),
            ("rouge-l", "bleu-4, cider-d"),
            (("rouge-l", "bad", "good"), "bleu-4, cider-d"),
            (("bleu", "bad", "good"), "bleu-4"),
        ],
    )
    def test_a_wrong_key_is_answered_with_the_right_ones(
        self, compared: captious.Comparison, key: Any, hint: str
    ) -> None:
        assert key not in compared
        assert compared.get(key) is None
        with pytest.raises(UnknownNameError) as caught:
            compared[key]
        assert hint in caught.value.hint

    def test_names_of_systems_may_be_given_for_two(self) -> None:
        two = captious.compare({"bad": BAD, "good": GOOD}, REFERENCES, ["bleu-4"], resamples=9)
        assert [*two] == ["bleu-4"]
        assert two["bleu-4"] is two["Bleu_4"] is two["bleu-4", "bad", "good"]

    def test_pairs_are_shown_alone(self, compared: captious.Comparison) -> None:
        alone = compared.between("bad", "good")
        assert (alone.a.system, alone.b.system) == ("bad", "good")
        assert alone["cider-d"] is compared["cider-d", "bad", "good"]
        with pytest.raises(UnknownNameError, match="is not one of the pairs"):
            compared.between("good", "bad")
        for of_two in (lambda: compared.a, lambda: compared.examples(), lambda: compared.to_table(examples=1)):
            with pytest.raises(ParameterError, match="3 systems were compared, not two") as caught:
                of_two()
            assert "comparison.between('bad', 'good')" in caught.value.hint

    def test_groups_are_of_two_systems(self, compared: captious.Comparison) -> None:
        groups = {i: "first" if i < 50 else "second" for i in range(N)}
        with pytest.raises(ParameterError, match="has no differences by group"):
            captious.by_group(compared, groups)
        assert captious.by_group(compared.between("bad", "good"), groups).differences


def test_warnings_are_the_same_for_captions_and_reports() -> None:
    systems = {"a": dict.fromkeys(range(3), "a cat"), "b": dict.fromkeys(range(3), "two dogs sit")}
    references = {i: [f"the cat {i} sat", "a cat"] for i in range(3)}
    issued: list[list[str]] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reports = captious.score_systems(systems, references, "rouge-l")
    for given in ((systems, references, "rouge-l"), (reports,)):
        checks.issued.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            comparison = captious.compare(*given, resamples=9)  # type: ignore[arg-type]
        issued.append([str(warning.message) for warning in caught])
        assert issued[-1] == comparison.warnings
        assert {warning.filename for warning in caught} == {__file__}
    assert issued[0] == issued[1] != []


def test_loaded_captions_are_compared() -> None:
    expected = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["bleu-4"], resamples=10).to_dict()
    bad, good = (captious.read_captions(system, REFERENCES) for system in (BAD, GOOD))
    for a, b, references in ((bad, good, None), (BAD, good, None), (bad, GOOD, None), (bad, good, REFERENCES)):
        assert captious.compare({"a": a, "b": b}, references, ["bleu-4"], resamples=10).to_dict() == expected
    reversed_references = dict(reversed(REFERENCES.items()))
    assert captious.score(good, reversed_references, ["bleu-4"]).ids == tuple(reversed_references)


def test_captions_with_other_references_are_not_compared() -> None:
    """Each has references of its own; those of the first must not replace those of the second."""
    other = {i: [f"{i} horses on a table"] for i in range(N)}
    bad, good = captious.read_captions(BAD, REFERENCES), captious.read_captions(GOOD, other)
    with pytest.raises(ParameterError, match="were not scored against the same references"):
        captious.compare({"a": bad, "b": good}, metrics=["bleu-4"], resamples=10)
    alone = captious.compare({"a": bad, "b": good}, REFERENCES, ["bleu-4"], resamples=10)
    assert alone.to_dict() == captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["bleu-4"], resamples=10).to_dict()


def test_metrics_without_references_are_compared() -> None:
    objects = captious.Settings(objects={i: ["dog", "cat"] for i in range(N)})
    comparison = captious.compare({"a": BAD, "b": GOOD}, metrics=["chair"], settings=objects, resamples=10)
    assert comparison.a.n_references == 0
    for report, system in ((comparison.a, BAD), (comparison.b, GOOD)):
        alone = captious.score(system, metrics=["chair"], settings=objects)
        assert report.to_dict()["metrics"] == alone.to_dict()["metrics"]
    with pytest.raises(ParameterError, match="bleu cannot be computed without references"):
        captious.compare({"a": BAD, "b": GOOD}, metrics=["bleu"])
    with pytest.raises(UnknownImageError, match="the systems do not have the same images"):
        captious.compare({"a": BAD, "b": {0: "a cat"}}, metrics=["chair"], settings=objects)


def test_scores_are_those_of_score() -> None:
    comparison = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["cider-d", "bleu"], resamples=10)
    for system, report in ((BAD, comparison.a), (GOOD, comparison.b)):
        alone = captious.score(system, REFERENCES, ["cider-d", "bleu"])
        assert report.to_dict()["metrics"] == alone.to_dict()["metrics"]


@pytest.mark.parametrize("metrics", [["bleu-4"], ["rouge-l"], ["cider-d"]])
def test_exchanging_the_systems_changes_signs_only(metrics: list[str]) -> None:
    one = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, metrics, resamples=200)[metrics[0]]
    other = captious.compare({"a": GOOD, "b": BAD}, REFERENCES, metrics, resamples=200)[metrics[0]]
    assert other.difference == -one.difference
    assert other.effect_size == pytest.approx(-one.effect_size)
    assert other.interval == pytest.approx((-one.interval[1], -one.interval[0]), abs=1e-12)
    assert other.effect_interval == pytest.approx((-one.effect_interval[1], -one.effect_interval[0]), abs=1e-9)
    assert (other.p_bootstrap, other.p_randomization) == (one.p_bootstrap, one.p_randomization)


class TestByHand:
    def test_difference_and_effect_size_equal_their_formulas(self, report_of) -> None:
        a, b = np.array([0.1, 0.5, 0.4, 0.9]), np.array([0.3, 0.4, 0.8, 1.0])
        found = compare_reports(report_of(a, system="a"), report_of(b, system="b"))["given"]
        change = b - a  # 0.2, -0.1, 0.4, 0.1: mean 0.15, deviation sqrt(0.13 / 3)
        assert found.difference == pytest.approx(0.15)
        assert found.effect_size == pytest.approx(0.15 / np.sqrt(0.13 / 3))
        assert found.effect_size == pytest.approx(change.mean() / change.std(ddof=1))

    def test_randomization_approaches_the_exact_test(self, report_of) -> None:
        """All 2^8 exchanges of eight images, against a sample of them."""
        rng = np.random.default_rng(3)
        a, b = rng.random(8), rng.random(8) + 0.2
        change = b - a
        signs = 1 - 2 * ((np.arange(256)[:, None] >> np.arange(8)) & 1)
        exact = (np.abs((signs * change).mean(axis=1)) >= abs(change.mean()) - 1e-12).mean()
        found = compare_reports(report_of(a, system="a"), report_of(b, system="b"), resamples=20_000)["given"]
        assert found.p_randomization == pytest.approx(exact, abs=0.012)

    def test_interval_is_that_of_the_paired_differences(self, report_of) -> None:
        rng = np.random.default_rng(3)
        a = rng.random(50)
        b = a + rng.normal(0.1, 0.02, 50)  # much less noise between systems than between images
        found = compare_reports(report_of(a, system="a"), report_of(b, system="b"))["given"]
        alone = report_of(b - a)["given"].confidence_interval()
        assert found.interval == pytest.approx(alone, abs=1e-12)
        assert found.interval[1] - found.interval[0] < 0.02

    @pytest.mark.parametrize("step", [1.0, 0.5, 0.3, 0.1])
    def test_a_difference_that_does_not_vary_has_the_smallest_p_value(self, report_of, step: float) -> None:
        a = np.random.default_rng(0).random(60)
        found = compare_reports(report_of(a, system="a"), report_of(a + step, system="b"), resamples=99)["given"]
        assert found.p_bootstrap == pytest.approx(0.01)

    def test_level_changes_only_intervals(self, report_of) -> None:
        rng = np.random.default_rng(3)
        a, b = report_of(rng.random(50), system="a"), report_of(rng.random(50), system="b")
        narrow, wide = (compare_reports(a, b, level=level) for level in (0.5, 0.99))
        assert wide["given"].interval[0] < narrow["given"].interval[0]
        assert narrow["given"].interval[1] < wide["given"].interval[1]
        assert narrow["given"].p_bootstrap == wide["given"].p_bootstrap
        assert (narrow.level, wide.level) == (0.5, 0.99)

    @settings(max_examples=25, deadline=None)
    @hypothesis_given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=2, max_size=20))
    def test_interval_is_within_the_paired_differences(self, pairs: list[tuple[float, float]]) -> None:
        from tests.evaluation.conftest import Given

        references = {i: ["one", "two"] for i in range(len(pairs))}
        a, b = ({i: repr(pair[side]) for i, pair in enumerate(pairs)} for side in (0, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CaptiousWarning)  # of few images
            found = captious.compare({"a": a, "b": b}, references, [Given()], resamples=30)["given"]
        for p in (found.p_bootstrap, found.p_randomization):
            assert 1 / 31 <= p <= 1
        low, high = found.interval
        assert min(y - x for x, y in pairs) - 1e-9 <= low <= high <= max(y - x for x, y in pairs) + 1e-9

    def test_constant_difference_has_no_effect_size(self, report_of) -> None:
        for step in np.linspace(0.05, 0.28, 24):
            a = np.full(30, 0.7176)
            found = compare_reports(report_of(a, system="a"), report_of(a + step, system="b"), resamples=50)["given"]
            assert np.isnan([found.effect_size, *found.effect_interval]).all()

    @pytest.mark.parametrize("step", [1e-3, 0.05, 0.1, 0.3, 1.0])
    def test_resamples_without_the_only_difference_have_no_effect_size(self, report_of, step: float) -> None:
        """A third of the resamples of 24 images has none that differs: no mean and no deviation but by rounding."""
        a, b = np.zeros(24), np.eye(24)[5] * step
        found = compare_reports(report_of(a, system="a"), report_of(b, system="b"))["given"]
        assert found.effect_interval[0] == pytest.approx(1 / np.sqrt(24))

    @pytest.mark.parametrize("n", [1, 2])
    def test_few_images_are_not_significant(self, report_of, n: int) -> None:
        a, b = report_of([0.3] * n, system="a"), report_of([0.6] * n, system="b")
        comparison = compare_reports(a, b)
        if n == 1:
            assert (comparison["given"].p_bootstrap, comparison["given"].p_randomization) == (1, 1)
        assert any("too few" in warning for warning in comparison.warnings)
        assert comparison.to_dict()["warnings"] == comparison.warnings

    @pytest.mark.parametrize(("n", "all_messages"), [(9, True), (10, False)])
    def test_fewer_than_ten_images_are_warned_about(self, report_of, n: int, all_messages: bool) -> None:
        comparison = compare_reports(report_of([0.3] * n, system="a"), report_of([0.6] * n, system="b"), resamples=5)
        assert any("too few" in warning for warning in comparison.warnings) is all_messages
        assert ("warnings" in comparison.to_dict()) is all_messages


@pytest.fixture(scope="module")
def p_values() -> tuple[np.ndarray, np.ndarray]:
    """Both p values of 300 pairs of systems of which neither is better, on 40 images each."""
    from captious.evaluation import evaluate
    from captious.metrics.contract.selection import select
    from tests.evaluation.conftest import Given

    rng = np.random.default_rng(77)
    references = captious.read_references({i: ["one", "two"] for i in range(40)})
    selection = select(Given())
    found = []
    for seed in range(300):
        shared = rng.random(40)
        a, b = (
            evaluate(captious.read_captions({i: repr(float(x)) for i, x in enumerate(values)}, references), selection)
            for values in (shared + rng.normal(0, 0.3, 40), shared + rng.normal(0, 0.3, 40))
        )
        difference = compare_reports(a.named("a"), b.named("b"), resamples=200, seed=seed)["given"]
        found.append((difference.p_bootstrap, difference.p_randomization))
    by_bootstrap, by_randomization = np.array(found).T
    return by_bootstrap, by_randomization


class TestUnderTheNull:
    @pytest.mark.parametrize("test", [0, 1], ids=["bootstrap", "randomization"])
    def test_p_is_roughly_uniform(self, p_values: tuple[np.ndarray, np.ndarray], test: int) -> None:
        p = p_values[test]
        grid = np.linspace(0.05, 0.95, 19)
        empirical = (p[:, None] <= grid).mean(axis=0)
        # Kolmogorov's 1% bound for 300 values, and a little for resamples in hundreds.
        assert np.abs(empirical - grid).max() < 1.63 / np.sqrt(300) + 0.01

    def test_bootstrap_and_randomization_agree(self, p_values: tuple[np.ndarray, np.ndarray]) -> None:
        assert np.corrcoef(*p_values)[0, 1] > 0.95


class TestRefusals:
    def test_candidates_for_other_images_are_refused(self) -> None:
        with pytest.raises(MissingCandidatesError):
            captious.compare({"a": {i: GOOD[i] for i in range(10)}, "b": GOOD}, REFERENCES, ["rouge-l"])

    def test_reports_of_different_images_are_refused(self) -> None:
        a = captious.score({i: GOOD[i] for i in range(10)}, REFERENCES, ["rouge-l"], match="common")
        with pytest.raises(ParameterError, match="not scored on the same images") as caught:
            captious.compare({"a": a, "b": captious.score(GOOD, REFERENCES, ["rouge-l"])})
        assert "10 and 120 images" in caught.value.where
        assert 'match="common"' in caught.value.hint

    @pytest.mark.parametrize("several", [None, "mean"])
    def test_common_images_are_those_of_all_systems(self, several: Any) -> None:
        a, b = {i: BAD[i] for i in range(3, 100)}, {i: GOOD[i] for i in range(60)}
        options: Any = {"match": "common", "several": several, "resamples": 10}
        compared = captious.compare({"a": a, "b": b}, REFERENCES, "rouge-l", **options)
        shared = {name: {i: system[i] for i in range(3, 60)} for name, system in (("a", a), ("b", b))}
        alone = captious.compare(shared, REFERENCES, "rouge-l", **options)
        assert compared["rouge-l"] == alone["rouge-l"]
        assert compared.a.left_out == {"candidates": 0, "images": N - 97, "another_lacks": 40}
        assert "40 images that another system lacks." in repr(compared)
        with pytest.raises(UnknownImageError, match="no image has captions of all systems"):
            captious.compare({"a": {0: "a"}, "b": {1: "a"}}, REFERENCES, "rouge-l", match="common")

    @pytest.mark.parametrize(
        ("references", "metrics", "settings", "message"),
        [
            (REFERENCES, ["rouge-l", "bleu-4"], {"tokenizer": "whitespace"}, "rouge-l was not computed the same way"),
            (REFERENCES, ["rouge-l"], {}, "bleu-4 was not computed the same way"),
            ({i: [f"{i} boats", "a boat"] for i in range(N)}, ["rouge-l", "bleu-4"], {}, "references"),
        ],
        ids=["settings", "metrics", "references"],
    )
    def test_reports_that_were_scored_in_another_way_are_refused(
        self, references: Any, metrics: list[str], settings: Any, message: str
    ) -> None:
        a = captious.score(GOOD, REFERENCES, ["rouge-l", "bleu-4"])
        b = captious.score(GOOD, references, metrics, settings=captious.Settings(**settings))
        for pair in ((a, b), (b, a)):
            with pytest.raises(ParameterError, match=message):
                compare_reports(*pair)

    def test_reports_without_names_are_told_the_call(self) -> None:
        a = captious.score(GOOD, REFERENCES, ["rouge-l"])
        wrong: Any
        for wrong in ((a,), (a, a), ([a, a],)):
            with pytest.raises(ParameterError) as caught:
                captious.compare(*wrong)
            assert caught.value.hint == 'write compare({"a": report_a, "b": report_b})'

    @pytest.mark.parametrize(
        "wrong", [{"level": 0}, {"level": 1}, {"level": 95}, {"resamples": 0}, {"resamples": 10.5}, {"seed": 1.5}]
    )
    def test_invalid_parameters_are_refused_early(self, wrong: dict[str, float]) -> None:
        with pytest.raises(ParameterError):
            captious.compare({"a": "no-such-file.json", "b": "no-such-file.json"}, "no-such-file.json", **wrong)


@pytest.mark.filterwarnings("ignore:.* candidates consist of an id:captious.CaptiousWarning")
class TestExamples:
    SAME = dict.fromkeys(range(5, 11), "0.5")
    A = {1: "0.1", 2: "0.9", 3: "0.5", 4: "0.3", **SAME}  # noqa: RUF012
    B = {1: "0.2", 2: "0.1", 3: "0.5", 4: "0.8", **SAME}  # noqa: RUF012

    @pytest.fixture
    def comparison(self, given) -> captious.Comparison:
        return captious.compare({"a": self.A, "b": self.B}, {i: ["one", "two"] for i in self.A}, [given()], resamples=5)

    def test_examples_are_sorted_by_absolute_difference(self, comparison: captious.Comparison) -> None:
        assert [example.id for example in comparison.examples(4)] == [2, 4, 1, 3]

    def test_examples_have_both_captions_and_scores(self, comparison: captious.Comparison) -> None:
        (example,) = comparison.examples(1)
        assert (example.id, example.candidate_a, example.candidate_b) == (2, "0.9", "0.1")
        assert (example.score_a, example.score_b) == (0.9, 0.1)

    def test_number_of_examples_is_limited_by_images(self, comparison: captious.Comparison) -> None:
        assert len(comparison.examples()) == 5
        assert len(comparison.examples(2)) == 2
        assert len(comparison.examples(99)) == 10
        assert comparison.examples(0) == []

    @pytest.mark.filterwarnings("ignore:.*are ids, file names, addresses or numbers:captious.CaptiousWarning")
    @pytest.mark.filterwarnings("ignore:.*single letters:captious.CaptiousWarning")
    def test_ties_stay_in_the_order_of_the_references(self, given) -> None:
        images = [*"zmaybxcwdv"]
        comparison = captious.compare(
            {"a": dict.fromkeys(images, "0"), "b": dict.fromkeys(images, "1")},
            {i: ["x", "y"] for i in images},
            [given()],
        )
        assert [example.id for example in comparison.examples(10)] == images

    def test_examples_are_sorted_by_another_output(self) -> None:
        comparison = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["cider-d", "rouge-l"], resamples=5)
        assert comparison.examples_by == "cider-d"
        worst = comparison.examples(3, by="rouge-l")
        gaps = np.abs(comparison.a["rouge-l"].per_caption - comparison.b["rouge-l"].per_caption)
        assert abs(worst[0].score_a - worst[0].score_b) == gaps.max()
        with pytest.raises(UnknownNameError):
            comparison.examples(by="spice")

    def test_negative_number_of_examples_is_refused(self, comparison: captious.Comparison) -> None:
        with pytest.raises(ParameterError):
            comparison.examples(-1)


class TestToDict:
    @pytest.mark.parametrize("excluding", [0, 1])
    def test_excluded_captions_of_one_system_are_reported(self, excluding: int) -> None:
        references = {i: REFERENCES[i] for i in range(10)}
        systems = [{i: GOOD[i] for i in references}, {i: BAD[i] for i in references}]
        systems[excluding] |= {N: "a dog", N + 1: "a cat"}
        comparison = captious.compare(
            {"a": systems[0], "b": systems[1]}, references, ["rouge-l"], match="common", resamples=5
        )
        of_systems = [{}, {}]
        of_systems[excluding] = {"candidates": 2, "images": 0}
        assert comparison.to_dict()["left_out"] == dict(zip("ab", of_systems, strict=True))
        name = "ab"[excluding]
        shown = repr(comparison)
        assert f"{name}: common images; excluded 2 candidates without references and 0 images" in shown
        assert shown.count("common images; excluded") == 1

    def test_a_system_that_has_all_images_is_not_said_to_lack_any(self) -> None:
        options: Any = {"match": "common", "resamples": 5}
        compared = captious.compare({"a": GOOD, "b": {i: BAD[i] for i in range(80)}}, REFERENCES, "rouge-l", **options)
        assert f"a: common images; excluded {N - 80} images that another system lacks.\n" in repr(compared)
        assert f"b: common images; excluded 0 candidates without references and {N - 80} images wi" in repr(compared)

    def test_nothing_is_reported_if_nothing_was_excluded(self) -> None:
        comparison = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["rouge-l"], match="common", resamples=5)
        assert "left_out" not in comparison.to_dict()


def test_warnings_of_both_systems_are_issued_once() -> None:
    references = {i: ["a cat", "it sits"] for i in range(4)}
    with pytest.warns(CaptiousWarning) as caught:
        comparison = captious.compare(
            {"a": dict.fromkeys(range(4), "nothing"), "b": dict.fromkeys(range(4), "a cat")},
            references,
            ["cider-d"],
            resamples=5,
        )
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == len(set(messages)) == 3
    assert all(Path(warning.filename) == Path(__file__) for warning in caught)
    assert [
        any(part in message for message in messages) for part in ("cider-d", "repeat a reference", "too few images")
    ] == [True] * 3
    assert comparison.to_dict()["warnings"] == messages
