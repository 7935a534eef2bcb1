"""``captious evaluate-modules``: every metric as a module that Hugging Face evaluate loads from a folder, offline."""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli import captious as command_line
from captious.compat.evaluate_modules import metrics, module_name, write_modules
from captious.errors import OutputError, UnknownNameError
from captious.metrics.contract import registry
from tests.support.every_metric import OF_SETS

PREDICTIONS = ["a dog runs in the park", "two men play guitar", "a cat"]
REFERENCES = [["a dog is running in the park", "a dog runs"], ["two men are playing guitars"], ["a cat sleeps"]]


def test_module_folder_is_written_for_every_metric(tmp_path: Path) -> None:
    done = CliRunner().invoke(command_line, ["evaluate-modules", str(tmp_path / "new" / "modules")])
    assert done.exit_code == 0
    folders = sorted((tmp_path / "new" / "modules").iterdir())
    assert sorted(done.stdout.splitlines()) == [str(folder) for folder in folders]
    assert [folder.name for folder in folders] == sorted(map(module_name, metrics()))
    assert "captious_cider_d" in {folder.name for folder in folders}
    for folder in folders:
        assert [file.name for file in folder.iterdir()] == [f"{folder.name}.py"]
        ast.parse((folder / f"{folder.name}.py").read_text())


def test_only_metrics_that_need_more_than_two_columns_are_left_out() -> None:
    own = {name for name in registry.metric_names() if registry.get(name).__module__.startswith("captious.")}
    assert own - {*metrics()} == {"chair", "clipscore", "refclipscore", "novel", *OF_SETS}


def test_modules_are_replaced(tmp_path: Path) -> None:
    first = write_modules(tmp_path)
    file = first[0] / f"{first[0].name}.py"
    content = file.read_text()
    file.write_text("broken")
    assert write_modules(tmp_path) == first
    assert file.read_text() == content


def test_unwritable_module_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot write"):
        write_modules(tmp_path / "file")


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """``evaluate.load`` of a metric's module, without a network."""
    folder = tmp_path_factory.mktemp("evaluate")
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("HF_HUB_OFFLINE", "HF_EVALUATE_OFFLINE", "HF_DATASETS_OFFLINE"):
            patch.setenv(name, "1")
        evaluate = pytest.importorskip("evaluate")
        patch.setattr(evaluate.config, "HF_MODULES_CACHE", folder / "modules")
        write_modules(folder)

        def loaded(metric: str, *arguments: Any) -> Any:
            return evaluate.load(str(folder / module_name(metric)), *arguments, cache_dir=str(folder / "cache"))

        yield loaded
        for name in [name for name in sys.modules if name.split(".")[0] == "evaluate_modules"]:
            del sys.modules[name]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("metric", ["bleu", "rouge-l", "cider-d", "unigram-recall"])
def test_module_scores_equal_those_of_score(load: Any, metric: str) -> None:
    expected = {output: result.score for output, result in captious.score(PREDICTIONS, REFERENCES, metric).items()}
    module = load(metric)
    assert module.compute(predictions=PREDICTIONS, references=REFERENCES) == expected
    for candidate, references in zip(PREDICTIONS, REFERENCES, strict=True):
        module.add(prediction=candidate, reference=references)
    assert module.compute() == expected


@pytest.mark.filterwarnings("ignore")
def test_every_module_loads(load: Any) -> None:
    for metric in metrics():
        module = load(metric)
        assert module.name == module_name(metric)
        assert registry.get(metric).summary in module.description
        for output in registry.get(metric).outputs:
            assert output in module.inputs_description


@pytest.mark.filterwarnings("ignore")
def test_module_settings_and_single_references_are_accepted(load: Any) -> None:
    module = load("cider-d")
    paper = captious.score(PREDICTIONS, REFERENCES, captious.CiderD(variant="paper", tokenizer="whitespace"))
    settings = {"tokenizer": "whitespace"}
    scores = module.compute(predictions=PREDICTIONS, references=REFERENCES, variant="paper", **settings)
    assert scores == {"cider-d": paper["cider-d"].score}
    assert load("cider-d", "paper").compute(predictions=PREDICTIONS, references=REFERENCES, **settings) == scores
    single = [references[0] for references in REFERENCES]
    in_lists = module.compute(predictions=PREDICTIONS, references=[[text] for text in single])
    assert module.compute(predictions=PREDICTIONS, references=single) == in_lists
    with pytest.raises(UnknownNameError, match="no parameter 'gap'"):
        module.compute(predictions=PREDICTIONS, references=REFERENCES, gap=2)
