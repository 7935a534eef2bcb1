"""Output, messages, exit status and files of commands that succeed, on the examples."""

from __future__ import annotations

import pytest

from tests.golden.command_line import Shell
from tests.golden.record import Record

TWO = "baseline.json improved.json references.json"
THREE = "baseline.json improved.json moved.json references.json"
FEW = "-m bleu -m rouge-l -m cider-d"

#: Name of the record -> command lines, which run in one folder, one after the other.
LINES: dict[str, list[str]] = {
    "score": [
        f"score {TWO} {FEW} -m meteor --format json",
        f"score {TWO} {FEW} --ci --format json",
        "score baseline.json references.json -m rouge-l -m bleu-1 --per-caption each.csv --format json",
        "score baseline.json references.json -m rouge-l -m bleu-1 --per-caption each.jsonl",
        "score baseline.json references.json --parser bundled",
        "score baseline.json references.json -m spice -m spider --parser bundled --format json",
        "score baseline.json references.json -m hwcm --parser bundled -m wmd -m mowe --vectors captions-12d.txt",
        "score baseline.json references.json -m concur -m chrf -m rouge-s:gap=2 -m cider@paper --format json",
        "score baseline.json references.json -m own.py:words --format json",
        "score baseline.json references.json -m bleu-4@paper --tokenizer 13a --format json",
        "score baseline.json references.json -m meteor --language de --format json",
        "score baseline.json references.json -m bleu-4 -m rouge-l --references-as cat --format json",
        "score baseline.json references.json -m cider-d --idf coco --format json",
        "score baseline.json references.json -m bleu-1 --group-by groups.json --format json",
        "score baseline.json references.json -m bleu-1 --group-by length --ci",
        "score baseline.json references.json -m bleu-1 --group-by length:9,11 --format csv",
        "score samples.json references.json --several mean -m div -m self-cider -m mbleu -m lsa --format json",
        "score beams.json references.json --several best -m cider-d -m bleu-4 --format json",
        "score beams.json references.json --several best --several mean -m rouge-l",
        "score fewer.json references.json --match common -m rouge-l --format json",
        "fit chair references.json -o objects.json",
        "score baseline.json improved.json --no-references -m chair --objects objects.json --format json",
        "score unknown.json baseline.json --no-references -m chair --objects objects.json",
        "score baseline.json references.json -m length --clean prompt,markdown --format json",
        "score long/detailed.json long/rambling.json long/references.json -m coverage -m coverage-cider --format json",
        "score samples.json references.json --several mean -m allspice -m distinct --parser bundled --format json",
        "score log.jsonl --from lmms-eval -m bleu-1 -m rouge-l --format json",
        "score baseline.json references.json -m novel --training references.json --format json",
    ],
    "formats": [
        *(f"score {TWO} {FEW} --ci --format {name}" for name in ("table", "csv", "md", "tex", "html")),
        *(f"score {TWO} {FEW} -o scores.{end}" for end in ("json", "csv", "md", "tex", "html", "xlsx", "txt")),
        *(f"compare {TWO} {FEW} --resamples 50 -o tests.{end}" for end in ("csv", "md", "tex", "html", "xlsx")),
        f"score {TWO} {FEW} --percent --naming paper --format md",
        f"score {TWO} {FEW} --percent --naming toolkit --transpose --format tex",
        *(f"score {TWO} -m rouge-l --ci --interval-style {name} --format tex" for name in ("below", "subscript")),
        f"score {TWO} -m rouge-l --percent --transpose",
    ],
    "check": [
        "check baseline.json references.json --format json",
        "check baseline.json",
        "check long/rambling.json long/references.json --format json",
        "check long/rambling.json long/references.json",
        "check beams.json references.json --several mean --format md",
        "check fewer.json references.json --match common --format csv",
        "check baseline.json references.json -o check.html",
    ],
    "compare": [
        f"compare {TWO} {FEW} --format json",
        f"compare {THREE} -m bleu-4 -m rouge-l --resamples 200 --seed 7 --format json",
        f"compare {TWO} -m rouge-l -m cider-d --examples 2",
        f"compare {TWO} -m rouge-l -m cider-d --group-by groups.json --format json",
        f"compare {TWO} -m rouge-l --group-by length",
        f"compare {TWO} -m rouge-l -m bleu-1 --format csv",
        f"compare {TWO} -m rouge-l -m bleu-1 --percent --format tex",
    ],
    "explain": [
        *(
            f"explain {metric} baseline.json references.json --image 1315 --format json"
            for metric in ("bleu", "cider", "cider-d", "cider-r", "meteor", "rouge-l", "concur", "coverage", "chair")
        ),
        *(
            f"explain {metric} 'two men walk down a street' 'a man walks on a road' 'men walking'"
            for metric in ("bleu", "cider-d", "meteor", "rouge-l", "concur", "chair")
        ),
        "explain spice 'a red bus on a street' 'a bus is on a road' --parser bundled --format json",
        "explain wmd 'a man in a kitchen' 'a woman in a kitchen' --vectors captions-12d.txt --format json",
        "explain coverage 'A man. He eats.' 'A man eats. It rains.'",
        "explain cider-d baseline.json references.json --worst 2",
    ],
    "report": [
        f"report {TWO} -m rouge-l -m bleu-1 --resamples 100 -o page.html --title Systems",
        "report baseline.json references.json -m rouge-l -m cider-d --explain 2 --group-by groups.json --percent "
        "--resamples 100 -o groups.html --image-url 'https://example.org/{id}.jpg'",
    ],
    "judge": [
        "judge rated.jsonl -m bleu-1 -m rouge-l -m cider-d --resamples 100 --format json",
        "judge rated.jsonl pairs.jsonl -m bleu-1 -m rouge-l --compare --resamples 100 --format json",
        "judge rated.jsonl -m bleu-1 -m rouge-l --compare --test bootstrap --resamples 100 --seed 3 --format json",
        *(
            f"judge rated.jsonl@{name} -m bleu-4 -m length --resamples 50 --format json"
            for name in ("kendall-tau-b", "kendall-tau-c", "spearman", "pearson")
        ),
        *(
            f"judge systems.jsonl@{name} -m bleu-4 -m rouge-l --resamples 50 --format json"
            for name in ("system-pearson", "system-kendall-tau-b", "system-pairwise-accuracy")
        ),
        "judge rated.jsonl -m bleu-1 -m rouge-l --compare --resamples 50",
        *(f"judge rated.jsonl pairs.jsonl -m rouge-l --resamples 50 -o judged.{end}" for end in ("csv", "tex", "xlsx")),
        "data items rated.jsonl",
        "data items pairs.jsonl --format csv",
        "data items systems.jsonl@system-pearson -o items.jsonl",
    ],
    "study": [
        "study references rated.jsonl -m bleu-1 -m rouge-l --counts 1,3 --draws 3 --resamples 20 --format json",
        "study robustness references.json -m bleu-1 -m cider-d --resamples 50 --format json",
        "study robustness references.json -m rouge-l --sample 10 --resamples 20",
        "study metrics rated.jsonl -m bleu-1 -m rouge-l -m cider-d --format json",
        f"study systems {THREE} -m bleu-4 -m rouge-l --resamples 50 --format json",
        "study agreement references.json -m bleu-1 -m rouge-l --counts 1,2,4 --resamples 50 --format json",
        "study words references.json --words 20 -k 3 --format json",
        "study words references.json --words 20 -k 3 --system improved.json",
        f"study frequencies {TWO} --words 20 --format json",
        "study rules references.json --system baseline.json --format json",
        "study rules references.json",
        "fit chair references.json -o objects.json",
        "study sentences baseline.json improved.json -m chair --objects objects.json --format json",
        f"study distributions {TWO} -m bleu-1 -m rouge-l --sample 100 --resamples 20 --format json",
        *(f"study metrics rated.jsonl -m bleu-1 -m rouge-l -o study.{end}" for end in ("csv", "md", "tex", "html")),
    ],
    "prepare": [
        f"prepare references.json {FEW} -o plain.prepared",
        f"score baseline.json plain.prepared {FEW} --format json",
        "score baseline.json plain.prepared -m meteor --format json",
        "prepare references.json -m spice -m meteor --parser bundled -o parsed.prepared",
        "prepare references.json -m cider-d --tokenizer whitespace --references-as cat -o cat.prepared",
        "prepare baseline.json -m rouge-l -o single.prepared",
        "prepare plain.prepared -m chrf -o again.prepared",
    ],
    "fit": [
        "fit cider-d references.json -o own.idf",
        "score baseline.json references.json -m cider-d -m cider -m cider-r --idf own.idf --format json",
        "fit cider references.json --tokenizer whitespace -o words.idf",
        "fit chair references.json -o objects.json",
        "score baseline.json references.json -m chair --objects objects.json --format json",
        "fit cider-d baseline.json -o single.idf",
    ],
    "parse": [
        "parse baseline.json --grammar bundled -o parsed.jsonl",
        "parse references.json baseline.json --grammar bundled -o all.jsonl",
        "score baseline.json references.json -m spice -m hwcm --parses all.jsonl --format json",
        "parse unknown.json --grammar bundled --tokenizer whitespace -o one.jsonl",
    ],
    "learn": [
        "learn features baseline.json references.json --set small.json -o features.csv",
        "learn features baseline.json references.json --set small.json -o features.json",
        "learn features baseline.json references.json --set small.json -o features.parquet",
        "learn data references.json baseline.json improved.json --validation 0.25 -o examples.jsonl",
        "learn data references.json baseline.json --negatives other --per-image 1 --images 6 --references-each 2 "
        "--seed 3 -o others.jsonl",
        "learn data references.json baseline.json --negatives both --images 6 -o both.jsonl",
    ],
    "vectors": [
        "vectors list",
        "vectors add captions-12d.txt --name small",
        "vectors list",
        "score baseline.json references.json -m wmd -m mowe --vectors small --format json",
        "vectors add captions-12d.txt --name small",
        "vectors add captions-12d.txt --name small --replace",
        "vectors remove small",
        "vectors remove small",
        "vectors list",
    ],
    "evaluate-modules": ["evaluate-modules modules"],
    "reproduce": [
        "reproduce list coco --format json",
        "reproduce list coco",
        "reproduce coco counts --data . --format json",
        "reproduce lceval time --data . --format csv",
    ],
    "data": ["data list", "data list --format json", "data list --data . --format json"],
}


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
    record("commands/shards", found)


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
