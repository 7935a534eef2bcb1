"""Python programs that run beside a test, to be waited for or to be killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path


def start(code: str, *arguments: str | Path) -> subprocess.Popen[str]:
    """Return a program that has just begun, with what it prints piped."""
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def output(program: subprocess.Popen[str]) -> str:
    """Return the output of a program after its end; it must have succeeded."""
    out, err = program.communicate(timeout=60)
    assert program.returncode == 0, err
    return out


def wait_until(condition: Callable[[], bool], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.01)
