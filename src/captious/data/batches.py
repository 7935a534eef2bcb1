"""Batches of items that are processed together, bounded by cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], cost: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Divide items into batches of at least one, in order.

    Args:
        items: the items.
        cost: the cost of an item, such as its memory or time.
        most: maximum cost of a batch of several items.
    """
    batch: list[T] = []
    total = 0
    for item in items:
        item_cost = cost(item)
        if batch and total + item_cost > most:
            yield batch
            batch, total = [], 0
        batch.append(item)
        total += item_cost
    if batch:
        yield batch
