"""Programs in the style of public evaluators run unchanged below ``captious run``, with the processes they start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import captious
from captious.compat import programs
from captious.compat.by_name import choose
from captious.errors import ParameterError
from tests.support.tables import tables

PROGRAMS = tables(__file__)
OURS = "captious.compat.pycocoevalcap"


def run(program: str, folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-P", "-m", "captious", "run", *options, "program.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def printed(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_imports_of_submodules_and_arguments(tmp_path: Path) -> None:
    lines = printed(run(PROGRAMS["submodules"], tmp_path, "--results", "x.json", "-m", "7"))
    message = [line for line in lines if OURS in line]
    assert [line.split()[0] for line in message] == ["Bleu", "Rouge", "CIDEr"]
    assert all(line.endswith("['--results', 'x.json', '-m', '7']") for line in message)


@pytest.mark.parametrize("options", [(), ("--debug",), ("--replace", "pycocoevalcap", "--")])
def test_options_after_the_program_are_the_program_s(tmp_path: Path, options: tuple[str, ...]) -> None:
    lines = printed(run(PROGRAMS["submodules"], tmp_path, "--debug", "run", "--help", options=options))
    assert any(line.endswith("['--debug', 'run', '--help']") for line in lines)


def test_subclass_of_the_evaluation_is_redirected(tmp_path: Path) -> None:
    assert printed(run(PROGRAMS["subclass"], tmp_path)) == [f"{OURS}.eval"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_process_pools_are_redirected(method: str, tmp_path: Path) -> None:
    assert printed(run(PROGRAMS["pool"].replace("METHOD", method), tmp_path)) == [f"{OURS}.scorers"]


def test_child_processes_are_redirected(tmp_path: Path) -> None:
    assert printed(run(PROGRAMS["subprocess"], tmp_path)) == [f"{OURS}.scorers"]


def test_news_evaluators_get_meteor_answers(tmp_path: Path) -> None:
    of_the_toolkit = "[0.3679, 0.3679, 0.3679, 0.0116] 0.6289 3.5481"
    assert printed(run(PROGRAMS["news"], tmp_path)) == [of_the_toolkit]


def test_evaluations_with_fork_arguments_run(tmp_path: Path) -> None:
    lines = printed(run(PROGRAMS["multi"], tmp_path))
    assert lines[-1] == f"['Bleu_1', 'Bleu_2', 'Bleu_3', 'Bleu_4', 'CIDEr'] {OURS}.eval_spice"


def test_training_frequencies_are_prepared(tmp_path: Path) -> None:
    (line,) = printed(run(PROGRAMS["idxs"], tmp_path))
    first, second = map(float, line.strip("[]").split(", "))
    assert first > second > 0


@pytest.mark.parametrize("name", ["evaluation", "m2.evaluation", "metrics=evaluation"])
def test_meshed_memory_rewards_are_redirected(name: str, tmp_path: Path) -> None:
    imported = name.partition("=")[0]
    program = PROGRAMS["meshed"].replace("import evaluation\n", f"import {imported} as evaluation\n")
    program = program.replace("from evaluation", f"from {imported}")
    ours = "captious.compat.meshed_memory"
    assert printed(run(program, tmp_path, options=("--replace", name))) == [f"[1, 0, 0] {ours}"]


def test_a_module_evaluation_of_the_programs_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "evaluation.py").write_text("NAME = 'own'")
    assert printed(run("import evaluation; print(evaluation.NAME)", tmp_path)) == ["own"]


def test_toolkit_within_another_package_is_redirected(tmp_path: Path) -> None:
    program = "from nlgeval.pycocoevalcap.rouge.rouge import Rouge; print(Rouge.__module__)"
    done = run(program, tmp_path, options=("--replace", "nlgeval.pycocoevalcap"))
    assert printed(done) == [f"{OURS}.scorers"]


@pytest.mark.parametrize("name", ["folder", "true"])
def test_folders_are_programs_if_python_can_run_them(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    command = [sys.executable, "-P", "-m", "captious", "run", name]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == (2 if name == "folder" else 0)
    assert ("no program and no command 'folder'" in done.stderr) == (name == "folder")
    (tmp_path / name / "__main__.py").write_text("print('here')")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert printed(done) == ["here"]


def test_the_exit_status_and_the_traceback_are_the_programs_own(tmp_path: Path) -> None:
    done = run("import sys; sys.exit(7)", tmp_path)
    assert done.returncode == 7
    done = run("raise ValueError('mine')", tmp_path)
    assert done.returncode == 1
    *traceback, last = done.stderr.strip().splitlines()
    assert traceback[-1] == "ValueError: mine"
    assert "captious" not in "".join(traceback)
    assert last.startswith("captious run: nothing was replaced: no toolkit and no copy of one was recognized")


def test_names_that_the_program_sets_in_vain_are_reported(tmp_path: Path) -> None:
    program = "import pycocoevalcap.rouge.rouge as module; module.my_lcs = len; module.my_lcs = module.my_lcs"
    *_, last = run(program, tmp_path).stderr.splitlines()
    name = "pycocoevalcap.rouge.rouge.my_lcs"
    assert last.startswith(f"captious run: warning: the program sets {name}, which captious does not use: scores may")


def test_the_users_own_startup_code_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.theirs = 'here'")
    (tmp_path / "program.py").write_text("print(theirs)")
    command = [sys.executable, "-P", "-m", "captious", "run", "program.py"]
    paths = os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert printed(done) == ["here"]


def test_a_program_without_a_toolkit_imports_nothing_of_captious(tmp_path: Path) -> None:
    program = "import sys; print(sorted(name for name in sys.modules if name.split('.')[0] in ('captious', 'numpy')))"
    assert printed(run(program, tmp_path)) == ["['captious.compat.hook']"]
    command = "import captious.cli.run, sys; print([name for name in sys.modules if name.split('.')[0] == 'numpy'])"
    done = subprocess.run([sys.executable, "-c", command], capture_output=True, text=True, check=True)
    assert printed(done) == ["[]"]


def test_nothing_is_imported_to_parse_a_line_without_options(tmp_path: Path) -> None:
    (tmp_path / "program.py").touch()
    command = [sys.executable, "-X", "importtime", "-m", "captious", "run", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "captious.compat.programs" in imported
    assert not imported & {"click", "lazy_loader", "captious.cli", "captious.files", "numpy"}


def test_a_toolkit_in_a_child_process_is_replaced_when_it_is_imported(tmp_path: Path) -> None:
    child = "import pycocoevalcap.rouge.rouge as r, sys; print(r.Rouge.__module__, 'captious' in sys.modules)"
    program = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}], check=True)"
    assert printed(run(program, tmp_path)) == [f"{OURS}.scorers True"]


def test_what_is_neither_a_program_nor_a_command_is_refused() -> None:
    with pytest.raises(ParameterError, match="no program and no command 'nothing-of-this-name'"):
        programs.command("nothing-of-this-name")
    assert programs.command("train", ["-x"], is_module=True) == [sys.executable, "-m", "train", "-x"]


@pytest.mark.parametrize(
    ("metric", "problem"),
    [("cider-d@paper", "both as text and as keyword arguments"), (captious.CiderD(idf="coco"), "is already made")],
)
def test_settings_of_a_metric_are_given_once(metric: Any, problem: str) -> None:
    with pytest.raises(ParameterError, match=problem):
        choose(metric, idf="coco")
    assert choose("cider-d", idf="coco").output_indices == {"cider-d": 0}
