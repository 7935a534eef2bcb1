"""Logs of lmms-eval and VLMEvalKit: reading, the harnesses' own scores, and refusals."""

from __future__ import annotations

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli import captious as command_line
from captious.data.harness_logs import read_harness_log
from captious.errors import CaptionFileError, EmptyInputError, ResourceError, UnknownNameError

PROMPT = "Provide a one-sentence caption for the provided image."
ANSWERS = {
    7: ("A dog runs on the beach.", ["A dog is running on a beach.", "the dog runs"]),
    9: ("Two cats sleep, on a couch", ["Two cats sleep on a couch.", "cats on a sofa"]),
    12: ("A man rides his bike", ["A man on a bike.", "a man is riding a bike down the street"]),
}


def lmms_eval(form: str) -> list[dict[str, Any]]:
    """Return samples as versions of lmms-eval write them."""
    samples: list[dict[str, Any]] = []
    for number, (image, (text, references)) in enumerate(ANSWERS.items()):
        given = {"answer": references, "pred": text, "image_id": image, "id": number}
        sample: dict[str, Any] = {"doc_id": number, "target": str(references)}
        if form == "0.3":  # without doc and arguments
            sample |= {"filtered_resps": [text], "input": PROMPT, "coco_Bleu_4": given, "coco_CIDEr": given}
        elif form == "0.2":
            sample |= {"resps": [[text]], "filtered_resps": [text], "arguments": [[PROMPT, {"temperature": 0}, None]]}
            sample["doc"] = {"question_id": f"COCO_val2014_{image:012}.jpg", "id": image, "answer": references}
        else:  # nothing but the target
            sample |= {"resps": [[text]], "arguments": [PROMPT, {"until": ["\n"]}]}
        samples.append(sample)
    return samples


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("form", ["0.3", "0.2", "target"])
def test_lmms_eval_logs_are_read(tmp_path: Path, form: str) -> None:
    log = read_harness_log(written(tmp_path / "samples.jsonl", lmms_eval(form)), "lmms-eval")
    assert [*log.candidates.values()] == [text for text, _ in ANSWERS.values()]
    assert [*log.references.values()] == [references for _, references in ANSWERS.values()]
    assert log.prompts == [PROMPT]
    ids = {"0.3": [7, 9, 12], "0.2": [f"COCO_val2014_{image:012}.jpg" for image in ANSWERS], "target": [0, 1, 2]}
    assert [*log.candidates] == ids[form]


def test_several_questions_about_an_image_are_numbered(tmp_path: Path) -> None:
    samples = lmms_eval("0.3")
    for sample in samples:
        sample["coco_CIDEr"]["image_id"] = sample["coco_Bleu_4"]["image_id"] = 7
    samples[1]["input"] = "What is this?"
    log = read_harness_log(written(tmp_path / "samples.jsonl", samples), "lmms-eval")
    assert [*log.candidates] == [0, 1, 2]
    assert log.note == f"Prompt: {PROMPT!r}, and 1 more."


def vlmevalkit(path: Path) -> Path:
    rows = [["index", "question", "answer", "prediction"]]
    rows += [[str(k), PROMPT, str(references), text] for k, (text, references) in enumerate(ANSWERS.values())]
    if path.suffix == ".xlsx":
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append([int(row[0]) if row[0].isdecimal() else row[0], *row[1:]])
        book.save(path)
    elif path.suffix == ".json":
        path.write_text(json.dumps([dict(zip(rows[0], row, strict=True)) | {"index": int(row[0])} for row in rows[1:]]))
    else:
        with open(path, "w", newline="") as file:
            csv.writer(file, delimiter="\t").writerows(rows)
    return path


@pytest.mark.parametrize("suffix", ["xlsx", "tsv", "json"])
def test_vlmevalkit_logs_are_read(tmp_path: Path, suffix: str) -> None:
    limit = csv.field_size_limit()
    log = read_harness_log(vlmevalkit(tmp_path / f"Model_COCO_VAL.{suffix}"), "vlmevalkit")
    assert dict(log.candidates) == {k: text for k, (text, _) in enumerate(ANSWERS.values())}
    assert [*log.references.values()] == [references for _, references in ANSWERS.values()]
    assert log.prompts == [PROMPT]
    assert csv.field_size_limit() == limit  # of all readers in this process


