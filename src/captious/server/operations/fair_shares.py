"""Shares of limited resources: the largest holder is refused first, so that few cannot keep others out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Holding(Generic[T]):
    """A part of a limited resource.

    Args:
        item: the holder.
        owner: the party that it counts for.
        amount: the amount held.
        can_end: whether the holding can be ended.
    """

    item: T
    owner: str
    amount: int
    can_end: bool = True


def surplus(holdings: Iterable[Holding[T]], limit: float, share: float) -> list[T]:
    """The items to end so that all owners together hold ``limit`` at most, and each owner ``share``.

    The latest holding of the largest owner is ended first. Holdings that cannot end count, but owners
    of less than an equal part of ``limit`` lose nothing for them; the total may then exceed ``limit``.

    Args:
        holdings: the holdings in order of arrival.
    """
    totals: defaultdict[str, int] = defaultdict(int)
    removable: defaultdict[str, list[Holding[T]]] = defaultdict(list)
    for holding in holdings:
        totals[holding.owner] += holding.amount
        if holding.can_end and holding.amount:
            removable[holding.owner].append(holding)
    items, total = [], sum(totals.values())
    equal_part = limit / max(len(totals), 1)
    while removable:
        owner = max(removable, key=lambda name: totals[name])
        if totals[owner] <= (share if total <= limit else min(share, equal_part)):
            break
        holding = removable[owner].pop()
        if not removable[owner]:
            del removable[owner]
        items.append(holding.item)
        totals[owner] -= holding.amount
        total -= holding.amount
    return items
