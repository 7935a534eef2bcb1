"""Output, messages, exit status and files of commands that succeed, on the examples."""

from __future__ import annotations

import pytest

from tests.golden.command_line import Shell
from tests.golden.record import Record
from tests.support.tables import tables

#: Name of the record -> command lines, which run in one folder, one after the other.
LINES = tables(__file__)["lines"]


SHARDS = [
    "score --shards 'shard-*.jsonl' -m bleu -m cider-d:idf=coco -o out --format json",
    "score --shards 'shard-*.jsonl' -m bleu -m cider-d -m rouge-l --ci -o more",
    "score --shards 'shard-*.jsonl' -m bleu -m rouge-l -o out",
    "score --shards shard-0.jsonl -m bleu-1 -o first --workers 1 --batch-rows 3 --format csv",
]


@pytest.mark.parametrize("name", LINES)
def test_output_is_as_recorded(name: str, shell: Shell, record: Record) -> None:
    found = [{"command": line, **shell.run(line)} for line in LINES[name]]
    record(f"commands/{name}", found)


def test_results_of_shards_are_as_recorded(shell: Shell, record: Record) -> None:
    found = [{"command": line, **shell.run(line, [r"modified \d+"])} for line in SHARDS]
    for outcome in found:
        for name, content in outcome.get("files", {}).items():
            if name.endswith("plan.json"):
                content["run"] = "#"  # it depends on the times of the shards
            if "/sums/" in name:  # their order varies
                counts = content["counts"]["reference_counts"]
                content["counts"]["reference_counts"] = dict(sorted(counts.items()))
    record("commands/shards", found, tolerance=1e-9)  # intervals: roots of covariances that are nearly dependent


def test_timing_study_is_as_recorded_but_for_times(shell: Shell, record: Record) -> None:
    found = shell.run("study timing baseline.json references.json -m bleu-1 -m rouge-l --repeats 1 --format csv")
    header, *rows = found["output"]
    record("commands/timing", found | {"output": [header, *(row.split(",")[0] for row in rows)]})


def test_metrics_are_listed_as_recorded_but_for_their_state(shell: Shell, record: Record) -> None:
    listed = shell.run("metrics --format json")
    metrics = listed["output"]["metrics"]
    for metric in metrics:
        for key in ("runs", "state", "install"):
            del metric[key]
    described = {}
    for metric in metrics:
        shown = shell.run(f"metrics {metric['name']}")
        described[metric["name"]] = [line for line in shown["output"] if not line.startswith(("Does not", "Runs"))]
    record("commands/metrics", {"list": listed, "metrics": described})


def test_doctor_lists_what_is_recorded(shell: Shell, record: Record) -> None:
    found = shell.run("doctor")
    names = sorted({line.split("  ")[0] for line in found["output"][3:] if "  " in line})
    record("commands/doctor", {"status": found["status"], "rows": names})
