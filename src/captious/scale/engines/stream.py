"""Shards one after the other in this process; kernels use several threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from typing import TypeVar

from captious.scale.engines import Outcome

__all__ = ["run", "session"]

#: Nothing has to be started.
session = nullcontext

R = TypeVar("R")


def run(work: Callable[[int], R], tasks: Sequence[int], workers: int | None) -> Iterator[Outcome[R]]:
    """See ``Engine``; the number of workers is ignored."""
    for task in tasks:
        try:
            result: R | Exception = work(task)
        except Exception as error:
            result = error
        yield task, result
