"""Runs a code block of a Markdown page as a reader would, and compares what it prints with what the page shows.

- ``python`` blocks with prompts are doctests, others are executed;
- ``console`` blocks are commands behind ``$``, and under each what it prints (nothing: anything). ``NAME=value`` before
  a command sets an environment variable for it, ``export NAME=value`` for the rest of the page; a backslash at the end
  of a line continues the command; file names may be patterns;
- ``json`` and ``toml`` blocks must be valid;
- ``...`` in an expected output stands for anything.
"""

from __future__ import annotations

import contextlib
import doctest
import glob
import io
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from captious.cli import main

#: The languages of blocks that are run; all others only show something.
RUN = ("python", "console", "json", "toml")


@dataclass(frozen=True)
class Block:
    """A fenced block: its page, its first line there, its language, the file that it is written to, its text."""

    page: str
    line: int
    language: str
    file: str | None
    text: str

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


@dataclass(frozen=True)
class Command:
    """A command of a console block and what it is expected to print."""

    line: str
    expected: str


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a console block."""
    for part in re.split(r"^(?=\$ )", text, flags=re.MULTILINE):
        if part:
            assert part.startswith("$ "), f"a console block starts with a command, not with {part!r}"
            line = re.match(r"(?:.*\\\n)*.*", part)
            assert line is not None
            yield Command(line[0].removeprefix("$ ").replace("\\\n", " "), part[line.end() :].removeprefix("\n"))


#: Stands for an asterisk that the shell must not expand.
_QUOTED_STAR = "\0"


def run_command(line: str) -> tuple[str, int]:
    """Return the output of a command, stdout and stderr together, and its exit status."""
    line = re.sub(r"'[^']*'|\"[^\"]*\"", lambda quoted: quoted[0].replace("*", _QUOTED_STAR), line)
    words, environment = shlex.split(line), {}
    if words[0] == "export":
        name, _, value = words[1].partition("=")
        os.environ[name] = os.path.expandvars(value)
        return "", 0
    while assignment := re.fullmatch(r"([A-Z_]+)=(.*)", words[0]):
        environment[assignment[1]] = assignment[2]
        words = words[1:]
    words = [path for word in words for path in (sorted(glob.glob(word)) if "*" in word else [word])]
    words = [word.replace(_QUOTED_STAR, "*") for word in words]
    if words[:2] == ["captious", "run"]:  # which leaves this process to another program
        words = [sys.executable, "-m", *words]
    if words[0] != "captious":
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env={**os.environ, **environment}
        )
        return done.stdout, done.returncode
    printed, status = io.StringIO(), 0
    with (
        mock.patch.object(sys, "argv", words),
        mock.patch.dict(os.environ, {"COLUMNS": "100", **environment}),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        try:
            main()
        except SystemExit as stop:
            status = int(stop.code or 0)
    return printed.getvalue(), status


def run(block: Block, namespace: dict[str, Any]) -> None:
    """Run a block; AssertionError or the block's own error if it does not do what the page says."""
    if block.file is not None:
        Path(block.file).write_text(block.text, encoding="utf-8")
    if block.language == "python" and ">>>" in block.text:
        _run_doctest(block, namespace)
    elif block.language == "python":
        exec(compile("\n" * (block.line - 1) + block.text, block.page, "exec"), namespace)
    elif block.language == "console":
        for command in commands(block.text):
            _check(command, block.where)
    elif block.language == "json" and not (block.file or "").endswith(".jsonl"):
        json.loads(block.text)
    elif block.language == "toml":
        tomllib.loads(block.text)


def _run_doctest(block: Block, namespace: dict[str, Any]) -> None:
    test = doctest.DocTestParser().get_doctest(block.text, namespace, block.where, block.page, block.line - 1)
    test.globs = namespace  # the parser makes a copy, and the next block needs the names of this one
    runner, report = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS), io.StringIO()
    runner.run(test, out=report.write, clear_globs=False)
    assert runner.failures == 0, report.getvalue()


def _check(command: Command, where: str) -> None:
    printed, status = run_command(command.line)
    refused = re.search(r"^(error|Error):", command.expected, re.MULTILINE) is not None
    assert status == (2 if refused else 0), f"{where}: $ {command.line}\nexit status {status}\n{printed}"
    if command.expected:
        same = doctest.OutputChecker().check_output(command.expected, printed, doctest.ELLIPSIS)
        assert same, f"{where}: $ {command.line}\nexpected:\n{command.expected}\nprinted:\n{printed}"
