"""Logs of harnesses, batch endpoints and trainers: reading, the harnesses' own scores, and refusals."""

from __future__ import annotations

import csv
import gzip
import json
import time
import zipfile
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli import captious as command_line
from captious.data import CaptionFile, CaptionRows, read_captions, read_references, read_rows, readers
from captious.data.layouts import LAYOUTS
from captious.data.rows import list_from_text
from captious.errors import CaptionFileError, EmptyInputError, MissingReferencesError, UnknownNameError

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


def answers(path: Path, layout: str | None = None) -> CaptionRows:
    """Return the answers of a log, each image with any number of them."""
    return read_rows(CaptionFile(path, layout=layout), "candidates", several=True)


def references_of(path: Path, layout: str | None = None) -> list[list[str]]:
    """Return the references of a log, image by image."""
    table = read_references(CaptionFile(path, layout=layout))
    return [[*table.texts[start:end]] for start, end in pairwise(table.offsets.tolist())]


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.mark.parametrize("layout", ["lmms-eval", None])
@pytest.mark.parametrize("form", ["0.3", "0.2", "target"])
def test_lmms_eval_logs_are_read(tmp_path: Path, form: str, layout: str | None) -> None:
    path = written(tmp_path / "samples.jsonl", lmms_eval(form))
    log = answers(path, layout)
    assert [*log.texts] == [text for text, _ in ANSWERS.values()]
    assert references_of(path, layout) == [references for _, references in ANSWERS.values()]
    assert log.prompts == (PROMPT,)
    ids = {"0.3": [7, 9, 12], "0.2": [f"COCO_val2014_{image:012}.jpg" for image in ANSWERS], "target": [0, 1, 2]}
    assert [*log.ids] == ids[form]
    assert log.id_form == ("position" if form == "target" else "typed")


def test_several_questions_about_an_image_are_numbered(tmp_path: Path) -> None:
    samples = lmms_eval("0.3")
    for sample in samples:
        sample["coco_CIDEr"]["image_id"] = sample["coco_Bleu_4"]["image_id"] = 7
    samples[1]["input"] = "What is this?"
    log = answers(written(tmp_path / "samples.jsonl", samples))
    assert [*log.ids] == [0, 1, 2]
    assert log.prompts == (PROMPT, "What is this?")


def test_logs_without_references_say_so(tmp_path: Path) -> None:
    samples = [{name: value for name, value in one.items() if name != "target"} for one in lmms_eval("target")]
    path = written(tmp_path / "samples.jsonl", samples)
    assert [*answers(path).texts] == [text for text, _ in ANSWERS.values()]
    for layout in ("lmms-eval", None):
        with pytest.raises(MissingReferencesError, match="this log of lmms-eval has no references") as caught:
            read_references(CaptionFile(path, layout=layout))
        assert "in a file of their own" in caught.value.hint
    references = tmp_path / "r.txt"
    references.write_text("".join("\t".join(texts) + "\n" for _, texts in ANSWERS.values()))
    command = ["score", str(path), str(references), "--from", "lmms-eval", "-m", "rouge-l"]
    assert "rouge-l" in CliRunner().invoke(command_line, command, catch_exceptions=False).output


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


@pytest.mark.parametrize("layout", ["VLMEvalKit", None])
@pytest.mark.parametrize("suffix", ["xlsx", "tsv", "json"])
def test_vlmevalkit_logs_are_read(tmp_path: Path, suffix: str, layout: str | None) -> None:
    limit = csv.field_size_limit()
    path = vlmevalkit(tmp_path / f"Model_COCO_VAL.{suffix}")
    log = answers(path, layout)
    assert [*log.texts] == [text for text, _ in ANSWERS.values()]
    assert [*map(str, log.ids)] == ["0", "1", "2"]
    assert references_of(path, layout) == [references for _, references in ANSWERS.values()]
    assert log.prompts == (PROMPT,)
    assert csv.field_size_limit() == limit  # of all readers in this process


def test_vlmevalkit_logs_may_have_images_in_them(tmp_path: Path) -> None:
    path = tmp_path / "Model_COCO_VAL.tsv"
    path.write_text(f"index\timage\tanswer\tprediction\n1\t{'A' * 200_000}\ta dog\tthe dog\n")
    assert answers(path).texts == ("the dog",)


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
    plain = captious.compare({"a": answers(first), "b": answers(second)}, read_references(first), ["rouge-l"])
    assert compared["metrics"]["rouge-l"]["p_bootstrap"] == plain["rouge-l"].p_bootstrap


