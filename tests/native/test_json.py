"""Lists of objects in JSON: positions outside of the list are refused, and nothing outside of the text is read."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from captious.native import json_columns, json_outline

TEXT = b'[{"a": 1, "b": "x\\u00e9\\ud83d\\ude00\\n"}, {"b": [{}, -1.5e+3, true, null], "a": "y"}] '


@pytest.mark.parametrize("place", [(0, 0), (1, 9), (0, len(TEXT) + 1), (5, 2), (len(TEXT) - 1, len(TEXT)), (0, 30)])
def test_places_that_are_no_list(place: tuple[int, int]) -> None:
    with pytest.raises(ValueError):
        json_columns(TEXT, *place, ("a",))


def test_json_columns_accept_every_kind_of_value() -> None:
    assert json_outline(TEXT) == [(None, 0, len(TEXT) - 1, TEXT.index(b"}") + 1, 2)]
    assert json_columns(TEXT, 0, len(TEXT) - 1, ("a",)) == [[1, "y"]]
    assert json_columns(TEXT, 0, len(TEXT) - 1, ("b",)) is None
    assert json_columns(TEXT[:-1].replace(b"[{}, -1.5e+3, true, null]", b'"z"'), 0, len(TEXT) - 23, ("b",)) == [
        ["xé😀\n", "z"]
    ]


@given(st.data(), st.integers(0, len(TEXT)), st.binary(max_size=3), st.integers(0, 3))
def test_json_columns_survive_arbitrary_bytes(data: st.DataObject, at: int, inserted: bytes, removed: int) -> None:
    text = TEXT[:at] + inserted + TEXT[at + removed :]
    for _, start, end, first_end, size in json_outline(text, data.draw(st.integers(0, 2))) or ():
        assert start < first_end < end <= len(text) if size else first_end == 0
        if size:
            try:
                json_columns(text, start, end, ("a", "b"))
            except UnicodeDecodeError:
                assert not text.isascii()
    place = sorted(data.draw(st.tuples(*[st.integers(0, len(text))] * 2)))
    with contextlib.suppress(ValueError):
        json_columns(text, *place, ("b", ""))
