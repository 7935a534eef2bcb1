"""Text of messages: options as data, which each reader sees as they write it."""

from __future__ import annotations

import importlib
import json
import pickle
import sys
import traceback
from types import ModuleType

import pytest
from click.testing import CliRunner

import captious
from captious.cli import captious as command_line
from captious.errors import (
    CaptionWarning,
    CaptiousError,
    Message,
    ParameterError,
    either,
    marked,
    option,
    setting,
    shown,
    shown_in,
)
from captious.plugins import did_you_mean, meant

#: Characters of spans, which nobody may see.
MARKS = "\ufdd0\ufdd1\ufdd2"


@pytest.mark.parametrize(
    ("text", "in_python", "as_flag", "in_challenge"),
    [
        (option("subset"), "subset=True", "--subset", "subset=True"),
        (option("clean", "prompt"), 'clean="prompt"', "--clean prompt", 'clean="prompt"'),
        (
            option("clean", "prompt", "markdown"),
            'clean=("prompt", "markdown")',
            "--clean prompt --clean markdown",
            'clean=("prompt", "markdown")',
        ),
        (option("per_caption", "FOLDER"), "per_caption=FOLDER", "--per-caption FOLDER", "per_caption=FOLDER"),
        (option("model", 'a "b"'), 'model="a \\"b\\""', "--model 'a \"b\"'", 'model="a \\"b\\""'),
        (
            option("columns", "image_id=my id", "caption=NAME"),
            'captious.CaptionFile(FILE, columns={"image_id": "my id", "caption": NAME})',
            "--columns 'image_id=my id,caption=NAME'",
            'columns=("image_id=my id", "caption=NAME")',
        ),
        (option("split", "test"), 'captious.CaptionFile(FILE, split="test")', "--split test", 'split="test"'),
        (setting("idf", "coco"), 'settings=captious.Settings(idf="coco")', "--idf coco", 'idf="coco"'),
        (either(python="an array", command="a file"), "an array", "a file", "an array"),
        (either(python="a", command="b", challenge="c"), "a", "b", "c"),
        (
            either(python=f"give {option('ids', 'stem')}", command=f"add {option('ids', 'stem')}"),
            'give ids="stem"',
            "add --ids stem",
            'give ids="stem"',
        ),
        ("plain text", "plain text", "plain text", "plain text"),
        *[
            (stray, stray, stray, stray)
            for stray in (MARKS[0], f"{MARKS[0]}x{MARKS[2]}", f"{MARKS[0]}either{MARKS[1:]}")
        ],
    ],
)
def test_each_reader_sees_options_as_they_write_them(
    text: str, in_python: str, as_flag: str, in_challenge: str
) -> None:
    assert shown(text) == in_python
    assert shown(text, "command line") == as_flag
    assert shown(text, "challenge") == in_challenge
    assert shown(f"{text}, {text}") == f"{in_python}, {in_python}"


def test_messages_are_what_python_reads_and_keep_what_others_read() -> None:
    message = Message(f"use {option('clean', 'prompt')}")
    assert message == 'use clean="prompt"'
    assert shown(message, "command line") == "use --clean prompt"
    assert shown(Message(f"{marked(message)}."), "command line") == "use --clean prompt."
    document = {"warnings": [message], "n": 3, "rows": ({"text": message},)}
    assert json.loads(json.dumps(document))["warnings"] == ['use clean="prompt"']
    flags = shown_in(document, "command line")
    assert flags == {"warnings": ["use --clean prompt"], "n": 3, "rows": [{"text": "use --clean prompt"}]}
    assert type(flags["warnings"][0]) is str


def error() -> CaptiousError:
    return ParameterError(f"{option('idf', 'FILE')} is wrong", where=option("x"), hint=f"use {setting('idf', 'coco')}")


