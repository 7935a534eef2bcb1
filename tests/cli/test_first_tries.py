"""What people try first with files that they have: it works, or the error says how it does."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from captious.evaluation.report import system_names
from tests.cli.conftest import Run, assert_refused

CAPTIONS = ["a yellow tram drives over a bridge", "three goats climb a steep rock"]
REFERENCES = [["a tram on a bridge", "a yellow tram passes a bridge"], ["goats on a rock", "three goats on a rock"]]


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with references and logs, which the test runs in."""
    monkeypatch.chdir(tmp_path)
    write("references.json", {str(number): texts for number, texts in enumerate(REFERENCES, 1)})
    for name in ("a", "b", "c"):
        write(f"{name}.jsonl", samples([["another caption"], ["another caption"]] if name == "c" else REFERENCES))
    write("bare.jsonl", samples([[], []]))
    return tmp_path


def write(name: str, content: Any) -> None:
    if isinstance(content, list):
        content = "".join(json.dumps(line) + "\n" for line in content)
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def samples(references: Sequence[Sequence[str]]) -> list[Mapping[str, Any]]:
    """Return the lines of a log of lmms-eval."""
    return [
        {"doc_id": number, "doc": {"image_id": number}, "target": [*texts], "filtered_resps": [caption]}
        for number, (caption, texts) in enumerate(zip(CAPTIONS, references, strict=True), 1)
    ]


def completion(text: str | None, *, end: str = "stop", **message: str) -> dict[str, Any]:
    """Return the response of an endpoint."""
    choice = {"message": {"content": text, **message}, "finish_reason": end}
    return {"response": {"status_code": 200, "body": {"choices": [choice]}}}


def systems_of(run: Run, *arguments: str) -> dict[str, float]:
    """Return the bleu-1 of each system of a command."""
    outcome = run("score", *arguments, "-m", "bleu-1", "--format", "json")
    assert outcome.code == 0, outcome.err
    return {one["name"]: one["metrics"]["bleu-1"]["score"] for one in outcome.json["systems"]}


class TestLogs:
    @pytest.mark.parametrize("options", [(), ("--from", "lmms-eval")])
    def test_every_log_is_a_system(self, run: Run, options: tuple[str, ...]) -> None:
        assert [*systems_of(run, *options, "a.jsonl", "b.jsonl", "c.jsonl")] == ["a", "b", "c"]
        assert [*systems_of(run, *options, "a.jsonl")] == ["a"]

    def test_studies_read_logs_as_score_does(self, run: Run) -> None:
        line = "study distributions a.jsonl b.jsonl -m rouge-l --resamples 2 --format json"
        arguments = line.split()
        expected = run(*arguments, "--from", "lmms-eval")
        assert expected.code == 0, expected.err
        assert run(*arguments).json["records"] == expected.json["records"]

    @pytest.mark.parametrize("options", [(), ("--from", "lmms-eval")])
    @pytest.mark.parametrize("log", ["a.jsonl", "c.jsonl", "bare.jsonl"])
    def test_last_file_that_is_no_log_is_the_references(self, run: Run, log: str, options: tuple[str, ...]) -> None:
        expected = systems_of(run, "a.jsonl")["a"]
        assert [*systems_of(run, *options, log, "references.json").values()] == [expected]

    def test_vlmevalkit_without_references(self, run: Run) -> None:
        rows = "".join(f"{number},q,{caption}\n" for number, caption in enumerate(CAPTIONS, 1))
        write("M_D.csv", f"index,question,prediction\n{rows}")
        expected = systems_of(run, "a.jsonl")["a"]
        assert systems_of(run, "M_D.csv", "references.json") == {"M_D": expected}
        assert systems_of(run, "--from", "vlmevalkit", "M_D.csv", "references.json") == {"M_D": expected}

    @pytest.mark.parametrize(
        ("layout", "failed", "reason"),
        [
            ("openai-batch", completion(None, refusal="I cannot help."), "I cannot help."),
            ("openai-batch", {"response": None, "error": {"code": "batch_expired"}}, "batch_expired"),
            ("ms-swift", {"response": None, "labels": None, "images": ["2"]}, "no response"),
        ],
    )
    def test_failed_answers_are_left_out_on_request(
        self, run: Run, layout: str, failed: Mapping[str, Any], reason: str
    ) -> None:
        answered = completion(CAPTIONS[0])
        if layout == "ms-swift":
            answered = {"response": CAPTIONS[0], "labels": None, "images": ["1"]}
        write("log.jsonl", [{"custom_id": str(number), **line} for number, line in enumerate([answered, failed], 1)])
        arguments = ("score", "--from", layout, "log.jsonl", "references.json", "-m", "bleu-1")
        assert_refused(run(*arguments), "1 of 2 answers has failed", f"'2' ({reason})", "--match common")
        outcome = run(*arguments, "--match", "common")
        assert outcome.code == 0
        assert "1 image without a candidate" in outcome.out

    def test_answers_that_were_cut(self, run: Run) -> None:
        ends = ("stop", "length")
        write(
            "log.jsonl",
            [
                {"custom_id": str(number), **completion(caption, end=end)}
                for number, (caption, end) in enumerate(zip(CAPTIONS, ends, strict=True), 1)
            ],
        )
        assert "1 of 2 answers was cut at the limit" in run("score", "log.jsonl", "references.json", "-m", "bleu-1").err

    @pytest.mark.parametrize("references", ["label", "labels"])
    @pytest.mark.parametrize("options", [(), ("--from", "ms-swift")])
    def test_older_results_of_ms_swift(self, run: Run, references: str, options: tuple[str, ...]) -> None:
        lines = [
            {"query": "<image>Describe.", "response": caption, references: "a tram", "history": [], "images": [f"{n}"]}
            for n, caption in enumerate(CAPTIONS, 1)
        ]
        write("swift.jsonl", lines)
        expected = systems_of(run, "a.jsonl")["a"]
        assert systems_of(run, *options, "swift.jsonl", "references.json") == {"swift": expected}
        outcome = run("score", *options, "swift.jsonl", "-m", "bleu-1")
        assert (outcome.code, "Prompt: '<image>Describe.'" in outcome.out) == (0, True)
        write("swift.jsonl", [{**line, references: None} for line in lines])
        assert systems_of(run, *options, "swift.jsonl", "references.json") == {"swift": expected}
        assert_refused(run("score", "swift.jsonl"), "this log of ms-swift has no references")


