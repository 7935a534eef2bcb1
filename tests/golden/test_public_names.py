"""Public names of captious and its packages, the groups of entry points that it reads, and its variables."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

import captious
from tests.golden.command_line import PROJECT, clean
from tests.golden.names import describe, describe_all
from tests.golden.record import Record

PACKAGES = (
    *("captious", "captious.compat", "captious.data", "captious.evaluation", "captious.judgment", "captious.metrics"),
    *("captious.models", "captious.scale", "captious.text"),
)


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_as_recorded(package: str, record: Record) -> None:
    module = importlib.import_module(package)
    names = list(getattr(module, "__all__", ()))
    record(f"names/{package}", clean({"all": sorted(names), "names": describe_all(module, names)}, {}))


@pytest.mark.models
@pytest.mark.parametrize(("package", "needed"), [("aac_metrics", "torch"), ("torchmetrics", "torchmetrics")])
def test_public_names_that_need_torch_are_as_recorded(package: str, needed: str, record: Record) -> None:
    pytest.importorskip("torch")
    pytest.importorskip(needed)
    module = importlib.import_module(f"captious.compat.{package}")
    record(f"names/captious.compat.{package}", {"names": describe_all(module, list(module.__all__))})


def test_errors_are_as_recorded(record: Record) -> None:
    module = importlib.import_module("captious.errors")
    classes = {
        name: describe(found)
        for name, found in sorted(vars(module).items())
        if isinstance(found, type) and issubclass(found, BaseException | Warning) and not name.startswith("_")
    }
    record("names/captious.errors", classes)


#: Runs commands that look for entry points, and prints the groups that they ask for.
GROUPS = """
import contextlib, importlib.metadata, io, runpy, sys

asked = set()
of_packages = importlib.metadata.entry_points


def entry_points(**parameters):
    asked.add(parameters.get("group"))
    return of_packages(**parameters)


importlib.metadata.entry_points = entry_points
for line in ("metrics", "metrics nope", "study --help", "study nope", "data list", "judge nope", "reproduce list",
             "reproduce nope", "score a b --tokenizer nope", "--help", "nope", "run nope"):
    sys.argv = ["captious", *line.split()]
    nowhere = io.StringIO()
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
        runpy.run_module("captious", run_name="__main__")
print(*sorted(group for group in asked if group.startswith("captious")))
"""


def test_entry_points_are_as_recorded(record: Record) -> None:
    done = subprocess.run(
        [sys.executable, "-c", GROUPS], capture_output=True, encoding="utf-8", check=True, timeout=120
    )
    scripts = [point.name for point in entry_points(group="console_scripts") if point.value.startswith("captious")]
    record("names/entry-points", {"groups": done.stdout.split(), "scripts": sorted(scripts)})


def test_variables_are_as_recorded(record: Record) -> None:
    """The environment variables that the sources name, and the commands of the server."""
    commands = PROJECT / "server" / "src" / "captious_server" / "commands.py"
    sources = [*Path(captious.__file__).parent.rglob("*.py"), commands]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    record("names/variables", sorted({name for text in texts for name in re.findall(r"\bCAPTIOUS_[A-Z_]+\b", text)}))
