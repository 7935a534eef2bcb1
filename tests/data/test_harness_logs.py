"""Logs of harnesses, batch endpoints and trainers: reading, the harnesses' own scores, and refusals."""

from __future__ import annotations

import gzip
import json
import time
import zipfile
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import captious
from captious.cli import captious as command_line
from captious.data import CaptionFile, CaptionRows, read_captions, read_references, read_rows, readers
from captious.data.layouts import LAYOUTS
from captious.data.rows import list_from_text
from captious.errors import CaptionFileError, MissingReferencesError

FOLDER = Path(__file__).parent / "logs"
LOG = FOLDER / "lmms-eval, 0.3.jsonl"
SAMPLES = [json.loads(line) for line in LOG.read_text("utf-8").splitlines()]
PROMPT = SAMPLES[0]["input"]
ANSWERS = {of["image_id"]: (of["pred"], of["answer"]) for of in (sample["coco_CIDEr"] for sample in SAMPLES)}


def answers(path: Path, layout: str | None = None) -> CaptionRows:
    """Return the answers of a log, each image with any number of them."""
    return read_rows(CaptionFile(path, layout=layout), "candidates", several=True)


def written(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_logs_without_references_say_so(tmp_path: Path) -> None:
    path = FOLDER / "lmms-eval, without references.jsonl"
    assert [*answers(path).texts] == [text for text, _ in ANSWERS.values()]
    for layout in ("lmms-eval", None):
        with pytest.raises(MissingReferencesError, match="this log of lmms-eval has no references") as caught:
            read_references(CaptionFile(path, layout=layout))
        assert "in a file of their own" in caught.value.hint
    references = tmp_path / "r.txt"
    references.write_text("".join("\t".join(texts) + "\n" for _, texts in ANSWERS.values()))
    command = ["score", str(path), str(references), "--from", "lmms-eval", "-m", "rouge-l"]
    assert "rouge-l" in CliRunner().invoke(command_line, command, catch_exceptions=False).output


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
    path = FOLDER / "vlmevalkit, model.tsv"
    command = ["score", str(path), "--from", "vlmevalkit", "-m", "bleu", "-m", "rouge-l", "-m", "cider-d"]
    printed = {}
    for tokenizer in ("whitespace", "ptb"):
        result = CliRunner().invoke(command_line, [*command, "--tokenizer", tokenizer, "--format", "json"])
        document = json.loads(result.stdout)
        printed[tokenizer] = [each["score"] for each in document["systems"][0]["metrics"].values()]
        assert document["prompts"] == {"vlmevalkit, model": [PROMPT]}
    assert printed["whitespace"] == pytest.approx(expected, abs=1e-12)
    assert all(ptb > white for ptb, white in zip(printed["ptb"], printed["whitespace"], strict=True) if white > 1e-3)


def test_logs_of_two_models_show_the_prompt(tmp_path: Path) -> None:
    first = written(tmp_path / "a.jsonl", SAMPLES)
    second = tmp_path / "b.jsonl.gz"
    second.write_bytes(gzip.compress(first.read_bytes()))
    command = ["score", str(first), str(second), "--from", "lmms-eval", "-m", "rouge-l"]
    result = CliRunner().invoke(command_line, command)
    assert f"a: Prompt: {PROMPT!r}." in result.output
    assert "captious compare" not in result.output
    refused = CliRunner().invoke(command_line, [*command, "--columns", "id=x"])
    assert "cannot be used with --from" in str(refused.exception or refused.output)


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


@pytest.mark.parametrize(
    "file", ["ms-swift, result", "openai-batch, chat", "anthropic-batch, messages", "vllm, outputs"]
)
def test_answers_of_endpoints_meet_references_by_id(file: str) -> None:
    references = {image: texts for image, (_, texts) in ANSWERS.items()}
    captions = read_captions(FOLDER / f"{file}.jsonl", references, ids="stem")
    assert captions.ids == (*ANSWERS,)
    assert [*captions.candidates] == [text for text, _ in ANSWERS.values()]


def test_a_log_is_scored_against_references_of_its_own() -> None:
    file = CaptionFile(FOLDER / "inspect, captions.json", layout="inspect")
    assert read_captions(file).references.texts == read_references(file).texts


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