@pytest.mark.parametrize("suffix", ["json", "jsonl"])
def test_floats_as_ids(run: Run, suffix: str) -> None:
    records = [{"image_id": float(number), "caption": caption} for number, caption in enumerate(CAPTIONS, 1)]
    write(f"floats.{suffix}", json.dumps(records) if suffix == "json" else records)
    assert_refused(run("score", f"floats.{suffix}", "references.json"), "--ids integer")
    assert systems_of(run, f"floats.{suffix}", "references.json", "--ids", "integer") == {
        "floats": systems_of(run, "a.jsonl")["a"]
    }
    write("halves.json", json.dumps([{"image_id": 1.5, "caption": "a cat"}]))
    assert_refused(run("score", "halves.json", "references.json", "--ids", "integer"), "integers or strings")


@pytest.mark.parametrize(
    ("columns", "parts"),
    [
        ("caption=resps/0/1/0", ["missing field for image ids", "--columns id=NAME,caption=resps/0/1/0"]),
        ("id=doc/image_id", ["missing field for candidates", "--columns caption=NAME,id=doc/image_id"]),
        ("caption=resps/0/1/0,id=key", ["there is no column 'key'\n"]),
        ("caption=responses/0,id=doc/image_id", ["there is no column 'responses/0'\n"]),
    ],
)
def test_only_columns_that_are_missing_are_named(run: Run, columns: str, parts: list[str]) -> None:
    write("log.jsonl", [{"doc_id": 7, "doc": {"image_id": "1"}, "resps": [["a", [CAPTIONS[0]]]]}])
    assert_refused(run("score", "log.jsonl", "references.json", "--columns", columns), *parts)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        ("choices/1/text", ["there is no '1' in 'response/body/choices', which has 1 item"]),
        ("choice/0/text", ["there is no 'choice' in 'response/body', which has 'choices'"]),
        ("choices/0/message/content/x", ["there is no 'x' in 'response/body/choices/0/message/content', which is"]),
        ("choices[0].message.content", ["slashes: --columns caption=response/body/choices/0/message/content"]),
    ],
)
def test_paths_of_columns_say_where_they_end(run: Run, path: str, parts: list[str]) -> None:
    write("log.jsonl", [{"custom_id": "1", **completion(CAPTIONS[0])}])
    columns = f"id=custom_id,candidate=response/body/{path}"
    assert_refused(run("score", "log.jsonl", "references.json", "--columns", columns), *parts)
    dots = columns.replace("/", ".")
    assert_refused(run("score", "log.jsonl", "references.json", "--columns", dots), "separated by slashes: --columns")


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("explain bleu-4 <(cat c.json) references.json --worst 1", "bleu-1"),
        ("explain bleu-4 c.json <(cat references.json) --image 2", "bleu-1"),
        ("explain bleu-4 - references.json --image 2 < c.json", "bleu-1"),
        ("score A=<(cat c.json) B=<(cat c.json) references.json -m bleu-1", "B"),
        ("score - b=<(cat c.json) references.json -m bleu-1 < c.json", "standard input"),
        ("check <(cat c.json) <(cat references.json)", "2 candidates"),
    ],
)
def test_pipes_are_read_and_never_advised(command: list[str], line: str, shown: str) -> None:
    write("c.json", {"1": CAPTIONS[0], "2": CAPTIONS[1]})
    typed = f"{shlex.join(command)} {line}"
    outcome = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, check=True)
    assert shown in outcome.stdout
    assert "/dev/fd" not in outcome.stderr
    assert "captious compare" not in outcome.stderr


