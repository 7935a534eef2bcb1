"""captious.compat.torchmetrics: the scores of captious.score, in one process or several, in collections and copies."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.errors import CaptionTypeError, CaptiousWarning, ParameterError, UnknownNameError

torch = pytest.importorskip("torch")
torchmetrics = pytest.importorskip("torchmetrics")

from captious.compat.torchmetrics import Bleu, CaptionMetric, CiderD, RougeL  # noqa: E402

pytestmark = [
    pytest.mark.models,
    pytest.mark.filterwarnings("ignore::captious.errors.CaptiousWarning"),
]

PREDS = ["a dog runs in the park", "two men play guitar", "a cat", "wind, “blows” — 風", "a bus on the street"]
TARGET = [
    ["a dog is running in the park", "a brown dog runs on grass"],
    ["two men are playing guitars on stage", "a band performs"],
    ["a cat sleeps on a sofa"],
    ["the wind blows", "wind “blows” 風"],
    ["a red bus on the street", "a bus"],
]
#: With and without a fit, with one output and several.
METRICS: list[tuple[str, dict[str, Any]]] = [
    ("bleu", {}),
    ("bleu-4", {}),
    ("rouge-l", {"variant": "lin2004"}),
    ("rouge-s:gap=2", {}),
    ("cider-d", {}),
    ("cider-d", {"idf": "coco", "sigma": 5.0}),
    ("cider", {"tokenizer": "whitespace"}),
]


def expected(metric: str, settings: dict[str, Any]) -> dict[str, float]:
    """Return the scores of captious itself."""
    wanted: Any = metric
    if settings:
        wanted = {"rouge-l": captious.RougeL, "cider-d": captious.CiderD, "cider": captious.Cider}[metric](**settings)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptiousWarning)
        report = captious.score(PREDS, TARGET, wanted)
    return {output: result.score for output, result in report.items()}


def numbers(scores: Any) -> list[float]:
    return [score.item() for score in (scores.values() if isinstance(scores, dict) else [scores])]


@pytest.mark.parametrize(("metric", "settings"), METRICS)
def test_metric_scores_equal_those_of_score(metric: str, settings: dict[str, Any]) -> None:
    wanted = expected(metric, settings)
    measure = CaptionMetric(metric, **settings)
    assert isinstance(measure, torchmetrics.Metric)
    measure.update(PREDS[:2], TARGET[:2])
    measure.update([], [])
    for candidate, references in zip(PREDS[2:], TARGET[2:], strict=True):
        measure.update(candidate, references)
    scores = measure.compute()
    assert numbers(scores) == pytest.approx([*wanted.values()], abs=1e-12)
    assert isinstance(scores, dict) == (len(wanted) > 1)
    if isinstance(scores, dict):
        assert [*scores] == [*wanted]
    for copy in (measure.clone(), pickle.loads(pickle.dumps(measure))):
        assert numbers(copy.compute()) == numbers(scores)
    measure.reset()
    assert numbers(measure(PREDS[:1], TARGET[:1])) != numbers(scores)  # forward: the score of a batch
    measure(PREDS[1:], TARGET[1:])
    assert numbers(measure.compute()) == pytest.approx([*wanted.values()], abs=1e-12)


def test_states_are_sums_of_statistics() -> None:
    metric = Bleu()
    metric.update(PREDS, TARGET)
    total = captious.Bleu().statistics(captious.read_captions(PREDS, TARGET)).sum(axis=0)
    states = [getattr(metric, name) for name in metric._defaults]
    assert any(state.shape == total.shape and torch.equal(state, torch.from_numpy(total)) for state in states)
    assert {reduction.__name__ for reduction in metric._reductions.values()} == {"dim_zero_sum"}


def test_captions_are_kept_only_where_a_fit_needs_them() -> None:
    assert all(isinstance(default, torch.Tensor) for default in CiderD(idf="coco")._defaults.values())
    assert [*CiderD()._defaults.values()] == [[]]


def test_captions_survive_another_type() -> None:
    metric = CiderD()
    metric.set_dtype(torch.float16)
    metric.update(PREDS, TARGET)
    assert metric.compute().item() == pytest.approx(expected("cider-d", {})["cider-d"], abs=1e-12)


def test_metrics_of_a_collection_do_not_share_states() -> None:
    # The first batch gives all four the same statistics; torchmetrics then shares states of the same name.
    collection = torchmetrics.MetricCollection(
        {"a": RougeL(), "b": RougeL(variant="lin2004"), "c": CiderD(idf="coco"), "d": Bleu()}
    )
    collection.update(["x"], [["y"]])
    collection.update(PREDS, TARGET)
    alone = RougeL(variant="lin2004")
    alone.update(["x", *PREDS], [["y"], *TARGET])
    scores = collection.compute()
    assert scores["b"] == alone.compute()
    assert scores["a"] != scores["b"]
    assert "bleu-1" in scores


def test_invalid_metrics_and_captions_are_refused() -> None:
    with pytest.raises(UnknownNameError, match="jury"):
        CaptionMetric("jury", variant="paper")
    with pytest.raises(ParameterError, match="both as text"):
        CaptionMetric("cider-d@paper", sigma=5.0)
    with pytest.raises(ParameterError, match="already made"):
        CaptionMetric(captious.CiderD(), sigma=5.0)
    for metric in (Bleu(), CiderD()):
        with pytest.raises(ParameterError, match="2 candidates"):
            metric.update(["a", "b"], [["a"]])
        with pytest.raises(CaptionTypeError):
            metric.update(["a dog"], "a dog")
        with pytest.raises(CaptionTypeError):
            metric.update([None], [["a dog"]])  # type: ignore[list-item]
        metric.reset()
        with warnings.catch_warnings(), pytest.raises(ParameterError, match="no captions"):
            warnings.simplefilter("ignore", UserWarning)
            metric.compute()


def in_process(rank: int, shares: list[slice], folder: str) -> None:
    """Score the share of one of several processes, and write the result of ``compute``."""
    import torch.distributed as distributed

    distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=len(shares))
    warnings.simplefilter("ignore")
    scores = []
    for metric, settings in METRICS:
        measure = CaptionMetric(metric, **settings)
        if PREDS[shares[rank]]:
            measure.update(PREDS[shares[rank]], TARGET[shares[rank]])
        scores.append(numbers(measure.compute()))
    Path(folder, f"{rank}.pickle").write_bytes(pickle.dumps(scores))
    distributed.destroy_process_group()


@pytest.mark.parametrize(
    "shares", [[slice(0, 2), slice(2, 5)], [slice(0, 0), slice(0, 5)]], ids=["both", "one has nothing"]
)
def test_processes_are_synchronized(shares: list[slice], tmp_path: Path) -> None:
    if not torch.distributed.is_available():
        pytest.skip("not here: torch without torch.distributed")
    torch.multiprocessing.spawn(in_process, (shares, str(tmp_path)), nprocs=len(shares))
    for rank in range(len(shares)):
        scores = pickle.loads((tmp_path / f"{rank}.pickle").read_bytes())
        for (metric, settings), found in zip(METRICS, scores, strict=True):
            assert found == pytest.approx([*expected(metric, settings).values()], abs=1e-12)


#: An evaluation as ``torchrun`` starts it: every process takes its share of a loader, rank 0 writes the scores.
EVALUATION = """
import json
import os

