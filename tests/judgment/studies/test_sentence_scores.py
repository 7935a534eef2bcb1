"""Scores of sentences without references: those of captious.score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from captious.data import Captions
from captious.judgment.studies import sentence_scores
from captious.metrics.contract.metric import MeanMetric

SENTENCES = {"short": {1: "a dog", 2: "a red bus", 3: "two"}, "long": {1: "a dog runs on the beach", 2: "a cat sits"}}


class Words(MeanMetric):
    """Number of words."""

    name = "words"
    needs_references = False

    def scores(self, captions: Captions, state: object = None) -> NDArray[np.float64]:
        return np.array([float(len(each.split())) for each in captions.candidates])


def test_scores_are_those_of_score() -> None:
    study = sentence_scores(SENTENCES, [Words()])
    for record in study.records:
        lengths = [len(text.split()) for text in SENTENCES[record["sentences_of"]].values()]
        assert record["sentences"] == len(lengths)
        assert record["mean"] == pytest.approx(np.mean(lengths))
        assert record["q50"] == pytest.approx(np.median(lengths))
    assert [record["sentences_of"] for record in study.records] == ["short", "long"]
    assert [*study.pictures["sentences-words"].lines] == ["short", "long"]  # type: ignore[union-attr]


def test_text_file_has_a_sentence_per_line(tmp_path: Path) -> None:
    (tmp_path / "plain.txt").write_text("a dog, running\n\ntwo\n")
    (tmp_path / "tokens.txt").write_text("a.jpg#0\ta dog\nb.jpg#0\ta red bus\n")
    study = sentence_scores({name: tmp_path / f"{name}.txt" for name in ("plain", "tokens")}, [Words()])
    assert [(record["sentences"], record["mean"]) for record in study.records] == [(2, 2.0), (2, 2.5)]