def test_groups_are_not_read_from_pipes(command: list[str]) -> None:
    write("c.json", {"1": CAPTIONS[0], "2": CAPTIONS[1]})
    typed = f"{shlex.join(command)} score <(cat c.json) references.json -m bleu-1 --group-by domain"
    outcome = subprocess.run(["bash", "-c", typed], capture_output=True, text=True, check=False)
    assert outcome.returncode == 2
    assert "a pipe can only be read once" in outcome.stderr


class TestOptions:
    """Advice of a command can be followed with it."""

    def test_check_takes_the_settings_that_it_names(self, run: Run) -> None:
        write("german.json", {"1": "Eine gelbe Bahn fährt über die alte Brücke.", "2": "Die Ziegen sind auf dem Berg."})
        advice = "--language de"
        assert advice in run("check", "german.json").out
        for options in (advice.split(), ["--tokenizer", "char"]):
            assert advice not in run("check", "german.json", *options).out

    def test_pages_name_metrics_as_tables_do(self, run: Run) -> None:
        arguments = ["report", "a.jsonl", "references.json", "-m", "cider-d,bleu-4", "-o", "page.html"]
        assert run(*arguments).code == 0
        assert "Bleu_4" not in Path("page.html").read_text("utf-8")
        assert run(*arguments, "--naming", "toolkit").code == 0
        assert "Bleu_4" in Path("page.html").read_text("utf-8")

    @pytest.mark.parametrize(
        ("options", "advice"),
        [
            (["-m", "judge-clair", "--judge", "m"], "--endpoint URL"),
            (["-m", "judge-clair", "--endpoint", "http://localhost:1/v1"], "the model: --judge MODEL"),
            (["-m", "bleu", "--endpoint", "http://localhost:1/v1"], "the model: -m judge-clair --judge MODEL"),
        ],
    )
    def test_judges_need_a_model_and_its_address(self, run: Run, options: list[str], advice: str) -> None:
        assert_refused(run("score", "a.jsonl", "references.json", *options), advice)

    def test_pipes_are_numbered(self) -> None:
        assert system_names(["/dev/fd/63", "/dev/fd/62", "a.json"]) == ["pipe 1", "pipe 2", "a"]


class TestTables:
    def test_several_files_of_lines_are_said_to_be_systems(self, run: Run) -> None:
        write("lines.txt", "\n".join(CAPTIONS))
        for number, texts in enumerate(zip(*REFERENCES, strict=True), 1):
            write(f"refs {number}.txt", "\n".join(texts))
        assert "to join" not in run("score", "lines.txt", "refs 1.txt", "-m", "bleu-1").err
        said = run("score", "lines.txt", "refs 1.txt", "refs 2.txt", "-m", "bleu-1").err
        joined = "paste 'refs 1.txt' 'refs 2.txt' > references.txt"
        assert f"refs 1 is scored as a system; to join references: {joined}" in said

    def test_conversion_of_a_file(self, run: Run) -> None:
        Path("my captions.csv").write_bytes("image_id,caption\n1,a café\n".encode("latin1"))
        advice = "iconv -f latin1 -t utf-8 'my captions.csv' > 'utf8-my captions.csv'"
        assert_refused(run("score", "my captions.csv", "references.json"), advice)

    def test_logs_of_inspect_through_a_pipe(self, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
        sample = {"input": "Describe.", "target": "", "output": {"choices": [{"message": {"content": CAPTIONS[0]}}]}}
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as file:
            file.writestr("header.json", json.dumps({"eval": {}}))
            for number in (1, 2):
                file.writestr(f"samples/{number}.json", json.dumps({"id": number, **sample}))
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(archive.getvalue())))
        assert len(systems_of(run, "-", "references.json")) == 1

    def test_messages_are_not_in_python(self, run: Run) -> None:
        write("lines.txt", "a cat\na dog")
        write("three.txt", "a cat\na dog\na bird")
        write("values.json", json.dumps([{"image_id": 1, "caption": None}, {"image_id": 2, "caption": float("nan")}]))
        write("ids.json", json.dumps([{"image_id": None, "caption": "a cat"}]))
        for arguments, part in (
            (("lines.txt", "references.json"), "both with ids, such as .csv files"),
            (("lines.txt", "three.txt"), "as many lines in both files"),
            (("values.json", "references.json"), "is null, record 2 (image_id 2) is NaN"),
            (("ids.json", "references.json"), "record 1 has null"),
            (("a dog", "a dog runs"), "captious explain METRIC CANDIDATE REFERENCES"),
        ):
            assert_refused(run("score", *arguments), part)
