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
from captious.judgment.studies import critical_failures, metric_correlations, reference_counts, robustness
from captious.judgment.studies.correlations import system_correlations
from captious.judgment.studies.distributions import score_distributions
from captious.metrics.contract import registry
from captious.metrics.contract.metric import MeanMetric, State
from captious.metrics.contract.selection import select
from captious.report.formats import csv as csv_text
from captious.report.formats import plain_text


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
