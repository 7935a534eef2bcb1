"""Engines: environments in which the shards of a plan are mapped.

An engine has a function from work and tasks to their outcomes, in any order:

    engine.run(work, tasks, workers) -> iterator of (task, result or exception)

``work`` is picklable and performs one task. An engine may repeat a task if a worker was lost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Protocol, TypeAlias, TypeVar, cast

from captious.errors import UnknownNameError

__all__ = ["BATCH_ROWS", "ENGINES", "Engine", "Outcome", "engine_named"]

R = TypeVar("R")

#: Rows that are in memory at a time, unless another number is asked for.
BATCH_ROWS = 8192

#: The number of a task, and its result or why there is none.
Outcome: TypeAlias = tuple[int, R | Exception]


class Engine(Protocol):
    """An engine."""

    def run(self, work: Callable[[int], R], tasks: Sequence[int], workers: int | None) -> Iterator[Outcome[R]]:
        """Run tasks.

        Args:
            work: performs the task of a number.
            tasks: n numbers.
            workers: number of concurrent tasks; None for the engine's default.
        """
        ...

    def session(self) -> AbstractContextManager[None]:
        """Return a context for one or more calls of ``run``, connected to whatever the engine needs."""
        ...


class _Stream:
    """Maps shards one after the other in this process; kernels use several threads."""

    session = nullcontext

    def run(self, work: Callable[[int], R], tasks: Sequence[int], workers: int | None) -> Iterator[Outcome[R]]:
        for task in tasks:
            try:
                result: R | Exception = work(task)
            except Exception as error:
                result = error
            yield task, result


_MODULES = {"processes": "process_pool", "ray": "ray_cluster"}

ENGINES = ("stream", *_MODULES)


def engine_named(name: str) -> Engine:
    """Return the engine of a name.

    Raises:
        UnknownNameError: an unknown name.
    """
    if name not in ENGINES:
        raise UnknownNameError(f"there is no engine {name!r}", hint=f"engines are {', '.join(ENGINES)}")
    return cast(Engine, _Stream() if name == "stream" else import_module(f"{__name__}.{_MODULES[name]}"))
