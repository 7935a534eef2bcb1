"""Groups of marks found in texts at once, compared with Python's ``in``."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.native import Marks

LETTERS = st.text("ab .éの\0", max_size=4)
GROUPS = st.lists(st.lists(LETTERS.filter(bool), max_size=6).map(tuple), max_size=64).map(tuple)


def contains(text: str, mark: str) -> bool:
    return mark in text if mark else not text.isascii()


@given(st.lists(st.text("ab .éの\0")).map(tuple), GROUPS, st.booleans())
def test_marks_are_those_in_the_text(texts: tuple[str, ...], groups: tuple[tuple[str, ...], ...], beyond: bool) -> None:
    if beyond and groups:
        groups = ((*groups[0], ""), *groups[1:])
    found = Marks(groups).groups_in(texts)
    for text, bits in zip(texts, found.tolist(), strict=True):
        assert bits == sum(1 << i for i, marks in enumerate(groups) if any(contains(text, mark) for mark in marks))


def test_there_are_at_most_64_groups() -> None:
    assert Marks(((),) * 63 + (("a",),)).groups_in(("a",)).tolist() == [1 << 63]
    with pytest.raises(ValueError, match="64"):
        Marks((("a",),) * 65)


def test_groups_are_tuples_of_text() -> None:
    with pytest.raises(TypeError):
        Marks((("a", 1),))  # type: ignore[arg-type]
