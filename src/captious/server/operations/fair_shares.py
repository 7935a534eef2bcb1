"""Shares of what the web server has for all: who takes most is refused first, so that few cannot keep others out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Holding(Generic[T]):
    """A part of something that there is a limited amount of.

    Args:
        item: what holds it.
        owner: to whom it counts.
        amount: how much it is.
        can_end: whether it can be taken away.
    """

    item: T
    owner: str
    amount: int
    can_end: bool = True


def surplus(holdings: Iterable[Holding[T]], most: float, share: float) -> list[T]:
    """The items to end so that all owners together hold ``most`` at most, and each owner ``share``.

    Of the owner who holds most, what came last goes first. What cannot end counts, but nobody loses anything for it who
    holds less than an equal part of ``most``; all together may then hold more than that.

    Args:
        holdings: in the order in which they came.
    """
    totals: defaultdict[str, int] = defaultdict(int)
    removable: defaultdict[str, list[Holding[T]]] = defaultdict(list)
    for holding in holdings:
        totals[holding.owner] += holding.amount
        if holding.can_end and holding.amount:
            removable[holding.owner].append(holding)
    ended, total = [], sum(totals.values())
    equal_part = most / max(len(totals), 1)
    while removable:
        owner = max(removable, key=lambda each: totals[each])
        if totals[owner] <= (share if total <= most else min(share, equal_part)):
            break
        last = removable[owner].pop()
        if not removable[owner]:
            del removable[owner]
        ended.append(last.item)
        totals[owner] -= last.amount
        total -= last.amount
    return ended
