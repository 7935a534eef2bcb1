"""Columns come out of a page as they were put into it."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from captious.report.page_data import Columns
from tests.support.pages import Page


def read(columns: Columns) -> Page:
    data = "".join(f'<script class="column">{packed}</script>' for packed in columns)
    return Page(f'<script id="manifest">{json.dumps({})}</script>{data}')


@given(st.lists(st.one_of(st.integers(0, 2**32 - 1), st.integers(-(2**31) + 1, 300))))
def test_integers_are_unpacked_as_packed(values: list[int]) -> None:
    if any(v < 0 for v in values):
        values = [v for v in values if v < 2**31]
    columns = Columns()
    about = columns.integers(values)
    assert read(columns).integers(about).tolist() == values


def test_integers_are_narrow() -> None:
    columns = Columns()
    kinds = [columns.integers(values)["type"] for values in ([], [255], [256], [65536], [-1])]
    assert kinds == ["u1", "u1", "u2", "u4", "i4"]


@given(st.lists(st.one_of(st.floats(), st.floats(0, 1), st.floats(0, 1e-6))))
def test_numbers_are_unpacked_within_their_precision(values: list[float]) -> None:
    columns = Columns()
    about = columns.numbers(np.array(values, float))
    numbers = read(columns).numbers(about)
    finite = np.abs([v for v in values if np.isfinite(v)])
    close = max(0.5e-4 if finite.max(initial=0) >= 0.1 else 1e-3 * finite.max(initial=0), 1e-12)
    np.testing.assert_allclose(numbers, values, rtol=1e-9, atol=1.01 * close)


@given(st.lists(st.text(st.characters(codec="utf-8"))))
def test_strings_are_unpacked_as_packed(values: list[str]) -> None:
    columns = Columns()
    about = columns.strings(values)
    assert read(columns).strings(about) == values


def test_arbitrary_strings_are_unpacked_as_packed() -> None:
    values = ["", "\ufeffa", "\0", "</script><!--", "\u202eabc", "👩‍🚀" * 3, "a\r\nb", "é", "x" * 100_000, "\u2028"]
    columns = Columns()
    about = columns.strings(values)
    assert read(columns).strings(about) == values


@given(st.lists(st.lists(st.integers(0, 70_000))))
def test_lists_are_unpacked_as_packed(rows: list[list[int]]) -> None:
    columns = Columns()
    about = columns.lists(rows)
    assert read(columns).lists(about) == rows


def test_packing_is_deterministic() -> None:
    first, second = Columns(), Columns()
    for columns in (first, second):
        columns.numbers(np.linspace(0, 1, 1000))
        columns.strings(["a", "b"] * 100)
    assert [*first] == [*second]
