"""Wrong calls, one row each: the error says in three lines what is wrong, where, and what to do.

Those that the golden record has (tests/golden/test_command_errors.py) are not repeated here.
"""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Run, assert_refused
from tests.golden.inputs import write_inputs
from tests.support.tables import tables

#: What is typed after "captious" -> texts of the error.
#: What is typed after "captious" -> texts of the error.
REFUSED = tables(__file__)["refused"] | {"explain bleu 'a caf\udce9' a": ["lone surrogate", "candidates"]}


@pytest.fixture
def files(folder: Path, tables: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The examples, judgments, and other inputs; no data of benchmarks."""
    write_inputs(folder)
    (folder / "objects.json").write_text(json.dumps({"1207": ["person"]}))
    (folder / "small.txt").write_text("dog 1 0\ncat 0 1\n")
    monkeypatch.delenv("CAPTIOUS_DATA", raising=False)
    return folder


@pytest.mark.parametrize("line", REFUSED)
def test_wrong_call_is_refused(files: Path, run: Run, line: str) -> None:
    if "--plot" in line:
        pytest.importorskip("matplotlib")
    before = {*files.iterdir(), files / "cache"}
    assert_refused(run(*shlex.split(line)), *REFUSED[line])
    assert {*files.iterdir()} <= before
