"""Programs in the style of public evaluators run unchanged below ``captious run``, with the processes they start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

GTS = "{1: ['a dog runs in the park'], 2: ['two men play guitar', 'a band plays'], 3: ['a cat']}"
RES = "{1: ['a dog runs'], 2: ['two men play guitar'], 3: ['a bus']}"

SUBMODULES = f"""
import sys
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
gts, res = {GTS}, {RES}
for scorer in (Bleu(4), Rouge(), Cider()):
    print(scorer.method(), type(scorer).__module__, sys.argv[1:])
    scorer.compute_score(gts, res)
"""
SUBCLASS = """
from pycocoevalcap.eval import COCOEvalCap

class Quiet(COCOEvalCap):
    def setEval(self, score, method):
        super().setEval(round(float(score), 3), method)

print(Quiet.__mro__[1].__module__)
"""
POOL = f"""
import multiprocessing

def score(image):
    from pycocoevalcap.cider.cider import Cider
    gts, res = {GTS}, {RES}
    return Cider.__module__, float(Cider().compute_score(gts, res)[1][image])

if __name__ == "__main__":
    with multiprocessing.get_context("METHOD").Pool(1) as pool:
        print(pool.map(score, [0, 1, 2])[0][0])
"""
SUBPROCESS = """
import subprocess, sys
command = [sys.executable, "-c", "from pycocoevalcap.rouge.rouge import Rouge; print(Rouge.__module__)"]
subprocess.run(command, check=True)
"""
OURS = "captious.compat.pycocoevalcap"


def run(program: str, folder: Path, *arguments: str, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    (folder / "program.py").write_text(program)
    command = [sys.executable, "-P", "-m", "captious", "run", *options, "program.py", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def printed(done: subprocess.CompletedProcess[str]) -> list[str]:
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_imports_of_submodules_and_arguments(tmp_path: Path) -> None:
    lines = printed(run(SUBMODULES, tmp_path, "--results", "x.json", "-m", "7"))
    said = [line for line in lines if OURS in line]
    assert [line.split()[0] for line in said] == ["Bleu", "Rouge", "CIDEr"]
    assert all(line.endswith("['--results', 'x.json', '-m', '7']") for line in said)


def test_subclasses_of_the_evaluation(tmp_path: Path) -> None:
    assert printed(run(SUBCLASS, tmp_path)) == [f"{OURS}.eval"]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_pools(method: str, tmp_path: Path) -> None:
    assert printed(run(POOL.replace("METHOD", method), tmp_path)) == [f"{OURS}.cider.cider"]


def test_programs_that_start_programs(tmp_path: Path) -> None:
    assert printed(run(SUBPROCESS, tmp_path)) == [f"{OURS}.rouge.rouge"]


def test_copies_of_the_toolkit_in_other_packages(tmp_path: Path) -> None:
    program = "from nlgeval.pycocoevalcap.rouge.rouge import Rouge; print(Rouge.__module__)"
    done = run(program, tmp_path, options=("--replace", "nlgeval.pycocoevalcap"))
    assert printed(done) == [f"{OURS}.rouge.rouge"]


def test_the_exit_status_and_the_traceback_are_the_programs_own(tmp_path: Path) -> None:
    done = run("import sys; sys.exit(7)", tmp_path)
    assert done.returncode == 7
    done = run("raise ValueError('mine')", tmp_path)
    assert done.returncode == 1
    assert done.stderr.strip().endswith("ValueError: mine")
    assert "captious" not in done.stderr


def test_the_users_own_startup_code_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.theirs = 'here'")
    (tmp_path / "program.py").write_text("print(theirs)")
    command = [sys.executable, "-P", "-m", "captious.compat", "program.py"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert printed(done) == ["here"]


def test_unknown_toolkits_are_refused(tmp_path: Path) -> None:
    done = run("", tmp_path, options=("--replace", "nltk"))
    assert done.returncode == 2
    assert "not a toolkit that captious replaces" in done.stderr
