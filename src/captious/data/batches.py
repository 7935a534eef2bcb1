"""Batches of items that are worked on together, bounded by what they cost."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")


def batches(items: Iterable[T], cost: Callable[[T], int], most: int) -> Iterator[list[T]]:
    """Items in order, in batches of at least one.

    Args:
        items: what is divided.
        cost: what an item costs, such as its memory or time.
        most: what a batch of several items may cost.
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