def test_no_reader_of_an_error_sees_marks() -> None:
    caught = error()
    copied = pickle.loads(pickle.dumps(caught))
    for one in (caught, copied):
        assert type(one) is ParameterError
        assert one.args == ("idf=FILE is wrong",)
        assert (one.message, one.where) == ("idf=FILE is wrong", "x=True")
        assert one.hint == 'use settings=captious.Settings(idf="coco")'
        assert one.shown("command line") == "--idf FILE is wrong\n  --x\n  help: use --idf coco"
        texts = [str(one), repr(one), f"{one}", json.dumps([one.message, one.hint], ensure_ascii=False)]
        texts += [*traceback.format_exception(one), *traceback.format_exception(ExceptionGroup("several", [one]))]
        assert not set(MARKS) & set("".join(texts))


def test_warnings_have_a_kind_in_every_copy() -> None:
    warning = CaptionWarning(f"remove it with {option('clean', 'prompt')}", "prompt", repeated=False)
    copies = [warning, pickle.loads(pickle.dumps(warning)), CaptionWarning(warning), warning.of("mine")]
    for copy in copies:
        assert (copy.kind, copy.repeated) == ("prompt", False)
        assert copy.endswith('remove it with clean="prompt"')
        assert shown(copy, "command line").endswith("remove it with --clean prompt")
    assert copies[-1] == 'mine: remove it with clean="prompt"'


@pytest.mark.parametrize(
    ("word", "names", "meaning"),
    [
        ("refs", ["metrics", "references"], ["references"]),
        ("--refs", ["--metrics", "--references"], ["--references"]),
        ("preds", ["candidates", "references"], ["candidates"]),
        ("n_jobs", ["threads", "model"], ["threads"]),
        ("hallucination", ["bleu", "pope", "chair", "amber"], ["chair", "amber", "pope"]),
        ("grammar", ["bleu", "fense"], ["fense"]),
        ("Subset", ["match", "several"], ["match"]),
        ("mateor", ["meteor", "bleu"], ["meteor"]),
        ("xyz", ["meteor", "bleu"], []),
    ],
)
def test_meanings_come_before_letters(word: str, names: list[str], meaning: list[str]) -> None:
    assert meant(word, names) == meaning
    *_, last = meaning or [""]
    assert did_you_mean(word, names).endswith(f"{last}? " if last else "")


def test_readers_of_messages_see_options_as_they_write_them() -> None:
    with pytest.raises(ParameterError) as caught:
        captious.score(["a dog"], [["a dog"]], "novel")
    assert "training=FILE" in caught.value.hint
    help = CliRunner().invoke(command_line, ["score", "-m", "novel", "a.json", "b.json"]).exception
    assert isinstance(help, ParameterError)
    assert "--training FILE" in shown(help.hint, "command line")


def test_errors_are_also_those_that_python_raises() -> None:
    with pytest.raises(ValueError, match="level"):
        captious.compare({"a": ["a dog"], "b": ["a cat"]}, [["a dog"]], "bleu-4", level=2)
    with pytest.raises(TypeError, match="not text"):
        captious.score([1], [["a dog"]], "bleu-4")
    with pytest.raises(KeyError, match="bleu-7"):
        captious.score(["a dog"], [["a dog"]], "bleu-7")


def test_metrics_are_suggested_by_what_people_want() -> None:
    with pytest.raises(captious.errors.UnknownNameError, match="did you mean chair, amber or pope"):
        captious.score(["a dog"], [["a dog"]], "hallucination")


@pytest.mark.parametrize("package", ["torch", "torchmetrics"])
def test_what_torchmetrics_needs_is_named_with_its_extra(package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "captious.compat.torchmetrics", raising=False)
    for name in ("torch", "torchmetrics"):
        monkeypatch.setitem(sys.modules, name, None if name == package else ModuleType(name))
    with pytest.raises(captious.errors.MissingExtraError, match=f"needs {package}") as caught:
        importlib.import_module("captious.compat.torchmetrics")
    assert caught.value.hint == "pip install 'captious[torchmetrics]'"
