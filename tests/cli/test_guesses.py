"""What new users type, one row a guess: it works, or the error names the right spelling."""

from __future__ import annotations

import io
import json
import shlex
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Run
from tests.support.tables import tables

#: What is typed, after "captious" -> exit status, and texts of stdout or stderr. "b", "i" and "r" are results of two
#: systems and references; "<" takes b.json as standard input.
GUESSES = tables(__file__)["guesses"]


@pytest.fixture
def typed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with short names for the examples."""
    for name, short in (("baseline", "b"), ("improved", "i"), ("references", "r")):
        (folder / f"{name}.json").rename(f"{short}.json")
    for other in folder.glob("??*.json"):
        other.unlink()
    rows = json.loads((folder / "b.json").read_text())
    (folder / "few.json").write_text(json.dumps(rows[:1]))
    (folder / "wrapped.csv").write_text("key,text\n" + "".join(f"{row['image_id']},{row['caption']}\n" for row in rows))
    (folder / "mine.py").write_text("")
    (folder / "df.idf").write_text("")
    (folder / "empty.json").write_text(json.dumps({row["image_id"]: [""] for row in rows}))
    monkeypatch.setenv("SHELL", "/bin/bash")
    return folder


@pytest.mark.parametrize("line", GUESSES)
def test_guess_works_or_is_answered(typed: Path, run: Run, monkeypatch: pytest.MonkeyPatch, line: str) -> None:
    status, texts = GUESSES[line]
    words = shlex.split(line)
    if words[-1] == "<":
        words.pop()
        content = io.BytesIO((typed / "b.json").read_bytes())
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=content))
    outcome = run(*words)
    assert outcome.code == status, outcome
    for text in texts:
        assert text in outcome.out + outcome.err, outcome
    assert "Traceback" not in outcome.err
    if status:
        assert "  help: " in outcome.err
        assert not any(text in outcome.err for text in ("captious.Settings", "True", "None")), outcome.err
