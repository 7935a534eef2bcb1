"""Commands as processes of their own: output, errors and status, and programs below ``captious run``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest

from tests.golden.command_line import Shell
from tests.golden.record import Record

#: A program written for the COCO caption toolkit and for that of CIDEr's authors.
PROGRAM = """
import json, sys
from pycocoevalcap.bleu.bleu import Bleu
from pycocoevalcap.cider.cider import Cider
from pycocoevalcap.rouge.rouge import Rouge
from pyciderevalcap.ciderD.ciderD import CiderD

gts = {1: ["a dog runs in the park"], 2: ["two men play guitar", "a band plays"], 3: ["a cat"]}
res = {1: ["a dog runs"], 2: ["two men play guitar"], 3: ["a bus"]}
found = {scorer.method(): scorer.compute_score(gts, res)[0] for scorer in (Bleu(4), Rouge(), Cider())}
rows = [{"image_id": image, "caption": texts} for image, texts in res.items()]
found["CiderD"] = CiderD(df="corpus").compute_score(gts, rows)[0]
print(json.dumps(found, default=float))
print(sys.argv[1:], file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""
#: A copy of a scorer under another name, as repositories have it.
COPY = """
class Rouge:
    def __init__(self):
        self.beta = 1.2

    def calc_score(self, candidate, refs):
        raise NotImplementedError

    def compute_score(self, gts, res):
        raise NotImplementedError

    def method(self):
        return "Rouge"
"""
USES_COPY = """
from metrics.rouge.rouge import Rouge
print(Rouge().compute_score({1: ["a dog runs"]}, {1: ["a dog"]})[0])
"""


@pytest.fixture
def processes(shell: Shell) -> Shell:
    (shell.folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    (shell.folder / "metrics" / "rouge").mkdir(parents=True)
    for name in ("metrics/__init__.py", "metrics/rouge/__init__.py"):
        (shell.folder / name).write_text("", encoding="utf-8")
    (shell.folder / "metrics" / "rouge" / "rouge.py").write_text(COPY, encoding="utf-8")
    (shell.folder / "uses_copy.py").write_text(USES_COPY, encoding="utf-8")
    return shell


def start(shell: Shell, *arguments: str, text: str | None = None) -> dict[str, Any]:
    """Return what a process of captious gives."""
    command = [sys.executable, "-m", "captious", *arguments]
    done = subprocess.run(
        command, input=text, capture_output=True, encoding="utf-8", timeout=120, check=False, env=dict(os.environ)
    )
    of_traceback = ("Traceback", "  File", "    ")  # which differ by version of Python
    messages = [line for line in done.stderr.splitlines() if not line.startswith(of_traceback)]
    found = {"status": done.returncode, "output": done.stdout.splitlines(), "messages": messages}
    return {"command": list(arguments), **shell.clean(found, (r"(?<=PACKAGE)[\w/]+",))}


def test_processes_are_as_recorded(processes: Shell, record: Record) -> None:
    captions = (processes.folder / "baseline.json").read_text(encoding="utf-8")
    found = [
        start(processes, "--version"),
        start(processes),
        start(processes, "score", "baseline.json", "references.json", "-m", "rouge-l", "--format", "csv"),
        start(processes, "score", "-", "references.json", "-m", "rouge-l", "--format", "csv", text=captions),
        start(processes, "score", "-", "references.json", "-m", "rouge-l", text=""),
        start(processes, "score", "none.json", "references.json"),
        start(processes, "scor"),
    ]
    record("processes/commands", found)


def test_programs_below_run_are_as_recorded(processes: Shell, record: Record) -> None:
    found = [
        start(processes, "run", "program.py", "0", "--format", "json"),
        start(processes, "run", "program.py", "3"),
        start(processes, "run", "--replace", "metrics=pycocoevalcap", "uses_copy.py"),
        start(processes, "run", "uses_copy.py"),
        start(processes, "run", "--whole", "uses_copy.py"),
        start(processes, "run", "--environment"),
    ]
    assert start(processes, "run", "--log", "log.json", "program.py", "0")["status"] == 0
    log = json.loads((processes.folder / "log.json").read_text(encoding="utf-8"))
    for event in log["events"]:
        event.pop("process", None)
    record("processes/run", [*found, {"log": processes.clean(log)}])
