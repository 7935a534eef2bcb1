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

#: What is typed after "captious" -> texts of the error.
REFUSED: dict[str, list[str]] = {
    # Commands and missing words.
    "jury": ["'jury'", "captious --help"],
    "help scor": ["did you mean score?"],
    "study failurs": ["'failurs'", "did you mean failures?"],
    "resources remove": ["'remove'", "captious resources --help"],
    "resources get": ["missing argument 'NAME...'", "meteor", "captious resources get --help"],
    "resources get meteor --from x.jar": ["--from can only be used with spice-grammar", "captious resources get --h"],
    "resources get meteor spice-grammar --from x.jar": ["--from can only be used with spice-grammar"],
    "score a b --nope": ["\n  captious score [OPTIONS] ", "\n  help: captious score --help"],
    "score a b -m": ["\n  captious score [OPTIONS] ", "\n  help: captious score --help"],
    "compare a": ["\n  captious compare [OPTIONS] ", "\n  help: captious compare --help"],
    "explain": ["missing argument 'METRIC'", "captious explain [OPTIONS] METRIC CANDIDATE", "captious explain --help"],
    "explain meteor": ["missing argument 'CANDIDATE'", "captious explain --help"],
    "report baseline.json references.json -m bleu-4": ["missing option", "captious report"],
    "report references.json -o p.html": ["only one file was given"],
    "study systems references.json -m bleu-1": ["only one file was given"],
    "study smurf references.json": ["only one file was given", "give at least one file of candidates"],
    "study distributions references.json": ["only one file was given", "at least one file"],
    "study sentences": [],
    # Files.
    "compare references.json baseline.json improved.json": ["are these the references?"],
    "score a=baseline.json a=improved.json references.json": ["a is given twice"],
    "score baseline.json baseline.json references.json -m rouge-l --format csv": ["baseline.json is given twice"],
    "study words references.json --system baseline.json --system baseline.json": ["given twice"],
    "judge rated.jsonl rated.jsonl -m rouge-l": ["two benchmarks are called rated"],
    "score mine=none.json references.json": ["there is no such file", "\n  none.json"],
    "judge other.jsonl -m rouge-l": ["judgment file not found", "other.jsonl"],
    "score improved.json references.json -m rouge-l --columns caption=txet": [
        *("there is no column 'txet'", "improved.json: found 'image_id', 'caption'", "references.json"),
    ],
    "score baseline.json references.json --group-by ''": ["'' is neither a file nor a column"],
    "fit cider-d references.json references.json -o o.json": ["one file of references"],
    "fit chair references.json --objects objects.json -o o.json": ["--objects"],
    "study agreement references.json --published baseline.json -m bleu-1": ["not a COCO leaderboard"],
    "study agreement references.json --published none.json -m bleu-1": ["none.json was not found"],
    "data items composite": ["no folder of judgment data", "--data"],
    "report fewer.json improved.json references.json -o p.html --match common": [
        "fewer and improved do not have captions of the same images"
    ],
    # Metrics and their settings.
    "score baseline.json references.json -m @paper": [],
    "compare baseline.json improved.json references.json -m bleu-4 rouge-l": ["rouge-l is a metric", "repeat -m"],
    "report baseline.json references.json -o x.html -m bleu-4 rouge-l": ["rouge-l is a metric", "repeat -m"],
    "study smurf baseline.json references.json -m rouge-l": ["rouge-l is not SMURF"],
    "reproduce lcevl": ["there is no paper 'lcevl'", "did you mean lceval?"],
    "explain spider a b": ["spider is made of other metrics", "help: explain spice or cider-d"],
    "explain cider-d 'a dog' 'the dog'": ["document frequencies", "--image ID"],
    "explain bleu 'a caf\udce9' a": ["lone surrogate", "candidates"],
    "explain rouge-l 'a dog' 'a dog' --worst 2": ["a file of candidates"],
    "explain meteor 'a cat' 'a cat' --image 7": ["a file of candidates"],
    "explain chair 'a cat' --image 7": ["--objects FILE"],
    "fit cider-d references.json -o x --parser bundled": ["the setting parser was given, but no requested metric"],
    "prepare references.json -m bleu -o x.prepared --images .": ["no requested metric uses it"],
    "learn features improved.json references.json --set small.json --parser bundled -o out.csv": [
        "the setting parser was given"
    ],
    "score baseline.json references.json -m bleu --vectors small.txt": [
        *("the setting vectors was given, but no requested metric uses it", "vectors: small-"),
    ],
    # References that are not there.
    "score baseline.json --no-references -m rouge-l -m bleu": [
        *("rouge-l, bleu cannot be computed without references", "baseline.json"),
    ],
    "compare baseline.json improved.json --no-references -m bleu": ["bleu", "references"],
    "study sentences improved.json baseline.json -m bleu-1": ["bleu cannot be computed without references"],
    "score --no-references -m chair": ["no files were given"],
    "score baseline.json --no-references -m distinct --several mean --group-by length": ["no references whose lengths"],
    # The last file is then a third system.
    "compare baseline.json improved.json references.json --no-references -m chair --objects objects.json": [
        *("references.json", "more than one"),
    ],
    # Values of options.
    "explain meteor a b --format html": ["html", "captious explain --help"],
    "explain meteor a b --references-as one": ["one", "captious explain --help"],
    "explain meteor a b --nope": ["--nope", "captious explain --help"],
    "score baseline.json references.json --format jsn": ["did you mean json?"],
    "score baseline.json references.json --format markdown": ["did you mean md?"],
    "score baseline.json references.json --format txt": ["did you mean table?"],
    "score baseline.json references.json -m rouge-l --threads -1": ["threads", "-1"],
    "score baseline.json references.json -m rouge-l --threads 4.5": ["threads", "4.5"],
    "compare baseline.json improved.json references.json --examples -1": ["--examples", "-1"],
    "compare baseline.json improved.json references.json --resamples x": ["--resamples", "x"],
    "judge rated.jsonl --resamples 0": ["--resamples", "0"],
    "judge rated.jsonl --seed -1": ["--seed", "-1"],
    "judge rated.jsonl --format xml": ["--format", "xml"],
    "study metrics rated.jsonl --percent": ["no such option '--percent'"],
    "study robustness references.json --sample 1 -m bleu-1": ["--sample"],
    "report baseline.json references.json -o p.html --image-url 'javascript:alert({id})'": [
        "the image URL must begin with https:// or http://"
    ],
    # Captions that begin with a dash.
    "explain bleu '-a red bus' 'a bus'": ["captious explain bleu -- '-a red bus' 'a bus'"],
    "explain bleu 'a bus' '- a bus'": ["captious explain bleu 'a bus' -- '- a bus'"],
    "explain bleu '- a bus' 'a bus' --format json": ["give options first, then --"],
    # Outputs.
    "compare baseline.json improved.json references.json --examples 3 --format csv": [
        *("--examples", "csv", "captious compare --help"),
    ],
    "compare baseline.json improved.json references.json --examples 1 -o x.csv": ["--examples", "csv"],
    # The files to read are not there, so that reading them would be another error.
    "score none.json none-either.json -m rouge-l -o none/scores.csv": ["none/scores.csv"],
    "score none.json none-either.json -m rouge-l --per-caption none/scores.csv": ["none/scores.csv"],
    "score none.json none.json --per-caption scores": ["scores", ".jsonl, .csv, .parquet"],
    "score baseline.json references.json -m rouge-l --format csv -o x.csv --per-caption x.csv": ["x.csv"],
    "score mine=baseline.json references.json -o baseline.json": ["baseline.json is also an input"],
    "fit cider-d references.json -o none/own.idf": ["cannot write none/own.idf"],
    "study failures rated.jsonl -m bleu-1 -o no/such/folder/out.txt": ["no/such/folder"],
    "judge no.jsonl -m rouge-l --plot a/b": ["cannot write plots"],
    "report baseline.json references.json -o p.txt": ["p.txt is not the name of a page", "name it p.html"],
    "parse baseline.json -o p.conllu": ["JSON Lines", "p.conllu", ".jsonl"],
    "parse baseline.json -o p": ["JSON Lines", "p", ".jsonl"],
    "prepare references.json -m bleu -o refs.jsonl.gz": ["has the name of a caption file", "refs.prepared"],
    "prepare references.json -m bleu -o refs.CSV": ["has the name of a caption file", "refs.prepared"],
}


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
