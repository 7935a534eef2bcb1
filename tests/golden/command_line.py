"""The command in this process, in a folder of examples: what it prints and writes, without what differs by machine."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from contextlib import redirect_stderr, redirect_stdout
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import captious
from tests.golden.files import contents, page
from tests.golden.inputs import write_inputs
from tests.support.meteor_files import MeteorFiles
from tests.support.shared_data import DATA

__all__ = ["EXAMPLES", "PROJECT", "Shell", "clean", "environment", "shell"]

PROJECT = Path(__file__).parents[2]
EXAMPLES = PROJECT / "examples"

#: What is said only where the processor is slow.
SLOW = re.compile(r"after \d+ min: ")

#: Tables for METEOR, enough for a few captions; those of the toolkit may be missing.
TABLES = MeteorFiles(
    synsets={"man": [1, 2], "person": [1], "cat": [3], "feline": [3], "road": [4], "street": [4]},
    function_words=["the", "a", "of", "is", "on", "in"],
)


class Shell:
    """Runs commands in a folder.

    Args:
        folder: a copy of the examples.
        names: replaced texts -> what stands for them in the record.
    """

    def __init__(self, folder: Path, names: dict[str, str]) -> None:
        self.folder = folder
        self.names = names
        (point,) = entry_points(group="console_scripts", name="captious")
        self.main: Callable[[], None] = point.load()

    def run(self, line: str, masked: Iterable[str] = ()) -> dict[str, Any]:
        """Return what a command gives: status, output (a document if it is JSON), messages and new files.

        Args:
            line: the command line after "captious".
            masked: patterns of what differs from run to run, in texts.
        """
        before = self._files()
        status, out, err = self._call(shlex.split(line))
        messages = [line for line in err.splitlines() if not SLOW.match(line)]
        document = {"status": status, "output": self._document(out), "messages": messages}
        written = {
            name: contents(self.folder / name) for name, time in self._files().items() if before.get(name) != time
        }
        if written:
            document["files"] = written
        return {key: self.clean(value, masked) for key, value in document.items() if value not in ("", [])}

    def clean(self, value: Any, masked: Iterable[str] = ()) -> Any:
        """Return a document without paths, versions and what is masked."""
        return clean(value, self.names, masked)

    def _call(self, arguments: list[str]) -> tuple[object, str, str]:
        out, err = io.StringIO(), io.StringIO()
        status: object = 0
        argv, sys.argv = sys.argv, ["captious", *arguments]
        try:
            with redirect_stdout(out), redirect_stderr(err), warnings.catch_warnings():
                self.main()
        except SystemExit as stop:
            status = stop.code or 0
        finally:
            sys.argv = argv
        return status, out.getvalue(), err.getvalue()

    def _files(self) -> dict[str, tuple[int, int]]:
        found = {}
        for path in sorted(self.folder.rglob("*")):
            if path.is_file() and path.suffix not in (".lock", ".pyc"):
                found[path.relative_to(self.folder).as_posix()] = (path.stat().st_mtime_ns, path.stat().st_size)
        return found

    @staticmethod
    def _document(text: str) -> Any:
        if text.startswith(("{", "[")):
            try:
                return json.loads(text)
            except ValueError:
                pass
        return page(text) if text.startswith("<") else text.splitlines()


def clean(value: Any, names: Mapping[str, str], masked: Iterable[str] = ()) -> Any:
    """Return a document with names in place of some texts and of the version, and # for what patterns match."""
    patterns = [*masked]
    if isinstance(value, dict):
        return {clean(key, names, patterns): clean(item, names, patterns) for key, item in value.items()}
    if isinstance(value, list):
        return [clean(item, names, patterns) for item in value]
    if isinstance(value, str):
        for text, name in names.items():
            value = value.replace(text, name)
        value = re.sub(rf"(?<![\d.]){re.escape(captious.__version__)}(?![\d.])", "VERSION", value)
        for pattern in patterns:
            value = re.sub(pattern, "#", value)
    return value


def environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the variables that captious reads so that a machine's own files and settings are not used."""
    for name in [name for name in os.environ if name.startswith("CAPTIOUS_")]:
        if name != "CAPTIOUS_VECTORS":
            monkeypatch.delenv(name)
    for name in ("FORCE_COLOR", "LINES", "PYTHONWARNINGS", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(name, raising=False)
    TABLES.write(folder / "meteor", data="")
    monkeypatch.setenv("CAPTIOUS_METEOR_HOME", str(folder / "meteor"))
    monkeypatch.setenv("CAPTIOUS_CACHE", str(folder / "cache"))
    monkeypatch.setenv("CAPTIOUS_THREADS", "2")
    monkeypatch.setenv("AAC_METRICS_CACHE_PATH", str(folder / "other"))
    monkeypatch.setenv("HF_HOME", str(folder / "hub"))
    monkeypatch.setenv("TORCH_HOME", str(folder / "torch"))
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("SHELL", "/bin/bash")
    monkeypatch.setenv("TZ", "UTC")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The command, in a folder with the project's examples and with files that are wrong in one way each."""
    folder, own = tmp_path / "work", tmp_path / "own"
    shutil.copytree(EXAMPLES, folder)
    write_inputs(folder)
    environment(own, monkeypatch)
    monkeypatch.chdir(folder)
    names = {str(folder): "FOLDER", str(own): "OWN", str(tmp_path): "TEMPORARY", str(DATA): "SHARED"}
    package = str(Path(captious.__file__).parent)
    return Shell(folder, names | {package: "PACKAGE", str(PROJECT): "PROJECT", sys.executable: "PYTHON"})
