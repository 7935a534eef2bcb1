"""Explanations as text, as they are recorded for several widths; they fold, and lose nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from captious.drawing import as_text
from captious.explanation_text import explanation_text
from captious.metrics.contract.selection import select_single
from captious.metrics.meteor import Alignment, Match
from captious.metrics.wmd import Move, Transport
from tests.golden.record import Record
from tests.report.test_scene_drawing import SCENES

#: Of a match: where it starts and ends in the candidate, in the reference, and its module.
Link = tuple[int, int, int, int, str]
MODULES = ["exact", "stem", "synonym", "paraphrase"]


def matches(links: Sequence[Link]) -> Iterator[Match]:
    """Yield matches with their chunks."""
    chunk, ends = 0, (-1, -1)
    for start, end, reference_start, reference_end, module in links:
        chunk += (start, reference_start) != ends
        ends = end, reference_end
        yield Match(start, end, reference_start, reference_end, module, chunk)


def aligned(candidate: str, reference: str, *links: Link, chunks: int = 0) -> Alignment:
    words = tuple(candidate.split(" ")) if candidate else (), tuple(reference.split(" ")) if reference else ()
    return Alignment(*words, tuple(matches(links)), chunks, 0.5, 0.25, 0.125, 1.0)


def one_by_one(*modules: str, step: int = 1) -> list[Link]:
    return [(step * i, step * i + 1, step * i, step * i + 1, module) for i, module in enumerate(modules)]


LETTERS = " ".join("abcdefghijklmnopqrstuvwxyz"[:22])
SINGLE = aligned("a", "a", *one_by_one("exact"), chunks=1)
ALIGNMENTS: dict[str, list[Alignment]] = {
    "in order": [
        aligned(
            "a dog sits by it",
            "a dogs is resting it",
            *[(0, 1, 0, 1, "exact"), (1, 2, 1, 2, "stem"), (2, 3, 3, 4, "synonym"), (4, 5, 4, 5, "exact")],
            chunks=3,
        )
    ],
    # Chunks are counted along the reference.
    "crossing": [
        aligned(
            "a b c d e",
            "d e b a",
            *[(3, 4, 0, 1, "exact"), (4, 5, 1, 2, "exact"), (1, 2, 2, 3, "exact"), (0, 1, 3, 4, "exact")],
            chunks=3,
        )
    ],
    "phrases": [
        aligned("x in front of y", "z before a b", (1, 4, 1, 2, "paraphrase"), (4, 5, 2, 4, "paraphrase"), chunks=1)
    ],
    "gap above": [aligned("a x b", "a b", (0, 1, 0, 1, "exact"), (2, 3, 1, 2, "exact"))],
    "gap below": [aligned("a b", "a x b", (0, 1, 0, 1, "exact"), (1, 2, 2, 3, "exact"))],
    "chunks of two digits": [aligned(LETTERS, LETTERS, *one_by_one(*["exact"] * 11, step=2))],
    "no matches": [aligned("red bus", "dog")],
    "no words": [aligned("", "dog"), aligned("dog", ""), aligned("", "")],
    "the first of the best": [replace(SINGLE, score=0.5), SINGLE, SINGLE],
    "one module": [aligned("a b", "a b", *one_by_one("stem"))],
    "modules": [aligned("a b c d e", "a b c d", *one_by_one(*MODULES[::-1]))],
    "signs of several": [aligned("a", "a", *one_by_one(module)) for module in ("paraphrase", "exact")],
    "long": [
        aligned(
            "a man rides a red bike", "a man on a bike", *one_by_one("exact", "exact"), (5, 6, 4, 5, "exact"), chunks=2
        )
    ],
    "wider than the terminal": [aligned(f"a {'abcdefghij' * 5} b", "a b c", *one_by_one("exact", "exact", "exact"))],
    "wide characters": [aligned("猫が好き a 犬 b", "b 犬", (2, 3, 1, 2, "exact")), aligned("猫" * 8, "a")],
    "awkward": [
        aligned("\x1b [31m \x9b0m \u202e a\x07\x08b \x00 [bold]x[/] :smile:", "\x1b [/]", *one_by_one("exact"))
    ],
}
TWO = Transport(
    candidate=(("dog", 0.5), ("runs", 0.5)),
    reference=(("dog", 0.5), ("running", 0.25), ("far", 0.25)),
    moves=(
        Move("dog", "dog", 0.5, 0.0, 0.0),
        Move("runs", "running", 0.25, 12.5, 3.125),
        Move("runs", "far", 0.25, 3.0, 0.75),
    ),
    candidate_left_out=("a",),
    reference_left_out=(),
    distance=3.875,
    score=0.0208,
)
NOTHING = Transport((), (("dog", 1.0),), (), ("the",), ("a",), None, 0.0)
AWKWARD = Transport((("\x1b[2J", 1.0),), (("\x07", 1.0),), (Move("\x1b[2J", "\x07", 1.0, 1.0, 1.0),), (), (), 1.0, 0.4)
EXPLANATIONS: dict[str, Any] = {
    **ALIGNMENTS,
    "transport": [TWO],
    "transports": [NOTHING, TWO],
    "awkward transport": [AWKWARD],
    **{f"scene, {name}": scene for name, scene in SCENES.items()},
}


def printable(text: str) -> bool:
    return all(line.isprintable() for line in text.split("\n"))


@pytest.mark.parametrize("name", EXPLANATIONS)
def test_text_is_as_recorded(name: str, record: Record) -> None:
    text = explanation_text(EXPLANATIONS[name])
    shown = {"whole": as_text(text)} | {str(width): as_text(text, width=width) for width in (100, 60, 36, 30, 25)}
    for width, folded in shown.items():
        assert printable(folded)
        assert width == "whole" or max(map(cell_len, folded.splitlines())) <= int(width)
    longest = max(map(cell_len, shown["whole"].splitlines()))
    if name not in ("transport", "transports", "awkward transport"):  # whose bars take more room
        assert as_text(text, width=longest) == shown["whole"] != as_text(text, width=longest - 1)
    for width in (None, 40, 25):
        fold: Any = {} if width is None else {"width": width}
        colored = as_text(text, color=True, **fold)
        assert not [line for line in colored.splitlines() if line.removesuffix("\x1b[0m").endswith(" ")]
        shown[f"colored {width}"] = colored
    record(f"explanations/{name}", {width: text.split("\n") for width, text in shown.items()})


@given(
    words=st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z", "M"]), min_size=1), max_size=9),
    other=st.lists(st.text("ab猫", min_size=1, max_size=30), max_size=9),
    width=st.integers(21, 120),
)
def test_folded_alignments_fit_and_keep_all_words(words: list[str], other: list[str], width: int) -> None:
    links = one_by_one(*["exact"] * min(len(words), len(other)))
    alignment = Alignment(tuple(words), tuple(other), tuple(matches(links)), 1, 0.5, 0.25, 0.125, 1.0)
    lines = as_text(explanation_text([alignment]), width=width).splitlines()
    assert [line for line in lines if cell_len(line) > width] == []
    if words and not set("1=") & set("".join(words)):
        start = next(i for i, line in enumerate(lines) if line.startswith("  reference"))
        above = "".join(line[13:] for line in lines[:start])
        assert above.replace("1=", "").replace(" ", "") == "".join(words)


CANDIDATE = "a man in a red shirt is riding a motorcycle down a dirt road beside a field of tall grass"
REFERENCES = ["a man riding on the back of a motorcycle on a road that leads through a field", "a motorcycle"]


@pytest.mark.parametrize("width", [71, 40, 24])
@pytest.mark.parametrize("name", ["bleu", "cider-d:idf=coco", "coverage", "rouge-l", "concur", "meteor", "transport"])
def test_folded_text_has_all_letters(name: str, width: int) -> None:
    metric: Any = None if name == "transport" else select_single(name)[0].metric
    text = explanation_text([TWO] if metric is None else metric.explain(CANDIDATE, REFERENCES))
    folded = as_text(text, width=width)
    assert max(map(len, folded.splitlines())) <= width
    whole = as_text(text, width=71)  # without bars
    assert sorted(letter for letter in folded if letter not in " \n·") == sorted(c for c in whole if c not in " \n·")


def test_long_list_has_a_hanging_indent() -> None:
    metric: Any = select_single("rouge-l")[0].metric
    first, second, *_ = as_text(explanation_text(metric.explain(CANDIDATE, REFERENCES)), width=60).splitlines()
    assert first == "  candidate    [a] [man] in a red shirt is [riding] [a]"
    assert second.startswith(" " * 15)
    assert second[15] != " "
