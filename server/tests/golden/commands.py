"""The command ``captious`` in this process, as users call it."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest import mock

from captious.cli import main


@dataclass(frozen=True)
class Outcome:
    """Exit status and output of a run."""

    code: int
    out: str
    err: str


def captious(*arguments: object) -> Outcome:
    """Run the command: at a terminal of 80 columns, and with nothing to read."""
    out, err = io.StringIO(), io.StringIO()
    code: object = 0
    with (
        mock.patch.object(sys, "argv", ["captious", *map(str, arguments)]),
        mock.patch.object(sys, "stdin", io.StringIO()),
        mock.patch.dict("os.environ", {"COLUMNS": "80"}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    assert isinstance(code, int), code
    return Outcome(code, out.getvalue(), err.getvalue())


def done(*arguments: object) -> Outcome:
    """Run a command that must succeed."""
    outcome = captious(*arguments)
    assert outcome.code == 0, outcome.err
    return outcome