def test_scores_of_vlmevalkit_logs_equal_its_own(tmp_path: Path) -> None:
    """It passes captions to its scorers untokenized, so that words are separated by spaces."""
    pytest.importorskip("pycocoevalcap")
    from pycocoevalcap.bleu.bleu import Bleu  # type: ignore[import-untyped]
    from pycocoevalcap.cider.cider import Cider  # type: ignore[import-untyped]
    from pycocoevalcap.rouge.rouge import Rouge  # type: ignore[import-untyped]

    assert Bleu.__module__ == "pycocoevalcap.bleu.bleu"  # not the replacement of this package
    texts = {str(k): [text] for k, (text, _) in enumerate(ANSWERS.values())}
    references = {str(k): list(of_image) for k, (_, of_image) in enumerate(ANSWERS.values())}
    expected = [*Bleu(4).compute_score(references, texts, verbose=0)[0]]
    expected += [Rouge().compute_score(references, texts)[0], Cider().compute_score(references, texts)[0]]
    path = vlmevalkit(tmp_path / "Model_COCO_VAL.tsv")
    command = ["score", str(path), "--from", "vlmevalkit", "-m", "bleu", "-m", "rouge-l", "-m", "cider-d"]
    printed = {}
    for tokenizer in ("whitespace", "ptb"):
        result = CliRunner().invoke(command_line, [*command, "--tokenizer", tokenizer, "--format", "json"])
        document = json.loads(result.stdout)
        printed[tokenizer] = [each["score"] for each in document["systems"][0]["metrics"].values()]
        assert document["prompts"] == {"Model_COCO_VAL": [PROMPT]}
    assert printed["whitespace"] == pytest.approx(expected, abs=1e-12)
    assert all(ptb > white for ptb, white in zip(printed["ptb"], printed["whitespace"], strict=True) if white > 1e-3)


@pytest.mark.filterwarnings("ignore:cider-d weights")
def test_scores_of_lmms_eval_logs_equal_plain_captions(tmp_path: Path) -> None:
    """They are the scores of the COCO toolkit for the same captions."""
    path = written(tmp_path / "samples.jsonl", lmms_eval("0.3"))
    command = ["score", str(path), "--from", "lmms-eval", "-m", "bleu-4", "-m", "cider-d", "--format", "json"]
    document = json.loads(CliRunner().invoke(command_line, command).stdout)
    metrics = document["systems"][0]["metrics"]
    plain = captious.score(
        {image: text for image, (text, _) in ANSWERS.items()},
        {image: references for image, (_, references) in ANSWERS.items()},
        ["bleu-4", "cider-d"],
    )
    assert {name: each["score"] for name, each in metrics.items()} == {n: r.score for n, r in plain.items()}


def test_logs_of_two_models_show_the_prompt(tmp_path: Path) -> None:
    first = written(tmp_path / "a.jsonl", lmms_eval("0.3"))
    second = tmp_path / "b.jsonl.gz"
    second.write_bytes(gzip.compress(first.read_bytes()))
    command = ["score", str(first), str(second), "--from", "lmms-eval", "-m", "rouge-l"]
    result = CliRunner().invoke(command_line, command)
    assert f"a: Prompt: {PROMPT!r}." in result.output
    assert "captious compare" not in result.output
    refused = CliRunner().invoke(command_line, [*command, "--columns", "id=x"])
    assert "cannot be used with --from" in str(refused.exception or refused.output)


@pytest.mark.filterwarnings("ignore:3 of 3 candidates hold Markdown", "ignore:too few images for intervals")
@pytest.mark.filterwarnings("ignore:.*hold Markdown")
def test_logs_are_checked_and_compared(tmp_path: Path) -> None:
    samples = lmms_eval("0.3")
    first = written(tmp_path / "a.jsonl", samples)
    marked = [sample | {"filtered_resps": [f"**{sample['filtered_resps'][0]}**"]} for sample in samples]
    second = written(tmp_path / "b.jsonl", marked)
    checked = CliRunner().invoke(command_line, ["check", str(second), "--from", "lmms-eval"])
    assert f"b: {len(ANSWERS)} candidates" in checked.output
    assert f"{len(ANSWERS)} of {len(ANSWERS)} candidates hold Markdown" in checked.output
    command = ["--from", "lmms-eval", "-m", "rouge-l", "--format", "json"]
    result = CliRunner().invoke(command_line, ["compare", str(first), str(second), *command], catch_exceptions=False)
    compared = json.loads(result.stdout)
    log, other = (read_harness_log(file, "lmms-eval") for file in (first, second))
    plain = captious.compare({"a": log.candidates, "b": other.candidates}, log.references, ["rouge-l"])
    assert compared["metrics"]["rouge-l"]["p_bootstrap"] == plain["rouge-l"].p_bootstrap
    refused = CliRunner().invoke(command_line, ["check", str(first), str(second), "--from", "lmms-eval"])
    assert "a log has references of its own" in str(refused.exception or refused.output)


