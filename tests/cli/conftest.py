"""Fixtures of the tests of captious.cli: a folder of captions, and the command run in this process or as its own."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from captious.cli import main
from captious.resources import corenlp
from captious.resources import meteor_tables as meteor
from tests.support.judgments import write_jsonl
from tests.support.meteor_files import MeteorFiles


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run of the command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run: TypeAlias = Callable[..., Outcome]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the project's own examples, which the test runs in."""
    for file in (Path(__file__).parents[2] / "examples").glob("*.json"):
        shutil.copy(file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def own(folder: Path) -> str:
    """A file of judgments in the folder: three captions, from the worst to the best."""
    references = ["a dog runs fast", "the dog is running"]
    rated = [
        {"candidate": text, "references": references, "rating": rating}
        for rating, text in enumerate(["a bus", "a dog", "a dog runs"])
    ]
    write_jsonl(folder, "own.jsonl", rated)
    return "own.jsonl"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """``run(*arguments)``: the command in this process, errors and exit included."""

    def run_main(*arguments: object) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["captious", *map(str, arguments)])
        out, err = io.StringIO(), io.StringIO()
        code: object = 0
        with redirect_stdout(out), redirect_stderr(err):
            try:
                main()
            except SystemExit as stop:
                code = stop.code or 0
        assert isinstance(code, int)
        return Outcome(code, out.getvalue(), err.getvalue())

    return run_main


@pytest.fixture
def command() -> list[str]:
    """The installed command, or the module if this interpreter has no such command."""
    installed = Path(sys.executable).with_name("captious")
    return [str(installed)] if installed.exists() else [sys.executable, "-c", "from captious.cli import main; main()"]


@pytest.fixture
def start(command: list[str]) -> Run:
    """``start(*arguments)``: the command in a separate process."""

    def start_process(*arguments: object, **options: Any) -> Outcome:
        done = subprocess.run(
            [*command, *map(str, arguments)],
            capture_output=True,
            timeout=60,
            check=False,
            env=plain_environment(),
            **options,
        )
        return Outcome(done.returncode, done.stdout.decode(), done.stderr.decode())

    return start_process


#: Tables for METEOR, enough for a few captions.
TABLES = MeteorFiles(
    synsets={"cat": [1, 2], "feline": [1], "road": [3], "street": [3]},
    function_words=["the", "a", "of", "is", "on"],
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of captious, which is not there yet; no tables of METEOR and no grammar anywhere."""
    monkeypatch.setattr(meteor, "installed_folder", lambda package: None)
    monkeypatch.setattr(corenlp, "installed_folder", lambda package: None)
    monkeypatch.setenv("AAC_METRICS_CACHE_PATH", str(tmp_path / "caches"))
    monkeypatch.delenv("CAPTIOUS_SPICE_GRAMMAR", raising=False)
    monkeypatch.delenv("CAPTIOUS_METEOR_HOME", raising=False)
    monkeypatch.setenv("CAPTIOUS_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tables(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Small tables of METEOR, nothing compiled yet."""
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", str(tmp_path / "tables"))
    return TABLES.write(tmp_path / "tables", data="")


def plain_environment() -> dict[str, str]:
    """Return the environment without variables that change colors and widths."""
    unwanted = {"COLUMNS", "LINES", "FORCE_COLOR", "NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "PYTHONWARNINGS"}
    return {name: value for name, value in os.environ.items() if name not in unwanted}


def assert_refused(outcome: Outcome, *parts: str) -> None:
    """Check that there is an error in three lines on stderr, nothing on stdout, no traceback, and status 2."""
    assert outcome.code == 2, outcome
    assert outcome.out == ""
    lines = outcome.err.splitlines()
    starts = [number for number, line in enumerate(lines) if line.startswith("error: ")]
    assert len(starts) == 1, outcome.err
    messages = lines[starts[0] :]
    assert any(line.startswith("  help: ") for line in messages), outcome.err
    assert all(line.startswith("  ") for line in messages[1:]), outcome.err
    assert "Traceback" not in outcome.err
    for part in parts:
        assert part in "\n".join(messages), outcome.err
