"""The recipe for job arrays, docs/scale.md: the folder of a run, filled by several processes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from captious import scale
from captious.errors import ShardError
from captious.evaluation.report import score_table
from captious.report.formats import json_text
from tests.scale.test_score_shards import METRICS, scored

pytestmark = pytest.mark.filterwarnings("ignore::captious.CaptiousWarning")


def results(shards: Path) -> tuple[scale.Plan, scale.ResultFolder]:
    """Return results that every job writes."""
    plan = scale.plan(f"{shards}/part-*.jsonl", METRICS)
    return plan, scale.ResultFolder(shards / "results", plan)


def test_jobs_that_share_a_folder(shards: Path) -> None:
    for part in range(3):
        plan, folder = results(shards)
        for number in range(part, 4, 3):
            assert folder.fit(plan, number) is None
    for part in (1, 0, 2, 1):  # one of them twice
        plan, folder = results(shards)
        plan = folder.fitted(plan)
        for number in range(part, 4, 3):
            folder.map(plan, number)
    plan, _ = results(shards)
    assert json_text(score_table([scale.run(plan, output=shards / "results")])) == json_text(score_table([scored()]))


def test_fit_comes_before_map(shards: Path) -> None:
    plan, folder = results(shards)
    folder.fit(plan, 0)
    with pytest.raises(ShardError, match="part-1"):
        folder.fitted(plan)


@pytest.mark.slow
def test_documented_array_job_gives_the_report(shards: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text()
    script = re.search(r"^```python array.py\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    (shards / "array.py").write_text(script[1])

    def job(*arguments: object) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "array.py", *map(str, arguments)], cwd=shards, stdout=subprocess.PIPE, text=True
        )

    for step, parts in (("fit", 3), ("merge", 1), ("map", 3)):
        jobs = [job(step, part, parts) for part in range(parts)]
        for process in jobs:
            process.communicate()
        assert [process.returncode for process in jobs] == [0] * parts
    message, _ = job("reduce", 0, 1).communicate()
    report = scored(["bleu", "cider-d"])
    assert message.strip() == report.summary()
