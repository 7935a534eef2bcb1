"""Copies of a toolkit under any name: recognized by their files, replaced class by class, and reported."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import captious
import captious.compat
from captious.compat import meshed_memory, pyciderevalcap, pycocoevalcap
from captious.resources.wheels import installed_folder
from tests.compat.conftest import BLEU, CORPUS_METEOR, GTS, MEAN_CIDER, RES, FakeCoco
from tests.compat.copies import FLAT, MESHED_MEMORY, RAN, REWARDS, TOOLKIT, write

RAW = {
    name: {image: [{"caption": text} for text in texts] for image, texts in captions.items()}
    for name, captions in (("gts", GTS), ("res", RES))
}
#: The classes by their modules, and what captious has for them.
CLASSES = {
    "bleu.bleu": "Bleu",
    "bleu.bleu_scorer": "BleuScorer",
    "cider.cider": "Cider",
    "cider.cider_scorer": "CiderScorer",
    "meteor.meteor": "Meteor",
    "rouge.rouge": "Rouge",
    "spice.spice": "Spice",
    "tokenizer.ptbtokenizer": "PTBTokenizer",
}


@pytest.fixture(autouse=True)
def redirected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Toolkits are replaced, the copies of the test can be imported, and nothing of them stays."""
    before = [*sys.modules]
    monkeypatch.syspath_prepend(tmp_path)
    with captious.compat.redirected():
        yield
    for name in [name for name in sys.modules if name not in before and not name.startswith("captious")]:
        del sys.modules[name]


def imported(module: str, name: str) -> Any:
    return getattr(importlib.import_module(module), name)


def ours(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"captious.compat.pycocoevalcap.{module}"), name)


@pytest.mark.parametrize("package", ["evalcap", "utils.capeval", "datasets_.caption.metrics"])
@pytest.mark.parametrize("packages", [True, False])
def test_classes_of_a_copy_are_those_of_captious(package: str, packages: bool, tmp_path: Path) -> None:
    write(tmp_path / package.replace(".", "/"), TOOLKIT, packages=packages)
    for module, name in CLASSES.items():
        copied = imported(f"{package}.{module}", name)
        assert issubclass(copied, ours(module, name))
        assert copied.__module__ == f"{package}.{module}"


def test_all_files_in_one_folder(tmp_path: Path) -> None:
    write(tmp_path / "metrics", FLAT)
    for module, name in CLASSES.items():
        assert issubclass(imported(f"metrics.{module.partition('.')[2]}", name), ours(module, name))


def test_scores_are_those_of_captious(tmp_path: Path) -> None:
    write(tmp_path / "evalcap", TOOLKIT)
    for module in ("bleu.bleu", "cider.cider", "rouge.rouge"):
        score, scores = imported(f"evalcap.{module}", CLASSES[module])().compute_score(GTS, RES)
        expected, per_image = ours(module, CLASSES[module])().compute_score(GTS, RES)
        assert score == expected
        assert [*map(list, scores)] == [*map(list, per_image)] if module == "bleu.bleu" else all(scores == per_image)


def test_the_rest_of_a_copy_is_loaded_as_it_is(tmp_path: Path) -> None:
    write(tmp_path / "evalcap", TOOLKIT)
    scores = imported("evalcap.eval", "COCOEvalCap")(RAW["gts"], RAW["res"]).evaluate()
    assert [*scores] == ["Bleu", "CIDEr"]  # what it leaves out stays out
    assert RAN not in scores.values()
    assert imported("evalcap.rouge.rouge", "Rouge")().of_its_own() == 1.2
    assert imported("evalcap.rouge.rouge", "my_lcs")("ab", "ab") == 0


def test_arguments_about_files_are_accepted(tmp_path: Path) -> None:
    write(tmp_path / "evalcap", TOOLKIT)
    imported("evalcap.spice.spice", "Spice")(get_stanford_models_path="get.sh")
    imported("evalcap.meteor.meteor", "Meteor")(meteor_jar="elsewhere.jar")
    assert imported("evalcap.meteor.meteor", "METEOR_JAR") == "/opt/jars/meteor-1.5.jar"


def test_changed_defaults_are_kept(tmp_path: Path) -> None:
    source = TOOLKIT["cider/cider.py"].replace("sigma=6.0", "sigma=4.0")
    write(tmp_path / "evalcap", {**TOOLKIT, "cider/cider.py": source})
    scores = imported("evalcap.cider.cider", "Cider")().compute_score(GTS, RES)[1]
    assert all(scores == pycocoevalcap.Cider(sigma=4.0).compute_score(GTS, RES)[1])
    assert any(scores != pycocoevalcap.Cider().compute_score(GTS, RES)[1])


def test_rewards_of_cider_s_authors(tmp_path: Path) -> None:
    write(tmp_path / "scorers", {**TOOLKIT, **REWARDS})
    copied = imported("scorers.ciderD.ciderD", "CiderD")
    authors = importlib.import_module("captious.compat.pyciderevalcap.ciderD.ciderD")
    assert issubclass(copied, authors.CiderD)
    assert pyciderevalcap.__name__ in authors.__name__


