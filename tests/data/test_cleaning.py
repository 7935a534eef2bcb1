"""Cleaning of candidates: the effect of each rule, and that human captions are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

import captious
from captious.data.checks import kinds_in
from captious.data.cleaning import RULES, cleaned
from captious.errors import UnknownNameError
from tests.support.tables import tables

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Scene\n\nThere is **a dog** on *grass*.\n\n- a red ball\n- a [tree](http://a.b/c)", None),
        ("| a | b |\n|---|---|\n| c | d |", "a. b. c. d"),
        ("A sign says `STOP`.", "A sign says STOP."),
        ("```\na cat\n```", "a cat"),
        ("![a cat](cat.png) sleeps", "a cat sleeps"),
        ("two dogs<br>and a cat", "two dogs and a cat"),
        ("a __very__ small cat &amp; dog", "a very small cat & dog"),
        ("1. A dog", "1. A dog"),
        ("5 * 3 is written on a board", "5 * 3 is written on a board"),
        ("a file called my_old_name", "a file called my_old_name"),
    ],
)
def test_markdown_is_made_text(text: str, expected: str | None) -> None:
    if expected is None:
        expected = "Scene. There is a dog on grass. a red ball. a tree"
    assert cleaned([text], ("markdown",)) == (expected,)


@pytest.mark.parametrize(("text", "expected"), tables(__file__)["prompts"])
def test_beginnings_of_answers_are_removed(text: str, expected: str) -> None:
    assert cleaned([text], ("prompt",)) == (expected,)


@pytest.mark.parametrize("piece", ["#", " ", "\n", "_a", "<!--", "[a](", "1.", "\\n", "<think>", "not "])
def test_long_debris_is_read_once(piece: str) -> None:
    """A pattern that begins anew at each of 200,000 characters would take hours."""
    text = piece * (200_000 // len(piece))
    for whole in (text, f"a dog{text}x"):
        kinds_in([whole])
        cleaned([whole], tuple(rule for rule in RULES if rule != "markdown"))


def test_captions_of_people_stay_as_they_are() -> None:
    texts = captious.read_references(EXAMPLES / "references.json").texts
    assert cleaned(texts, ("markdown", "prompt")) == texts
    found = kinds_in(texts)
    assert not found["markdown"].any()
    assert not found["prompt"].any()
    assert not found["refusal"].any()


def test_rules_are_named_in_signatures_and_on_the_table() -> None:
    candidates = {1: "The image shows **a dog**", 2: "two men"}
    references = {1: ["a black dog", "the dog"], 2: ["two old men", "men"]}
    report = captious.score(candidates, references, ["bleu-1"], clean="prompt,markdown")
    assert report.captions.candidates == ("a dog", "two men")
    assert "|clean:markdown+prompt|references:2|" in report["bleu-1"].signature
    assert (
        "clean"
        not in captious.score(captious.read_captions({1: "a dog", 2: "two men"}, references), metrics="bleu-1")[
            "bleu-1"
        ].signature
    )
    table = captious.read_captions(candidates, references, clean=["markdown"])
    assert table.clean == ("markdown",)
    assert captious.read_captions(table, clean="prompt").clean == ("markdown", "prompt")
    assert captious.read_captions(table).clean == ("markdown",)
    with pytest.raises(UnknownNameError, match="tables"):
        captious.read_captions(candidates, references, clean="tables")
