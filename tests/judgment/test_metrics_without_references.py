"""Systems whose outputs have no references: metrics that look at none are computed, others are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from captious.data import Captions
from captious.errors import ParameterError
from captious.judgment import judge
from captious.judgment.benchmarks.names import protocol
from captious.judgment.judgments import SystemRanking
from captious.metrics.contract.metric import MeanMetric
from captious.metrics.smurf import Mima
from tests.support.corpora import references_table
from tests.support.random_roberta import CAPTIONS, random_roberta

OUTPUTS = [CAPTIONS[:4], CAPTIONS[3:7], CAPTIONS[6:10], ["", "a", "the hill", "people !"]]


def judgments() -> SystemRanking:
    human = np.array([0.6, 0.5, 0.4, 0.1])
    return SystemRanking(protocol("conll14-gec"), {}, ["a", "b", "c", "d"], human, {}, OUTPUTS)


class Letters(MeanMetric):
    """Letters of the candidate."""

    name = "letters"
    needs_references = False

    def scores(self, captions: Captions, state: object = None) -> np.ndarray:
        return np.array([float(len(each)) for each in captions.candidates])


def test_system_score_is_the_mean_over_outputs() -> None:
    agreement = judge(judgments(), [Letters()], resamples=10)["conll14-gec"]["letters"]
    means = [np.mean([len(text) for text in texts]) for texts in OUTPUTS]
    expected = np.corrcoef(np.argsort(np.argsort(means)), np.argsort(np.argsort(judgments().human)))[0, 1]
    assert agreement.value == pytest.approx(expected)
    assert agreement.signature.startswith("letters|variant:official")


@pytest.mark.models
def test_mima_of_systems_is_judged(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    metric = Mima(model=str(random_roberta(tmp_path)))
    (agreement,) = judge(judgments(), [metric], resamples=10)["conll14-gec"].agreements.values()
    means = [metric.scores(Captions(tuple(texts), references_table([[""]] * 4))).mean() for texts in OUTPUTS]
    expected = np.corrcoef(np.argsort(np.argsort(means)), np.argsort(np.argsort(judgments().human)))[0, 1]
    assert agreement.value == pytest.approx(expected)
    assert agreement.signature == metric.signatures()[0]


@pytest.mark.parametrize("metric", ["bleu-4", "rouge-l@official", "no-such-metric"])
def test_metrics_with_references_are_refused_for_systems(metric: str) -> None:
    with pytest.raises(ParameterError, match="has no published scores for"):
        judge(judgments(), [metric], resamples=10)