import torch.distributed as distributed
from torch.utils.data import DataLoader, DistributedSampler
from torchmetrics import MetricCollection

from captious.compat.torchmetrics import Bleu, CiderD, RougeL

with open("captions.json") as file:
    pairs = json.load(file)
distributed.init_process_group("gloo")
sampler = DistributedSampler(pairs, shuffle=False)
loader = DataLoader(pairs, batch_size=2, sampler=sampler, collate_fn=lambda batch: list(zip(*batch)))
metrics = MetricCollection({"bleu": Bleu(), "cider-d": CiderD(), "given": CiderD(idf="coco"), "rouge-l": RougeL()})
for preds, target in loader:
    metrics.update(list(preds), list(target))
scores = {name: score.item() for name, score in metrics.compute().items()}
with open(f"{os.environ['RANK']}.json", "w") as file:
    json.dump(scores, file)
distributed.destroy_process_group()
"""


@pytest.mark.slow
def test_torchrun_processes_are_synchronized(tmp_path: Path) -> None:
    if not torch.distributed.is_available():
        pytest.skip("not here: torch without torch.distributed")
    preds, target = [*PREDS, "a red bus"], [*TARGET, ["a bus is red", "the red bus"]]  # a sampler pads what is odd
    (tmp_path / "captions.json").write_text(json.dumps([*zip(preds, target, strict=True)]))
    (tmp_path / "evaluation.py").write_text(EVALUATION)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", "evaluation.py"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CaptiousWarning)
        report = captious.score(preds, target, ["bleu", captious.CiderD(), captious.RougeL()])
        given = captious.score(preds, target, captious.CiderD(idf="coco"))
    expected = {output: result.score for output, result in report.items()} | {"given": given["cider-d"].score}
    for rank in range(2):
        scores = json.loads((tmp_path / f"{rank}.json").read_text())
        assert scores == pytest.approx(expected, abs=1e-12)
