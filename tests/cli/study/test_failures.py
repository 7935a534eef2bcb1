"""captious study failures"""

from __future__ import annotations

import json
from pathlib import Path

from captious.judgment import studies
from tests.cli.conftest import Run

HUMAN = {"a": 3, "b": 2, "c": 1}
REFERENCES = {"1": ["a dog runs on grass", "a dog"], "2": ["a red bus", "the bus"], "3": ["two cats", "cats on a bed"]}
CAPTIONS = {
    "a": {"1": "a dog runs on grass", "2": "a red bus", "3": "a man"},
    "b": {"1": "a dog", "2": "a bus", "3": "two cats"},
    "c": {"1": "a man", "2": "two cats", "3": "cats on a bed"},
}


def write(folder: Path) -> list[str]:
    files = {"references": REFERENCES, "human": HUMAN, **CAPTIONS}
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return [str(folder / f"{name}.json") for name in (*CAPTIONS, "references")]


def test_failures_command_agrees_with_the_python_function(run: Run, tmp_path: Path) -> None:
    files = write(tmp_path)
    human = str(tmp_path / "human.json")
    outcome = run("study", "failures", *files, "-m", "bleu-1", "--human", human, "--evaluator", "rouge-l")
    assert outcome.code == 0, outcome
    (record,) = studies.critical_failures(CAPTIONS, REFERENCES, "bleu-1", human=HUMAN, evaluator="rouge-l").records
    line = next(line.split() for line in outcome.out.splitlines() if line.strip().startswith("bleu-1"))
    assert line[:3] == ["bleu-1", *(str(record[key]) for key in ("images", "failures"))]
    assert "evaluator rouge-l" in outcome.out