def test_the_evaluation_of_the_meshed_memory_transformer(tmp_path: Path) -> None:
    write(tmp_path / "their_evaluation", MESHED_MEMORY)
    evaluation = importlib.import_module("their_evaluation")
    assert issubclass(evaluation.Cider, meshed_memory.Cider)
    references = [["A dog runs in the park.", "A dog is running."], ["Two men play guitar."]]
    tokenized = evaluation.PTBTokenizer.tokenize(references)
    generated = evaluation.PTBTokenizer.tokenize(["a dog runs", "two men"])
    scores = evaluation.Cider(tokenized).compute_score(tokenized, generated)[1]
    assert scores.round(4).tolist() == [3.2443, 3.0376]  # as on the page of this toolkit


@pytest.mark.parametrize(
    ("path", "old", "new", "reason"),
    [
        ("cider/cider.py", "gts, res):", "gts, res, ids):", "compute_score takes ids"),
        ("cider/cider.py", "test=None, refs=None,", "document_frequency,", "__init__ takes document_frequency"),
        ("cider/cider.py", "return ", "return CiderScorer(), ", "compute_score does not return a pair"),
        ("cider/cider_scorer.py", "10.0 *", "100.0 *", "its CiderScorer differs: its code has the number 100"),
        ("cider/cider_scorer.py", "min(0, 1)", "0", "its CiderScorer differs: it does not clip counts"),
        ("bleu/bleu.py", '"closest"', '"average"', "its code lacks 'closest'"),
        ("rouge/rouge.py", "1.2", "1.0 * 8", "its code has the number 8"),
        ("meteor/meteor.py", '"en"', '"de"', "its code lacks 'en'"),
        ("tokenizer/ptbtokenizer.py", '"-preserveLines", ', "", "its code lacks '-preserveLines'"),
        ("tokenizer/ptbtokenizer.py", '"--", ', "", "it drops other punctuation"),
    ],
)
def test_a_class_that_differs_stays_and_is_named(
    path: str, old: str, new: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / "log"
    log.touch()
    monkeypatch.setenv("CAPTIOUS_COMPAT_LOG", str(log))
    package = f"own_{tmp_path.name.replace('-', '_')}"
    write(tmp_path / package, {**TOOLKIT, path: TOOLKIT[path].replace(old, new)})
    module = {"cider/cider_scorer.py": "cider.cider"}.get(path, path.removesuffix(".py").replace("/", "."))
    copied = imported(f"{package}.{module}", CLASSES[module])
    assert not issubclass(copied, ours(module, CLASSES[module]))
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert {event["name"]: event["reason"] for event in events if event["event"] == "kept"}[CLASSES[module]] == reason


def test_files_of_the_same_names_that_are_not_the_toolkit_s_are_none_of_its(tmp_path: Path) -> None:
    source = "class Rouge:\n    def compute_score(self, gts, res):\n        return 0.0, []\n"
    write(tmp_path / "alone", {"rouge.py": source})
    assert not issubclass(imported("alone.rouge", "Rouge"), pycocoevalcap.Rouge)
    write(
        tmp_path / "other",
        {"bleu.py": "class Bleu:\n    def score(self):\n        return 1\n", "rouge.py": "VALUE = 3"},
    )
    assert imported("other.bleu", "Bleu")().score() == 1
    assert imported("other.rouge", "VALUE") == 3


def test_a_copy_under_the_toolkit_s_own_name_keeps_its_own_files(tmp_path: Path) -> None:
    write(tmp_path / "pycocoevalcap", {**TOOLKIT, "own.py": "VALUE = 3"})
    assert imported("pycocoevalcap.own", "VALUE") == 3
    assert imported("pycocoevalcap.cider.cider", "Cider").__mro__[1] is pycocoevalcap.Cider
    assert "gts" in imported("pycocoevalcap.eval", "COCOEvalCap").__init__.__code__.co_varnames


def test_files_of_python_2_under_the_toolkit_s_own_name_are_replaced(tmp_path: Path) -> None:
    write(tmp_path / "pycocoevalcap", {**TOOLKIT, "eval.py": "print 'setting up scorers...'"})
    assert imported("pycocoevalcap.eval", "COCOEvalCap") is pycocoevalcap.COCOEvalCap


# ---- captious run


PROGRAM = f"""
from PACKAGE.cider.cider import Cider
print(float(Cider().compute_score({GTS!r}, {RES!r})[0]))
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-P", "-m", "captious", "run", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A folder with a program and its copy of the toolkit."""
    write(tmp_path / "utils" / "capeval", TOOLKIT)
    (tmp_path / "evaluate.py").write_text(PROGRAM.replace("PACKAGE", "utils.capeval"))
    return tmp_path


CIDER = float(pycocoevalcap.Cider().compute_score(GTS, RES)[0])
LINE = "captious run: utils.capeval.cider.cider.Cider is captious.compat.pycocoevalcap.cider.cider.Cider"


def test_what_was_replaced_is_said_at_the_end_and_logged(program: Path) -> None:
    done = run(program, "--log", "log.json", "evaluate.py")
    assert float(done.stdout) == CIDER
    assert LINE in done.stderr.splitlines()
    log = json.loads((program / "log.json").read_text())
    assert log["status"] == 0
    assert [event["name"] for event in log["events"] if event["event"] == "replaced"] == ["Cider", "CiderScorer"]
    assert [f"captious run: {line}" for line in log["summary"]] == done.stderr.splitlines()


def test_what_was_not_replaced_is_said(program: Path) -> None:
    scorer = program / "utils" / "capeval" / "cider" / "cider.py"
    scorer.write_text(scorer.read_text().replace("gts, res):", "gts, res, ids=None):"))
    done = run(program, "--replace", "metric=evaluation", "evaluate.py")
    assert done.returncode == 1  # float() of what the copy returns
    lines = done.stderr.splitlines()
    name = "utils.capeval.cider.cider.Cider"
    assert f"captious run: warning: {name} is not replaced: compute_score takes ids ({scorer})" in lines
    assert "captious run: warning: metric was never imported, so it was not replaced" in lines


@pytest.mark.parametrize("command", [("evaluate.sh",), ("--", "bash", "evaluate.sh"), ("./evaluate",)])
def test_shell_scripts_and_commands(command: tuple[str, ...], program: Path) -> None:
    script = f"{sys.executable} evaluate.py\nexit 5\n"
    (program / "evaluate.sh").write_text(script)
    (program / "evaluate").write_text(f"#!/bin/sh\n{script}")
    (program / "evaluate").chmod(0o755)
    done = run(program, *command)
    assert (float(done.stdout), done.returncode) == (CIDER, 5)
    assert LINE in done.stderr.splitlines()


def test_the_environment_for_programs_that_are_started_elsewhere(program: Path) -> None:
    lines = run(program, "--environment").stdout
    done = subprocess.run(
        ["sh", "-c", f"{lines}\n{sys.executable} evaluate.py"], cwd=program, capture_output=True, text=True
    )
    assert float(done.stdout) == CIDER


def test_a_program_without_python_is_named(program: Path) -> None:
    done = run(program, "true")
    assert done.stderr == "captious run: warning: no Python was started that could say what it imports\n"


def test_a_program_that_a_signal_ends(program: Path) -> None:
    (program / "evaluate.py").write_text("import os, signal; os.kill(os.getpid(), signal.SIGTERM)")
    assert run(program, "evaluate.py").returncode == 128 + 15


def test_whole_toolkits(program: Path) -> None:
    (program / "utils" / "capeval").rename(program / "pycocoevalcap")
    (program / "evaluate.py").write_text("from pycocoevalcap.eval import COCOEvalCap; print(COCOEvalCap.__module__)")
    assert run(program, "evaluate.py").stdout == "pycocoevalcap.eval\n"
    assert run(program, "--whole", "evaluate.py").stdout == "captious.compat.pycocoevalcap.eval\n"


# ---- the toolkit itself, as a copy


@pytest.fixture
def toolkit(tmp_path: Path) -> str:
    """The toolkit of PyPI under another name."""
    folder = installed_folder("pycocoevalcap")
    if folder is None:
        pytest.skip("pycocoevalcap is not installed")
    shutil.copytree(
        folder, tmp_path / "caption_metrics", ignore=shutil.ignore_patterns("*.jar", "*.gz", "lib", "example")
    )
    return "caption_metrics"


def test_all_classes_of_the_toolkit_are_recognized(toolkit: str) -> None:
    for module, name in CLASSES.items():
        assert issubclass(imported(f"{toolkit}.{module}", name), ours(module, name))


def test_the_toolkit_s_own_evaluation_gives_the_toolkit_s_scores(
    toolkit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    evaluation = imported(f"{toolkit}.eval", "COCOEvalCap")(FakeCoco(GTS), FakeCoco(RES))
    evaluation.params["image_id"] = [*GTS]
    evaluation.evaluate()
    assert [evaluation.eval[f"Bleu_{n}"] for n in (1, 2, 3, 4)] == pytest.approx(BLEU, abs=1e-12)
    assert evaluation.eval["CIDEr"] == pytest.approx(MEAN_CIDER, abs=1e-12)
    assert evaluation.eval["METEOR"] == pytest.approx(CORPUS_METEOR, abs=1e-12)


def test_a_notebook_loads_captious_as_an_extension(tmp_path: Path) -> None:
    write(tmp_path / "evalcap", TOOLKIT)
    captious.compat.uninstall()
    captious.load_ipython_extension(None)
    try:
        assert issubclass(imported("evalcap.cider.cider", "Cider"), pycocoevalcap.Cider)
        names = [event["module"] for event in captious.compat.replacements() if event["event"] == "replaced"]
        assert "evalcap.cider.cider" in names
    finally:
        captious.unload_ipython_extension(None)
    assert not [finder for finder in sys.meta_path if type(finder).__module__.startswith("captious")]