@pytest.mark.parametrize(
    ("name", "content", "rows_read"),
    [
        ("captions.json", [{"image_id": 1, "caption": "a medieval prediction of the output of samples"}], 0),
        ("log.json", [{"doc_id": 1, "target": "a cat", "resps": [["a dog"]], "filtered_resps": ["a dog"]}], 1),
    ],
)
def test_only_files_that_begin_like_logs_are_read_to_find_out(
    name: str, content: Any, rows_read: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Words of captions are no fields of logs."""
    path = tmp_path / name
    path.write_text(json.dumps(content), "utf-8")
    read = []
    monkeypatch.setattr(readers, "read_rows", lambda *arguments: read.append(arguments) or read_rows(*arguments))
    readers.log_with_references(path)
    assert len(read) == rows_read


def test_documents_of_early_lmms_eval_are_read(tmp_path: Path) -> None:
    samples = lmms_eval("0.3")
    lines = written(tmp_path / "a.jsonl", samples)
    path = tmp_path / "coco2014_cap_val.json"
    path.write_text(json.dumps({"args": {"model": "llava"}, "logs": samples, "time": "0613"}, indent=1), "utf-8")
    for layout in ("lmms-eval", None):
        assert answers(path, layout).texts == answers(lines).texts
        assert references_of(path, layout) == references_of(lines)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"filtered_resps": [3]}, "an answer or a prompt is 3, not text"),
        ({"coco_Bleu_4": {"answer": [5], "pred": "a"}}, "references are"),
        ({"filtered_resps": ...}, "no 'resps'"),
    ],
)
def test_malformed_samples_are_refused(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    samples = lmms_eval("0.3")
    samples[1] = {name: value for name, value in (samples[1] | change).items() if value is not ...}
    with pytest.raises(CaptionFileError, match=message) as caught:
        answers(written(tmp_path / "samples.jsonl", samples), "lmms-eval")
    assert "line 2" in caught.value.where


def test_malformed_logs_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.xlsx"
    path.write_bytes(b"PK")
    with pytest.raises(CaptionFileError, match="not a spreadsheet"):
        answers(path, "vlmevalkit")
    path = tmp_path / "log.jsonl"
    path.write_text("{")
    with pytest.raises(CaptionFileError, match="JSON is truncated"):
        answers(path, "lmms-eval")
    path.write_text("")
    with pytest.raises(EmptyInputError, match="the file is empty"):
        answers(path, "lmms-eval")
    with pytest.raises(CaptionFileError, match="there is no such file"):
        answers(tmp_path / "none.jsonl", "lmms-eval")
    with pytest.raises(UnknownNameError, match="no layout 'lms-eval'") as caught:
        answers(path, "lms-eval")
    assert "did you mean lmms-eval?" in caught.value.hint


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


SUFFIXES = [".jsonl", ".json", ".tsv", ".xlsx", ".jsonl.gz", ".eval", ""]
LOGS = [layout.option for layout in LAYOUTS if layout.answer is not None]


@pytest.mark.parametrize("layout", LOGS)
def test_hostile_files_are_refused_with_their_name(layout: str, tmp_path: Path) -> None:
    for suffix, (number, content) in product(SUFFIXES, enumerate(HOSTILE.values())):
        path = tmp_path / f"log{number}{suffix}"
        path.write_bytes(content)
        with pytest.raises(captious.CaptiousError) as caught:
            answers(path, layout)
        assert path.name in caught.value.where


def test_captions_may_have_separators_of_lines(tmp_path: Path) -> None:
    texts = ["a dog\u2028runs", "a\x85cat", "a\u2029bird"]
    samples = [{"filtered_resps": [text], "target": "a dog", "doc_id": i} for i, text in enumerate(texts)]
    path = tmp_path / "samples.jsonl"
    path.write_text("\r\n".join(json.dumps(sample, ensure_ascii=False) for sample in samples), encoding="utf-8")
    assert [*answers(path).texts] == texts


# Batch endpoints and trainers.

TEXTS = [text for text, _ in ANSWERS.values()]


def openai(k: int, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    choices = [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}]
    body = {"id": "chatcmpl-1", "object": "chat.completion", "model": "gpt-4o", "choices": choices, "usage": {}}
    response = {"status_code": 200, "request_id": "req_1", "body": body}
    return {"id": f"batch_req_{k}", "custom_id": str(k), "response": response, "error": None}


def openai_responses(k: int, text: str) -> dict[str, Any]:
    output = [
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text, "annotations": []}]},
    ]
    body = {"object": "response", "status": "completed", "error": None, "output": output}
    return {"id": f"batch_req_{k}", "custom_id": str(k), "response": {"status_code": 200, "body": body}, "error": None}


def anthropic(k: int, text: str) -> dict[str, Any]:
    content = [{"type": "thinking", "thinking": "a dog?", "signature": "x"}, {"type": "text", "text": text}]
    message = {"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn"}
    return {"custom_id": str(k), "result": {"type": "succeeded", "message": message}}


def vllm(k: int, text: str) -> dict[str, Any]:
    output = {"index": 0, "text": text, "token_ids": [1], "cumulative_logprob": None, "finish_reason": "stop"}
    return {"request_id": str(k), "prompt": PROMPT, "prompt_token_ids": [1], "outputs": [output], "finished": True}


def swift(k: int, text: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": f"<image>{PROMPT}"}, {"role": "assistant", "content": text}]
    images = [{"bytes": None, "path": f"photos/{k}.jpg"}]
    references = ANSWERS[k][1][0]
    return {"response": text, "labels": references, "logprobs": None, "messages": messages, "images": images}


@pytest.mark.parametrize(
    ("layout", "line"),
    [
        ("openai-batch", openai),
        ("openai-batch", openai_responses),
        ("anthropic-batch", anthropic),
        ("vllm", vllm),
        ("ms-swift", swift),
    ],
)
@pytest.mark.parametrize("is_named", [True, False])
def test_answers_of_endpoints_are_read(tmp_path: Path, layout: str, line: Any, is_named: bool) -> None:
    path = written(tmp_path / "output.jsonl", [line(k, text) for k, (text, _) in ANSWERS.items()])
    captions = read_captions(
        CaptionFile(path, layout=layout if is_named else None),
        {k: references for k, (_, references) in ANSWERS.items()},
        ids="stem",
    )
    assert [*captions.candidates] == TEXTS
    assert captions.ids == (7, 9, 12)


def test_references_of_trainers_are_read(tmp_path: Path) -> None:
    path = written(tmp_path / "result.jsonl", [swift(k, text) for k, (text, _) in ANSWERS.items()])
    assert references_of(path) == [references[:1] for _, references in ANSWERS.values()]
    lines = [{"prompt": PROMPT, "predict": text, "label": references[0]} for text, references in ANSWERS.values()]
    path = written(tmp_path / "generated_predictions.jsonl", lines)
    for layout in ("llama-factory", None):
        file = CaptionFile(path, layout=layout)
        captions = read_captions(file, file)
        assert (captions.ids, [*captions.candidates]) == ((0, 1, 2), TEXTS)
        assert [*captions.references.texts] == [references[0] for _, references in ANSWERS.values()]


def test_several_choices_are_several_candidates(tmp_path: Path) -> None:
    lines = [openai(k, text) for k, (text, _) in ANSWERS.items()]
    choices = lines[0]["response"]["body"]["choices"]
    choices.append(choices[0] | {"index": 1, "message": {"role": "assistant", "content": "a dog"}})
    log = answers(written(tmp_path / "output.jsonl", lines))
    assert log.ids == ("7", "7", "9", "12")
    assert log.texts[:2] == (TEXTS[0], "a dog")


def test_failed_answers_are_named(tmp_path: Path) -> None:
    ok, failed = openai(7, TEXTS[0]), openai(9, TEXTS[1])
    limited = {"status_code": 429, "body": {"error": {"message": "Rate limit reached", "type": "tokens"}}}
    expired = {"code": "batch_expired", "message": "This request could not be executed"}
    filtered = openai(12, TEXTS[2])
    filtered["response"]["body"]["choices"][0] |= {"message": {"content": None}, "finish_reason": "content_filter"}
    cases: list[tuple[list[dict[str, Any]], list[str]]] = [
        ([ok, failed | {"response": limited}], ["'9' (Rate limit reached (status 429))"]),
        ([ok, failed | {"response": None, "error": expired}], ["'9' (This request could not be executed)"]),
        ([ok, failed | {"response": {"status_code": 500, "body": {}}}], ["'9' (no response (status 500))"]),
        ([ok, filtered], ["'12' (no text (finish_reason content_filter))"]),
        (
            [
                anthropic(7, TEXTS[0]),
                {"custom_id": "9", "result": {"type": "expired"}},
                {
                    "custom_id": "12",
                    "result": {"type": "errored", "error": {"type": "error", "error": {"message": "Overloaded"}}},
                },
            ],
            ["'9' (expired)", "'12' (Overloaded)"],
        ),
        ([vllm(7, TEXTS[0]), vllm(9, "") | {"outputs": []}], ["'9' (no output)"]),
    ]
    for lines, named in cases:
        with pytest.raises(CaptionFileError, match="failed") as caught:
            answers(written(tmp_path / "output.jsonl", lines))
        assert f"{len(named)} of {len(lines)} answers" in caught.value.message
        assert all(name in caught.value.where for name in named)


def inspect_log() -> dict[str, Any]:
    samples = []
    for k, (text, references) in ANSWERS.items():
        message = {"role": "assistant", "content": [{"type": "text", "text": text}], "source": "generate"}
        output = {"model": "m", "choices": [{"message": message, "stop_reason": "stop"}], "completion": text}
        asked = [{"role": "user", "content": [{"type": "image", "image": "x.jpg"}, {"type": "text", "text": PROMPT}]}]
        samples.append({"id": k, "epoch": 1, "input": asked, "target": references, "output": output, "scores": {}})
    return {"version": 2, "status": "success", "eval": {"task": "captions", "model": "m"}, "samples": samples}


@pytest.mark.parametrize("layout", ["inspect", None])
@pytest.mark.parametrize("suffix", ["json", "eval"])
def test_logs_of_inspect_are_read(tmp_path: Path, suffix: str, layout: str | None) -> None:
    document, path = inspect_log(), tmp_path / f"2025-01-01_captions.{suffix}"
    if suffix == "json":
        path.write_text(json.dumps(document))
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            header = {name: value for name, value in document.items() if name != "samples"}
            archive.writestr("header.json", json.dumps(header))
            for sample in document["samples"]:
                archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    log = answers(path, layout)
    assert (log.ids, [*log.texts], log.prompts) == ((7, 9, 12), TEXTS, (PROMPT,))
    assert references_of(path, layout) == [references for _, references in ANSWERS.values()]


def test_a_log_is_scored_against_references_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(inspect_log()))
    captions = captious.read_captions(CaptionFile(path, layout="inspect"))
    assert [*captions.candidates] == TEXTS
    assert captions.references.texts == captious.read_references(CaptionFile(path, layout="inspect")).texts


def test_epochs_and_errors_of_inspect(tmp_path: Path) -> None:
    document, path = inspect_log(), tmp_path / "log.json"
    document["samples"].append(document["samples"][0] | {"epoch": 2})
    path.write_text(json.dumps(document))
    assert answers(path).ids == (7, 9, 12, 7)
    document["samples"][1]["error"] = {"message": "RateLimitError()", "traceback": ""}
    path.write_text(json.dumps(document))
    with pytest.raises(CaptionFileError, match=r"9 \(RateLimitError\(\)\)"):
        answers(path)


def test_an_archive_of_inspect_has_a_bound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.eval"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", " " * 1_000_000)
    monkeypatch.setenv("CAPTIOUS_MAX_UNPACKED", "10K")
    with pytest.raises(CaptionFileError, match="too large"):
        answers(path)


@pytest.mark.parametrize(
    ("file", "option"),
    [
        ("openai_batch.jsonl", "openai-batch"),
        ("vllm_outputs.jsonl", "vllm"),
        ("generated_predictions.jsonl", "llama-factory"),
    ],
)
def test_logs_that_people_have(shared_cases: Path, file: str, option: str) -> None:
    right = [row["caption"] for row in json.loads((shared_cases / "candidates.json").read_text())]
    assert [*answers(shared_cases / file).texts] == right
    references = [] if option == "llama-factory" else [str(shared_cases / "references.json")]
    command = ["score", str(shared_cases / file), *references, "--from", option, "-m", "bleu-1", "--format", "json"]
    result = CliRunner().invoke(command_line, command, catch_exceptions=False)
    assert json.loads(result.stdout)["systems"][0]["metrics"]["bleu-1"]["score"] > 0.4


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("['a dog', \"the dog's\"]", ["a dog", "the dog's"]),
        ('["a dog", "the \\"dog\\"", "\\ud83d\\udc36"]', ["a dog", 'the "dog"', "\U0001f436"]),
        ("['it\\'s', '\\\\', 'a\\nb', '\\xe9']", ["it's", "\\", "a\nb", "\u00e9"]),
        ("['a dog'\n 'the dog']", ["a dog", "the dog"]),  # numpy
        ("('a dog',)", ["a dog"]),
        ("array(['a dog', 'b'],\n      dtype='<U5')", ["a dog", "b"]),
        ('c("a dog", "b")', ["a dog", "b"]),
        ('("Stop")', None),
        ("[]", []),
        ("a dog", None),
        ("['a dog' + 'b']", None),
        ("[f('a')]", None),
        ("['a dog'", None),
        ("[1, 2]", None),
    ],
)
def test_lists_that_were_written_as_text(text: str, texts: list[str] | None) -> None:
    assert list_from_text(text) == texts


@pytest.mark.parametrize("text", ["['a'" + " " * 200_000, "[" * 200_000, "['" + "\\" * 200_000, "['a', " * 100_000])
def test_lists_as_text_are_read_in_linear_time(text: str) -> None:
    started = time.process_time()
    assert list_from_text(text) is None
    assert time.process_time() - started < 1
