"""Errors and warnings of the functions and classes of captious, called with wrong arguments."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import captious as package
from tests.golden.command_line import Shell
from tests.golden.outcomes import call
from tests.golden.record import Record

captious: Any = package  # called with arguments that its types refuse

TEXTS: list[str] = ["a dog runs", "two men play guitar", "a cat"]
OTHERS: list[list[str]] = [["a dog is running", "the dog runs"], ["two men are playing"], ["a cat sleeps"]]
#: Candidates or references that are wrong in one way each.
WRONG: dict[str, Any] = {
    "None": None,
    "a number": 3,
    "nothing": [],
    "numbers": [1, 2, 3],
    "an empty mapping": {},
    "a mapping of numbers": {1: 2},
    "mixed ids": {1: "a", "2": "b"},
    "a float id": {1.5: "a cat"},
    "bytes": [b"a", b"b", b"c"],
    "fewer": ["a dog"],
    "None inside": ["a", None, "b"],
    "a surrogate": ["a", "\ud83d", "b"],
    "rows without ids": [{"caption": "a"}],
    "a generator": (text for text in TEXTS),
    "a path that is not there": Path("none.json"),
}
METRICS: dict[str, Any] = {
    "none": [],
    "a number": 3,
    "unknown": "nope",
    "twice": ["rouge-l", "rouge-l"],
    "a class": captious.RougeL,
    "of sets": ["div"],
    "unknown output": "bleu-9",
    "unknown variant": "rouge-l@nope",
    "unknown parameter": "rouge-l:nope=1",
    "bad value": "rouge-s:gap=-1",
    "no value": "rouge-s:gap=",
}
#: Calls of constructors: text of the call -> the call.
MADE: dict[str, Callable[[], Any]] = {
    "Bleu(n=9)": lambda: captious.Bleu(n=9),
    "RougeL(beta=-1)": lambda: captious.RougeL(beta=-1),
    "RougeL(nope=1)": lambda: captious.RougeL(nope=1),
    "RougeL('paper')": lambda: captious.RougeL("paper"),
    "RougeS(gap='a')": lambda: captious.RougeS(gap="a"),
    "CiderD(idf='none')": lambda: captious.CiderD(idf="none"),
    "CiderD(sigma=0)": lambda: captious.CiderD(sigma=0),
    "Meteor(language='xx')": lambda: captious.Meteor(language="xx"),
    "Wmd(vectors='none')": lambda: captious.Wmd(vectors="none"),
    "Chrf(word_order=-1)": lambda: captious.Chrf(word_order=-1),
    "Spice(parser='none')": lambda: captious.Spice(parser="none"),
    "Settings(threads=0)": lambda: captious.Settings(threads=0),
    "Settings(references_as='nope')": lambda: captious.Settings(references_as="nope"),
    "Settings(language='xx')": lambda: captious.Settings(language="xx"),
    "Tokenizer('a b')": lambda: captious.Tokenizer("a b", str.split),
    "Tokenizer of a number": lambda: captious.score(TEXTS, OTHERS, "rouge-l", settings=captious.Settings(tokenizer=3)),
    "Tokenizer that fails": lambda: captious.score(
        TEXTS,
        OTHERS,
        "rouge-l",
        settings=captious.Settings(tokenizer=captious.Tokenizer("wrong", lambda text: [3])),
    ),
    "register_tokenizer('ptb')": lambda: captious.register_tokenizer("ptb")(str.split),
    "register(3)": lambda: captious.register(3),
    "OfK('nope')": lambda: captious.OfK("rouge-l", "nope"),
    "DocumentFrequencies.load": lambda: captious.DocumentFrequencies.load("none.idf"),
    "WordVectors.open": lambda: captious.WordVectors.open("none.txt"),
    "CaptionFile(columns)": lambda: captious.CaptionFile("baseline.json", columns={"nope": "a"}),
    "CaptionFile(split)": lambda: captious.read_captions(captious.CaptionFile("baseline.json", split="nope")),
    "read_groups": lambda: captious.read_groups("none.json"),
    "length_groups": lambda: captious.length_groups(captious.read_references("references.json"), [3, 2]),
    "metric without a name": lambda: captious.score(TEXTS, OTHERS, lambda candidate, references: 1.0),
    "metric that fails": lambda: captious.score(TEXTS, OTHERS, fails),
    "metric without a number": lambda: captious.score(TEXTS, OTHERS, gives_text),
    "metric of one argument": lambda: captious.score(TEXTS, OTHERS, takes_one),
}
ASKED: dict[str, Callable[[], Any]] = {
    "report['nope']": lambda: captious.score(TEXTS, OTHERS, "rouge-l")["nope"],
    "interval, level 2": lambda: captious.score(TEXTS, OTHERS, "rouge-l")["rouge-l"].confidence_interval(2),
    "interval, no resamples": lambda: captious.score(TEXTS, OTHERS, "rouge-l")["rouge-l"].confidence_interval(
        resamples=0
    ),
    "interval of one image": lambda: captious.score(TEXTS[:1], OTHERS[:1], "rouge-l")["rouge-l"].confidence_interval(),
    "compare": lambda: (
        captious.compare({"a": TEXTS, "b": TEXTS[::-1]}, OTHERS, "rouge-l", resamples=20)["rouge-l"].difference
    ),
    "compare None": lambda: captious.compare({"a": TEXTS, "b": None}, OTHERS, "rouge-l"),
    "compare of other images": lambda: captious.compare({"a": TEXTS, "b": TEXTS[:2]}, OTHERS, "rouge-l"),
    "compare, no resamples": lambda: captious.compare({"a": TEXTS, "b": TEXTS}, OTHERS, "rouge-l", resamples=0),
    "compare, level 1": lambda: captious.compare({"a": TEXTS, "b": TEXTS}, OTHERS, "rouge-l", level=1),
    "compare in another order": lambda: captious.compare(TEXTS, TEXTS, OTHERS),
    "explain": lambda: [captious.explain("a cat", ["a cat sat"], "bleu").to_dict()],
    "explain nothing": lambda: captious.explain("a cat", ["a cat"], "hwcm"),
    "explain unknown": lambda: captious.explain("a cat", ["a cat"], "nope"),
    "explain with one reference": lambda: [captious.explain("a cat", "a cat sat", "bleu").to_dict()],
    "explain without references": lambda: captious.explain("a cat", [], "bleu"),
    "explain numbers": lambda: captious.explain(3, [4], "bleu"),
    "judge unknown": lambda: captious.judge("nope", "rouge-l"),
    "judge without data": lambda: captious.judge("composite", "rouge-l"),
    "judge nothing": lambda: captious.judge([], "rouge-l"),
    "judge a file": lambda: captious.judge("none.jsonl", "rouge-l"),
    "judge": lambda: captious.judge("rated.jsonl", "rouge-l", resamples=10),
    "judge, no resamples": lambda: captious.judge("rated.jsonl", "rouge-l", resamples=0),
    "prepare as json": lambda: captious.prepare("references.json", "rouge-l", path="out.json"),
    "prepare in no folder": lambda: captious.prepare("references.json", "rouge-l", path="none/out.prepared"),
    "reward of nothing": lambda: captious.reward({}, "rouge-l"),
    "reward of sets": lambda: captious.reward("references.json", "div"),
    "reward of an unknown image": lambda: captious.reward("references.json", "rouge-l")([5], ["a cat"]),
    "reward of other numbers": lambda: captious.reward("references.json", "rouge-l")([1207], []),
    "reward": lambda: captious.reward("references.json", "rouge-l")([1207, 1315], ["a cat", "a child"]),
    "shards of no file": lambda: captious.scale.score_shards("none-*.jsonl", "rouge-l"),
    "shards by an unknown engine": lambda: captious.scale.score_shards("shard-*.jsonl", "rouge-l", engine="nope"),
    "shards, no workers": lambda: captious.scale.score_shards(
        "shard-*.jsonl", "rouge-l", engine="processes", workers=0
    ),
}


def fails(candidate: str, references: list[str]) -> float:
    raise ValueError(candidate)


def gives_text(candidate: str, references: list[str]) -> Any:
    return candidate


def takes_one(candidate: str) -> float:
    return len(candidate)


@pytest.fixture(autouse=True)
def folder(shell: Shell) -> None:
    """The folder of examples, which the test runs in."""


def summary(report: Any) -> Any:
    return {name: result.score for name, result in report.items()} if hasattr(report, "items") else report


def test_calls_with_wrong_captions_are_as_recorded(record: Record) -> None:
    found = {}
    for name, wrong in WRONG.items():
        found[f"candidates: {name}"] = call(lambda w=wrong: summary(captious.score(w, OTHERS, "rouge-l")))  # type: ignore[misc]
        found[f"references: {name}"] = call(lambda w=wrong: summary(captious.score(TEXTS, w, "rouge-l")))  # type: ignore[misc]
        found[f"read_captions: {name}"] = call(lambda w=wrong: captious.read_captions(w))  # type: ignore[misc]
        found[f"read_references: {name}"] = call(lambda w=wrong: captious.read_references(w))  # type: ignore[misc]
        found[f"check: {name}"] = call(lambda w=wrong: captious.check(w))  # type: ignore[misc]
        found[f"prepare: {name}"] = call(lambda w=wrong: captious.prepare(w, "rouge-l", path="x.prepared"))  # type: ignore[misc]
    record("python/captions", found)


def test_calls_with_wrong_metrics_are_as_recorded(record: Record) -> None:
    found = {}
    for name, metrics in METRICS.items():
        found[f"score: {name}"] = call(lambda m=metrics: summary(captious.score(TEXTS, OTHERS, m)))  # type: ignore[misc]
        found[f"explain: {name}"] = call(lambda m=metrics: captious.explain("a cat", ["a cat"], m))  # type: ignore[misc]
        found[f"reward: {name}"] = call(lambda m=metrics: captious.reward("references.json", m))  # type: ignore[misc]
        found[f"judge: {name}"] = call(lambda m=metrics: captious.judge("rated.jsonl", m, resamples=10))  # type: ignore[misc]
    record("python/metrics", found)


def test_other_wrong_calls_are_as_recorded(shell: Shell, record: Record) -> None:
    found = {name: call(lambda f=function: summary(f())) for name, function in (MADE | ASKED).items()}  # type: ignore[misc]
    record("python/others", shell.clean(found, [r"(?<=\.py:)\d+"]))
