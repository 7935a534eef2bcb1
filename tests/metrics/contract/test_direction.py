"""The direction of outputs, wherever scores are marked as best, ranked, or correlated with judgments."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

import captious
from captious.data import Captions
from captious.errors import ParameterError
from captious.evaluation.report import score_table
from captious.judgment.studies import critical_failures, metric_correlations, reference_counts, robustness
from captious.judgment.studies.correlations import system_correlations
from captious.judgment.studies.distributions import score_distributions
from captious.metrics.contract import registry
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.selection import select
from captious.report.formats import csv as csv_text
from captious.report.formats import json_text, plain_text


class Words(MeanMetric):
    """Words that no reference has, per caption, of which fewer are better; and words that some reference has."""

    name = "words"
    outputs = ("words-wrong", "words-right")
    lower_is_better = frozenset({"words-wrong"})

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        rows = []
        at = captions.references.offsets
        for i, candidate in enumerate(captions.candidates):
            reference_words = set(" ".join(captions.references.texts[at[i] : at[i + 1]]).split())
            words = candidate.split()
            n_right = sum(word in reference_words for word in words)
            rows.append([len(words) - n_right, n_right])
        return np.array(rows, float).reshape(-1, 2)


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_registered", {})
        registry.register("words")(Words)
        yield


def negated_errors(candidates: list[str], references: list[list[str]]) -> list[float]:
    """``words-wrong`` as a function that has no direction."""
    return [
        -sum(w not in " ".join(of).split() for w in c.split()) for c, of in zip(candidates, references, strict=True)
    ]


REFERENCES = {i: [f"a dog runs on road {i}", f"the dog on the road {i}"] for i in range(20)}
GOOD = {i: "a dog on the road" if i % 4 else "a dog on the blue road" for i in REFERENCES}
BAD = {i: "a red bus on the road" if i % 3 else "a dog on the red road" for i in REFERENCES}
MIDDLE = {i: BAD[i] if i % 2 else GOOD[i] for i in REFERENCES}


@pytest.fixture
def ratings(tmp_path):
    """Captions with ratings, with which the number of wrong words agrees, but not perfectly."""
    path = tmp_path / "ratings.jsonl"
    with path.open("w") as file:
        for image, references in REFERENCES.items():
            for caption, rating in ((GOOD[image], 4), (BAD[image], 1 + (image % 5 == 0)), ("a cat", 2 + image % 2)):
                row = {"image": str(image), "candidate": caption, "references": references, "rating": rating}
                file.write(json.dumps(row) + "\n")
    return path


def test_directions_name_existing_outputs() -> None:
    for name in registry.metric_names():
        metric = registry.get(name)
        assert metric.lower_is_better | metric.no_direction <= {*metric.outputs}
        assert not metric.lower_is_better & metric.no_direction


def test_an_output_that_does_not_exist_is_refused() -> None:
    class Wrong(Words):
        name = "wrong"
        outputs = ("wrong-share", "wrong-any")

    with pytest.raises(ParameterError, match="words-wrong"):
        registry.register("wrong")(Wrong)


def test_selection_has_labels() -> None:
    assert select(["words-wrong@official", "words-right", "rouge-l"]).lower_is_better == ("words-wrong",)


class TestSystems:
    def test_the_lowest_score_is_marked_as_best(self) -> None:
        reports = [
            captious.score(candidates, REFERENCES, ["words", "rouge-l"], system=name)
            for name, candidates in (("good", GOOD), ("bad", BAD))
        ]
        lines = plain_text(score_table(reports)).splitlines()
        wrong, right, rouge = (
            next(line for line in lines if f"  {name}" in line) for name in (*Words.outputs, "rouge-l")
        )
        assert wrong.split() == ["words-wrong", "↓", ".2500", "◀", "1.6500"]
        assert right.split()[2] == "◀"
        assert "↓" not in right + rouge
        assert lines[-1] == "◀ best. ↓ lower is better."

    def test_machine_readable_output_records_the_direction(self) -> None:
        report = captious.score(GOOD, REFERENCES, ["words"])
        metrics = json.loads(json_text(score_table([report])))["systems"][0]["metrics"]
        assert {name: values["lower_is_better"] for name, values in metrics.items()} == {
            "words-wrong": True,
            "words-right": False,
        }
        rows = csv.DictReader(io.StringIO(csv_text(score_table([report]))))
        assert [row["lower_is_better"] for row in rows] == ["True", "False"]
        assert "words-wrong ↓" in str(report._repr_html_())

    def test_signs_of_differences_stay(self) -> None:
        comparison = captious.compare({"a": BAD, "b": GOOD}, REFERENCES, ["words"], resamples=20)
        wrong = comparison["words-wrong"]
        assert wrong.lower_is_better
        assert wrong.difference == pytest.approx(0.25 - 1.65)
        assert wrong.effect_size < 0
        assert comparison.to_dict()["metrics"]["words-wrong"]["lower_is_better"] is True
        assert [row["lower_is_better"] for row in csv.DictReader(io.StringIO(csv_text(comparison.to_table())))] == [
            "True",
            "False",
        ]
        assert "words-wrong ↓" in plain_text(comparison.to_table())


class Length(MeanMetric):
    """Of neither more nor less is better."""

    name = "extent"
    no_direction = frozenset({"extent"})

    def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
        return np.array([float(len(caption)) for caption in captions.candidates])


def test_outputs_without_a_direction_have_no_best_score() -> None:
    reports = [
        captious.score(candidates, REFERENCES, Length(), system=name) for name, candidates in (("a", GOOD), ("b", BAD))
    ]
    shown = plain_text(score_table(reports))
    assert "◀" not in shown
    assert "↓" not in shown
    assert reports[0].to_dict()["metrics"]["extent"]["lower_is_better"] is None
    assert next(csv.DictReader(io.StringIO(csv_text(score_table(reports)))))["lower_is_better"] == ""
    assert (
        captious.compare({"a": GOOD, "b": BAD}, REFERENCES, [Length()], resamples=9)["extent"].lower_is_better is None
    )
    assert select(Length()).lower_is_better == ()


class TestJudgments:
    def test_agreement_is_positive(self, ratings) -> None:
        judged = captious.judge(ratings, ["words", negated_errors], compare=True, resamples=30)
        (verdict,) = judged.values()
        wrong, function = verdict["words-wrong"], verdict["negated_errors"]
        assert wrong.value == function.value > 0
        assert wrong.interval == function.interval
        assert wrong.rank == function.rank
        assert (wrong.lower_is_better, function.lower_is_better) == (True, False)
        assert "Lower is better for words-wrong: the scores were negated" in " ".join(
            plain_text(judged.to_table()).split()
        )
        rows = csv.DictReader(io.StringIO(csv_text(judged.to_table())))
        assert [row["lower_is_better"] for row in rows] == ["True", "False", "False"]

    def test_study_of_systems_respects_the_direction(self, tmp_path) -> None:
        class Length(MeanMetric):
            name = "length-of"
            needs_references = False
            lower_is_better = frozenset({"length-of"})

            def scores(self, captions: Captions, state: State | None = None) -> NDArray[np.float64]:
                return np.array([float(len(caption)) for caption in captions.candidates])

        from captious.judgment.judgments import Protocol, SystemRanking

        protocol = Protocol("mine", "own", "pearson", "given", "systems")
        evidence = SystemRanking(protocol, {}, ["a", "b", "c"], np.array([3.0, 2.0, 1.0]), {}, [["x"], ["xx"], ["xxx"]])
        (verdict,) = captious.judge(evidence, [Length()], resamples=20).values()
        assert verdict["length-of"].value == pytest.approx(1)
        assert verdict["length-of"].lower_is_better

    def test_studies_count_a_lower_score_as_better(self, ratings) -> None:
        both = ["words-wrong", negated_errors]
        counted = reference_counts(ratings, both, (1, 2), draws=1, resamples=20)
        values = [record["value"] for record in counted.records]
        assert values[:2] == values[2:]
        related = metric_correlations(ratings, both, statistic="pearson")
        assert related.records[0]["negated_errors"] == pytest.approx(1)
        assert all("Lower is better for words-wrong" in " ".join(report.notes) for report in (counted, related))


class TestStudiesOfSystems:
    def test_failures_are_of_agreement(self) -> None:
        study = critical_failures(
            {"good": GOOD, "bad": BAD, "middle": MIDDLE},
            REFERENCES,
            ["words-wrong", negated_errors],
            human={"good": 3, "middle": 2, "bad": 1},
            evaluator="words-wrong",
        )
        first, second = ({k: v for k, v in record.items() if k != "metric"} for record in study.records)
        assert first == second
        assert first["failures"] == 0
        assert "Lower is better for words-wrong" in plain_text(study.to_table())

    def test_correlations_are_of_agreement_and_scores_are_not_negated(self) -> None:
        study = system_correlations(
            {"good": GOOD, "bad": BAD, "middle": MIDDLE},
            REFERENCES,
            ["words-wrong"],
            human={"good": 3.0, "bad": 1.0, "middle": 2.0},
            resamples=20,
        )
        assert study.records[0]["words-wrong"] == 0.25
        over = next(r for r in study.records if r["what"] == "over systems" and r["of"] == "words-wrong")
        assert over["people"] > 0.9
        assert "negated" in " ".join(study.notes)

    def test_people_score_better(self) -> None:
        study = score_distributions({"bad": BAD}, REFERENCES, ["words-wrong"], resamples=20)
        auc = study.records[1]["auc"]
        assert auc > 0.5
        assert study.records[1]["auc_low"] <= auc <= study.records[1]["auc_high"]
        assert "Lower scores are better for words-wrong." in study.notes

    def test_robustness_refuses(self) -> None:
        with pytest.raises(ParameterError, match="lower is better for words-wrong"):
            robustness(REFERENCES, ["words-wrong"], resamples=20)
