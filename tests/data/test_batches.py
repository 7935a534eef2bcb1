"""Batches of items with a maximum cost."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from captious.data.tables import batches


@given(st.lists(st.integers(0, 9)), st.integers(0, 20))
def test_batches_are_in_order_and_as_large_as_they_may_be(items: list[int], most: int) -> None:
    made = [*batches(items, lambda item: item, most)]
    assert [item for batch in made for item in batch] == items
    assert all(batch and (len(batch) == 1 or sum(batch) <= most) for batch in made)
    assert all(sum(batch) + after[0] > most for batch, after in pairwise(made))
