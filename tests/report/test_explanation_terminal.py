"""Explanations as text fold to the width of a terminal, and lose nothing."""

from __future__ import annotations

from typing import Any

import pytest

from captious.drawing import as_text
from captious.explanation_text import explanation_text
from captious.metrics.contract.selection import select_single
from tests.report.test_transport_plans import TWO

CANDIDATE = "a man in a red shirt is riding a motorcycle down a dirt road beside a field of tall grass"
REFERENCES = ["a man riding on the back of a motorcycle on a road that leads through a field", "a motorcycle"]


def words_of(text: str) -> list[str]:
    """Return the words of a text, sorted, without separators."""
    return sorted(word for word in text.split() if word != "·")


def explained(name: str) -> Any:
    return select_single(name)[0].metric.explain(CANDIDATE, REFERENCES)  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [71, 40])
@pytest.mark.parametrize("name", ["bleu", "cider-d:idf=coco", "coverage", "rouge-l", "concur", "meteor"])
def test_folded_text_has_all_words(name: str, width: int) -> None:
    text = explanation_text(explained(name))
    folded = as_text(text, width=width)
    assert max(map(len, folded.splitlines())) <= width
    assert words_of(folded) == words_of(as_text(text, width=71))  # without bars


def test_long_list_has_a_hanging_indent() -> None:
    first, second, *_ = as_text(explanation_text(explained("rouge-l")), width=60).splitlines()
    assert first == "  candidate    [a] [man] in a red shirt is [riding] [a]"
    assert second.startswith(" " * 15)
    assert second[15] != " "


def test_transport_plan_is_folded_without_loss() -> None:
    folded = as_text(explanation_text([TWO]), width=32)
    assert max(map(len, folded.splitlines())) <= 32
    assert words_of(folded) == words_of(as_text(explanation_text([TWO]), width=71))


def test_the_narrowest_terminal_loses_no_letter() -> None:
    text = explanation_text(explained("bleu"))
    folded = as_text(text, width=24)
    assert max(map(len, folded.splitlines())) <= 24
    assert [letter for letter in folded if letter not in " \n·"] == [c for c in as_text(text) if c not in " \n·"]
