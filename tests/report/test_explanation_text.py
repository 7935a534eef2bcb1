"""Explanations as text fold to the width of a terminal, and lose nothing."""

from __future__ import annotations

from typing import Any

import pytest

from captious.metrics.contract.selection import select_one
from captious.report.explanation_text import explanation_text
from captious.report.terminal import as_text

from .test_word_texts import TWO

CANDIDATE = "a man in a red shirt is riding a motorcycle down a dirt road beside a field of tall grass"
REFERENCES = ["a man riding on the back of a motorcycle on a road that leads through a field", "a motorcycle"]


def explained(name: str) -> Any:
    return select_one(name).explain(CANDIDATE, REFERENCES)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [80, 40])
@pytest.mark.parametrize("name", ["bleu", "cider-d:idf=coco", "coverage", "rouge-l", "captious"])
def test_folded_text_has_all_words(name: str, width: int) -> None:
    text = explanation_text(explained(name))
    folded = as_text(text, width=width)
    assert max(map(len, folded.splitlines())) <= width
    assert folded.split() == as_text(text).split()


def test_a_long_list_hangs_behind_its_head() -> None:
    first, second, *_ = as_text(explanation_text(explained("rouge-l")), width=60).splitlines()
    assert first == "  candidate  [a] [man] in a red shirt is [riding] [a]"
    assert second.startswith(" " * 13) and second[13] != " "


def test_transport() -> None:
    folded = as_text(explanation_text([TWO]), width=32)
    assert max(map(len, folded.splitlines())) <= 32
    assert folded.split() == as_text(explanation_text([TWO])).split()
