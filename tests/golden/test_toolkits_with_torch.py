"""The drop-in of aac-metrics, and captious in torchmetrics and in Hugging Face evaluate."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from click.testing import CliRunner

import captious.compat
from tests.golden.command_line import EXAMPLES, clean, environment
from tests.golden.outcomes import call
from tests.golden.record import Record
from tests.support.commands import COMMANDS

pytestmark = [pytest.mark.models, pytest.mark.filterwarnings("ignore")]
pytest.importorskip("torch")

CANDIDATES = ["a dog runs in the park", "Two men play guitar.", "a cat", "", "dog"]
REFERENCES = [
    ["a dog is running in the park", "a brown dog runs on grass"],
    ["two men are playing guitars on stage", "a band performs"],
    ["a cat sleeps on a sofa"],
    ["a red bus on the street"],
    ["dog"],
]
WRONG: dict[str, tuple[Any, Any]] = {
    "other numbers": (CANDIDATES, REFERENCES[:2]),
    "a string": ("a dog", [["a dog"]]),
    "strings of references": (["a dog"], ["a dog"]),
    "numbers": ([1], [["a dog"]]),
    "no references": (["a dog"], [[]]),
    "nothing": ([], []),
    "None": (None, None),
}
METRICS = ("bleu", "bleu_1", "bleu_4", "meteor", "rouge_l", "cider_d", "spice", "spider", "fense", "clap_sim", "mace")


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    environment(tmp_path, monkeypatch)
    monkeypatch.setenv("CAPTIOUS_VECTORS", str(EXAMPLES / "captions-12d.txt"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def aac(own: Path) -> Iterator[ModuleType]:
    """aac-metrics, replaced."""
    kept = {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "aac_metrics"}
    with captious.compat.redirected("aac_metrics"):
        yield importlib.import_module("aac_metrics")
    for name in [name for name in sys.modules if name.partition(".")[0] == "aac_metrics"]:
        del sys.modules[name]
    sys.modules.update(kept)


def test_aac_metrics_is_as_recorded(aac: ModuleType, own: Path, record: Record) -> None:
    functional, classes = (importlib.import_module(f"aac_metrics.{name}") for name in ("functional", "classes"))
    found: dict[str, Any] = {
        "list_metrics_available": call(aac.list_metrics_available),
        "evaluate": call(lambda: aac.evaluate(CANDIDATES, REFERENCES, metrics=["bleu_1", "rouge_l", "cider_d"])),
        "evaluate all": call(lambda: aac.evaluate(CANDIDATES, REFERENCES, metrics="all")),
        "evaluate nope": call(lambda: aac.evaluate(CANDIDATES, REFERENCES, metrics=["nope"])),
        "load_metric": call(lambda: aac.load_metric("cider_d")(CANDIDATES, REFERENCES)),
        "load_metric nope": call(lambda: aac.load_metric("nope")),
        "dcase2023": call(lambda: aac.dcase2023_evaluate(CANDIDATES, REFERENCES)),
    }
    for name in METRICS:
        function = getattr(functional, name)
        found[name] = call(lambda f=function: f(CANDIDATES, REFERENCES))  # type: ignore[misc]
        found[f"{name}, corpus"] = call(lambda f=function: f(CANDIDATES, REFERENCES, return_all_scores=False))  # type: ignore[misc]
        found[f"{name}, unknown"] = call(lambda f=function: f(CANDIDATES, REFERENCES, nope=1))  # type: ignore[misc]
    for case, (candidates, references) in WRONG.items():
        for name in ("bleu_4", "cider_d", "rouge_l"):
            function = getattr(functional, name)
            found[f"{name}, {case}"] = call(lambda f=function, c=candidates, r=references: f(c, r))  # type: ignore[misc]

    def updated() -> Any:
        metric = classes.CIDErD()
        metric.update(CANDIDATES[:2], REFERENCES[:2])
        metric.update(CANDIDATES[2:], REFERENCES[2:])
        return metric.compute()

    several = [[text, "a dog"] for text in CANDIDATES]
    tokens = importlib.import_module("aac_metrics.utils.tokenization")
    checks = importlib.import_module("aac_metrics.utils.checks")
    found |= {
        "CIDErD.update": call(updated),
        "CIDErD.compute": call(lambda: classes.CIDErD().compute()),
        "Evaluate": call(lambda: [type(m).__name__ for m in aac.Evaluate(metrics=["bleu_1", "spider"])]),
        "spider_max": call(lambda: functional.spider_max(several, REFERENCES)),
        "Vocab": call(lambda: classes.Vocab()(CANDIDATES, REFERENCES)),
        "preprocess_mono_sents": call(lambda: tokens.preprocess_mono_sents(CANDIDATES)),
        "preprocess_mult_sents": call(lambda: tokens.preprocess_mult_sents(REFERENCES)),
        "is_mono_sents": call(lambda: [checks.is_mono_sents(CANDIDATES), checks.is_mono_sents(REFERENCES)]),
        "check_metric_inputs": call(lambda: checks.check_metric_inputs(CANDIDATES, REFERENCES[1:])),
    }
    record("toolkits/aac_metrics", clean(found, {str(own): "OWN"}))


def test_torchmetrics_are_as_recorded(own: Path, record: Record) -> None:
    pytest.importorskip("torchmetrics")
    module = importlib.import_module("captious.compat.torchmetrics")

    def scored(metric: Any) -> Any:
        metric.update(CANDIDATES[:2], REFERENCES[:2])
        metric.update(CANDIDATES[2:], REFERENCES[2:])
        return [metric.compute(), metric(CANDIDATES, REFERENCES), metric.higher_is_better]

    found = {
        name: call(lambda name=name, given=given: scored(module.CaptionMetric(name, **given)))  # type: ignore[misc]
        for name, given in {
            "bleu": {},
            "bleu-4": {},
            "rouge-l": {"variant": "lin2004"},
            "rouge-s:gap=2": {},
            "cider-d": {"idf": "coco", "sigma": 5.0},
            "meteor": {},
            "nope": {},
            "bleu-2": {"nope": 1},
            "rouge-n": {"tokenizer": "nope"},
            "div": {},
            "chair": {},
        }.items()
    }
    for name in module.__all__:
        if name != "CaptionMetric":
            found[f"{name}()"] = call(lambda name=name: scored(getattr(module, name)()))  # type: ignore[misc]
    for case, (candidates, references) in WRONG.items():
        found[case] = call(lambda c=candidates, r=references: module.RougeL()(c, r))  # type: ignore[misc]
    found["without captions"] = call(lambda: module.Bleu().compute())
    record("toolkits/torchmetrics", clean(found, {str(own): "OWN"}))


def test_modules_of_evaluate_are_as_recorded(own: Path, record: Record, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "HF_DATASETS_OFFLINE"):
        monkeypatch.setenv(name, "1")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        evaluate = pytest.importorskip("evaluate")
    monkeypatch.setattr(evaluate.config, "HF_MODULES_CACHE", own / "modules")
    assert CliRunner().invoke(COMMANDS[("evaluate-modules",)], ["written"]).exit_code == 0
    found = {}
    for name in ("bleu", "rouge_l", "cider_d", "spice", "wmd"):
        module = evaluate.load(str(own / "written" / f"captious_{name}"), cache_dir=str(own / "cache"))
        texts = [module.description, module.citation, str(module.inputs_description)]
        computed = call(lambda m=module: m.compute(predictions=CANDIDATES, references=REFERENCES))  # type: ignore[misc]
        found[name] = {"texts": texts, "features": str(module.features), "computed": computed}
        found[f"{name}, nope"] = call(lambda m=module: m.compute(predictions=CANDIDATES, references=REFERENCES, nope=1))  # type: ignore[misc]
    for name in [name for name in sys.modules if name.split(".")[0] == "evaluate_modules"]:
        del sys.modules[name]
    record("toolkits/evaluate", clean(found, {str(own): "OWN"}))
