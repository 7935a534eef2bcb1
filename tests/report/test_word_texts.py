"""Transport plans as pictures, character for character."""

from __future__ import annotations

from captious.metrics.wmd import Move, Transport
from captious.report.terminal import as_text
from captious.report.word_texts import transport_legend, transport_text

TWO = Transport(
    candidate=(("dog", 0.5), ("runs", 0.5)),
    reference=(("dog", 0.5), ("running", 0.25), ("far", 0.25)),
    moves=(Move("dog", "dog", 0.5, 0.0), Move("runs", "running", 0.25, 12.5), Move("runs", "far", 0.25, 3.0)),
    candidate_left_out=("a",),
    reference_left_out=(),
    distance=3.875,
    score=0.0208,
)
NONE = Transport((), (("dog", 1.0),), (), ("the",), ("a",), None, 0.0)


def lines(transport: Transport, *, best: bool = False) -> list[str]:
    return [line.rstrip() for line in as_text(transport_text(transport, best=best)).splitlines()]


def test_moves() -> None:
    assert lines(TWO, best=True) == [
        "  candidate  dog runs  ignored: a",
        "  reference  dog running far",
        "    share  distance",
        "    .5000     .0000  dog → dog",
        "    .2500   12.5000  runs → running",
        "    .2500    3.0000  runs → far",
        "  distance 3.8750 · score .0208 ◀",
    ]


def test_no_words() -> None:
    assert lines(NONE) == [
        "  candidate  (no word with a vector)  ignored: the",
        "  reference  dog  ignored: a",
        "  distance infinite · score .0000",
    ]


def test_a_terminal_obeys_no_word() -> None:
    hostile = Transport((("\x1b[2J", 1.0),), (("\x07", 1.0),), (Move("\x1b[2J", "\x07", 1.0, 1.0),), (), (), 1.0, 0.4)
    assert "\x1b" not in as_text(transport_text(hostile))
    assert "\x07" not in as_text(transport_text(hostile))


def test_color_marks_what_stays_where_it_is() -> None:
    painted = as_text(transport_text(TWO, best=True), color=True)
    assert "\x1b[32mdog → dog\x1b[0m" in painted
    assert "\x1b[32mruns" not in painted


def test_legend() -> None:
    assert transport_legend([TWO]).plain.startswith("Share: fraction of all words with a vector.")
    assert transport_legend([TWO, NONE]).plain.endswith("◀ nearest")
