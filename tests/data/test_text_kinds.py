"""The table of kinds of text that make scores misleading: what is found, what is not, and how rules clean it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import captious
from captious.data.checks import TEXT_KINDS, kinds_in
from captious.data.cleaning import RULES, cleaned
from tests.support.tables import tables

TABLES = tables(__file__)


def kinds_of(text: str) -> set[str]:
    return {name for name, mask in kinds_in(["a dog runs"] * 2 + [text]).items() if mask[2]}


@pytest.mark.parametrize("name", TEXT_KINDS)
def test_each_example_is_found_and_cleaned_by_its_rule(name: str) -> None:
    kind = TEXT_KINDS[name]
    assert kinds_in([kind.example])[name].all()
    assert (kind.rule or "compose") in RULES
    if kind.rule:
        assert name not in kinds_of(*cleaned([kind.example], (kind.rule,)))


FAILURES = TABLES["failures"]
REFUSALS = TABLES["refusals"]
NAMES = ("photo_000001.jpg", "COCO_val2014_000000000042", "42", "000123", "https://a.org/b.png", "/data/images/7.png")
NUMBERS = (
    "0.93",
    "[101, 1037, 3899]",
    "tensor([101, ...])",
    "tensor([[ 101, 1037]], device='cuda:0')",
    "array([1 2])",
    "a",
    "B.",
    "a d o g",
)
#: Captions of people, and texts that are nearly of a kind.
ORDINARY = tuple(TABLES["ordinary"])


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(("failure", text) for text in FAILURES),
        *(("refusal", text) for text in REFUSALS),
        *(("name", text) for text in (*NAMES, *NUMBERS)),
    ],
)
def test_what_is_not_a_caption_is_of_one_kind(kind: str, text: str) -> None:
    assert kinds_of(text) - {"json", "sentences"} == {kind}


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_captions_are_of_no_kind(text: str) -> None:
    assert kinds_of(text) == set()


@pytest.mark.parametrize(("rule", "text", "expected"), TABLES["rules"])
def test_rules_leave_the_caption(rule: str, text: str, expected: str) -> None:
    assert cleaned([text, "a dog"], (rule,)) == (expected, "a dog")


#: Marks around a caption, or the beginning of one.
AROUND = TABLES["around"]


@pytest.mark.parametrize("rule", RULES)
def test_no_rule_empties_a_caption_with_words(rule: str) -> None:
    captions = ("a dog runs", "Caption:", "ein Hund", "一只狗", "The image shows", "Answer")
    texts = [around.format(caption, caption) for around in AROUND for caption in captions]
    texts += [outer.format(text, text) for outer in AROUND for text in texts[::7]]
    assert [text for text, left in zip(texts, cleaned(texts, (rule,)), strict=True) if not left.strip()] == []


@pytest.mark.parametrize(
    "text",
    ["<p>a dog runs</p>", "<ul><li>a dog runs</li></ul>", "<div><p>a **dog** runs</p></div>", "<b>a dog</b> runs"],
)
def test_the_rule_that_is_named_for_html_works(text: str) -> None:
    (kind,) = kinds_of(text)
    assert kind == ("markdown" if "**" in text else "html")
    assert cleaned([text], (TEXT_KINDS[kind].rule,)) == ("a dog runs",)


def test_numbers_are_removed_where_most_captions_have_them() -> None:
    numbered = ["1. a dog runs", "2) The image shows a cat", "(3) two men", "4: a bus", "a tram"]
    assert cleaned(numbered, ("prompt",)) == ("a dog runs", "a cat", "two men", "a bus", "a tram")
    assert kinds_in(numbered)["numbers"].tolist() == [True, True, True, True, False]
    few = ["1. a dog runs", "two men", "a bus"]
    assert cleaned(few, ("prompt",)) == tuple(few)
    assert not kinds_in(few)["numbers"].any()


def test_the_caption_that_is_shorter_without_unknown_words_is_said_to_be() -> None:
    candidates = {1: "a <unk> runs", 2: "two men"}
    with pytest.warns(captious.CaptiousWarning, match='captions are shorter without them: .*clean="tokens"'):
        captious.score(candidates, {1: ["a dog runs", "a dog"], 2: ["two men", "men"]}, "bleu-1")


def test_all_rules_together_leave_ordinary_captions_alone() -> None:
    assert cleaned(ORDINARY, tuple(RULES)) == ORDINARY


def test_rules_apply_in_one_order_whatever_order_they_are_named_in() -> None:
    answer = '<think>Hm.</think> ```json\n{"caption": "The image shows a &quot;dog&quot;"}\n```<|im_end|>'
    captions = captious.read_captions({1: answer}, {1: ["a dog"]}, clean="prompt,html,json,think,tokens")
    assert captions.candidates == ('a "dog"',)
    assert captions.clean == ("think", "tokens", "json", "html", "prompt")
    answer = "<|begin_of_thought|>A bus?<|end_of_thought|><|begin_of_solution|>A dog.<|end_of_solution|>"
    assert cleaned([answer], tuple(RULES)) == ("A dog.",)


def _captions_of_people(data: Path) -> Iterator[tuple[str, list[str]]]:
    with gzip.open(data / "coco" / "captions_val2014.json.gz") as file:
        yield "coco", [each["caption"] for each in json.load(file)["annotations"]]
    with gzip.open(data / "flickr8k" / "captions.jsonl.gz", "rt", encoding="utf-8") as file:
        yield "flickr8k", [text for line in file for text in json.loads(line)["captions"]]
    for language in ("en", "de"):
        texts = []
        for i in range(1, 6):
            with gzip.open(data / "multi30k" / f"train.{i}.{language}.gz", "rt", encoding="utf-8") as file:
                texts += [line.rstrip("\n") for line in file]
        yield language, texts


#: How many captions of people are of a kind: the reason for ``usual`` in the table.
OF_PEOPLE = {
    "coco": (202_654, {"refusal": 31, "prompt": 44}),
    "flickr8k": (40_455, {"name": 2, "prompt": 3}),
    "en": (145_000, {"refusal": 2, "html": 82, "markdown": 1, "prompt": 38}),
    "de": (145_000, {"refusal": 1, "markdown": 1, "prompt": 152}),
}


def test_captions_of_people_are_hardly_ever_of_a_kind(shared_data: Path) -> None:
    found = {}
    for name, texts in _captions_of_people(shared_data):
        counts = {kind: int(mask.sum()) for kind, mask in kinds_in(texts).items() if kind in TEXT_KINDS}
        found[name] = (len(texts), {kind: n for kind, n in counts.items() if n})
    assert found == OF_PEOPLE