def test_documents_of_early_lmms_eval_are_read(tmp_path: Path) -> None:
    samples = lmms_eval("0.3")
    lines = read_harness_log(written(tmp_path / "a.jsonl", samples), "lmms-eval")
    path = tmp_path / "coco2014_cap_val.json"
    path.write_text(json.dumps({"args": {"model": "llava"}, "logs": samples, "time": "0613"}, indent=1), "utf-8")
    assert read_harness_log(path, "lmms-eval") == lines


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"filtered_resps": [3]}, "an answer or a prompt is 3, not text"),
        ({"coco_Bleu_4": {"answer": [], "pred": "a"}}, "references are"),
        ({"filtered_resps": ...}, "no 'resps'"),
    ],
)
def test_malformed_samples_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    samples = lmms_eval("0.3")
    samples[1] = {name: value for name, value in (samples[1] | change).items() if value is not ...}
    with pytest.raises(CaptionFileError, match=message) as caught:
        read_harness_log(written(tmp_path / "samples.jsonl", samples), "lmms-eval")
    assert "record 2" in caught.value.where


def test_malformed_logs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.xlsx"
    path.write_bytes(b"PK")
    with pytest.raises(CaptionFileError, match="not a spreadsheet"):
        read_harness_log(path, "vlmevalkit")
    path = tmp_path / "log.jsonl"
    path.write_text("{")
    with pytest.raises(CaptionFileError, match="not JSON"):
        read_harness_log(path, "lmms-eval")
    path.write_text("")
    with pytest.raises(EmptyInputError, match="no answers"):
        read_harness_log(path, "lmms-eval")
    with pytest.raises(ResourceError, match="cannot read the log"):
        read_harness_log(tmp_path / "none.jsonl", "lmms-eval")
    with pytest.raises(UnknownNameError, match="no harness 'other'"):
        read_harness_log(path, "other")


HOSTILE = {
    "a number": b"5\n",
    "a list of numbers": b"[5]",
    "a word": b'"text"\n',
    "nothing": b"",
    "null": b"null\n",
    "half an object": b'{"doc":',
    "deep": b"[" * 100_000,
    "latin-1": b'{"resps": ["caf\xe9"]}\n',
    "utf-16": '{"resps": ["text"]}'.encode("utf-16"),
    "zeros": bytes(1000),
    "truncated gzip": gzip.compress(b'{"resps": ["text"]}\n' * 1000)[:-20],
    "damaged gzip": b"\x1f\x8b" + bytes(40),
    "zip": b"PK\x03\x04" + bytes(40),
    "wrong types": b'{"filtered_resps": 3, "target": {}, "doc": 5, "input": {}}\n',
    "empty lists": b'{"filtered_resps": [], "target": []}\n',
    "an id that is a list": b'{"filtered_resps": ["a"], "target": "b", "doc": {"id": [1]}}\n{"resps": 1}\n',
}


@pytest.mark.parametrize("harness", ["lmms-eval", "vlmevalkit"])
@pytest.mark.parametrize("suffix", [".jsonl", ".json", ".tsv", ".xlsx", ".jsonl.gz", ""])
@pytest.mark.parametrize("content", HOSTILE)
def test_hostile_files_are_refused_with_their_name(harness: str, suffix: str, content: str, tmp_path: Path) -> None:
    if suffix == ".xlsx" and harness == "vlmevalkit":
        pytest.importorskip("openpyxl")
    path = tmp_path / f"log{suffix}"
    path.write_bytes(HOSTILE[content])
    with pytest.raises(captious.CaptiousError) as caught:
        read_harness_log(path, harness)
    assert path.name in caught.value.where


def test_captions_may_have_separators_of_lines(tmp_path: Path) -> None:
    texts = ["a dog\u2028runs", "a\x85cat", "a\u2029bird"]
    samples = [{"filtered_resps": [text], "target": "a dog", "doc_id": i} for i, text in enumerate(texts)]
    path = tmp_path / "samples.jsonl"
    path.write_text("\r\n".join(json.dumps(sample, ensure_ascii=False) for sample in samples), encoding="utf-8")
    assert [*read_harness_log(path, "lmms-eval").candidates.values()] == texts
