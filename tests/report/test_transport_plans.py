"""Transport plans as text, character for character."""

from __future__ import annotations

from captious.drawing import as_text
from captious.explanation_text import explanation_text
from captious.metrics.wmd import Move, Transport

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
NONE = Transport((), (("dog", 1.0),), (), ("the",), ("a",), None, 0.0)


def text_of(*transports: Transport, width: int = 100) -> str:
    return as_text(explanation_text([*transports]), width=width)


def test_moves_are_listed_with_share_distance_and_cost() -> None:
    assert text_of(TWO).splitlines()[:8] == [
        "  candidate  dog runs  ignored: a",
        "  reference  dog running far",
        "  move            share  distance    cost",
        "  dog → dog       .5000     .0000   .0000",
        "  runs → running  .2500   12.5000  3.1250  █████████▋",
        "  runs → far      .2500    3.0000   .7500  ██▍",
        "  distance 3.8750 · score .0208",
        "",
    ]


def test_transport_plan_without_words_has_an_infinite_distance() -> None:
    assert text_of(NONE).splitlines()[:4] == [
        "  candidate  ignored: the",
        "  reference  dog  ignored: a",
        "  The distance is infinite: there is nothing to move.",
        "  distance – · score .0000",
    ]


def test_nearest_reference_is_marked() -> None:
    lines = text_of(NONE, TWO).splitlines()
    assert "  distance 3.8750 · score .0208 ◀" in lines
    assert lines[-1].endswith("◀ best")


def test_narrow_terminals_have_no_bars() -> None:
    text = text_of(TWO, width=60)
    assert "█" not in text
    assert "full bar" not in text


def test_transport_plan_removes_control_characters() -> None:
    moves = (Move("\x1b[2J", "\x07", 1.0, 1.0, 1.0),)
    hostile = text_of(Transport((("\x1b[2J", 1.0),), (("\x07", 1.0),), moves, (), (), 1.0, 0.4))
    assert "\x1b" not in hostile
    assert "\x07" not in hostile
