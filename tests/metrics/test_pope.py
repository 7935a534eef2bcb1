"""POPE: recognizing yes, precision and recall as in scikit-learn, and the right answers."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import captious
from captious.errors import MissingObjectsError, ParameterError
from captious.metrics.pope import Pope

OUTPUTS = Pope.outputs


@pytest.mark.parametrize(
    ("answer", "official", "first_word"),
    [
        ("Yes", True, True),
        ("yes, there is a dog.", True, True),
        ("No", False, False),
        ("no.", False, False),
        ("No, there is no dog in the image.", False, False),
        ("NO", True, False),  # only No, no and not count
        ("There is not a dog.", False, None),
        ("There isn't a dog.", True, None),
        ("Yes. No other animal is there.", True, True),  # only the text before the first full stop
        ("**No**", True, False),
        ("", True, None),
    ],
)
def test_pope_reads_answers_as_the_official_program(answer: str, official: bool, first_word: bool | None) -> None:
    assert Pope(labels={1: "yes"})._answer(answer) is official
    assert Pope(labels={1: "yes"}, variant="first-word")._answer(answer) is first_word


def test_against_scikit_learn() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(0)
    right, expected_message = rng.integers(0, 2, (2, 500))
    words = np.array(["No, it is not.", "Yes, there is."])
    labels = {k: "yes" if label else "no" for k, label in enumerate(right.tolist())}
    report = captious.score(dict(enumerate(words[expected_message].tolist())), metrics=[Pope(labels=labels)])
    expected = [
        metrics.accuracy_score(right, expected_message),
        metrics.precision_score(right, expected_message),
        metrics.recall_score(right, expected_message),
        metrics.f1_score(right, expected_message),
        expected_message.mean(),
    ]
    assert [report[name].score for name in OUTPUTS] == pytest.approx(expected)
    low, high = report["pope-f1"].confidence_interval()
    assert low < report["pope-f1"].score < high


def test_pope_of_few_answers_is_defined() -> None:
    aggregate = Pope(labels={1: "yes"}).aggregate
    assert aggregate(np.array([0.0, 0, 1, 0, 0, 0])).tolist() == [0, 0, 0, 0, 0]
    assert aggregate(np.array([0.0, 0, 0, 1, 0, 0])).tolist() == [1, 0, 0, 0, 0]
    assert aggregate(np.array([1.0, 0, 0, 0, 0, 0])).tolist() == [1, 1, 1, 1, 1]
    assert aggregate(np.array([0.0, 0, 0, 0, 0, 1])).tolist() == [0, 0, 0, 0, 0]


@pytest.mark.filterwarnings("ignore:pope")
def test_answers_that_are_neither() -> None:
    metric = Pope(labels={1: "no", 2: "yes"}, variant="first-word")
    report = captious.score({1: "maybe", 2: "yes"}, metrics=[metric])
    assert report.warnings == ["pope: 1 of 2 answers begins with neither yes nor no: such answers are wrong."]
    assert [report[f"{name}@first-word"].score for name in OUTPUTS] == [0.5, 1, 1, 1, 0.5]


@pytest.mark.parametrize(
    "content",
    [
        '{"question_id": 1, "image": "a.jpg", "text": "A dog?", "label": "yes"}\n{"question_id": 2, "label": "no"}\n',
        '[{"id": 1, "truth": "yes"}, {"id": 2, "truth": "no"}, {"id": 3, "truth": ["sky"]}]',
        '{"1": "Yes", "2": "no"}',
    ],
)
def test_pope_reads_labels_and_answers_from_files(tmp_path: Path, content: str) -> None:
    path = tmp_path / "labels.json"
    path.write_text(content)
    metric = Pope(labels=path)
    assert metric.labels.by_id == {"1": True, "2": False}
    assert metric.labels.label == Pope(labels={1: "yes", 2: "no"}).labels.label
    answers = tmp_path / "answers.jsonl"
    lines = [{"question_id": 1, "text": "Yes"}, {"question_id": 2, "text": "Yes"}]
    answers.write_text("".join(json.dumps(line) + "\n" for line in lines))
    report = captious.score(answers, metrics=[f"pope:labels={path}"])
    assert report["pope-accuracy"].score == 0.5
    assert "|labels:2-" in report["pope-accuracy"].signature


def test_questions_without_a_right_answer_are_refused() -> None:
    with pytest.raises(ParameterError, match="pope needs the right answers"):
        Pope()
    with pytest.raises(MissingObjectsError, match="the right answers to 1 of 2 questions are not known"):
        captious.score({1: "yes", 5: "no"}, metrics=[Pope(labels={1: "yes"})])
